"""Products of a CSR matrix, or its transpose, with a dense block, on all cores.

Both give the same bits for any number of threads: every number of the result is summed by one
thread, in the order of the matrix's entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import njit

from grfpp.parallel import in_order, split, thread_count

FloatArray = npt.NDArray[np.float64]

#: Below so many multiplications threads cost more than they bring.
_WORTH_THREADS = 200_000


def matmat(matrix: sp.csr_array, dense: FloatArray, n_jobs: int = -1) -> FloatArray:
    """``matrix @ dense`` for a C-contiguous float64 block."""
    return _run(_rows_times, matrix, dense, matrix.shape[0], n_jobs)


def transposed_matmat(matrix: sp.csr_array, dense: FloatArray, n_jobs: int = -1) -> FloatArray:
    """``matrix.T @ dense`` without forming the transpose."""
    return _run(_columns_times, matrix, dense, matrix.shape[1], n_jobs)


def _run(kernel: Any, matrix: sp.csr_array, dense: FloatArray, n: int, n_jobs: int) -> FloatArray:
    out = np.zeros((n, dense.shape[1]))
    worth = matrix.nnz * dense.shape[1] >= _WORTH_THREADS
    n_threads = thread_count(n_jobs) if worth else 1

    def work(part: range) -> None:
        kernel(matrix.indptr, matrix.indices, matrix.data, dense, out, part.start, part.stop)

    for _ in in_order(work, split(n, n_threads), n_threads):
        pass
    return out


@njit(nogil=True, cache=True)
def _rows_times(
    indptr: Any, indices: Any, data: Any, dense: Any, out: Any, start: int, stop: int
) -> None:
    width = dense.shape[1]
    if width == 1:
        for row in range(start, stop):
            total = 0.0
            for entry in range(indptr[row], indptr[row + 1]):
                total += data[entry] * dense[indices[entry], 0]
            out[row, 0] = total
        return
    for row in range(start, stop):
        for entry in range(indptr[row], indptr[row + 1]):
            value = data[entry]
            column = indices[entry]
            for c in range(width):
                out[row, c] += value * dense[column, c]


@njit(nogil=True, cache=True)
def _columns_times(
    indptr: Any, indices: Any, data: Any, dense: Any, out: Any, start: int, stop: int
) -> None:
    """Sum into the result rows ``start … stop-1`` only, which this thread owns."""
    width = dense.shape[1]
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            if start <= column < stop:
                value = data[entry]
                for c in range(width):
                    out[column, c] += value * dense[row, c]
