"""Functions of a symmetric matrix times vectors by Lanczos' method, with a bound on the error.

After ``k`` steps from a unit vector ``v`` there are ``W V = V T + β v_next e_kᵀ`` and the
approximation ``V f(T) e_1``. Its error is ``h(W) v_next`` with

    h(x) = β e_kᵀ f[x, T] e_1 = β Σ_l s_kl s_1l (f(x) − f(θ_l)) / (x − θ_l),

with eigenvalues ``θ`` and eigenvectors ``s`` of ``T``. The formula holds without orthogonality of
``V``, so vectors are not reorthogonalised. The largest ``|h|`` on the interval of the spectrum
bounds the error. It is small after few steps on graphs with a few large eigenvalues and a gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from grfpp.linalg.csr import column_products, combine, frobenius
from grfpp.linalg.functions import ScalarFunction
from grfpp.typing import FloatArray

Multiply = Callable[[FloatArray], FloatArray]

#: Points of the interval at which the error bound is evaluated: enough for `_BETWEEN_POINTS`.
_N_POINTS = 97
#: Factor of safety on the largest value at these points: the bound may be larger between two.
_BETWEEN_POINTS = 1.25
#: Share of the forecast number of steps after which the error is checked again: forecasts of a
#: convergence that gets faster are too long.
_CHECK_EARLY = 0.9
_EPS = float(np.finfo(np.float64).eps)


class LanczosStep(NamedTuple):
    """One step of the recurrence, for every column."""

    #: The vectors of this step; ``vectors · scale`` have length 1 (0 where the space is complete).
    vectors: FloatArray
    scale: FloatArray
    #: Entries of the tridiagonal matrices: on the diagonal, and below it.
    diagonal: FloatArray
    off_diagonal: FloatArray


def lanczos_steps(
    multiply: Multiply, block: FloatArray, radius: float = 1.0, n_jobs: int = -1
) -> Iterator[LanczosStep]:
    """Lanczos' three-term recurrence from each column of a block, as an endless iterator.

    Parameters
    ----------
    multiply
        Products with a symmetric ``W``.
    block
        The start vectors, C-contiguous.
    radius
        A bound of the spectral radius: off-diagonal entries at its rounding error are set to 0.

    Examples
    --------
    >>> W = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> step = next(lanczos_steps(lambda v: W @ v, np.array([[2.0], [0.0]])))
    >>> step.diagonal, step.off_diagonal
    (array([0.]), array([1.]))
    """
    previous, current = block, block
    scale = _inverse(np.sqrt(column_products(block, block)))
    previous_factor = np.zeros_like(scale)
    while True:
        following = multiply(current)
        # All columns of `following` are still to be divided by their length.
        diagonal = scale * combine(following, scale, previous, -previous_factor, current, n_jobs)
        squares = combine(following, 1.0, current, -diagonal * scale, following, n_jobs)
        length = np.sqrt(squares)
        length[length <= 8 * _EPS * radius] = 0.0  # the Krylov space is complete
        yield LanczosStep(current, scale, diagonal, length)
        previous_factor = length * scale
        scale = _inverse(length)
        previous, current = current, following


def _inverse(lengths: FloatArray) -> FloatArray:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


class KrylovProduct(NamedTuple):
    """``f(W) @ block``, if a Krylov method converged, and a bound on its error."""

    #: The product; ``None`` where it has not converged.
    product: FloatArray | None
    #: Bound on the error in the Frobenius norm, and that norm of the product.
    error: float
    norm: float
    n_steps: int


def function_times(
    multiply: Multiply,
    function: ScalarFunction,
    radius: float,
    block: FloatArray,
    tol: float,
    max_steps: int,
    first_check: int = 2,
    n_jobs: int = -1,
) -> KrylovProduct:
    """``function(W) @ block`` for a symmetric ``W``, to a relative error in the Frobenius norm.

    Each column has its own Krylov space; all advance together.

    Parameters
    ----------
    multiply
        Products with ``W``.
    radius
        A bound of the spectral radius of ``W``.
    tol
        Largest error relative to the norm of the product.
    max_steps
        Largest number of steps; the product is ``None`` where they do not reach `tol`.
    first_check
        The first step after which the error is evaluated.

    Examples
    --------
    >>> W = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> e = np.array([[1.0], [0.0]])
    >>> result = function_times(lambda v: W @ v, np.exp, 1.0, e, 1e-9, 5)
    >>> result.product.ravel(), result.n_steps
    (array([1.543, 1.175]), 2)

    References
    ----------
    Y. Saad, Analysis of some Krylov subspace approximations to the matrix exponential operator,
    SIAM J. Numer. Anal. 29, 1992. T. Chen et al., Error bounds for Lanczos-based matrix function
    approximation, SIAM J. Matrix Anal. Appl. 43, 2022.
    """
    lengths = np.sqrt(column_products(block, block))
    grid = _Grid.of(function, radius)
    error = norm = np.inf
    schedule = _CheckSchedule(first_check)
    last_step = min(max_steps, len(block))
    steps: list[LanczosStep] = []
    for step in lanczos_steps(multiply, block, radius, n_jobs):
        steps.append(step)
        n_steps, complete = len(steps), not step.off_diagonal.any()
        if n_steps >= schedule.next or n_steps == last_step or complete:
            weights, errors = _projected(function, grid, steps)
            norm = float(np.linalg.norm(lengths * np.linalg.norm(weights, axis=0)))
            error = float(np.linalg.norm(lengths * errors))
            if error <= tol * norm or complete:
                product = np.zeros_like(block)
                for (vectors, scale, *_), weight in zip(steps, weights, strict=True):
                    combine(product, 1.0, vectors, scale * weight * lengths, product, n_jobs)
                return KrylovProduct(product, error, frobenius(product), n_steps)
            schedule.update(n_steps, error / (tol * norm) if norm else np.inf)
        if n_steps >= last_step:
            break
    return KrylovProduct(None, error, norm, len(steps))


def spectral_measure(
    multiply: Multiply, vector: FloatArray, n_steps: int
) -> tuple[FloatArray, FloatArray]:
    """Lanczos quadrature of one vector ``v``: nodes, weights; ``Σ w · f(node) ≈ vᵀ f(W) v``.

    Examples
    --------
    >>> W = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> spectral_measure(lambda v: W @ v, np.array([2.0, 0.0]), 5)
    (array([-1.,  1.]), array([2., 2.]))

    References
    ----------
    G. H. Golub and G. Meurant, Matrices, Moments and Quadrature with Applications, 2010.
    """
    square = float(vector @ vector)
    if square == 0.0:
        return np.zeros(1), np.zeros(1)
    diagonal: list[float] = []
    off_diagonal = [0.0]
    for step in lanczos_steps(multiply, np.ascontiguousarray(vector.reshape(-1, 1))):
        diagonal.append(float(step.diagonal[0]))
        off_diagonal.append(float(step.off_diagonal[0]))
        size = math.hypot(diagonal[-1], *off_diagonal[-2:])
        if len(diagonal) == n_steps or off_diagonal[-1] <= 1e-10 * size:
            break
    nodes, weights = gauss_quadrature(diagonal, off_diagonal[1:-1])
    return nodes, weights * square


def gauss_quadrature(diagonal: Any, off_diagonal: Any) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights with ``Σ w · f(node) = e₁ᵀ f(T) e₁`` for a symmetric tridiagonal ``T``.

    Examples
    --------
    >>> gauss_quadrature([0.0, 0.0], [1.0])
    (array([-1.,  1.]), array([0.5, 0.5]))

    References
    ----------
    G. H. Golub and J. H. Welsch, Calculation of Gauss quadrature rules, Math. Comp. 23, 1969.
    """
    from scipy.linalg import eigh_tridiagonal

    nodes, vectors = eigh_tridiagonal(diagonal, off_diagonal)
    return nodes, vectors[0] ** 2


def log_quadrature(lengths: FloatArray, ratios: FloatArray) -> FloatArray:
    """``e₁ᵀ log(T) e₁`` of Lanczos' tridiagonal matrices, one per row, from conjugate gradients.

    For a start vector ``z`` this is close to ``zᵀ log(A) z / |z|²``, and its mean over random signs
    to ``tr log A = log det A`` over the size of ``A``.

    Parameters
    ----------
    lengths, ratios
        Of every step, as `grfpp.linalg.cg.solve` gives them; zero where a column has converged.

    References
    ----------
    S. Ubaru, J. Chen and Y. Saad, Fast estimation of tr(f(A)) via stochastic Lanczos quadrature,
    2017.
    """
    active = lengths > 0
    # Beyond its end a matrix is padded by the identity.
    inverse = np.divide(1.0, lengths, out=np.ones_like(lengths), where=active)
    coupling = active[:, 1:] * ratios[:, :-1] * inverse[:, :-1]
    diagonal, off_diagonal = inverse.copy(), np.sqrt(coupling * inverse[:, :-1])
    diagonal[:, 1:] += coupling
    results = []
    for d, e in zip(diagonal, off_diagonal, strict=True):
        nodes, weights = gauss_quadrature(d, e)
        results.append(weights @ np.log(nodes))
    return np.array(results)


class _CheckSchedule:
    """Steps at which to evaluate the error, which takes as long as a step on a small graph."""

    def __init__(self, first: int) -> None:
        self.next = first
        self._last: tuple[int, float] | None = None

    def update(self, step: int, ratio: float) -> None:
        """Extrapolate from errors that are `ratio` times the tolerance."""
        n_steps_left = 2
        if self._last is not None and 1 < ratio < self._last[1] < np.inf:
            rate = np.log(self._last[1] / ratio) / (step - self._last[0])
            n_steps_left = int(_CHECK_EARLY * np.log(ratio) / rate)
        self._last = step, ratio
        self.next = step + min(max(1, n_steps_left), max(2, step // 2))


class _Grid(NamedTuple):
    """A function and its slope at points of the interval."""

    points: FloatArray
    values: FloatArray
    slopes: FloatArray
    #: Distance to a point below which the slope is more accurate than a quotient of differences.
    min_gap: float

    @classmethod
    def of(cls, function: ScalarFunction, radius: float) -> _Grid:
        points = radius * np.cos(np.linspace(0, np.pi, _N_POINTS))
        delta = 1e-6 * radius
        high, low = np.minimum(points + delta, radius), np.maximum(points - delta, -radius)
        slopes = (function(high) - function(low)) / (high - low)
        return cls(points, function(points), slopes, 0.1 * delta)


def _projected(
    function: ScalarFunction, grid: _Grid, steps: list[LanczosStep]
) -> tuple[FloatArray, FloatArray]:
    """``f(T) e_1`` of every column, and bounds on the errors."""
    n_steps, width = len(steps), len(steps[0].scale)
    T = np.zeros((width, n_steps, n_steps))
    index = np.arange(n_steps)
    T[:, index, index] = np.transpose([step.diagonal for step in steps])
    if n_steps > 1:
        T[:, index[1:], index[:-1]] = np.transpose([step.off_diagonal for step in steps[:-1]])
    theta, vectors = np.linalg.eigh(T)  # of the lower triangle
    values = function(theta)
    weights = np.einsum("cij,cj,cj->ic", vectors, values, vectors[:, 0])
    ends = steps[-1].off_diagonal[:, np.newaxis] * vectors[:, -1] * vectors[:, 0]
    gaps = grid.points[np.newaxis, :, np.newaxis] - theta[:, np.newaxis, :]
    is_close = np.abs(gaps) < grid.min_gap
    differences = grid.values[:, np.newaxis] - values[:, np.newaxis, :]
    quotients = differences / np.where(is_close, 1.0, gaps)
    quotients = np.where(is_close, grid.slopes[:, np.newaxis], quotients)
    h = np.abs(np.einsum("cpl,cl->cp", quotients, ends)).max(axis=1)
    rounding = 4 * _EPS * n_steps * np.abs(values).max(axis=1)
    return weights, _BETWEEN_POINTS * h + rounding
