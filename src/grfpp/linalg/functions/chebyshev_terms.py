"""Chebyshev polynomials ``T_k(W / ρ)`` of a symmetric matrix, one recurrence for many combinations.

A kernel with a parameter is ``Σ c_k(λ) T_k(W / ρ)``: the terms do not depend on λ, so that those
that are made once serve all λ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import uint32

from grfpp.linalg.compiled import compiled
from grfpp.linalg.functions.chebyshev import MARGIN
from grfpp.linalg.functions.shared import WeightMatrix
from grfpp.linalg.notice import announce_compilation
from grfpp.memory import require_bytes
from grfpp.parallel import Result, in_order, thread_count
from grfpp.typing import FloatArray, IntArray

announce_compilation()

#: Columns that are multiplied together: two blocks of them for 20,000 nodes fit into the cache.
_WIDTH = 32
#: Numbers of terms that are kept until they are combined by one dense product.
_KEPT = 1 << 18

Start = Callable[[range], FloatArray]


class ChebyshevTerms:
    """The polynomials ``T_0, T_1, …`` of ``W / ρ``, ``ρ`` the spectral radius.

    Parameters
    ----------
    graph
        Undirected.
    n_jobs
        Threads; they share the columns, so that their number changes no bit of entries and
        products.
    radius
        A bound of the spectral radius that is known, to be taken for ``ρ``.

    Examples
    --------
    >>> from grfpp import Graph
    >>> terms = ChebyshevTerms(Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]).normalized("sym"))
    >>> nodes = np.array([0, 1])
    >>> terms.entries(np.eye(3), nodes, nodes).round(6)[2] + 0.0     # 2 W² - I
    array([[0., 0.],
           [0., 1.]])
    >>> terms.diagonals(np.eye(3), nodes).round(6)[2] + 0.0
    array([0., 1.])
    """

    def __init__(self, graph: WeightMatrix, n_jobs: int = -1, radius: float | None = None) -> None:
        self.graph = graph
        self.n_threads = thread_count(n_jobs)
        # A graph without edges is 0 on any interval.
        self.radius = radius or graph.spectral_radius() * (1 + MARGIN) or 1.0
        weights = graph.adjacency
        self._arrays = (weights.indptr, weights.indices, weights.data)

    def entries(self, coefficients: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """``Σ_k c[j, k] T_k`` between nodes, of shape ``(len(c), len(rows), len(columns))``."""
        if len(rows) < len(columns):  # they are symmetric
            turned = self.entries(coefficients, columns, rows)
            return turned.transpose(0, 2, 1)
        return self._at(coefficients, rows, self._units(columns), len(columns))

    def _at(
        self, coefficients: FloatArray, rows: IntArray, start: Start, n_columns: int
    ) -> FloatArray:
        """Combinations of terms at some nodes, for columns that `start` gives block by block."""
        n_polynomials, n_terms = coefficients.shape
        shape = (n_polynomials, len(rows), n_columns)
        self._require(math.prod(shape), f"{len(rows)} x {n_columns} entries of a kernel")
        found = np.zeros(shape)

        def combine(part: range) -> None:
            n_kept = max(1, min(n_terms, _KEPT // max(1, len(rows) * len(part))))
            kept = np.empty((n_kept, len(rows), len(part)))
            mine = np.zeros((n_polynomials, len(rows), len(part)))
            for k, term in enumerate(self._terms(start(part), n_terms)):
                place = k % n_kept
                np.take(term, rows, axis=0, out=kept[place])
                if place == n_kept - 1 or k == n_terms - 1:
                    _mix(mine, coefficients[:, k - place : k + 1], kept)
            found[:, :, part.start : part.stop] = mine

        def add_up(part: range) -> None:
            total = self._combined(coefficients[0], start(part))
            np.take(total, rows, axis=0, out=found[0, :, part.start : part.stop])

        self._over(n_columns, combine if n_polynomials > 1 else add_up)
        return found

    def diagonals(self, coefficients: FloatArray, nodes: IntArray) -> FloatArray:
        """Entries of ``Σ_k c[j, k] T_k`` on the diagonal, of shape ``(len(c), len(nodes))``.

        From half as many products: ``T_2k = 2 T_k² − I`` and ``T_2k+1 = 2 T_k+1 T_k − T_1``.
        """
        n_terms = coefficients.shape[1]
        found = np.empty((len(coefficients), len(nodes)))
        loops = self.graph.adjacency.diagonal()[nodes] / self.radius

        def square(part: range) -> None:
            traces = np.zeros((n_terms + 2, len(part)))
            previous = np.zeros((self.graph.n_nodes, len(part)))
            for k, term in enumerate(self._terms(self._units(nodes)(part), n_terms // 2 + 1)):
                _squares(term, previous, traces[2 * k], traces[max(0, 2 * k - 1)])
                traces[2 * k] = 2 * traces[2 * k] - 1
                if k:
                    here = loops[part.start : part.stop]
                    traces[2 * k - 1] = 2 * traces[2 * k - 1] - here
                previous[:] = term
            found[:, part.start : part.stop] = coefficients @ traces[:n_terms]

        self._over(len(nodes), square)
        return found

    def product(self, coefficients: FloatArray, vectors: FloatArray) -> FloatArray:
        """``Σ_k c[k] T_k @ vectors``."""
        self._require(2 * vectors.size, f"a product with {vectors.shape[1]} columns")
        found = np.empty(vectors.shape)

        start = _columns_of(vectors)

        def combine(part: range) -> None:
            found[:, part.start : part.stop] = self._combined(coefficients, start(part))

        self._over(vectors.shape[1], combine)
        return found

    def products(
        self, coefficients: FloatArray, vectors: FloatArray, rows: IntArray | None = None
    ) -> FloatArray:
        """``Σ_k c[j, k] T_k @ vectors`` for every ``j``, at all nodes or some.

        Of shape ``(len(c), n, vectors.shape[1])`` for ``n`` nodes.
        """
        if rows is not None:
            return self._at(coefficients, rows, _columns_of(vectors), vectors.shape[1])
        shape = (len(coefficients), *vectors.shape)
        self._require(2 * math.prod(shape), f"{shape[0]} products with {shape[2]} columns")
        found = np.empty(shape)

        def combine(part: range) -> None:
            start = _columns_of(vectors)(part)
            mine = np.zeros((len(coefficients), *start.shape))
            for k, term in enumerate(self._terms(start, coefficients.shape[1])):
                for total, row in zip(mine, coefficients, strict=True):
                    if row[k]:
                        _add(total, row[k], term)
            found[:, :, part.start : part.stop] = mine

        self._over(vectors.shape[1], combine)
        return found

    def pairings(self, left: FloatArray, right: FloatArray, n_terms: int) -> FloatArray:
        """``Σ_j left[:, j] · T_k right[:, j]`` for every ``k``."""

        def pair(part: range) -> FloatArray:
            numbers = np.empty(n_terms)
            mine = left[:, part.start : part.stop]
            for k, term in enumerate(self._terms(_columns_of(right)(part), n_terms)):
                numbers[k] = np.vdot(mine, term)
            return numbers

        found: FloatArray = np.sum([np.zeros(n_terms), *self._over(right.shape[1], pair)], axis=0)
        return found

    def _combined(self, coefficients: FloatArray, start: FloatArray) -> FloatArray:
        total = np.zeros_like(start)
        for coefficient, term in zip(
            coefficients, self._terms(start, len(coefficients)), strict=True
        ):
            _add(total, coefficient, term)
        return total

    def _terms(self, start: FloatArray, n_terms: int) -> Iterator[FloatArray]:
        """``T_0 V, T_1 V, …``, each in memory that the next but one overwrites."""
        previous, current = np.zeros_like(start), start
        for k in range(n_terms):
            if k:
                # In place: a row needs nothing of the term before but its own numbers.
                factor = (1.0 if k == 1 else 2.0) / self.radius
                _advance(*self._arrays, current, previous, factor)
                previous, current = current, previous
            yield current

    def _units(self, nodes: IntArray) -> Start:
        def start(part: range) -> FloatArray:
            units = np.zeros((self.graph.n_nodes, len(part)))
            units[nodes[part.start : part.stop], np.arange(len(part))] = 1.0
            return units

        return start

    def _over(self, n_columns: int, work: Callable[[range], Result]) -> list[Result]:
        """What is made of blocks of columns, on all threads."""
        width = max(1, min(_WIDTH, -(-n_columns // self.n_threads)))
        parts = [range(a, min(a + width, n_columns)) for a in range(0, n_columns, width)]
        return list(in_order(work, parts, min(self.n_threads, max(1, len(parts)))))

    def _require(self, n_numbers: int, what: str) -> None:
        beside = 4 * self.n_threads * _WIDTH * self.graph.n_nodes
        require_bytes(8 * (n_numbers + beside), what)


def _columns_of(vectors: FloatArray) -> Start:
    """Some columns at a time, copied: the recurrence overwrites them."""
    return lambda part: np.array(vectors[:, part.start : part.stop], order="C")


def chebyshev_points(n: int, radius: float) -> tuple[FloatArray, FloatArray]:
    """Points in ``[−radius, radius]``, and the matrix from values there to `n` coefficients.

    Examples
    --------
    >>> x, matrix = chebyshev_points(4, 1.0)
    >>> (matrix @ (2 * x**2 - 1)).round(12) + 0.0
    array([0., 0., 1., 0.])
    """
    angles = (np.arange(n) + 0.5) * (math.pi / n)
    matrix = np.cos(np.outer(np.arange(n), angles)) * (2 / n)
    matrix[0] /= 2
    return radius * np.cos(angles), matrix


@compiled()
def _advance(
    indptr: Any, indices: Any, data: Any, current: Any, previous: Any, factor: float
) -> None:
    """``factor · W @ current − previous``, in the place of the latter."""
    width = current.shape[1]
    total = np.empty(width)  # beside the two, so that the compiler knows it for another
    for row in range(len(indptr) - 1):
        for c in range(width):
            total[c] = -previous[row, c]
        for entry in range(indptr[row], indptr[row + 1]):
            value = factor * data[entry]
            column = uint32(indices[entry])
            for c in range(width):
                total[c] += value * current[column, c]
        for c in range(width):
            previous[row, c] = total[c]


@compiled()
def _squares(term: Any, previous: Any, squares: Any, products: Any) -> None:
    """Add the squares of columns, and their products with those of the term before."""
    for row in range(term.shape[0]):
        for c in range(term.shape[1]):
            squares[c] += term[row, c] * term[row, c]
            products[c] += term[row, c] * previous[row, c]


@compiled()
def _mix(mixed: Any, coefficients: Any, terms: Any) -> None:
    """Add ``Σ_k c[j, k] terms[k]``. BLAS would sum in an order that depends on the width."""
    width = terms.shape[2]
    total = np.empty(width)
    for row in range(terms.shape[1]):
        for j in range(coefficients.shape[0]):
            for c in range(width):
                total[c] = mixed[j, row, c]
            for k in range(coefficients.shape[1]):
                factor = coefficients[j, k]
                for c in range(width):
                    total[c] += factor * terms[k, row, c]
            for c in range(width):
                mixed[j, row, c] = total[c]


@compiled()
def _add(total: Any, factor: float, term: Any) -> None:
    for row in range(term.shape[0]):
        for c in range(term.shape[1]):
            total[row, c] += factor * term[row, c]
