"""Functions of a symmetric matrix times vectors by Lanczos' method, with a bound on the error.

After ``k`` steps from a unit vector ``v`` there are ``W V = V T + β v_next e_kᵀ`` and the
approximation ``V f(T) e_1``. Its error is ``h(W) v_next`` with

    h(x) = β e_kᵀ f[x, T] e_1 = β Σ_l s_kl s_1l (f(x) − f(θ_l)) / (x − θ_l),

``θ`` and ``s`` the eigenvalues and eigenvectors of ``T``. That takes the recurrence alone, not that
``V`` is orthogonal, so nothing is orthogonalised again. The largest ``|h|`` on the interval of the
spectrum bounds the error; on graphs whose eigenvalues lie apart from a few that kernels see most,
it is small long before a polynomial that serves the whole interval would do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from grfpp.linalg.functions.shared import ScalarFunction
from grfpp.linalg.norms import column_products, frobenius
from grfpp.typing import FloatArray


class Steps(Protocol):
    """What the recurrence is made of; see `grfpp.linalg.functions.recurrence` for both."""

    def lanczos_step(
        self, current: FloatArray, scale: FloatArray, previous: FloatArray, factor: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What is left of ``W v``, how much was along ``v``, and the squares of what is left."""

    def add_scaled(self, result: FloatArray, block: FloatArray, factor: FloatArray) -> None:
        """``result += block · factor``."""


class PlainSteps:
    """The same in numpy, for anything that multiplies."""

    def __init__(self, multiply: Callable[[FloatArray], FloatArray]) -> None:
        self._multiply = multiply

    def lanczos_step(
        self, current: FloatArray, scale: FloatArray, previous: FloatArray, factor: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """One product and a few passes over the block."""
        following = self._multiply(current)
        following *= scale
        scratch = np.empty_like(following)
        if factor.any():
            np.multiply(previous, factor, out=scratch)
            following -= scratch
        along = column_products(current, following) * scale
        np.multiply(current, along * scale, out=scratch)
        following -= scratch
        return following, along, column_products(following, following)

    def add_scaled(self, result: FloatArray, block: FloatArray, factor: FloatArray) -> None:
        """Two passes."""
        result += block * factor


#: Points of the interval on which the error is looked at, and what may lie between them.
_POINTS, _BETWEEN = 97, 1.25
_EPS = float(np.finfo(np.float64).eps)


class KrylovProduct(NamedTuple):
    """``f(W) @ block`` as far as it was computed."""

    #: The product; ``None`` where it has not converged.
    product: FloatArray | None
    #: Bound on the error in Frobenius' norm, and that norm of the product.
    error: float
    norm: float
    n_steps: int


def function_times(
    steps: Steps,
    function: ScalarFunction,
    radius: float,
    block: FloatArray,
    tol: float,
    most: int,
    first: int = 2,
) -> KrylovProduct:
    """``function(W) @ block`` for a symmetric ``W``, to a relative error in Frobenius' norm.

    Each column has its own Krylov space; all advance together.

    Parameters
    ----------
    steps
        Products with ``W``.
    radius
        No eigenvalue of ``W`` is larger in absolute value.
    tol
        Of the error over the norm of the product.
    most
        Steps at most; without the product where these do not reach `tol`.
    first
        The step after which the error is looked at first.

    Examples
    --------
    >>> W = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> e = np.array([[1.0], [0.0]])
    >>> found = function_times(PlainSteps(lambda v: W @ v), np.exp, 1.0, e, 1e-9, 5)
    >>> found.product.ravel(), found.n_steps
    (array([1.543, 1.175]), 2)
    """
    n, width = block.shape
    lengths = np.sqrt(column_products(block, block))
    # Vectors as they come out of a step, and what makes each of length 1; 0 for those of length 0.
    basis, scales = [block], [_inverse(lengths)]
    diagonal, beside = np.zeros((0, width)), np.zeros((0, width))
    grid = _grid(function, radius)
    error = norm = np.inf
    pace = _Pace(first)
    last_step = min(most, n)
    for step in range(1, last_step + 1):
        before = basis[-2] if step > 1 else block
        factor = beside[-1] * scales[-2] if step > 1 else np.zeros(width)
        following, along, squares = steps.lanczos_step(basis[-1], scales[-1], before, factor)
        diagonal = np.vstack([diagonal, along])
        rest = np.sqrt(squares)
        # A Krylov space that is complete: what is left is rounding.
        rest[rest <= 8 * _EPS * radius] = 0.0
        complete = not rest.any()
        if step >= pace.next or step == last_step or complete:
            weights, errors = _projected(function, grid, diagonal, beside, rest)
            norm = float(np.linalg.norm(lengths * np.linalg.norm(weights, axis=0)))
            error = float(np.linalg.norm(lengths * errors))
            if error <= tol * norm or complete:
                product = np.zeros_like(block)
                for vectors, scale, weight in zip(basis, scales, weights, strict=True):
                    steps.add_scaled(product, vectors, scale * weight * lengths)
                return KrylovProduct(product, error, frobenius(product), step)
            pace.saw(step, error / (tol * norm) if norm else np.inf)
        if step == last_step:
            break
        beside = np.vstack([beside, rest])
        basis.append(following)
        scales.append(_inverse(rest))
    return KrylovProduct(None, error, norm, len(diagonal))


def _inverse(lengths: FloatArray) -> FloatArray:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


class _Pace:
    """When to look at the error: each look takes as long as a step on a small graph."""

    def __init__(self, first: int) -> None:
        self.next = first
        self._seen: tuple[int, float] | None = None

    def saw(self, step: int, ratio: float) -> None:
        """The error is so many times what it should be."""
        ahead = 2
        if self._seen is not None and 1 < ratio < self._seen[1] < np.inf:
            rate = np.log(self._seen[1] / ratio) / (step - self._seen[0])
            ahead = int(0.9 * np.log(ratio) / rate)
        self._seen = step, ratio
        self.next = step + min(max(1, ahead), max(2, step // 2))


class _Grid(NamedTuple):
    """A function, and its slope, at points of the interval."""

    points: FloatArray
    values: FloatArray
    slopes: FloatArray
    #: Nearer than this to a point the slope there is better than a quotient of differences.
    near: float


def _grid(function: ScalarFunction, radius: float) -> _Grid:
    points = radius * np.cos(np.linspace(0, np.pi, _POINTS))
    delta = 1e-6 * radius
    high, low = np.minimum(points + delta, radius), np.maximum(points - delta, -radius)
    slopes = (function(high) - function(low)) / (high - low)
    return _Grid(points, function(points), slopes, 0.1 * delta)


def _projected(
    function: ScalarFunction,
    grid: _Grid,
    diagonal: FloatArray,
    beside: FloatArray,
    rest: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """``f(T) e_1`` of every column, and bounds on the errors."""
    n_steps, width = diagonal.shape
    T = np.zeros((width, n_steps, n_steps))
    place = np.arange(n_steps)
    T[:, place, place] = diagonal.T
    T[:, place[1:], place[:-1]] = beside.T
    theta, vectors = np.linalg.eigh(T)  # of the lower triangle
    at = function(theta)
    weights = np.einsum("cij,cj,cj->ic", vectors, at, vectors[:, 0])
    ends = rest[:, np.newaxis] * vectors[:, -1] * vectors[:, 0]
    gaps = grid.points[np.newaxis, :, np.newaxis] - theta[:, np.newaxis, :]
    near = np.abs(gaps) < grid.near
    quotients = (grid.values[:, np.newaxis] - at[:, np.newaxis, :]) / np.where(near, 1.0, gaps)
    quotients = np.where(near, grid.slopes[:, np.newaxis], quotients)
    h = np.abs(np.einsum("cpl,cl->cp", quotients, ends)).max(axis=1)
    rounding = 4 * _EPS * n_steps * np.abs(at).max(axis=1)
    return weights, _BETWEEN * h + rounding
