"""How wrong a clustering is: the share of pairs of nodes that it gets wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.typing import IntArray


def rand_error(labels: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Wrong pairs over pairs, ``1 −`` the Rand index.

    A pair is wrong when its two nodes are together in one of the clusterings and apart in the
    other. What the clusters are called does not matter.

    Parameters
    ----------
    labels, truth
        The cluster of each node, numbers or text.

    Returns
    -------
    float
        From 0, where both are the same up to names, to 1.

    Notes
    -----
    The paper divides the wrong pairs by ``N (N − 1)``; its numbers show that it counts each pair
    in both orders: 0.2585 on the karate club is 145 of 561 pairs.

    Examples
    --------
    >>> rand_error([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    >>> rand_error([0, 0, 0, 1], [0, 0, 1, 1])
    0.5
    """
    from sklearn.metrics.cluster import pair_confusion_matrix

    first, second = _numbered(labels, "labels"), _numbered(truth, "truth")
    if len(first) != len(second):
        raise InputError(
            f"labels and truth must have one entry a node, found {len(first)} and {len(second)}"
        )
    if len(first) < 2:
        raise InputError(f"there are no pairs among {len(first)} nodes")
    (_, joined), (separated, _) = pairs = pair_confusion_matrix(second, first)
    return float((joined + separated) / pairs.sum())


#: What it is called in `grfpp.tasks`.
pair_error = rand_error


def _numbered(values: npt.ArrayLike, name: str) -> IntArray:
    """Clusters as numbers from 0: of any kind, which scikit-learn does not take."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must be a list with one entry a node, found {array.ndim} axes")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{name} must not hold NaN or infinity")
    if array.dtype.kind == "O":
        array = array.astype(str)
    return np.unique(array, return_inverse=True)[1].astype(np.int64)
