"""Which nodes lie within some steps of others."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from grfpp.typing import IntArray

#: Where more than this share of all nodes is reached, they may as well be all.
_MOST = 0.25


def within_steps(adjacency: sp.csr_array, nodes: IntArray, n_steps: int) -> IntArray | None:
    """Nodes that walks of at most `n_steps` steps from `nodes` come to, in order.

    ``None`` where these are a large part of all.

    Examples
    --------
    >>> path = sp.diags_array([1.0] * 19, offsets=1, shape=(20, 20), format="csr")
    >>> within_steps(path, np.array([4]), 2)
    array([4, 5, 6])
    """
    n = adjacency.shape[0]
    there = np.zeros(n, bool)
    newest = np.unique(nodes)
    there[newest] = True
    n_found = len(newest)
    for _ in range(n_steps):
        if n_found > _MOST * n:
            return None
        ends = adjacency[newest].indices
        newest = np.unique(ends[~there[ends]])
        if not len(newest):
            break
        there[newest] = True
        n_found += len(newest)
    return np.flatnonzero(there)
