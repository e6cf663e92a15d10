"""Exact rows of kernels on undirected graphs, and how many of the nearest nodes are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.functions import chebyshev
from grfpp.linalg.functions.recurrence import add_scaled, chebyshev_step
from grfpp.typing import FloatArray, IntArray

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
    # The longest is added up by the steps of the recurrence themselves, the others beside them.
    order = sorted(range(len(kernels)), key=lambda place: -len(series[place]))
    width = max(_LINE, min(_WIDE, _BLOCK // max(1, graph.n_nodes)))
    for start in range(0, len(nodes), width):
        some = nodes[start : start + width]
        columns = _columns(matrix, [series[place] for place in order], some)
        for number, node in enumerate(some):
            rows = [columns[order.index(place)][:, number] for place in range(len(kernels))]
            yield [
                row * root / root[node] if kernel.normalization == "rw" and root[node] else row
                for kernel, row in zip(kernels, rows, strict=True)
            ]


def _columns(matrix: Any, series: Sequence[FloatArray], nodes: IntArray) -> list[FloatArray]:
    """``Σ c_j T_j(matrix)[:, nodes]`` of each series; the first is the longest."""
    previous = np.zeros((matrix.shape[0], len(nodes)))
    previous[nodes, np.arange(len(nodes))] = 1.0
    results = [c[0] * previous for c in series]
    current = matrix @ previous
    for j in range(1, len(series[0])):
        if j > 1:
            chebyshev_step(matrix, current, previous, results[0], 2.0, series[0][j])
            previous, current = current, previous
        for place, c in enumerate(series):
            if j < len(c) and (place or j == 1):
                add_scaled(results[place], current, np.full(len(nodes), c[j]))
    return results


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
