"""Points -> the graph of their nearest neighbours, with affinities for weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp.arguments import one_of, whole
from grfpp.errors import InputError
from grfpp.imports.optional import missing_packages, require
from grfpp.linalg.symmetrize import Symmetrize, symmetrized
from grfpp.typing import FloatArray, IntArray

Method = Literal["auto", "exact", "approximate"]

#: Beyond so many points of so many dimensions, where trees are no help, a search may be inexact.
_MANY_POINTS, _MANY_DIMENSIONS = 50_000, 15
#: No edge between neighbours is weaker, however far an outlier is: it would be lost in rounding.
_LEAST_AFFINITY = 1e-12


class Neighbours(NamedTuple):
    """The graph of some points, and how it was made."""

    matrix: sp.csr_array
    names: Sequence[Any] | None
    meta: dict[str, Any]


def neighbour_graph(
    X: Any,
    n_neighbors: int = 10,
    metric: str | Callable[..., float] = "euclidean",
    *,
    symmetrize: Symmetrize | None = "max",
    method: Method = "auto",
    seed: int = 0,
) -> Neighbours:
    """Join points to their nearest neighbours; see `grfpp.Graph.from_points`.

    Examples
    --------
    >>> graph = neighbour_graph([[0.0], [1.0], [3.0]], n_neighbors=1)
    >>> graph.matrix.toarray().round(3)
    array([[0.   , 0.368, 0.   ],
           [0.368, 0.   , 0.135],
           [0.   , 0.135, 0.   ]])
    """
    k = whole(n_neighbors, "n_neighbors", 1)
    one_of(method, "method", ("auto", "exact", "approximate"))
    one_of(symmetrize, "symmetrize", ("max", "mean", "sum", "mutual", None))
    random_state = whole(seed, "seed", 0)
    points = _points(X)
    values = points.data if sp.issparse(points) else points
    if not 0 <= float(np.abs(values).max(initial=0)) < 1e150:
        raise InputError("distances leave the range of floating point; scale the points down")
    n, n_dimensions = points.shape
    if k >= n:
        raise InputError(
            f"must be below the number of points, {n}, found {k}", argument="n_neighbors"
        )
    if method == "auto":
        many = n > _MANY_POINTS and n_dimensions > _MANY_DIMENSIONS
        inexact = many and isinstance(metric, str) and not missing_packages("pynndescent")
        method = "approximate" if inexact else "exact"
    if method == "exact":
        distances, neighbours = _exact(points, k, metric)
        package = "scikit-learn"
    else:
        distances, neighbours = _approximate(points, k, metric, random_state)
        package = "pynndescent"
    if not np.isfinite(distances).all():
        raise InputError(f"distances by metric={metric!r} must be finite, found NaN or infinity")
    arcs = _affinities(np.maximum(distances, 0), neighbours)
    meta = {
        "n_neighbors": k,
        "metric": metric if isinstance(metric, str) else repr(metric),
        "symmetrize": symmetrize,
        "method": method,
        "package": package,
    }
    return Neighbours(
        arcs if symmetrize is None else symmetrized(arcs, symmetrize), _row_names(X), meta
    )


def _points(X: Any) -> Any:
    from sklearn.utils import check_array

    try:
        points = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    except (ValueError, TypeError) as error:
        told = str(error).partition("\n")[0].rstrip(":")  # the array is below
        raise InputError(f"X must be points, a row each: {told}") from None
    values = points.data if sp.issparse(points) else points
    if not np.isfinite(values).all():
        wrong = sp.coo_array(points) if sp.issparse(points) else None
        place = np.argwhere(~np.isfinite(values))[0]
        row = int(wrong.row[place[0]]) if wrong is not None else int(place[0])
        raise InputError(
            f"X must be finite, found NaN or infinity in row {row}; leave out such points, or fill "
            "the gaps (sklearn.impute)"
        )
    return points


def _row_names(X: Any) -> Sequence[Any] | None:
    """The index of a data frame, unless it only counts."""
    if not (hasattr(X, "index") and hasattr(X, "columns")):
        return None
    names: list[Any] = X.index.tolist()
    return None if names == list(range(len(names))) else names


def _exact(points: Any, k: int, metric: Any) -> tuple[FloatArray, IntArray]:
    from sklearn.neighbors import NearestNeighbors

    try:
        search = NearestNeighbors(n_neighbors=k, metric=metric).fit(points)
        found: tuple[FloatArray, IntArray] = search.kneighbors()  # of all, without themselves
    except (ValueError, TypeError) as error:
        raise InputError(f"there are no neighbours with metric={metric!r}: {error}") from None
    return found


def _approximate(points: Any, k: int, metric: Any, seed: int) -> tuple[FloatArray, IntArray]:
    package = require("pynndescent", "method='approximate'")
    try:
        search = package.NNDescent(points, metric=metric, n_neighbors=k + 1, random_state=seed)
        neighbours, distances = search.neighbor_graph
    except (ValueError, TypeError) as error:
        raise InputError(f"there are no neighbours with metric={metric!r}: {error}") from None
    if (neighbours < 0).any():
        raise InputError(
            f"pynndescent found fewer than {k} neighbours of some points; use method='exact'"
        )
    # A point is among its own neighbours, unless copies of it come first: then the last one goes.
    others = neighbours != np.arange(len(neighbours))[:, np.newaxis]
    others[others.all(axis=1), -1] = False
    shape = (len(neighbours), k)
    return distances[others].reshape(shape).astype(np.float64), neighbours[others].reshape(shape)


def _affinities(distances: FloatArray, neighbours: IntArray) -> sp.csr_array:
    """``exp(-d² / (s_i s_j))``, where ``s_i`` is how far the last neighbour of ``i`` is."""
    n, k = distances.shape
    width = distances[:, -1].copy()
    # A point with as many copies as neighbours has no width of its own.
    width[width == 0] = np.median(width[width > 0]) if width.any() else 1.0
    with np.errstate(over="ignore", under="ignore"):
        ratio = (distances / width[:, np.newaxis]) * (distances / width[neighbours])
        weights = np.maximum(np.exp(-ratio), _LEAST_AFFINITY)
    matrix = sp.csr_array(
        (weights.ravel(), neighbours.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )
    matrix.sort_indices()
    return matrix
