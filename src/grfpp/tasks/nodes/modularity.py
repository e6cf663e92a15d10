"""How much more weight lies within clusters than chance would put there."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from grfpp.typing import IntArray


def modularity(adjacency: sp.csr_array, labels: IntArray) -> float:
    """Newman's modularity of a clustering: at most 1, and 0 for a single cluster.

    Parameters
    ----------
    adjacency
        A symmetric matrix of weights.
    labels
        The cluster of each node, from 0.

    Examples
    --------
    >>> pairs = sp.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> modularity(pairs, np.array([0, 0, 1, 1]))
    0.5
    """
    members = sp.csr_array(
        (np.ones(len(labels)), labels, np.arange(len(labels) + 1)),
        (len(labels), int(labels.max()) + 1),
    )
    between = (members.T @ (adjacency @ members)).toarray()
    total = between.sum()
    if total == 0:
        return 0.0
    return float(np.trace(between) / total - np.square(between.sum(axis=1) / total).sum())
