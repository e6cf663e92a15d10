"""``K[S, S]`` by Chebyshev polynomials on sparse unit vectors: the rival of two-sided pools.

Nothing is dropped: vectors are as sparse as the neighbourhoods that they have spread over. Two
forms are there, and both run on as many threads as there are cores. The *plain* one makes
``T_j(W)[S, :]`` for all ``j`` up to the degree and reads columns ``S`` off. The *doubled* one makes
them up to half the degree only: ``T_{i+j} = 2 T_i T_j − T_{i−j}``, so that ``T_{2j}[S, S]`` and
``T_{2j+1}[S, S]`` are products of sparse rows, which spread half as far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.functions import chebyshev
from grfpp.parallel import thread_count
from grfpp.typing import FloatArray, IntArray

#: Rows of the plain form that a thread has in hand: neighbourhoods may be the whole graph.
_ROWS = 64


def coefficients(W: Graph, kernel: Kernel, degree: int) -> FloatArray:
    """Those of the kernel's Chebyshev series on the spectrum of ``W``, up to a degree."""
    found = chebyshev.coefficients_of(kernel.value, W.spectral_radius(), 1e-15)
    return found[: degree + 1]


def plain(W: Graph, c: FloatArray, nodes: IntArray) -> FloatArray:
    """``Σ c_j T_j(W)[nodes, nodes]``, every term by the recurrence."""
    scaled = _scaled(W)

    def some_rows(part: IntArray) -> FloatArray:
        block = np.zeros((len(part), len(nodes)))
        for coefficient, rows in zip(c, _terms(scaled, part), strict=False):
            block += coefficient * rows[:, nodes].toarray()
        return block

    return np.vstack(_in_threads(some_rows, _parts(nodes, _ROWS)))


def doubled(W: Graph, c: FloatArray, nodes: IntArray) -> FloatArray:
    """The same from terms of half the degree."""
    degree = len(c) - 1
    if degree < 2:
        return plain(W, c, nodes)
    scaled, half = _scaled(W), degree // 2
    parts = _parts(nodes, len(nodes))
    terms = _in_threads(lambda part: list(islice(_terms(scaled, part), half + 1)), parts)
    if degree % 2:
        # Of the term beyond the half only columns are needed where the half itself is.
        there = np.unique(np.concatenate([rows[half].indices for rows in terms]))
        arriving = scaled[:, there]

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
    rows = next(islice(_terms(_scaled(W), few), degree // 2, None))
    return float(rows.nnz / len(few) * len(nodes))


def _scaled(W: Graph) -> sp.csr_array:
    radius = W.spectral_radius()
    return W.adjacency if radius == 1 else W.adjacency * (1 / radius)


def _terms(scaled: sp.csr_array, nodes: IntArray) -> Iterator[sp.csr_array]:
    """``T_0[nodes, :]``, ``T_1[nodes, :]``, …, sparse."""
    n = len(nodes)
    previous = sp.csr_array((np.ones(n), nodes, np.arange(n + 1)), shape=(n, scaled.shape[0]))
    yield previous
    current = previous @ scaled
    yield current
    while True:
        previous, current = current, 2 * (current @ scaled) - previous
        yield current


def _at(rows: sp.csr_array, nodes: IntArray) -> FloatArray:
    return np.asarray(rows[:, nodes].toarray())


def _parts(nodes: IntArray, most: int) -> list[IntArray]:
    """At least one part for each thread, of at most so many nodes each."""
    count = max(thread_count(-1), -(-len(nodes) // most))
    return np.array_split(nodes, min(count, len(nodes)))


def _in_threads(work: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    with ThreadPoolExecutor(thread_count(-1)) as threads:
        return list(threads.map(work, parts))
