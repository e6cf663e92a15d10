"""Conjugate gradients for several systems at once, with a diagonal preconditioner each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grfpp.linalg.norms import column_products
from grfpp.typing import FloatArray


class Solution(NamedTuple):
    """What solves the systems, after so many steps, and whether all columns came to the end."""

    solution: FloatArray
    n_steps: int
    converged: bool


def solve_columns(
    multiply: Callable[[FloatArray], FloatArray],
    diagonal: FloatArray,
    right: FloatArray,
    tol: float,
    most: int,
    start: FloatArray | None = None,
) -> Solution:
    """Solve ``A_j x_j = b_j`` for symmetric positive matrices, one a column.

    Parameters
    ----------
    multiply
        Products: column ``j`` of a block times ``A_j``.
    diagonal
        The preconditioners, positive, of the shape of `right` or of one column.
    right
        The right sides. A column of zeros has the solution zero.
    tol
        Where a column's residual is this share of the one at the start, both in the norm of the
        preconditioner, the column is solved.
    most
        Steps at most.
    start
        Where to begin, if not at zero: what is known of the solution should not count as progress.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> right = np.array([[3.0], [3.0]])
    >>> found = solve_columns(lambda v: A @ v, np.full((2, 1), 2.0), right, 1e-9, 5)
    >>> found.solution.ravel(), found.n_steps
    (array([1., 1.]), 1)
    """
    inverse = 1.0 / diagonal
    x = np.zeros_like(right) if start is None else start.copy()
    residual = right.copy() if start is None else right - multiply(x)
    scaled = inverse * residual
    direction = scaled.copy()
    squares = column_products(residual, scaled)
    goal = tol**2 * squares
    for step in range(most + 1):
        going = squares > goal
        if not going.any():
            return Solution(x, step, True)
        if step == most:
            break
        image = multiply(direction)
        curvature = column_products(direction, image)
        # A column that is solved stays as it is.
        moves = going & (curvature > 0)
        length = np.divide(squares, curvature, out=np.zeros_like(squares), where=moves)
        x += length * direction
        image *= length
        residual -= image
        np.multiply(inverse, residual, out=scaled)
        before, squares = squares, column_products(residual, scaled)
        share = np.divide(squares, before, out=np.zeros_like(squares), where=moves)
        direction *= share
        direction += scaled
    return Solution(x, most, False)
