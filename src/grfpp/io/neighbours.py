"""Tell graphs of nearest neighbours, which are seldom meant as they are, from other directed ones.

By what only they have: as many arcs from every node, but not to every node; many arcs with a way
back, but not all. Where weights are distances, an arc without a way back is longer than all arcs
from its end, whose own neighbours are nearer; where they are affinities, it is weaker than those.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputWarning
from grfpp.typing import FloatArray, IntArray

#: On fewer nodes as many arcs from each may be chance.
_LEAST_NODES = 20
#: Share of arcs with a way back: above a fifth in the neighbours of points in 1000 dimensions.
_LEAST_RETURNING = 0.05
#: Share of arcs that must be as said; searches that are not exact miss some neighbours.
_NEARLY_ALL = 0.9
#: Share of nodes with the full number of arcs. Arcs of length 0, to copies, are dropped.
_FULL_ROWS = 0.5


def neighbours_note(matrix: sp.csr_array) -> InputWarning | None:
    """What to say about a weight matrix that looks like one of nearest neighbours, if it does.

    Examples
    --------
    >>> from sklearn.neighbors import kneighbors_graph
    >>> points = np.random.default_rng(0).normal(size=(100, 2))
    >>> str(neighbours_note(sp.csr_array(kneighbors_graph(points, 5, mode="distance"))))[:43]
    'these weights look like distances to the 5 '
    >>> str(neighbours_note(sp.csr_array(kneighbors_graph(points, 5))))[:45]
    'this looks like a directed graph of the 5 nea'
    """
    n = matrix.shape[0]
    degrees = np.diff(matrix.indptr), np.bincount(matrix.indices, minlength=n)
    if n < _LEAST_NODES or max(map(_full, degrees)) < _FULL_ROWS / 2:
        return None  # soon told, for most graphs are like that, or like the next
    matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
    turned = matrix.T.tocsr()
    if np.array_equal(turned.indptr, matrix.indptr) and (turned.indices == matrix.indices).all():
        return None
    if _full(degrees[1]) > _full(degrees[0]):  # arcs point from the neighbours, as in PyG
        matrix = turned
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    # Nodes among their own neighbours; their distances may be 1e-8 and not 0.
    others = rows != matrix.indices
    rows, columns, weights = rows[others], matrix.indices[others], matrix.data[others]
    degree = np.bincount(rows, minlength=n)
    k, full = int(degree.max()), _full(degree)
    if k < 2 or 2 * k > n or full < _FULL_ROWS or _full(np.bincount(columns, minlength=n)) == 1:
        return None
    back = _weights_back(rows, columns, weights, n)
    returning = back > 0
    share = float(returning.mean())
    # Among arcs to any nodes, k / n of them have a way back by chance.
    if returning.all() or share < max(_LEAST_RETURNING, 2 * k / n):
        return None
    if _are_distances(rows, columns, weights, back, n):
        return InputWarning(
            f"these weights look like distances to the {k} nearest neighbours, as scikit-learn's "
            "kneighbors_graph(mode='distance') has them. Weights say how alike nodes are, so that "
            "far neighbours would count most",
            from_points=True,
            affinities="max",
            as_it_is=True,
        )
    if full < 1:
        return None
    return InputWarning(
        f"this looks like a directed graph of the {k} nearest neighbours of points: every node has "
        f"as many, and {1 - share:.0%} of the arcs have none back",
        undirected=("max", "mutual"),
        from_points=True,
        as_it_is=True,
    )


def _full(degree: IntArray) -> float:
    """The share of nodes with the largest degree."""
    return float((degree == degree.max()).mean())


def _weights_back(rows: IntArray, columns: IntArray, weights: FloatArray, n: int) -> FloatArray:
    """The weight of the arc in the other direction, for each arc; 0 where there is none."""
    keys, wanted = rows * n + columns, columns.astype(np.int64) * n + rows
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)  # rows are sorted
    return np.where(keys[place] == wanted, weights[place], 0.0)


def _are_distances(
    rows: IntArray, columns: IntArray, weights: FloatArray, back: FloatArray, n: int
) -> bool:
    if weights.min() == weights.max():
        return False
    same = np.isclose(weights, back, rtol=1e-5, atol=0)[back > 0]
    farthest = np.zeros(n)
    np.maximum.at(farthest, rows, weights)
    one_way = back == 0
    longer: npt.NDArray[np.bool_] = weights[one_way] >= (1 - 1e-5) * farthest[columns[one_way]]
    return bool(same.mean() >= _NEARLY_ALL and longer.mean() >= _NEARLY_ALL)
