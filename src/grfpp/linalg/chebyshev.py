"""Chebyshev series ``Σ c_k T_k(W / ρ)`` of a symmetric matrix: one recurrence for all uses.

A kernel with a parameter is ``Σ c_k(λ) T_k(W / ρ)``: terms computed once serve all λ.

References
----------
J. C. Mason and D. C. Handscomb, Chebyshev Polynomials, 2002.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp._parallel import Result, in_order, thread_count
from grfpp.errors import InputError
from grfpp.linalg.csr import CsrProduct, csr, frobenius, times
from grfpp.linalg.functions import MAX_DEGREE, ScalarFunction, WeightMatrix, finite, unit_columns
from grfpp.typing import FloatArray, IntArray

#: Share by which the interval exceeds the spectral radius, which is known to about nine digits.
MARGIN = 1e-8
#: Columns that are multiplied together: two blocks of them for 20,000 nodes fit into the cache.
_WIDTH = 32
#: Numbers in the rows of a strip of a block-diagonal matrix: two such blocks fit into the L2 cache.
_STRIP_NUMBERS = 1 << 15
#: Numbers of the terms that are combined at a time: 2 MB.
_BUFFER_NUMBERS = 1 << 18
#: Points at which a function is sampled first, and twice as many each time they do not suffice.
_FIRST_POINTS = 32
_EPS = float(np.finfo(np.float64).eps)
#: Shares of the largest value to which coefficients are computed: each is tried where the one
#: before takes too many.
_FLOORS = (1e-15, 1e-9, 1e-6)

#: A `CsrProduct`, or a function with its parameters.
Product = Callable[..., Any]
#: Gives the start vectors of a range of columns, in memory that the recurrence may overwrite.
Start = Callable[[range], FloatArray]


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


def coefficients_of(
    function: ScalarFunction, radius: float, tol: float, n_points: int = _FIRST_POINTS
) -> FloatArray:
    """Coefficients ``c`` of ``function(x) ≈ Σ c_j T_j(x / radius)`` on ``[−radius, radius]``.

    Sampled at 32, 64, 128 … Chebyshev points (from `n_points` on, for narrow peaks) until the
    coefficients have fallen far enough; then cut so that those left out add up to at most ``tol``
    times the largest value of the function.

    Examples
    --------
    >>> len(coefficients_of(np.exp, 1.0, 1e-10))
    11
    """
    from scipy.fft import dct

    while n_points <= 2 * MAX_DEGREE:
        angles = (np.arange(n_points) + 0.5) * (math.pi / n_points)
        values = finite(function(radius * np.cos(angles)))
        coefficients: FloatArray = dct(values, type=2) / n_points
        coefficients[0] /= 2
        tails = np.cumsum(np.abs(coefficients[::-1]))[::-1]
        # Rounding of the samples leaves about this much in every tail.
        floor = 4 * _EPS * math.sqrt(n_points)
        n_terms = int(np.count_nonzero(tails > max(tol, floor) * np.abs(values).max()))
        if n_terms <= 3 * n_points // 4 and n_terms <= MAX_DEGREE + 1:
            return coefficients[: max(n_terms, 1)]
        n_points *= 2
    problem = f"a polynomial of degree {MAX_DEGREE} does not reach tol={tol:g} up to {radius:.6g}"
    raise InputError(problem, advice="scale the graph down or raise tol")


def recurrence(
    product: Product,
    radius: float,
    start: Any,
    total: FloatArray | None = None,
    coefficients: FloatArray | None = None,
) -> Iterator[Any]:
    """``T_0 V, T_1 V, …`` with ``T_k = T_k(W / radius)``, as an endless iterator.

    A `CsrProduct` writes each term over the term before the last, `start` included; other products
    are called with the same keywords and need not. With `coefficients`, `total` becomes
    ``Σ c_k T_k V`` over the terms so far, in the same passes over memory.

    Examples
    --------
    >>> W = CsrProduct(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    >>> terms = recurrence(W, 1.0, np.array([[1.0], [3.0]]))
    >>> [next(terms).ravel().tolist() for _ in range(3)]
    [[1.0, 3.0], [3.0, 1.0], [1.0, 3.0]]
    """
    weights = np.zeros(0) if coefficients is None else coefficients
    if len(weights) and total is not None:
        np.multiply(start, weights[0], out=total)
    yield start
    weight = float(weights[1]) if len(weights) > 1 else 0.0
    current = product(start, scale=1 / radius, total=total, weight=weight)
    previous, k = start, 1
    while True:
        yield current
        k += 1
        weight = float(weights[k]) if k < len(weights) else 0.0
        # In place: each row of the new term needs only the same row of the term before the last.
        terms = {"base": previous, "out": previous, "total": total}
        following = product(current, scale=2 / radius, keep=-1.0, weight=weight, **terms)
        previous, current = current, following


def series_times(
    product: Product, radius: float, coefficients: FloatArray, start: FloatArray
) -> FloatArray:
    """``Σ c_k T_k(W / radius) @ start``; overwrites `start`."""
    total = np.empty_like(start)
    terms = recurrence(product, radius, start, total, coefficients)
    for _ in zip(coefficients, terms, strict=False):
        pass
    return total


def combinations(
    product: Product,
    radius: float,
    coefficients: FloatArray,
    start: FloatArray,
    rows: IntArray | None = None,
) -> FloatArray:
    """``Σ_k c[j, k] T_k(W / radius) @ start`` for every ``j``, at all nodes or some.

    Overwrites `start`. Every number is summed in the order of the terms.
    """
    n_series, n_terms = coefficients.shape
    if n_series == 1:
        total = series_times(product, radius, coefficients[0], start)
        return (total if rows is None else total[rows])[np.newaxis]
    from grfpp.linalg.loops import mix

    shape = (len(start) if rows is None else len(rows), start.shape[1])
    size = max(1, min(n_terms, _BUFFER_NUMBERS // max(1, math.prod(shape))))
    buffer = np.empty((size, *shape))
    mixed = np.zeros((n_series, *shape))
    for k, term in zip(range(n_terms), recurrence(product, radius, start), strict=False):
        slot = k % size
        buffer[slot] = term if rows is None else term[rows]
        if slot == size - 1 or k == n_terms - 1:
            mix(mixed, np.ascontiguousarray(coefficients[:, k - slot : k + 1]), buffer[: slot + 1])
    return mixed


def apply(
    graph: WeightMatrix, function: ScalarFunction, vectors: FloatArray, tol: float
) -> FloatArray:
    """``function(W) @ vectors`` for an undirected graph.

    The error of each column ``v`` is at most ``tol · max |function| · ‖v‖``, the maximum over
    ``[−ρ, ρ]`` with ``ρ`` the spectral radius.
    """
    radius = graph.spectral_radius() * (1 + MARGIN)
    if radius == 0:
        return np.asarray(finite(function(np.zeros(1)))[0] * vectors)
    coefficients = coefficients_of(function, radius, tol)
    start = np.array(vectors.reshape(len(vectors), -1), order="C")
    product = series_times(CsrProduct(graph.adjacency), radius, coefficients, start)
    return product.reshape(vectors.shape)


@dataclass(frozen=True, eq=False)
class Expansion:
    """``f(x) = peak · Σ c_j T_j(x / radius)`` on ``[−radius, radius]``.

    Examples
    --------
    >>> series = Expansion.of(np.exp, 20.0)
    >>> series.n_terms(1e-3), series.n_terms(1e-9)
    (16, 30)
    """

    radius: float
    #: The largest absolute value of the function.
    peak: float
    coefficients: FloatArray
    #: ``tails[j]``: a bound of the sum of the terms from ``j`` on, one more than there are terms.
    tails: FloatArray

    @classmethod
    def of(cls, function: ScalarFunction, radius: float) -> Self:
        """Expand a function; `InputError` where too many terms would be needed."""
        points = radius * np.cos(np.linspace(0, np.pi, 65))
        with np.errstate(over="ignore", invalid="ignore"):
            values = finite(function(points))
        peak = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
        for floor in _FLOORS:
            try:
                coefficients = coefficients_of(function, radius, floor) / peak
                break
            except InputError:
                if floor == _FLOORS[-1]:
                    raise
        tails = np.append(np.cumsum(np.abs(coefficients)[::-1])[::-1], 0.0) + floor
        return cls(radius, peak, coefficients, tails)

    def n_terms(self, share: float) -> int:
        """Number of terms that leave at most this share of the largest value."""
        return max(1, min(int(np.count_nonzero(self.tails > share)), len(self.coefficients)))

    def times(
        self, product: CsrProduct, block: FloatArray, tol: float
    ) -> tuple[FloatArray, float, float, int]:
        """``f(W) @ block / peak``, a bound on its error, its norm, and the number of terms.

        Terms are added until the remaining ones are at most `tol` of the product, in the Frobenius
        norm, or until there are no more.
        """
        n_all, length = len(self.coefficients), frobenius(block)
        result = np.empty_like(block)
        terms = recurrence(product, self.radius, block.copy(), result, self.coefficients)
        n, n_forecast = 0, self.n_terms(0.5 * tol)
        while True:
            while n < min(n_forecast, n_all):
                next(terms)
                n += 1
            norm = frobenius(result)
            error = (float(self.tails[n]) + 4 * _EPS * n**0.5) * length
            if error <= 0.9 * tol * norm or n >= n_all:
                return result, error, norm, n
            # The number of terms for the current norm, and at least one more.
            share = 0.8 * tol * norm / length if length else 1.0
            n_forecast = max(n + 1, self.n_terms(share))


class ChebyshevTerms:
    """Combinations of ``T_0, T_1, …`` of ``W / ρ``, ``ρ`` the spectral radius.

    Parameters
    ----------
    graph
        Undirected.
    n_jobs
        Threads; their number changes no bit of entries and products.
    radius
        A known bound of the spectral radius, used for ``ρ``.

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

    def entries(self, coefficients: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """``Σ_k c[j, k] T_k`` between nodes, of shape ``(len(c), len(rows), len(columns))``."""
        if len(rows) < len(columns):  # they are symmetric
            return self.entries(coefficients, columns, rows).transpose(0, 2, 1)
        return self._combined(coefficients, self._units(columns), len(columns), rows)

    def products(
        self, coefficients: FloatArray, vectors: FloatArray, rows: IntArray | None = None
    ) -> FloatArray:
        """``Σ_k c[j, k] T_k @ vectors`` for every ``j``, at all nodes or some.

        Of shape ``(len(c), n, vectors.shape[1])`` for ``n`` nodes.
        """
        return self._combined(coefficients, _columns_of(vectors), vectors.shape[1], rows)

    def product(self, coefficients: FloatArray, vectors: FloatArray) -> FloatArray:
        """``Σ_k c[k] T_k @ vectors``."""
        product: FloatArray = self.products(coefficients[np.newaxis], vectors)[0]
        return product

    def diagonals(self, coefficients: FloatArray, nodes: IntArray) -> FloatArray:
        """Entries of ``Σ_k c[j, k] T_k`` on the diagonal, of shape ``(len(c), len(nodes))``.

        From half as many products: ``T_2k = 2 T_k² − I`` and ``T_2k+1 = 2 T_k+1 T_k − T_1``.
        """
        n_terms = coefficients.shape[1]
        result = np.empty((len(coefficients), len(nodes)))
        loops = self.graph.adjacency.diagonal()[nodes] / self.radius
        start = self._units(nodes)

        def square(part: range, product: CsrProduct) -> None:
            traces = np.ones((n_terms + 2, len(part)))
            before = np.zeros(0)
            terms = recurrence(product, self.radius, start(part))
            for k, term in zip(range(n_terms // 2 + 1), terms, strict=False):
                traces[2 * k] = 2 * np.einsum("ij,ij->j", term, term) - 1
                if k:
                    mixed = np.einsum("ij,ij->j", term, before)
                    traces[2 * k - 1] = 2 * mixed - loops[part.start : part.stop]
                before = term  # overwritten by the next term but one
            result[:, part.start : part.stop] = coefficients @ traces[:n_terms]

        self._over(len(nodes), square)
        return result

    def pairings(self, left: FloatArray, right: FloatArray, n_terms: int) -> FloatArray:
        """``Σ_j left[:, j] · T_k right[:, j]`` for every ``k``."""
        start = _columns_of(right)

        def pair(part: range, product: CsrProduct) -> FloatArray:
            side = left[:, part.start : part.stop]
            terms = recurrence(product, self.radius, start(part))
            pairs = zip(range(n_terms), terms, strict=False)
            return np.array([float(np.vdot(side, term)) for _, term in pairs])

        parts = self._over(right.shape[1], pair)
        return np.asarray(sum(parts, np.zeros(n_terms)))

    def _combined(
        self, coefficients: FloatArray, start: Start, n_columns: int, rows: IntArray | None
    ) -> FloatArray:
        """Combinations of terms at some nodes or all, for columns that `start` gives by ranges."""
        n_rows = self.graph.n_nodes if rows is None else len(rows)
        shape = (len(coefficients), n_rows, n_columns)
        buffers = 4 * self.n_threads * _WIDTH * self.graph.n_nodes
        what = f"{' x '.join(map(str, shape))} numbers of a kernel"
        require_bytes(8 * (2 * math.prod(shape) + buffers), what)
        result = np.zeros(shape)

        def combine(part: range, product: CsrProduct) -> None:
            block = combinations(product, self.radius, coefficients, start(part), rows)
            result[:, :, part.start : part.stop] = block

        self._over(n_columns, combine)
        return result

    def _units(self, nodes: IntArray) -> Start:
        return lambda part: unit_columns(self.graph.n_nodes, nodes[part.start : part.stop])

    def _over(self, n_columns: int, work: Callable[[range, CsrProduct], Result]) -> list[Result]:
        """Results for ranges of columns, in parallel, or with parallel products for one range."""
        # The width does not depend on the number of threads, and so neither do the bits.
        width = max(1, -(-n_columns // max(1, -(-n_columns // _WIDTH))))
        parts = [range(a, min(a + width, n_columns)) for a in range(0, n_columns, width)]
        product = CsrProduct(self.graph.adjacency, 1 if len(parts) > 1 else self.n_threads)
        n_threads = min(self.n_threads, max(1, len(parts)))
        return list(in_order(lambda part: work(part, product), parts, n_threads))


def _columns_of(vectors: FloatArray) -> Start:
    """Copies of ranges of columns, since the recurrence overwrites them."""
    return lambda part: np.array(vectors[:, part.start : part.stop], order="C")


def strips(
    matrix: sp.csr_array, starts: IntArray, width: int
) -> Iterator[tuple[range, sp.csr_array]]:
    """Ranges of whole blocks of a block-diagonal matrix that fit into the cache, and their rows.

    Parameters
    ----------
    starts
        The first row of each block, and the number of all rows.
    width
        Columns of the vectors to be multiplied.
    """
    n_rows = max(1, _STRIP_NUMBERS // max(1, width))
    first = 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + n_rows, "right")) - 1
        last = max(last, first + 1)
        begin, end = int(starts[first]), int(starts[last])
        entries = slice(int(matrix.indptr[begin]), int(matrix.indptr[end]))
        indptr = matrix.indptr[begin : end + 1] - matrix.indptr[begin]
        columns = matrix.indices[entries] - matrix.indices.dtype.type(begin)
        yield range(first, last), csr(matrix.data[entries], columns, indptr, end - begin)
        first = last


def block_products(
    matrix: sp.csr_array,
    starts: IntArray,
    radius: float,
    coefficients: FloatArray,
    vectors: FloatArray,
) -> FloatArray:
    """``Σ_k c[j, k] T_k(W / radius) @ vectors`` for every ``j``, of shape ``(len(c), n, width)``.

    Strips of blocks that fit into the cache are multiplied by all terms in turn. The bits of a
    block do not depend on the other blocks.

    Parameters
    ----------
    matrix
        Block-diagonal.
    starts
        The first row of each block, and the number of all rows.
    radius
        A bound of the spectral radius.
    coefficients
        A row for each series.
    vectors
        A column for each vector.

    Examples
    --------
    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> series = np.array([[0.0, 0.0, 1.0]])                      # T_2(x) = 2 x^2 - 1
    >>> block_products(path, np.array([0, 3]), 1.0, series, np.eye(3))
    array([[[1., 0., 2.],
            [0., 3., 0.],
            [2., 0., 1.]]])
    """
    result = np.zeros((len(coefficients), *vectors.shape))
    for blocks, part in strips(matrix, starts, vectors.shape[1]):
        rows = slice(int(starts[blocks.start]), int(starts[blocks.stop]))
        start = np.array(vectors[rows], order="C")
        # Always the compiled loops: the bits do not depend on the size of the matrix.
        product = partial(times, part, n_jobs=1)
        result[:, rows] = combinations(product, radius, coefficients, start)
    return result


def power_diagonals(matrix: sp.csr_array, starts: IntArray, n_lengths: int) -> FloatArray:
    """The diagonals of ``W¹ … Wⁿ``, a row for each node, of a symmetric block-diagonal matrix.

    From half as many products: entry ``i`` of the diagonal of ``W^(a+b)`` is the inner product of
    column ``i`` of ``W^a`` and of ``W^b``. Column ``i`` of one block is multiplied together with
    column ``i`` of others of about its size. The bits of a block do not depend on the others.

    Parameters
    ----------
    matrix, starts
        As for `block_products`.
    n_lengths
        The largest power.

    Examples
    --------
    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> power_diagonals(path, np.array([0, 3]), 4)
    array([[0., 1., 0., 2.],
           [0., 2., 0., 4.],
           [0., 1., 0., 2.]])
    """
    result = np.zeros((matrix.shape[0], n_lengths))
    for blocks, part in strips(matrix, starts, 64):
        edges = np.asarray(starts[blocks.start : blocks.stop + 1] - starts[blocks.start], np.int64)
        sizes, base = np.diff(edges), int(starts[blocks.start])
        for left in range(0, int(sizes.max(initial=0)), 64):
            has_column = sizes[:, np.newaxis] > left + np.arange(min(64, int(sizes.max()) - left))
            block, column = np.nonzero(has_column)
            nodes = edges[block] + left + column
            current = np.zeros((part.shape[0], has_column.shape[1]))
            current[nodes, column] = 1.0
            filled = sizes > 0
            for k in range(0, n_lengths, 2):
                # `current` holds columns of the power k / 2, `following` of the next.
                following = times(part, current, 1)
                for length, other in ((k, current), (k + 1, following)):
                    if length < n_lengths:
                        sums = np.zeros(has_column.shape)
                        sums[filled] = np.add.reduceat(following * other, edges[:-1][filled])
                        result[base + nodes, length] = sums[block, column]
                current = following
    return result
