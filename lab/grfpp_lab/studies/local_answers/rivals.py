"""What LocalKernel is compared with: push methods, exact rows, Chebyshev on sparse vectors."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._parallel import thread_count
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg import chebyshev
from grfpp.linalg.csr import CsrProduct
from grfpp.linalg.functions import unit_columns
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.benchmark.uses import sparse_terms

Peer = Callable[[int], IntArray]


def largest(values: FloatArray, k: int) -> IntArray:
    """Indices of the `k` largest values, unordered."""
    if len(values) <= k:
        return np.arange(len(values))
    return np.asarray(np.argpartition(values, len(values) - k)[-k:])


def sparse_taylor(W: Graph, n_terms: int = 4, k: int = 10) -> Peer:
    """``Σ W^j/j!`` on a sparse unit vector by scipy, up to degree `n_terms`."""
    weights, n = W.adjacency, W.n_nodes

    def nearest(node: int) -> IntArray:
        term = sp.csr_array(([1.0], [node], [0, 1]), shape=(1, n))
        total = term
        for j in range(1, n_terms + 1):
            term = (term @ weights) / j
            total = total + term
        return np.asarray(total.indices[largest(total.data, k)])

    return nearest


def applied(W: Graph, kernel: Kernel, k: int = 10) -> Peer:
    """`kernel.apply` on a unit vector; for symmetric weights."""

    def nearest(node: int) -> IntArray:
        return largest(kernel.apply(W, unit_columns(W.n_nodes, np.array([node]))[:, 0]), k)

    return nearest


def scikit_network(graph: Graph, alpha: float, k: int = 10) -> Peer:
    """`sknetwork.ranking.PageRank`: power iteration, 10 steps."""
    ranking = import_module("sknetwork.ranking").PageRank(damping_factor=1 - alpha)
    adjacency = sp.csr_matrix(graph.adjacency)

    def nearest(node: int) -> IntArray:
        return largest(ranking.fit_predict(adjacency, weights={node: 1.0}), k)

    return nearest


def bare_steps(graph: Graph, alpha: float, n_steps: int = 10, k: int = 10) -> Peer:
    """The same steps with the matrix made once: what is left of it is ten products."""
    steps = (sp.csr_matrix(graph.normalized("rw").adjacency).T * (1 - alpha)).tocsr()

    def nearest(node: int) -> IntArray:
        scores = np.zeros(graph.n_nodes)
        scores[node] = 1.0
        for _ in range(n_steps):
            scores = steps @ scores
            scores[node] += alpha
        return largest(scores, k)

    return nearest


def networkx(graph: Graph, alpha: float, k: int = 10) -> Peer:
    """`networkx.pagerank`."""
    nx = import_module("networkx")
    network = nx.from_scipy_sparse_array(graph.adjacency)

    def nearest(node: int) -> IntArray:
        ranks = nx.pagerank(network, alpha=1 - alpha, personalization={node: 1})
        return largest(np.fromiter(ranks.values(), float, graph.n_nodes), k)

    return nearest


def igraph(graph: Graph, alpha: float, k: int = 10) -> Peer | None:
    """`igraph.Graph.personalized_pagerank`, by PRPACK; ``None`` where igraph is not installed."""
    if find_spec("igraph") is None:
        return None
    upper: Any = sp.triu(graph.adjacency).tocoo()
    ends: npt.NDArray[np.int64] = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    network = import_module("igraph").Graph(graph.n_nodes, ends)

    def nearest(node: int) -> IntArray:
        ranks = network.personalized_pagerank(damping=1 - alpha, reset_vertices=[node])
        return largest(np.asarray(ranks), k)

    return nearest


#: Values that differ by less than this share are the same: neither is right before the other.
SAME = 1e-12
#: Of the largest value of the kernel: what Chebyshev's polynomials leave out.
_TOLERANCE = 1e-14
#: Numbers of a block of rows. A line of the cache holds eight: more at a time gain little.
_BLOCK, _WIDE, _LINE = 1 << 25, 32, 8


def exact_rows(
    graph: Graph, kernels: Sequence[Kernel], nodes: IntArray
) -> Iterator[list[FloatArray]]:
    """The rows of a node under several kernels, to rounding, for one node after the other.

    Each kernel is that of the normalisation that it is meant for. All come from one recurrence, of
    Chebyshev polynomials of the symmetric normalisation ``S``: the random-walk matrix is
    ``D^-1/2 S D^1/2``, and so is every function of it.

    Parameters
    ----------
    graph
        Undirected, without normalisation.
    """
    matrix = graph.normalized("sym").adjacency
    plain = graph.scaled.base is None
    root = np.sqrt(graph.out_degree if plain else graph.adjacency.sum(axis=1))
    series = [chebyshev.coefficients_of(kernel.value, 1.0, _TOLERANCE) for kernel in kernels]
    table = np.zeros((len(kernels), max(map(len, series))))
    for row, c in zip(table, series, strict=True):
        row[: len(c)] = c
    width = max(_LINE, min(_WIDE, _BLOCK // max(1, graph.n_nodes)))
    for start in range(0, len(nodes), width):
        some = nodes[start : start + width]
        units = unit_columns(graph.n_nodes, some)
        columns = chebyshev.combinations(CsrProduct(matrix), 1.0, table, units)
        for number, node in enumerate(some):
            yield [
                row * root / root[node] if kernel.normalization == "rw" and root[node] else row
                for kernel, row in zip(kernels, columns[:, :, number], strict=True)
            ]


def precision(found: npt.ArrayLike, exact: FloatArray, k: int = 10) -> float:
    """The share of the `k` nearest nodes that were found, ties counted for whichever was found.

    Parameters
    ----------
    found
        The nodes that were given as nearest; -1 for none.
    exact
        The exact row. Where it has fewer than `k` positive values, these are all there is to find.

    Examples
    --------
    >>> row = np.array([5.0, 3.0, 2.0, 2.0, 0.0])
    >>> precision([0, 1, 3], row, k=3), precision([0, 1, 4], row, k=3), precision([0, -1], row[4:])
    (1.0, 0.667, 1.0)
    """
    k = min(k, int(np.count_nonzero(exact > 0)))
    if k == 0:
        return 1.0
    given = np.asarray(found)
    given = np.unique(given[given >= 0])
    least = np.partition(exact, -k)[-k]
    return min(k, int(np.count_nonzero(exact[given] >= least * (1 - SAME)))) / k


#: Rows of the plain form that a thread computes at a time: neighbourhoods may be the whole graph.
_ROWS = 64


def coefficients(W: Graph, kernel: Kernel, degree: int) -> FloatArray:
    """Those of the kernel's Chebyshev series on the spectrum of ``W``, up to a degree."""
    return chebyshev.coefficients_of(kernel.value, W.spectral_radius(), 1e-15)[: degree + 1]


def plain(W: Graph, c: FloatArray, nodes: IntArray) -> FloatArray:
    """``Σ c_j T_j(W)[nodes, nodes]``, every term by the recurrence."""

    def some_rows(part: IntArray) -> FloatArray:
        block = np.zeros((len(part), len(nodes)))
        for coefficient, rows in zip(c, sparse_terms(W, part), strict=False):
            block += coefficient * rows[:, nodes].toarray()
        return block

    return np.vstack(_in_threads(some_rows, _parts(nodes, _ROWS)))


def doubled(W: Graph, c: FloatArray, nodes: IntArray) -> FloatArray:
    """The same from terms of half the degree."""
    degree = len(c) - 1
    if degree < 2:
        return plain(W, c, nodes)
    half = degree // 2
    parts = _parts(nodes, len(nodes))
    terms = _in_threads(lambda part: list(islice(sparse_terms(W, part), half + 1)), parts)
    if degree % 2:
        # Of the term beyond the half only columns are needed where the half itself is.
        there = np.unique(np.concatenate([rows[half].indices for rows in terms]))
        arriving = W.adjacency[:, there] / W.spectral_radius()

    def some_rows(rows: Sequence[sp.csr_array]) -> FloatArray:
        block: FloatArray = c[0] * _at(rows[0], nodes) + c[1] * _at(rows[1], nodes)
        for j in range(2, degree + 1):
            if j == degree and degree % 2:
                beyond = 2 * (rows[half] @ arriving) - rows[half - 1][:, there]
                product = beyond @ columns[half][there]
            else:
                product = rows[(j + 1) // 2] @ columns[j // 2]
            block += c[j] * (2 * product.toarray() - _at(rows[j % 2], nodes))
        return block

    columns = [sp.vstack([rows[j] for rows in terms]).T.tocsr() for j in range(half + 1)]
    return np.vstack(_in_threads(some_rows, terms))


#: Both, by name.
FORMS: dict[str, Callable[[Graph, FloatArray, IntArray], FloatArray]] = {
    "plain": plain,
    "doubled": doubled,
}


def held_entries(W: Graph, nodes: IntArray, degree: int) -> float:
    """About how many entries the vectors of the doubled form have, from a few of them."""
    few = nodes[:: max(1, len(nodes) // 16)]
    rows = next(islice(sparse_terms(W, few), degree // 2, None))
    return float(rows.nnz / len(few) * len(nodes))


def _at(rows: sp.csr_array, nodes: IntArray) -> FloatArray:
    return np.asarray(rows[:, nodes].toarray())


def _parts(nodes: IntArray, most: int) -> list[IntArray]:
    """At least one part for each thread, of at most `most` nodes each."""
    count = max(thread_count(-1), -(-len(nodes) // most))
    return np.array_split(nodes, min(count, len(nodes)))


def _in_threads(work: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    with ThreadPoolExecutor(thread_count(-1)) as threads:
        return list(threads.map(work, parts))
