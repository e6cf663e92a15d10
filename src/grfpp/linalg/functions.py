"""Functions of a weight matrix: what all methods share, dense algebra, and power series."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.typing import FloatArray, IntArray

ScalarFunction = Callable[[FloatArray], FloatArray]
#: Gives ``α_k · scale^k`` for ``k < n``, or more of them, when called with ``(n, scale)``; raises
#: `OverflowError` when float64 cannot hold them.
Coefficients = Callable[[int, float], FloatArray]

#: Highest polynomial degree, that is the largest number of products with ``W``, of any method.
MAX_DEGREE = 100_000

#: Terms of a power series that are computed first; twice as many each time these do not suffice.
_FIRST_TERMS = 64
#: Share of the sum of a series that its remaining terms may have: far below rounding, 1e-16.
_NEGLIGIBLE_SHARE = 1e-18

#: The problem of an `InputError`, which methods recognise.
TOO_LARGE = "the kernel's values on this graph exceed the range of float64"

#: Columns of a whole kernel that are computed together: Python handles Ctrl-C between two blocks.
_BLOCK_COLUMNS = 128


class WeightMatrix(Protocol):
    """A graph, as this package sees it."""

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""

    @property
    def adjacency(self) -> Any:
        """The matrix, in CSR form."""

    @property
    def is_directed(self) -> bool:
        """Whether it is not symmetric."""

    def spectral_radius(self) -> float:
        """Its spectral radius."""


def finite(values: Any) -> FloatArray:
    """The values as float64; `InputError` where some exceed its range."""
    array: FloatArray = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(TOO_LARGE, advice="scale the graph down")
    return array


def unit_columns(n: int, nodes: IntArray) -> FloatArray:
    """Columns of the identity matrix of size `n`, one for each of these nodes.

    Examples
    --------
    >>> unit_columns(3, np.array([2, 0])).T
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    units = np.zeros((n, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    return units


def dense_weights(graph: WeightMatrix) -> FloatArray:
    """The weight matrix as a dense array; refused where dense algebra would not fit into memory."""
    n, n_arrays = graph.n_nodes, 12 if graph.is_directed else 5
    require_bytes(n_arrays * 8 * n * n, f"a dense kernel of {n} nodes, with room to compute it,")
    dense: FloatArray = graph.adjacency.toarray()
    return dense


def dense_spectrum(graph: WeightMatrix, function: ScalarFunction) -> tuple[FloatArray, FloatArray]:
    """``function(λ)`` of all eigenvalues of an undirected graph, and the eigenvectors as columns.

    Examples
    --------
    >>> from grfpp import Graph
    >>> values, vectors = dense_spectrum(Graph([[0, 1], [1, 0]]), np.exp)
    >>> (vectors * values) @ vectors.T
    array([[1.54308063, 1.17520119],
           [1.17520119, 1.54308063]])
    """
    eigenvalues, vectors = np.linalg.eigh(dense_weights(graph))
    return finite(function(eigenvalues)), vectors


def by_columns(
    n: int,
    multiply: Callable[[FloatArray], FloatArray],
    accept: Callable[[FloatArray], bool] = lambda first: True,
) -> FloatArray | None:
    """The matrix of the linear map `multiply`, computed in blocks of columns.

    ``None`` where `accept` refuses the first block of columns.

    Examples
    --------
    >>> by_columns(2, lambda block: 3 * block)
    array([[3., 0.],
           [0., 3.]])
    """
    # The result, its transpose for a while, and the arrays of one block.
    require_bytes(16 * n * n + 48 * n * _BLOCK_COLUMNS, f"a dense kernel of {n} nodes")
    matrix = np.empty((n, n))
    for start in range(0, n, _BLOCK_COLUMNS):
        stop = min(start + _BLOCK_COLUMNS, n)
        block = finite(multiply(unit_columns(n, np.arange(start, stop))))
        if start == 0 and not accept(block):
            return None
        matrix[:, start:stop] = block
    return matrix


def taylor_times(
    graph: WeightMatrix, coefficients: Coefficients, radius: float, vectors: FloatArray, tol: float
) -> FloatArray:
    """``Σ α_k W^k @ vectors`` for any graph, by adding up the power series.

    The spectral radius must be below `radius`, that of convergence. The error of each column is at
    most ``tol`` times its largest absolute value; where the terms cancel so much that rounding
    alone exceeds that, or more than 100,000 of them are needed, an `InputError` says so.
    """
    norm_weights, bound, table, tails = bounded_terms(graph, coefficients, radius)
    weights, spread = graph.adjacency, float(norm_weights.max())
    units = norm_weights if vectors.ndim == 1 else norm_weights[:, None]
    term = vectors
    result: FloatArray = table[0] * vectors
    summed = _largest(result)
    for coefficient, tail in zip(table[1:], tails[1:], strict=True):
        term = weights @ term
        term *= 1 / bound
        result += coefficient * term
        largest = _largest(term)
        summed += abs(coefficient) * largest
        # In the weighted maximum norm no product with W / bound makes a vector longer, so the terms
        # left out are at most `tail` times the present length.
        length = largest if spread == 1 else spread * _largest(term / units)
        if np.all(tail * length <= tol * _largest(result)):
            break
    rounding = np.finfo(np.float64).eps * summed
    if np.any(rounding > tol * _largest(finite(result))):
        problem = f"the terms of the power series cancel: rounding alone may exceed tol={tol:g}"
        raise InputError(problem, advice="raise tol, scale the graph down, or use kernel.exact")
    return result


def _largest(vectors: FloatArray) -> FloatArray:
    """Largest absolute value of each column."""
    return np.asarray(np.maximum(vectors.max(axis=0), -vectors.min(axis=0)))


def bounded_terms(
    graph: WeightMatrix, coefficients: Coefficients, radius: float
) -> tuple[FloatArray, float, FloatArray, FloatArray]:
    """Choose a norm in which the terms of a power series are bounded.

    Returns a vector ``u ≥ 1`` and a ``bound < radius`` with ``W u ≤ bound · u``, the table of
    ``α_k · bound^k``, and the sums of its absolute values beyond each ``k``.
    """
    ones = np.ones(graph.n_nodes)
    largest_row = float(graph.adjacency.sum(axis=1).max())
    if largest_row == 0:
        return ones, 1.0, coefficients(1, 1.0)[:1], np.zeros(1)
    if largest_row < radius:
        try:
            return ones, largest_row, *summable_terms(coefficients, largest_row)
        except (InputError, OverflowError):
            # Some rows are far above the spectral radius: a weighted norm may still do.
            pass
    norm_weights, bound = _norm_weights(graph, min(radius, largest_row))
    try:
        spread = float(norm_weights.max())
        return norm_weights, bound, *summable_terms(coefficients, bound, spread)
    except OverflowError:
        raise InputError(TOO_LARGE, advice="scale the graph down") from None


def _norm_weights(graph: WeightMatrix, ceiling: float) -> tuple[FloatArray, float]:
    """Find ``u ≥ 1`` with ``W u ≤ bound · u`` for a bound between spectral radius and ceiling.

    ``u = Σ (W/s)^k 1`` does for every ``s`` above the spectral radius, and long partial sums do.
    """
    low = graph.spectral_radius()
    # Not far above the spectral radius, where the terms of an entire series would be huge.
    ceiling = min(ceiling, 1.5 * low if low else 1.0)
    shrink, bound = low + (ceiling - low) / 3, low + 2 * (ceiling - low) / 3
    weights = graph.adjacency * (1 / shrink)
    u = np.ones(graph.n_nodes)
    for _ in range(MAX_DEGREE):
        product = weights @ u
        if np.all(product * shrink <= bound * u):
            return u, bound
        u = finite(1 + product)
    problem = f"the spectral radius {low:.9g} is too close to that of convergence, {ceiling:.9g}"
    raise InputError(problem, advice="scale the graph down")


def summable_terms(
    coefficients: Coefficients, scale: float, spread: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """``α_k · scale^k`` above rounding, and the sums of ``|α_j| scale^j`` over ``j > k``."""
    n = _FIRST_TERMS
    while n <= 2 * MAX_DEGREE:
        table = coefficients(n, scale)
        absolute = np.abs(table)
        third, fourth = absolute[n // 2 : 3 * n // 4].sum(), absolute[3 * n // 4 :].sum()
        # Quarters of a converging series soon fall at least as fast as a geometric series.
        if fourth == 0:
            beyond = 0.0
        elif fourth < third:
            beyond = float(fourth * fourth / (third - fourth))
        else:
            beyond = math.inf
        if spread * beyond <= _NEGLIGIBLE_SHARE * absolute.sum():
            return table, np.append(np.cumsum(absolute[:0:-1])[::-1], 0.0) + beyond
        n *= 2
    raise InputError(
        f"the power series needs more than {MAX_DEGREE} terms", advice="scale the graph down"
    )
