"""Products of CSR matrices with dense blocks and with each other, on all cores.

All give the same bits for any number of threads: every number of the result is summed by one
thread, in the order of the matrix's entries.
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import float64, uint32

from grfpp.linalg.compiled import compiled
from grfpp.linalg.growing import Block, GrowingMatrix
from grfpp.linalg.notice import announce_compilation
from grfpp.parallel import in_order, split, thread_count
from grfpp.typing import FloatArray

announce_compilation()


#: Below so many multiplications threads cost more than they bring.
_WORTH_THREADS = 200_000
#: Multiplications of one task of a sparse product.
_TASK_PRODUCTS = 2_000_000


def matmat(matrix: sp.csr_array, dense: FloatArray, n_jobs: int = -1) -> FloatArray:
    """``matrix @ dense`` for a C-contiguous float64 block."""
    return _run(_rows_times, matrix, dense, matrix.shape[0], n_jobs)


def transposed_matmat(matrix: sp.csr_array, dense: FloatArray, n_jobs: int = -1) -> FloatArray:
    """``matrix.T @ dense`` without forming the transpose."""
    return _run(_columns_times, matrix, dense, matrix.shape[1], n_jobs)


def block_matmat(block: Block, dense: FloatArray, out: FloatArray) -> None:
    """Write the product of a block of rows with `dense` to its rows of the result."""
    indptr = np.concatenate([[0], block.end])
    _rows_times(indptr, block.columns, block.values, dense, out, 0, len(block.end))


def add_block_transposed(block: Block, dense: FloatArray, out: FloatArray) -> None:
    """Add the product of a transposed block of rows with its rows of `dense` to the result."""
    indptr = np.concatenate([[0], block.end])
    _columns_times(indptr, block.columns, block.values, dense, out, 0, len(out))


def sparse_product(a: sp.csr_array, b: sp.csr_array, n_jobs: int = -1) -> sp.csr_array:
    """``a @ b``; columns stand in the order in which they first appear, values are float64."""
    n_rows, n_columns = a.shape[0], b.shape[1]
    # Multiplications of the rows up to each, and from them tasks of nearly equal cost.
    cost = np.concatenate([[0], np.cumsum(np.diff(b.indptr).astype(np.int64)[a.indices])])
    cost = cost[a.indptr]
    n_tasks = int(min(n_rows, 1 + cost[-1] // _TASK_PRODUCTS))
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], n_tasks + 1)[1:-1])
    tasks = [
        range(int(start), int(stop))
        for start, stop in pairwise([0, *np.unique(cuts).tolist(), n_rows])
        if stop > start
    ]
    local = threading.local()

    def work(task: range) -> Block:
        if not hasattr(local, "place"):
            local.place = np.full(n_columns, -1, np.int32)
        most = int(min(cost[task.stop] - cost[task.start], len(task) * n_columns))
        end = np.empty(len(task), np.int64)
        columns, values = np.empty(most, np.int32), np.empty(most)
        n_entries = _sparse_rows_times(
            *(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data),
            *(task.start, task.stop, local.place, end, columns, values),
        )
        return Block(end, columns[:n_entries].copy(), values[:n_entries].copy())

    n_threads = min(thread_count(n_jobs) if cost[-1] >= _WORTH_THREADS else 1, len(tasks))
    matrix = GrowingMatrix(n_rows, n_columns, a.nnz, np.dtype(np.float64))
    for block in in_order(work, tasks, max(1, n_threads)):
        matrix.append(block)
    return matrix.finish()


def _run(kernel: Any, matrix: sp.csr_array, dense: FloatArray, n: int, n_jobs: int) -> FloatArray:
    out = np.zeros((n, dense.shape[1]))
    worth = matrix.nnz * dense.shape[1] >= _WORTH_THREADS
    n_threads = thread_count(n_jobs) if worth else 1

    arrays = (matrix.indptr, matrix.indices, matrix.data, dense, out)
    if n_threads == 1:
        kernel(*arrays, 0, n)
        return out

    def work(part: range) -> None:
        kernel(*arrays, part.start, part.stop)

    for _ in in_order(work, split(n, n_threads), n_threads):
        pass
    return out


@compiled()
def _rows_times(
    indptr: Any, indices: Any, data: Any, dense: Any, out: Any, start: int, stop: int
) -> None:
    width = dense.shape[1]
    if width == 1:
        for row in range(start, stop):
            total = 0.0
            for entry in range(indptr[row], indptr[row + 1]):
                # Unsigned, so that no index is taken to count from the end.
                total += data[entry] * dense[uint32(indices[entry]), 0]
            out[row, 0] = total
        return
    for row in range(start, stop):
        for c in range(width):
            out[row, c] = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            value = data[entry]
            column = uint32(indices[entry])
            for c in range(width):
                out[row, c] += value * dense[column, c]


@compiled()
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


@compiled()
def _sparse_rows_times(
    a_indptr: Any,
    a_indices: Any,
    a_data: Any,
    b_indptr: Any,
    b_indices: Any,
    b_data: Any,
    start: int,
    stop: int,
    place: Any,
    end: Any,
    columns: Any,
    values: Any,
) -> int:
    """Rows of a product (Gustavson). `place` is -1 everywhere, before and after."""
    n_entries = 0
    for row in range(start, stop):
        first = n_entries
        for i in range(a_indptr[row], a_indptr[row + 1]):
            value = float64(a_data[i])
            middle = a_indices[i]
            for j in range(b_indptr[middle], b_indptr[middle + 1]):
                column = b_indices[j]
                if place[column] < 0:
                    place[column] = n_entries - first
                    columns[n_entries] = column
                    values[n_entries] = value * b_data[j]
                    n_entries += 1
                else:
                    values[first + place[column]] += value * b_data[j]
        for entry in range(first, n_entries):
            place[columns[entry]] = -1
        end[row - start] = n_entries
    return n_entries


@compiled()
def row_tails(values: Any, indptr: Any) -> Any:
    """For every value of a CSR matrix the sum from it to the last one of its row."""
    tails = np.empty_like(values)
    for row in range(len(indptr) - 1):
        total = 0.0
        for place in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
            total += values[place]
            tails[place] = total
    return tails
