"""Tell full matrices of distances, which are seldom meant as weights, from those of affinities.

Both may be metrics by their numbers alone. What tells them apart goes round triangles: where two
nodes are each close to a third, they are close to each other, and closeness is a small distance but
a large affinity. So from each entry the levels of its row and its column are taken off, and what
is left is multiplied round all triangles. The mean of these products is above zero where large
numbers mean closeness, below where small ones do, and near zero for numbers without such a
meaning. It is taken of the entries and of their ranks, which do not depend on how distances grow,
and both must tell; and the roots of the entries must obey the triangle inequality, which distances
and their squares do.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputWarning
from grfpp.typing import FloatArray

#: With fewer nodes triangles are too few to tell.
_LEAST_NODES = 10
#: So many nodes are looked at.
_MOST_NODES = 300
#: Share of pairs that have a distance. Copies have none.
_NEARLY_ALL = 0.95
#: How far below zero the mean must be: its deviation is 2.4 for entries that are all independent.
_THRESHOLD = -12.0
#: Share of triangles that may disobey, by rounding.
_FEW = 1e-3
#: What may be rounding, in parts of the median: roots of differences in single precision.
_ROUNDING = 1e-2


def distances_note(matrix: sp.csr_array) -> InputWarning | None:
    """What to say about a weight matrix that looks like one of all distances, if it does.

    Matrices are looked at that are symmetric, with zeros on the diagonal and hardly elsewhere.
    ``python -m grfpp_lab.studies.distance_notes`` counts how often that is right. Of generated
    ones (from points that are normal, uniform, in five clusters, or heavy-tailed) are told

    - with 20 nodes 0.97 or more of Euclidean and cosine distances in 1 to 10 dimensions, and of
      lengths of paths in grids, trees and scale-free graphs; 0.74 of the squares of heavy-tailed
      ones in 10 dimensions;
    - with 50 nodes all in 100 dimensions (0.96 of those squares); in 1000 dimensions one in ten to
      one in four, and all if clustered;
    - with 200 nodes all, up to 1000 dimensions.

    There was no alarm in 12,070 others: Gaussian affinities of five widths, linear and cosine ones,
    absolute correlations and inverse distances of such points without their diagonals; independent
    numbers, products and sums of numbers of the nodes, and groups. What cannot be told
    are affinities that join unlike nodes, as in a full multipartite graph: by their numbers they
    are distances.

    Examples
    --------
    >>> from sklearn.metrics import pairwise_distances
    >>> D = pairwise_distances(np.random.default_rng(0).normal(size=(50, 3)))
    >>> str(distances_note(sp.csr_array(D)))[:45]
    'these weights look like distances between all'
    >>> affinities = np.exp(-(D**2))
    >>> np.fill_diagonal(affinities, 0)
    >>> distances_note(sp.csr_array(affinities)) is None
    True
    """
    n = matrix.shape[0]
    if n < _LEAST_NODES or matrix.nnz < _NEARLY_ALL * n * (n - 1):
        return None  # most graphs are like that
    chosen = np.linspace(0, n - 1, min(n, _MOST_NODES)).astype(np.int64)
    part = matrix[chosen][:, chosen].toarray()
    np.fill_diagonal(part, 0)
    entries = part[part > 0]
    if not len(entries) or entries.min() == entries.max():  # edges without weights
        return None
    usual = np.median(entries)
    if (
        matrix.diagonal().max() > _ROUNDING * usual
        or np.abs(part - part.T).max() > _ROUNDING * usual
    ):
        return None
    part = (part / entries.max() + part.T / entries.max()) / 2
    if not (_is_metric(np.sqrt(part)) and _told(part) and _told(_ranks(part))):
        return None
    return InputWarning(
        "these weights look like distances between all nodes: zero from each to itself, and small "
        "where two nodes are close to the same others. Weights say how alike nodes are, so that "
        "the farthest would count most",
        from_points=True,
        affinities="",
        as_it_is=False,
    )


def _told(values: FloatArray) -> bool:
    """Whether small values mean closeness. The diagonal is zero and does not count."""
    n = len(values)
    sums = values.sum(axis=1)
    mean = sums.sum() / (n * (n - 1))
    level = (sums - (n - 1) * mean) / (n - 2)
    rest = values - mean - level[:, np.newaxis] - level
    np.fill_diagonal(rest, 0)
    size = float(np.linalg.norm(rest))
    if size <= 1e-5 * np.linalg.norm(values):
        return False
    return bool(((rest @ rest) * rest).sum() / size**3 * n**1.5 < _THRESHOLD)


def _ranks(values: FloatArray) -> FloatArray:
    """Places among all that are not on the diagonal, the mean of them where several are equal."""
    n = len(values)
    ordered = np.sort(values, axis=None)[n:]  # zeros first, and they are the diagonal
    first, last = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    ranks: FloatArray = (first + last + 1) / 2
    np.fill_diagonal(ranks, 0)
    return ranks


def _is_metric(roots: FloatArray) -> bool:
    """Whether the way over a third node is never shorter, for some third nodes and all others."""
    third = np.linspace(0, len(roots) - 1, min(len(roots), 30)).astype(np.int64)
    detours = (1.001 * (roots[:, [j]] + roots[j]) for j in third)
    return float(np.mean([(roots > detour).mean() for detour in detours])) <= _FEW
