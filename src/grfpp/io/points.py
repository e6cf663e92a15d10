"""Graphs of nearest neighbours of points, and a warning about directed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from grfpp._checks import one_of, whole
from grfpp._imports import missing_packages, require
from grfpp.errors import InputError, InputWarning
from grfpp.io.text import input_errors
from grfpp.linalg.symmetrize import Symmetrize, symmetrized
from grfpp.typing import FloatArray, IntArray

Method = Literal["auto", "exact", "approximate"]

#: Number of points above which an approximate search may be worth its errors.
_MANY_POINTS = 50_000
#: Number of dimensions above which it is: trees are no faster there than comparing all pairs.
_MANY_DIMENSIONS = 15
#: Smallest weight of an edge, even to a far outlier: smaller ones would be lost in rounding.
_MIN_AFFINITY = 1e-12
#: Smallest number of nodes for the warning: on fewer, equal out-degrees may be chance.
_MIN_NODES_OF_NEIGHBOURS = 20


def neighbour_graph(
    X: Any,
    n_neighbors: int = 10,
    metric: str | Callable[..., float] = "euclidean",
    symmetrize: Symmetrize | None = "max",
    method: Method = "auto",
    seed: int = 0,
) -> tuple[sp.csr_array, Sequence[Any] | None, dict[str, Any]]:
    """Join points to their nearest neighbours; see `grfpp.Graph.from_points`.

    Returns the weights, the names of the points, and the options that made the graph.

    Examples
    --------
    >>> matrix, names, meta = neighbour_graph([[0.0], [1.0], [3.0]], n_neighbors=1)
    >>> matrix.toarray().round(3)
    array([[0.   , 0.368, 0.   ],
           [0.368, 0.   , 0.135],
           [0.   , 0.135, 0.   ]])
    """
    from sklearn.neighbors import NearestNeighbors

    k = whole(n_neighbors, "n_neighbors", 1)
    one_of(method, "method", ("auto", "exact", "approximate"))
    one_of(symmetrize, "symmetrize", ("max", "mean", "sum", "mutual", None))
    random_state = whole(seed, "seed", 0)
    points = _points(X)
    n, n_dimensions = points.shape
    if k >= n:
        problem = f"must be below the number of points, {n}, found {k}"
        raise InputError(problem, argument="n_neighbors")
    if method == "auto":
        many = n > _MANY_POINTS and n_dimensions > _MANY_DIMENSIONS
        inexact = many and isinstance(metric, str) and not missing_packages("pynndescent")
        method = "approximate" if inexact else "exact"
    with input_errors(f"there are no neighbours with metric={metric!r}", ValueError, TypeError):
        if method == "exact":
            search = NearestNeighbors(n_neighbors=k, metric=metric).fit(points)
            distances, neighbours = search.kneighbors()  # of all points, without themselves
        else:
            distances, neighbours = _approximate(points, k, metric, random_state)
    if not np.isfinite(distances).all():
        raise InputError(f"distances by metric={metric!r} must be finite, found NaN or infinity")
    arcs = _affinities(np.maximum(distances, 0), neighbours)
    is_frame = hasattr(X, "index") and hasattr(X, "columns")
    names = X.index.tolist() if is_frame else None
    if names and names == list(range(n)):  # an index that only counts
        names = None
    title = metric if isinstance(metric, str) else repr(metric)
    meta = {"n_neighbors": k, "metric": title, "symmetrize": symmetrize, "method": method}
    meta["package"] = "scikit-learn" if method == "exact" else "pynndescent"
    matrix = arcs if symmetrize is None else symmetrized(arcs, symmetrize)
    return matrix, names, meta


def _points(X: Any) -> Any:
    from sklearn.utils import check_array

    try:
        points = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    except (ValueError, TypeError) as error:
        message = str(error).partition("\n")[0].rstrip(":")  # the array is below
        advice = "leave out points with NaN, or fill the gaps (sklearn.impute)"
        problem = f"must be points, a row each: {message}"
        raise InputError(problem, argument="X", advice=advice) from None
    values = points.data if sp.issparse(points) else points
    if not float(np.abs(values).max(initial=0)) < 1e150:
        raise InputError("distances leave the range of float64", advice="scale the points down")
    return points


def _approximate(points: Any, k: int, metric: Any, seed: int) -> tuple[FloatArray, IntArray]:
    package = require("pynndescent", "method='approximate'")
    search = package.NNDescent(points, metric=metric, n_neighbors=k + 1, random_state=seed)
    neighbours, distances = search.neighbor_graph
    if (neighbours < 0).any():
        raise InputError(f"pynndescent found fewer than {k} points", advice="use method='exact'")
    # A point is its own neighbour, unless copies of it come first: then the last one is dropped.
    others = neighbours != np.arange(len(neighbours))[:, np.newaxis]
    others[others.all(axis=1), -1] = False
    shape = (len(neighbours), k)
    return distances[others].reshape(shape).astype(np.float64), neighbours[others].reshape(shape)


def _affinities(distances: FloatArray, neighbours: IntArray) -> sp.csr_array:
    """``exp(-d² / (s_i s_j))``, where ``s_i`` is the distance to the last neighbour of ``i``.

    References
    ----------
    Zelnik-Manor and Perona, "Self-tuning spectral clustering", 2004.
    """
    n, k = distances.shape
    width = distances[:, -1].copy()
    # A point with as many copies as neighbours has width 0.
    width[width == 0] = np.median(width[width > 0]) if width.any() else 1.0
    with np.errstate(over="ignore", under="ignore"):
        ratio = (distances / width[:, np.newaxis]) * (distances / width[neighbours])
        weights = np.maximum(np.exp(-ratio), _MIN_AFFINITY)
    parts = (weights.ravel(), neighbours.ravel(), np.arange(0, n * k + 1, k))
    matrix = sp.csr_array(parts, shape=(n, n))
    matrix.sort_indices()
    return matrix


# --- warnings -------------------------------------------------------------------------------------


def neighbours_note(matrix: sp.csr_array) -> InputWarning | None:
    """A warning if a canonical matrix looks like a directed graph of nearest neighbours.

    Its out-degrees are all equal, but not its in-degrees (or the reverse, as in PyG).

    Examples
    --------
    >>> from sklearn.neighbors import kneighbors_graph
    >>> points = np.random.default_rng(0).normal(size=(100, 2))
    >>> str(neighbours_note(sp.csr_array(kneighbors_graph(points, 5))))[:45]
    'this looks like a directed graph of the 5 nea'
    """
    n, arcs = matrix.shape[0], sp.coo_array(matrix)
    other = arcs.row != arcs.col  # nodes may be among their own neighbours
    degrees = [np.bincount(nodes[other], minlength=n) for nodes in arcs.coords]
    constant = [int(degree[0]) for degree in degrees if (degree == degree[0]).all()]
    if n < _MIN_NODES_OF_NEIGHBOURS or len(constant) != 1 or not 2 <= constant[0] <= n / 2:
        return None
    problem = f"this looks like a directed graph of the {constant[0]} nearest neighbours of points"
    advice = "pass symmetrize='max', use Graph.from_points(X), or pass directed=True to keep it"
    return InputWarning(problem, advice=advice)
