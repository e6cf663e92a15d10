"""Conjugate gradients for several right-hand sides: one driver for NumPy and torch.

References
----------
M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grfpp.linalg.csr import column_products, combine, frobenius
from grfpp.linalg.lanczos import KrylovProduct
from grfpp.typing import FloatArray

Multiply = Callable[[Any], Any]

#: Relative residual that rounding leaves: some tens of units in the last place.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


class Solution(NamedTuple):
    """The solutions after some steps, and whether all columns converged."""

    solution: Any
    n_steps: int
    converged: bool


def solve(
    multiply: Multiply,
    right: Any,
    *,
    tol: float,
    max_steps: int,
    diagonal: Any = None,
    start: Any = None,
    stop: Callable[[Any, Any], bool] | None = None,
    on_step: Callable[[Any, Any], None] | None = None,
) -> Solution:
    """Solve ``A_j x_j = b_j`` for symmetric positive definite matrices, one for each column.

    Parameters
    ----------
    multiply
        Products: column ``j`` of a block times ``A_j``. May return its own scratch array.
    right
        The right-hand sides, a NumPy array or a torch tensor of two axes.
    tol
        Largest residual relative to the initial one, both in the norm of the preconditioner.
        Columns that reach it are not changed any more.
    max_steps
        Largest number of products.
    diagonal
        The preconditioners, positive, of the shape of `right` or of one column.
    start
        The initial solution; zero by default.
    stop
        Stopping rule instead of `tol`, called before each step with the solution and the squared
        residuals of all columns.
    on_step
        Called after each step with its length for every column (0 where solved) and the factor by
        which the squared residual changed: the entries of Lanczos' tridiagonal matrix.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> result = solve(lambda v: A @ v, np.array([[3.0], [3.0]]), tol=1e-9, max_steps=5)
    >>> result.solution.ravel(), result.n_steps
    (array([1., 1.]), 1)
    """
    if isinstance(right, np.ndarray):  # the compiled loops take this layout alone
        right = np.ascontiguousarray(right, np.float64)
    inverse = None if diagonal is None else 1.0 / diagonal
    x = 0 * right if start is None else 1 * start
    residual = 1 * right if start is None else right - multiply(x)
    scaled = residual if inverse is None else inverse * residual
    direction = 1 * scaled
    squares = _dots(residual, scaled)
    goal = tol**2 * squares
    n_steps = 0
    while True:
        active, finite = squares > goal, bool((abs(squares) < np.inf).all())
        converged = finite and (not bool(active.any()) if stop is None else stop(x, squares))
        if converged or not finite or n_steps == max_steps:
            return Solution(x, n_steps, converged)
        image = multiply(direction)
        curvature = _dots(direction, image)
        moving = active & (curvature > 0) if stop is None else curvature > 0
        length = _where(moving, squares, curvature)
        _combine(x, 1.0, direction, length)
        _combine(residual, 1.0, image, -length)
        if inverse is not None:
            scaled = inverse * residual
        before, squares = squares, _dots(residual, scaled)
        ratio = _where(moving, squares, before)
        _combine(direction, ratio, scaled, 1.0)
        n_steps += 1
        if on_step is not None:
            on_step(length, ratio)


def _where(condition: Any, numerator: Any, denominator: Any) -> Any:
    """The quotient where a condition holds, 0 elsewhere."""
    safe = denominator * condition + ~condition
    return numerator * condition / safe


def _dots(a: Any, b: Any) -> Any:
    return column_products(a, b) if isinstance(a, np.ndarray) else (a * b).sum(0)


def _combine(out: Any, a: Any, x: Any, b: Any) -> None:
    """``out ← a · out + b · x``, in place."""
    if isinstance(out, np.ndarray):
        combine(out, a, x, b, out)
        return
    out *= a
    out += b * x


def inverse_times(
    multiply: Multiply, smallest: float, block: FloatArray, tol: float, max_steps: int
) -> KrylovProduct:
    """``A^-1 @ block`` by conjugate gradients, to a relative error in the Frobenius norm.

    The error is at most the residual over the smallest eigenvalue. The recursive residual is
    replaced by the true one, ``block − A x``, before the method stops.

    Parameters
    ----------
    multiply
        Products with ``A``.
    smallest
        A positive lower bound of the eigenvalues of ``A``.
    tol
        Largest error relative to the norm of the product.
    max_steps
        Largest number of steps; the product is ``None`` where they do not reach `tol`.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> inverse_times(lambda v: A @ v, 1.0, np.array([[3.0], [3.0]]), 1e-9, 5).product.ravel()
    array([1., 1.])
    """
    error = norm = np.inf
    has_converged = False

    def stop(x: FloatArray, squares: FloatArray) -> bool:
        nonlocal error, norm, has_converged
        error, norm = float(np.sqrt(squares.sum())) / smallest, frobenius(x)
        if error > tol * norm:
            return False
        error = frobenius(block - multiply(x)) / smallest
        has_converged = error <= tol * norm
        # Further steps do not lower an error that is due to rounding.
        return has_converged or error <= _ROUNDING * norm / smallest

    result = solve(multiply, block, tol=0.0, max_steps=max_steps, stop=stop)
    product = result.solution if has_converged else None
    return KrylovProduct(product, error, norm, result.n_steps)
