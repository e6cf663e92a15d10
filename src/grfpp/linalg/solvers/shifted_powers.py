"""Systems ``((I − c W)^p + P) x = b`` with diagonal ``P``, one a column, in compiled loops.

Conjugate gradients with a diagonal preconditioner, as `grfpp.linalg.solvers.preconditioned` has
them for anything that multiplies; here a step is four passes over the block and no temporary array.
Rows are shared by threads in parts that do not depend on their number, and so do not the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import uint32

from grfpp.linalg.compiled import compiled
from grfpp.linalg.notice import announce_compilation
from grfpp.linalg.solvers.preconditioned import Solution
from grfpp.parallel import thread_count
from grfpp.typing import FloatArray

announce_compilation()

#: Numbers of a part, of which a thread takes one at a time: fewer would not be worth one.
_PART = 1 << 17


def solve_shifted(
    weights: sp.csr_array,
    c: float,
    power: int,
    pull: FloatArray,
    diagonal: FloatArray,
    right: FloatArray,
    start: FloatArray | None,
    tol: float,
    most: int,
    n_jobs: int = -1,
) -> Solution:
    """Solve ``((I − c W)^power + P_j) x_j = b_j``.

    Parameters
    ----------
    weights
        ``W``, symmetric.
    c, power
        The matrix ``(I − c W)^power`` is positive definite, or is with `pull`.
    pull
        The diagonals ``P_j``, not negative, of the shape of `right` or of one column.
    diagonal
        That of ``(I − c W)^power``, about, positive; of one column.
    right, start, tol, most
        As for `grfpp.linalg.solvers.preconditioned.solve_columns`.
    n_jobs
        Threads; the solution is the same for any number of them.

    Examples
    --------
    >>> W = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> ones = np.ones((2, 1))
    >>> solve_shifted(W, 0.5, 1, 0 * ones, ones, ones, None, 1e-9, 5, 1).solution.ravel()
    array([2., 2.])
    """
    size = max(1, _PART // max(1, right.shape[1]))
    parts = [range(a, min(a + size, len(right))) for a in range(0, len(right), size)]
    n_threads = min(thread_count(n_jobs), len(parts))
    if n_threads <= 1:
        return _solved(weights, c, power, pull, diagonal, right, start, tol, most, parts, map)
    # One pool for all steps: to start one takes as long as a step.
    with ThreadPoolExecutor(n_threads, thread_name_prefix="grfpp") as pool:
        return _solved(weights, c, power, pull, diagonal, right, start, tol, most, parts, pool.map)


def _solved(
    weights: sp.csr_array,
    c: float,
    power: int,
    pull: FloatArray,
    diagonal: FloatArray,
    right: FloatArray,
    start: FloatArray | None,
    tol: float,
    most: int,
    parts: list[range],
    in_order: Callable[..., Iterable[Any]],
) -> Solution:
    """The same, with a function that goes over the parts."""
    shape = right.shape
    arrays = (weights.indptr, weights.indices, weights.data)
    pull = np.ascontiguousarray(np.broadcast_to(pull, shape))
    inverse = 1.0 / (diagonal + pull)
    x = np.zeros(shape) if start is None else np.array(start, order="C")
    image, other = np.empty(shape), np.empty(shape)

    def over(work: Callable[[int, int], Any]) -> FloatArray:
        """Sums over all parts, in their order."""
        totals = np.zeros(shape[1])
        for sums in in_order(lambda part: work(part.start, part.stop), parts):
            if sums is not None:
                totals += sums
        return totals

    def multiply(block: FloatArray) -> FloatArray:
        """Write the product to `image`; inner products of its columns with those of the block."""
        source = block
        for k in range(power - 1):
            target = (other, image)[(power - k) % 2]  # the last product reads the other
            over(partial(_shifted, *arrays, c, source, target))
            source = target
        return over(partial(_last_shifted, *arrays, c, source, image, pull, block))

    if start is None:
        residual = np.array(right, order="C")
    else:
        multiply(x)
        residual = right - image
    direction = inverse * residual
    squares = over(partial(_products, residual, direction))
    goal = tol**2 * squares
    for step in range(most + 1):
        going = squares > goal
        if not going.any():
            return Solution(x, step, True)
        if step == most:
            break
        curvature = multiply(direction)
        moves = going & (curvature > 0)
        length = np.divide(squares, curvature, out=np.zeros_like(squares), where=moves)
        before = squares
        squares = over(partial(_move, x, residual, direction, image, inverse, length))
        share = np.divide(squares, before, out=np.zeros_like(squares), where=moves)
        over(partial(_turn, direction, residual, inverse, share))
    return Solution(x, most, False)


@compiled()
def _shifted(
    indptr: Any, indices: Any, data: Any, c: float, block: Any, out: Any, start: int, stop: int
) -> None:
    """Rows of ``(I − c W) @ block``."""
    width = block.shape[1]
    for row in range(start, stop):
        for j in range(width):
            out[row, j] = block[row, j]
        for entry in range(indptr[row], indptr[row + 1]):
            value = c * data[entry]
            column = uint32(indices[entry])
            for j in range(width):
                out[row, j] -= value * block[column, j]


@compiled()
def _last_shifted(
    indptr: Any,
    indices: Any,
    data: Any,
    c: float,
    block: Any,
    out: Any,
    pull: Any,
    first: Any,
    start: int,
    stop: int,
) -> Any:
    """The same, with ``P @ first`` added, and inner products with `first`."""
    width = block.shape[1]
    total, sums = np.empty(width), np.zeros(width)
    for row in range(start, stop):
        for j in range(width):
            total[j] = block[row, j] + pull[row, j] * first[row, j]
        for entry in range(indptr[row], indptr[row + 1]):
            value = c * data[entry]
            column = uint32(indices[entry])
            for j in range(width):
                total[j] -= value * block[column, j]
        for j in range(width):
            out[row, j] = total[j]
            sums[j] += total[j] * first[row, j]
    return sums


@compiled()
def _products(a: Any, b: Any, start: int, stop: int) -> Any:
    sums = np.zeros(a.shape[1])
    for row in range(start, stop):
        for j in range(a.shape[1]):
            sums[j] += a[row, j] * b[row, j]
    return sums


@compiled()
def _move(
    x: Any,
    residual: Any,
    direction: Any,
    image: Any,
    inverse: Any,
    length: Any,
    start: int,
    stop: int,
) -> Any:
    """One step along the direction; squares of the residual that it leaves."""
    sums = np.zeros(x.shape[1])
    for row in range(start, stop):
        for j in range(x.shape[1]):
            x[row, j] += length[j] * direction[row, j]
            left = residual[row, j] - length[j] * image[row, j]
            residual[row, j] = left
            sums[j] += inverse[row, j] * left * left
    return sums


@compiled()
def _turn(direction: Any, residual: Any, inverse: Any, share: Any, start: int, stop: int) -> None:
    for row in range(start, stop):
        for j in range(direction.shape[1]):
            direction[row, j] = inverse[row, j] * residual[row, j] + share[j] * direction[row, j]
