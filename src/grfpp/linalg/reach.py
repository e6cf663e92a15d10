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
    n, indptr, indices = adjacency.shape[0], adjacency.indptr, adjacency.indices
    there = np.zeros(n, bool)
    newest = np.unique(nodes)
    there[newest] = True
    n_found = len(newest)
    for _ in range(n_steps):
        if n_found > _MOST * n:
            return None
        first, count = indptr[newest], indptr[newest + 1] - indptr[newest]
        # Place by place in one row after the other; scipy takes ten times as long for few rows.
        place = np.arange(count.sum()) + np.repeat(first - np.cumsum(count) + count, count)
        ends = indices[place]
        newest = np.unique(ends[~there[ends]])
        if not len(newest):
            break
        there[newest] = True
        n_found += len(newest)
    return np.flatnonzero(there)
