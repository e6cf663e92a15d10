"""Steps of Chebyshev's and Lanczos' recurrences in one pass over the matrix, on all cores.

The same bits for any number of threads: every row is one thread's, and sums over rows are made of
parts that do not depend on the threads. All blocks are C-contiguous float64 with two axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import uint32

from grfpp.linalg.compiled import compiled
from grfpp.linalg.notice import announce_compilation
from grfpp.parallel import in_order, split, thread_count
from grfpp.typing import FloatArray

announce_compilation()

#: Below so many multiplications threads cost more than they bring.
_WORTH_THREADS = 1_000_000
#: Parts of the rows: some for each thread, since rows of hubs take longer than others.
_PARTS = 8


def chebyshev_step(
    matrix: sp.csr_array,
    current: FloatArray,
    previous: FloatArray,
    result: FloatArray,
    factor: float,
    coefficient: float,
    n_jobs: int = -1,
) -> None:
    """``previous ← factor · matrix @ current − previous``; ``result += coefficient · previous``.

    Examples
    --------
    >>> swap = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> before, total = np.array([[1.0], [0.0]]), np.zeros((2, 1))
    >>> chebyshev_step(swap, np.array([[0.0], [1.0]]), before, total, 2.0, 0.5)
    >>> before.ravel(), total.ravel()
    (array([1., 0.]), array([0.5, 0. ]))
    """
    arrays = (matrix.indptr, matrix.indices, matrix.data, current, previous, result)
    _by_rows(
        lambda start, stop, part: _step_rows(*arrays, factor, coefficient, start, stop),
        matrix.shape[0],
        matrix.nnz * current.shape[1],
        n_jobs,
    )


def lanczos_step(
    matrix: sp.csr_array,
    current: FloatArray,
    scale: FloatArray,
    previous: FloatArray,
    factor: FloatArray,
    n_jobs: int = -1,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One step from ``current · scale`` and ``previous``, each factor for its column.

    Gives ``W v − factor · previous`` less its part along ``v``, which is ``current · scale``; how
    much that part was; and the sums of squares of what is left.

    Examples
    --------
    >>> swap = sp.csr_array([[0.0, 1.0], [1.0, 2.0]])
    >>> none = np.zeros((2, 1))
    >>> lanczos_step(swap, np.array([[0.0], [2.0]]), np.array([0.5]), none, np.zeros(1))
    (array([[1.], [0.]]), array([2.]), array([1.]))
    """
    n, width = current.shape
    following = np.empty_like(current)
    sums = np.zeros((_PARTS, width))
    arrays = (matrix.indptr, matrix.indices, matrix.data, current, scale, previous, factor)
    work = matrix.nnz * width
    _by_rows(
        lambda start, stop, part: _lanczos_rows(*arrays, following, sums[part], start, stop),
        n,
        work,
        n_jobs,
    )
    along = sums.sum(axis=0)
    sums = np.zeros((_PARTS, width))
    share = along * scale
    _by_rows(
        lambda start, stop, part: _rest_rows(following, current, share, sums[part], start, stop),
        n,
        4 * n * width,
        n_jobs,
    )
    return following, along, sums.sum(axis=0)


def add_scaled(result: FloatArray, block: FloatArray, factor: FloatArray, n_jobs: int = -1) -> None:
    """``result += block · factor``, each factor for its column.

    Examples
    --------
    >>> total = np.ones((2, 1))
    >>> add_scaled(total, np.ones((2, 1)), np.array([3.0]))
    >>> total.ravel()
    array([4., 4.])
    """
    _by_rows(
        lambda start, stop, part: _add_rows(result, block, factor, start, stop),
        len(result),
        2 * result.size,
        n_jobs,
    )


def _by_rows(work: Callable[[int, int, int], None], n: int, cost: int, n_jobs: int) -> None:
    """Do the rows part by part, on threads where that pays."""
    if cost < _WORTH_THREADS:
        work(0, n, 0)
        return
    parts = split(n, _PARTS)
    n_threads = thread_count(n_jobs)
    number = {part.start: place for place, part in enumerate(parts)}

    def one(part: range) -> None:
        work(part.start, part.stop, number[part.start])

    for _ in in_order(one, parts, n_threads):
        pass


@compiled(fastmath={"contract", "reassoc", "nsz"})
def _step_rows(
    indptr: Any,
    indices: Any,
    data: Any,
    current: Any,
    previous: Any,
    result: Any,
    factor: float,
    coefficient: float,
    start: int,
    stop: int,
) -> None:
    width = current.shape[1]
    if width == 1:
        for row in range(start, stop):
            total = 0.0
            for entry in range(indptr[row], indptr[row + 1]):
                # Unsigned, so that no index is taken to count from the end.
                total += data[entry] * current[uint32(indices[entry]), 0]
            total = factor * total - previous[row, 0]
            previous[row, 0] = total
            result[row, 0] += coefficient * total
        return
    for row in range(start, stop):
        for c in range(width):
            previous[row, c] = -previous[row, c]
        for entry in range(indptr[row], indptr[row + 1]):
            value = factor * data[entry]
            column = uint32(indices[entry])
            for c in range(width):
                previous[row, c] += value * current[column, c]
        for c in range(width):
            result[row, c] += coefficient * previous[row, c]


@compiled(fastmath={"contract", "reassoc", "nsz"})
def _lanczos_rows(
    indptr: Any,
    indices: Any,
    data: Any,
    current: Any,
    scale: Any,
    previous: Any,
    factor: Any,
    following: Any,
    sums: Any,
    start: int,
    stop: int,
) -> None:
    width = current.shape[1]
    if width == 1:
        along = 0.0
        for row in range(start, stop):
            total = 0.0
            for entry in range(indptr[row], indptr[row + 1]):
                total += data[entry] * current[uint32(indices[entry]), 0]
            total = scale[0] * total - factor[0] * previous[row, 0]
            following[row, 0] = total
            along += total * current[row, 0]
        sums[0] = along * scale[0]
        return
    for row in range(start, stop):
        for c in range(width):
            following[row, c] = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            value = data[entry]
            column = uint32(indices[entry])
            for c in range(width):
                following[row, c] += value * current[column, c]
        for c in range(width):
            total = scale[c] * following[row, c] - factor[c] * previous[row, c]
            following[row, c] = total
            sums[c] += total * current[row, c]
    for c in range(width):
        sums[c] *= scale[c]


@compiled(fastmath={"contract", "reassoc", "nsz"})
def _rest_rows(following: Any, current: Any, share: Any, sums: Any, start: int, stop: int) -> None:
    width = current.shape[1]
    if width == 1:
        square = 0.0
        for row in range(start, stop):
            rest = following[row, 0] - share[0] * current[row, 0]
            following[row, 0] = rest
            square += rest * rest
        sums[0] = square
        return
    for row in range(start, stop):
        for c in range(width):
            rest = following[row, c] - share[c] * current[row, c]
            following[row, c] = rest
            sums[c] += rest * rest


@compiled(fastmath={"contract", "reassoc", "nsz"})
def _add_rows(result: Any, block: Any, factor: Any, start: int, stop: int) -> None:
    for row in range(start, stop):
        for c in range(result.shape[1]):
            result[row, c] += block[row, c] * factor[c]
