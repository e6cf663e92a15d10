"""Pooled walks against the paper's: kernels, graphs, methods, and errors at equal cost."""

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp import datasets
from grfpp.estimate import KernelEstimate
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.kernels.registry import kernel_from_spec
from grfpp.linalg.functions import unit_columns
from grfpp.options import DEFAULT_LAWS
from grfpp.termination import termination_from_spec
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.experiments import measuring as graphs
from grfpp_lab.experiments.claims import Series
from grfpp_lab.experiments.measuring import Source, mean_and_error, pick, seeds
from grfpp_lab.graphs import grid, mesh_named, random_regular, scale_free, why_absent
from grfpp_lab.harness.experiment import Cell, Row, but


class Setting(NamedTuple):
    """A kernel as the command line writes it, and the scale of its weights."""

    kernel: str
    scale: float


FAST, MIDDLE, SLOW = "exp(W)", "exp(5 W)", "exp(20 W)"
INVERSE, SLOW_INVERSE = "(I − 0.8 W)^-2", "(I − 0.95 W)^-2"
KERNELS = {
    FAST: Setting("diffusion:1", 1.0),
    MIDDLE: Setting("diffusion:5", 1.0),
    SLOW: Setting("diffusion:20", 1.0),
    INVERSE: Setting("inverse-power:2", 0.8),
    SLOW_INVERSE: Setting("inverse-power:2", 0.95),
}


#: The paper's; walks of one row as a pool; and their mean with the transpose, the default.
INDEPENDENT, POOLED, AVERAGED = "independent", "pooled", "pooled, averaged"
#: The same with exact eigenvectors.
DEFLATED = "pooled, averaged, deflated"
#: Two that have no walks: polynomials, and the largest entries of each row of the kernel.
CHEBYSHEV, LARGEST = "Chebyshev", "largest entries"
#: Stitching degree of the claims: the library's default.
DEGREE = 2

_STYLES = {
    (INDEPENDENT, 2): (0, False),
    (POOLED, 2): (1, False),
    (POOLED, 4): (2, False),
    (POOLED, 8): (3, False),
    (AVERAGED, 2): (1, True),
    (AVERAGED, 8): (3, True),
    (DEFLATED, 4): (4, True),
    (DEFLATED, 8): (4, False),
    (CHEBYSHEV, None): (5, True),
    (LARGEST, None): (5, False),
}


def name_of(method: str, degree: int | None) -> str:
    """Its name in the legend."""
    return method if degree is None else f"{method}, degree {degree}"


def series(*wanted: tuple[str, int | None]) -> list[Series]:
    """The methods of a chart, by name and degree."""
    return [
        Series(
            name_of(method, degree), {"method": method, "degree": degree}, *_STYLES[method, degree]
        )
        for method, degree in wanted
    ]


#: Those that walk, of which charts show.
WALKED: tuple[tuple[str, int | None], ...] = (
    (INDEPENDENT, 2),
    (POOLED, 2),
    (AVERAGED, 2),
    (POOLED, 4),
    (POOLED, 8),
    (DEFLATED, 8),
)


#: About 10,000 vertices each, the second where there are no data.
MESH, SPHERE = "mesh 57084", "sphere 5"
CORA, SCALE_FREE, GRID = "Cora", "Barabási–Albert 2,000", "Grid 100 × 100"
LARGE_SCALE_FREE, LARGE_REGULAR = "Scale-free 100,000", "10-regular 100,000"
NEIGHBOURS, DENSE = "kNN 1,500, Gaussian", "Dense 800, Gaussian"
RANDOM = "ER(1,000, 0.01)"
#: What is added to the name of a graph whose edges get random weights.
LOG_NORMAL = ", log-normal"
#: Of the logarithms of such weights.
SIGMA = 1.5
#: Of the graph of nearest neighbours, of the points, and of their Gaussian weights.
N_NEIGHBOURS, N_DIMENSIONS, WIDTH = 10, 5, 0.3


def _points(n: int) -> FloatArray:
    return np.random.default_rng(0).standard_normal((n, N_DIMENSIONS))


def nearest_neighbours(n: int = 1500) -> Graph:
    """Gaussian points joined to their ten nearest, with weights ``exp(−(d / 0.3)²)``."""
    from sklearn.neighbors import kneighbors_graph

    distances = kneighbors_graph(_points(n), N_NEIGHBOURS, mode="distance")
    distances = sp.csr_array(distances.maximum(distances.T))
    distances.data = np.exp(-((distances.data / WIDTH) ** 2))
    return Graph(distances)


def dense(n: int = 800) -> Graph:
    """Gaussian points, every two joined with the weight ``exp(−d² / 0.5)``."""
    from scipy.spatial.distance import pdist, squareform

    return Graph(squareform(np.exp(-pdist(_points(n), "sqeuclidean") / 0.5)))


def log_normal(graph: Graph, sigma: float = SIGMA) -> Graph:
    """The same edges with weights ``exp(σ x)``, `x` standard normal, the same both ways."""
    half = sp.triu(graph.adjacency, format="csr")
    half.data = np.exp(sigma * np.random.default_rng(0).standard_normal(half.nnz))
    return Graph(half + half.T)


def _barabasi_albert() -> Graph:
    import networkx as nx

    return Graph(nx.barabasi_albert_graph(2000, 5, seed=0))


def _cora() -> Graph:
    return datasets.load_graph("cora", download=False).graph


_SOURCES: dict[str, Source] = {
    SCALE_FREE: Source(SCALE_FREE, 2000, _barabasi_albert),
    CORA: Source(CORA, 2485, _cora),
    GRID: Source(GRID, 10_000, lambda: grid(10_000)),
    MESH: Source(MESH, 9603, lambda: mesh_named(MESH).graph),
    SPHERE: Source(SPHERE, 10_242, lambda: mesh_named(SPHERE).graph),
    LARGE_SCALE_FREE: Source(LARGE_SCALE_FREE, 100_000, lambda: scale_free(100_000)),
    LARGE_REGULAR: Source(LARGE_REGULAR, 100_000, lambda: random_regular(100_000)),
    NEIGHBOURS: Source(NEIGHBOURS, 1500, nearest_neighbours),
    DENSE: Source(DENSE, 800, dense),
    RANDOM: Source(RANDOM, 1000, lambda: datasets.erdos_renyi(1000, 0.01)),
}


@lru_cache(maxsize=1)
def load(name: str) -> Graph:
    """Read or make a graph; kept for the next cell."""
    base = name.removesuffix(LOG_NORMAL)
    if base != name:
        return log_normal(load(base))
    return _SOURCES[name].load() if name in _SOURCES else graphs.load(name)


def n_nodes_of(name: str) -> int:
    """Approximate number of nodes of a graph, without reading it."""
    base = name.removesuffix(LOG_NORMAL)
    return _SOURCES[base].n_nodes if base in _SOURCES else graphs.n_nodes_of(base)


def title_of(name: str) -> str:
    """The title of a graph."""
    base = name.removesuffix(LOG_NORMAL)
    return graphs.title_of(base) + name[len(base) :]


def why_not(name: str) -> str | None:
    """Why a graph cannot be had without a download, or ``None`` when it can."""
    base = name.removesuffix(LOG_NORMAL)
    if base == MESH:
        return why_absent(base.removeprefix("mesh "))
    if base == CORA:
        return graphs.why_absent(base, load)
    return None if base in _SOURCES else graphs.why_absent(base)


#: Of the products that errors are measured against, relative to the largest value of the kernel.
_EXACT = 1e-13
_TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)


class Truth(NamedTuple):
    """Some columns of the kernel, or all."""

    nodes: IntArray
    #: Unit vectors of these nodes, and the kernel times them.
    units: FloatArray
    exact: FloatArray

    def errors(self, found: FloatArray) -> tuple[float, float]:
        """``‖K̂ − K‖_F / ‖K‖_F`` over these columns, with and without the diagonal."""
        return _relative(found - self.exact, self.exact), _relative(
            self._off(found - self.exact), self._off(self.exact)
        )

    def _off(self, columns: FloatArray) -> FloatArray:
        return np.where(self.units == 0, columns, 0.0)


def _relative(difference: FloatArray, exact: FloatArray) -> float:
    return float(np.linalg.norm(difference) / np.linalg.norm(exact))


@lru_cache(maxsize=1)
def weights(graph: str, scale: float) -> Graph:
    """``scale · D^-1/2 A D^-1/2``; kept for the next cell."""
    return load(graph).normalized("sym", scale)


@lru_cache(maxsize=1)
def truth(graph: str, scale: float, kernel: str, n_columns: int) -> Truth:
    """Columns of the kernel at nodes drawn uniformly; kept for the next cell."""
    W = weights(graph, scale)
    n = W.n_nodes
    nodes = np.sort(np.random.default_rng(0).permutation(n)[:n_columns])
    units = unit_columns(n, nodes)
    return Truth(nodes, units, kernel_from_spec(kernel).apply(W, units, tol=_EXACT))


def rows_of(cell: Cell) -> list[Row]:
    """The rows of a cell."""
    run: Callable[[Cell], list[Row]] = {CHEBYSHEV: _polynomials, LARGEST: _largest}.get(
        cell["method"], _walked
    )
    return run(cell)


def _parts(cell: Cell) -> tuple[Graph, Kernel, Truth]:
    W = weights(cell["graph"], cell["scale"])
    known = truth(*(cell[name] for name in ("graph", "scale", "kernel", "columns")))
    return W, kernel_from_spec(cell["kernel"]), known


def _row(cell: Cell, truth: Truth, **numbers: Any) -> Row:
    return {
        "graph": cell["graph"],
        "n_nodes": len(truth.units),
        "columns": len(truth.nodes),
        "kernel": cell["name"],
        **pick(cell, "method", "degree"),
        **numbers,
    }


# --- walks ----------------------------------------------------------------------------------------


def _walked(cell: Cell) -> list[Row]:
    """A row for every budget; pooled walks have a second one, averaged."""
    W, kernel, known = _parts(cell)
    _sample(cell, W, kernel, 1, 0)  # what is computed once for a graph and a kernel
    rows: list[Row] = []
    for budget in cell["budgets"]:
        n_walks = round(budget / (2 * cell["degree"] * _mean_length(cell)))
        found: dict[str, list[tuple[float, float]]] = {}
        seconds, entries, steps = np.inf, 0.0, 0.0
        for seed in seeds(cell["repeats"], **but(cell, "repeats", "budgets"), budget=budget):
            began = perf_counter()
            K = _sample(cell, W, kernel, n_walks, seed)
            seconds = min(seconds, perf_counter() - began)
            entries, steps = _entries(K), K.meta["steps_per_node"]
            for method, columns in _columns(cell["method"], K, known.units).items():
                found.setdefault(method, []).append(known.errors(columns))
        rows += [
            {
                **_row(cell, known, budget=budget, steps_per_node=steps, entries=entries),
                "method": method,
                **_error_columns(errors),
                "seconds": seconds,
            }
            for method, errors in found.items()
        ]
    return rows


def _mean_length(cell: Cell) -> float:
    if cell["method"] == INDEPENDENT:
        return termination_from_spec(cell["termination"]).mean
    return DEFAULT_LAWS["pooled"].mean


def _sample(cell: Cell, W: Graph, kernel: Kernel, n_walks: int, seed: int) -> KernelEstimate:
    options: dict[str, Any] = {"symmetrize": False}
    if cell["method"] == INDEPENDENT:
        options = {"walks": INDEPENDENT, "termination": cell["termination"]}
    elif cell["method"] == DEFLATED:
        options = {"deflate": cell["vectors"]}
    # What `sample` warns of is measured here.
    options |= {"on_infinite_variance": "ignore", "check_error": False, "n_jobs": 1}
    return sample(W, kernel, cell["degree"], n_walks, seed=seed, **options)


def _columns(method: str, K: KernelEstimate, units: FloatArray) -> dict[str, FloatArray]:
    """The columns that the errors are measured at, for the method and for what comes with it."""
    found = K @ units
    if method != POOLED:
        return {method: found}
    return {POOLED: found, AVERAGED: (found + K.T @ units) / 2}


def _entries(K: KernelEstimate) -> float:
    """Stored numbers a node: of all factors, and of eigenvectors."""
    stored = sum(factor.nnz for pair in K.factors for factor in pair)
    return float(stored / K.n_nodes + K.meta["deflate"])


def _error_columns(errors: list[tuple[float, float]]) -> dict[str, float]:
    whole, off = ([each[part] for each in errors] for part in (0, 1))
    error, standard_error = mean_and_error(whole)
    off_error, off_standard_error = mean_and_error(off)
    return {
        "repeats": len(errors),
        "error": error,
        "standard_error": standard_error,
        "off_error": off_error,
        "off_standard_error": off_standard_error,
    }


# --- without walks --------------------------------------------------------------------------------


def _polynomials(cell: Cell) -> list[Row]:
    """Chebyshev polynomials, whose tolerance falls: seconds for all columns, measured on some."""
    W, kernel, known = _parts(cell)
    share = len(known.nodes) / W.n_nodes
    rows, seconds = [], []
    kernel.apply(W, known.units[:, :1], tol=_TOLERANCES[0])
    for tol in _TOLERANCES:
        began = perf_counter()
        found = kernel.apply(W, known.units, tol=tol)
        seconds.append((perf_counter() - began) / share)
        rows.append({**_row(cell, known, tol=tol), **_error_columns([known.errors(found)])})
    # What is enough for a small tolerance is enough for a larger one, whatever the clock says.
    least = np.minimum.accumulate(seconds[::-1])[::-1]
    return [{**row, "seconds": taken} for row, taken in zip(rows, least, strict=True)]


def _largest(cell: Cell) -> list[Row]:
    """The exact kernel with only the largest entries of each row."""
    _, _, known = _parts(cell)
    n = len(known.exact)
    descending = np.argsort(-np.abs(known.exact), axis=0)
    rows: list[Row] = []
    for entries in sorted({min(n, entries) for entries in cell["entries"]}):
        dropped, kept = descending[entries:], known.exact.copy()
        np.put_along_axis(kept, dropped, 0.0, axis=0)
        errors = _error_columns([known.errors(kept)])
        rows.append({**_row(cell, known, entries=entries), **errors, "seconds": None})
    return rows
