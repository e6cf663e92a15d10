"""CSR matrices: built from arrays or row by row, times dense blocks and each other, on threads.

Results have the same bits for any number of threads. The compiled loops (`grfpp.linalg.loops`) are
imported where they are called.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from grfpp._memory import fits, require_bytes
from grfpp._parallel import in_order, split, thread_count
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Multiplications below which threads cost more than they save: a pool takes 0.1 ms to start.
_MIN_PARALLEL_WORK = 400_000
#: Parts of the rows, several a thread since rows of hubs take longer. A fixed number: the bits of
#: sums over rows do not depend on the number of threads.
_N_PARTS = 8
#: Multiplications of one task of a sparse product.
_TASK_WORK = 2_000_000
#: Multiplications of one product above which compiled loops beat SciPy, for few columns.
_MIN_COMPILED_WORK = 1_000_000
#: Factor by which less work suffices for wide blocks: with 6,240 entries and 32 columns the loops
#: take 82 µs and SciPy 374 µs.
_WIDE_BLOCK_FACTOR = 32
#: Columns from which a block is wide: the loops over columns use vector instructions.
_WIDE_BLOCK = 8
#: Multiplications without the compiled loops after which loading them (1 s) pays.
_LOADING_WORK = 300_000_000
#: Numbers of a block from which loops combine two blocks faster than NumPy's passes over memory.
_MIN_COMBINED_NUMBERS = 20_000
#: Share of entries from which a dense array multiplies faster than CSR.
_DENSE_SHARE = 0.1
#: Smallest number of nodes for which a dense array is considered: calls of either take longer than
#: smaller products.
_MIN_DENSE_NODES = 100
#: Multiplications for each entry of the dense array after which making it has paid.
_DENSE_REUSE = 8
#: Columns of one block that pay for the dense array at once.
_DENSE_WIDTH = 8
#: Share of the nodes beyond which `within_steps` gives up: taking all nodes costs little more.
_MAX_REACHED_SHARE = 0.25
_LOOPS = "grfpp.linalg.loops"


def csr(
    values: npt.NDArray[Any],
    columns: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.integer[Any]],
    n_columns: int,
) -> sp.csr_array:
    """A CSR array on these arrays, without copying the long ones.

    SciPy wants one type for both index arrays and would widen `columns` to that of `indptr`.
    """
    if len(columns) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32, copy=False)
    return sp.csr_array((values, columns, indptr), shape=(len(indptr) - 1, n_columns))


def stack_rows(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    """Matrices of the same width one below the other; entries keep their order.

    Examples
    --------
    >>> eye = sp.eye_array(2, format="csr")
    >>> stack_rows([eye, eye[[1]]]).toarray()
    array([[1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    return matrices[0] if len(matrices) == 1 else sp.vstack(matrices, format="csr")


def readonly(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A plain read-only view, of memory maps too: one type for compiled code."""
    view = np.asarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def within_steps(adjacency: sp.csr_array, nodes: IntArray, n_steps: int) -> IntArray | None:
    """Sorted nodes within `n_steps` steps of `nodes`; ``None`` where they are over a quarter.

    Examples
    --------
    >>> path = sp.diags_array([1.0] * 19, offsets=1, shape=(20, 20), format="csr")
    >>> within_steps(path, np.array([4]), 2)
    array([4, 5, 6])
    """
    n, indptr, indices = adjacency.shape[0], adjacency.indptr, adjacency.indices
    reached = np.zeros(n, bool)
    frontier = np.unique(nodes)
    reached[frontier] = True
    n_reached = len(frontier)
    for _ in range(n_steps):
        if n_reached > _MAX_REACHED_SHARE * n:
            return None
        first, count = indptr[frontier], indptr[frontier + 1] - indptr[frontier]
        # All entries of these rows; SciPy's row indexing takes ten times as long for few rows.
        entries = np.arange(count.sum()) + np.repeat(first - np.cumsum(count) + count, count)
        neighbours = indices[entries]
        frontier = np.unique(neighbours[~reached[neighbours]])
        if not len(frontier):
            break
        reached[frontier] = True
        n_reached += len(frontier)
    return np.flatnonzero(reached)


def connected_to(adjacency: sp.csr_array, nodes: IntArray) -> BoolArray:
    """Whether each node is in the connected component of one of these.

    Examples
    --------
    >>> connected_to(sp.csr_array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), np.array([1]))
    array([ True,  True, False])
    """
    _, component = connected_components(adjacency, directed=False)
    return np.isin(component, component[nodes])


class Block(NamedTuple):
    """Consecutive rows of a sparse matrix: where each ends, its columns, its values."""

    end: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]

    @classmethod
    def of(cls, rows: sp.csr_array) -> Block:
        """The rows of a CSR matrix."""
        return cls(rows.indptr[1:].astype(np.int64), rows.indices, rows.data)

    def matrix(self, n_columns: int) -> sp.csr_array:
        """The rows as a CSR matrix."""
        return csr(self.values, self.columns, np.concatenate([[0], self.end]), n_columns)


class GrowingMatrix:
    """Rows appended in order to one CSR matrix, without a second copy of it at the end.

    Memory that is reserved but not written costs nothing, and arrays shrink in place: `capacity`
    should be a little too large, and the arrays grow where it was too small.

    Several threads may append at once. Positions are assigned in the order of the rows; the threads
    then copy concurrently, since the first access to new memory is slow.
    """

    def __init__(self, n_rows: int, n_columns: int, capacity: int, dtype: np.dtype[Any]) -> None:
        self._indptr = np.zeros(n_rows + 1, np.int64)
        self._n_columns = n_columns
        self._index = np.empty(capacity, np.int32)
        self._value = np.empty(capacity, dtype)
        self._n_entries = 0
        self._n_rows = 0
        self._n_copying = 0
        self._abandoned = False
        self._changed = threading.Condition()

    def append(self, block: Block, first_row: int | None = None) -> None:
        """Append rows; with `first_row`, wait until all rows before it have been appended."""
        changed = self._changed
        first_row = self._n_rows if first_row is None else first_row
        with changed:
            changed.wait_for(lambda: self._n_rows == first_row or self._abandoned)
            if self._abandoned:
                return
            start, end = self._n_entries, self._n_entries + len(block.columns)
            if end > len(self._index):
                changed.wait_for(lambda: self._n_copying == 0)
                arrays, size = (self._index, self._value), end * 3 // 2
                n_bytes = size * sum(array.itemsize for array in arrays)
                require_bytes(n_bytes, f"a sparse matrix of at least {end} entries")
                for array in arrays:
                    array.resize(size, refcheck=False)
            index, value = self._index[start:end], self._value[start:end]
            next_row = first_row + len(block.end)
            self._indptr[first_row + 1 : next_row + 1] = block.end + start
            self._n_entries, self._n_rows = end, next_row
            self._n_copying += 1
            changed.notify_all()
        index[:] = block.columns
        value[:] = block.values
        with changed:
            self._n_copying -= 1
            changed.notify_all()

    def abandon(self) -> None:
        """Wake all waiting threads after a failure; their rows are dropped."""
        with self._changed:
            self._abandoned = True
            self._changed.notify_all()

    def finish(self) -> sp.csr_array:
        """The matrix of all appended rows."""
        self._index.resize(self._n_entries, refcheck=False)
        self._value.resize(self._n_entries, refcheck=False)
        return csr(self._value, self._index, self._indptr, self._n_columns)


def frobenius(block: FloatArray) -> float:
    """Frobenius norm of an array of any shape, without BLAS and its threads.

    Examples
    --------
    >>> frobenius(np.array([[3.0], [4.0]]))
    5.0
    """
    flat = np.ascontiguousarray(block).reshape(-1)
    return math.sqrt(float(np.einsum("i,i->", flat, flat)))


def column_products(a: FloatArray, b: FloatArray) -> FloatArray:
    """Inner products of the columns of two blocks, without BLAS.

    Examples
    --------
    >>> column_products(np.array([[3.0], [4.0]]), np.array([[1.0], [2.0]]))
    array([11.])
    """
    if a.shape[1] == 1:
        return np.atleast_1d(np.einsum("i,i->", a[:, 0], b[:, 0]))
    return np.asarray(np.einsum("ij,ij->j", a, b))


def combine(
    out: FloatArray, a: Any, x: FloatArray, b: Any, partner: FloatArray, n_jobs: int = -1
) -> FloatArray:
    """``out ← a · out + b · x`` with a factor for each column; inner products with `partner`.

    Compiled for large blocks, where the loops are loaded already.

    Examples
    --------
    >>> total = np.ones((2, 1))
    >>> combine(total, 1.0, np.ones((2, 1)), 3.0, np.ones((2, 1))), total.ravel()
    (array([8.]), array([4., 4.]))
    """
    n, width = out.shape
    if _LOOPS not in sys.modules or out.size <= _MIN_COMBINED_NUMBERS:
        if np.any(np.asarray(a) != 1.0):
            out *= a
        out += b * x
        return column_products(out, partner)
    from grfpp.linalg import loops

    a, b = (np.ascontiguousarray(np.broadcast_to(factor, width), np.float64) for factor in (a, b))

    def work(rows: range) -> FloatArray:
        sums = np.zeros(width)
        loops.combine(out, a, x, b, partner, sums, rows.start, rows.stop)
        return sums

    return np.asarray(np.sum(over_rows(work, n, 4 * out.size, n_jobs), axis=0))


def over_rows(work: Callable[[range], Any], n: int, cost: int, n_jobs: int) -> list[Any]:
    """Results of `work` for parts of the rows, on threads where the cost pays for them."""
    if cost < _MIN_PARALLEL_WORK:
        return [work(range(n))]
    return list(in_order(work, split(n, _N_PARTS), thread_count(n_jobs)))


def times(
    matrix: sp.csr_array,
    dense: FloatArray,
    n_jobs: int = -1,
    *,
    out: FloatArray | None = None,
    base: FloatArray | None = None,
    scale: float = 1.0,
    keep: float = 0.0,
    total: FloatArray | None = None,
    weight: float = 0.0,
) -> FloatArray:
    """``out ← scale · matrix @ dense + keep · base`` in one pass; ``total += weight · out``.

    All blocks are C-contiguous float64. `base` may be `out` or `dense`.

    Examples
    --------
    >>> times(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]), np.array([[1.0], [3.0]])).ravel()
    array([6., 1.])
    """
    from grfpp.linalg.loops import rows_times

    n, width = matrix.shape[0], dense.shape[1]
    out = np.empty((n, width)) if out is None else out
    base, total = out if base is None else base, out if total is None else total
    arrays = tuple(map(readonly, (matrix.indptr, matrix.indices, matrix.data, dense, base)))

    def work(rows: range) -> None:
        rows_times(*arrays, out, total, scale, keep, weight, rows.start, rows.stop)

    over_rows(work, n, matrix.nnz * width, n_jobs)
    return out


def transposed_times(
    matrix: sp.csr_array, dense: FloatArray, n_jobs: int = -1, out: FloatArray | None = None
) -> FloatArray:
    """``matrix.T @ dense`` without forming the transpose, for a C-contiguous float64 block.

    It is added to `out` where that is given.

    Examples
    --------
    >>> transposed_times(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]), np.array([[1.0], [3.0]])).ravel()
    array([3., 2.])
    """
    from grfpp.linalg.loops import columns_times

    total = np.zeros((matrix.shape[1], dense.shape[1])) if out is None else out
    arrays = tuple(map(readonly, (matrix.indptr, matrix.indices, matrix.data, dense)))
    parallel = matrix.nnz * dense.shape[1] >= _MIN_PARALLEL_WORK
    n_threads = thread_count(n_jobs) if parallel else 1

    def work(rows: range) -> None:
        columns_times(*arrays, total, rows.start, rows.stop)

    # Every part reads the whole matrix: one part a thread.
    list(in_order(work, split(len(total), n_threads), n_threads))
    return total


def sparse_product(a: sp.csr_array, b: sp.csr_array, n_jobs: int = -1) -> sp.csr_array:
    """``a @ b`` in float64; columns are in the order in which they first appear.

    SciPy multiplies some rows at a time, without the interpreter's lock, and lists columns in the
    reverse of that order.

    Examples
    --------
    >>> sparse_product(sp.csr_array([[0.0, 2.0]]), sp.csr_array([[1.0], [3.0]])).toarray()
    array([[6.]])
    """
    n_rows, n_columns = a.shape[0], b.shape[1]
    right = csr(b.data.astype(np.float64, copy=False), b.indices, b.indptr, n_columns)
    work = int(np.diff(b.indptr)[a.indices].sum(dtype=np.int64))
    tasks = split(n_rows, 1 + work // _TASK_WORK)
    n_threads = thread_count(n_jobs) if len(tasks) > 1 else 1
    matrix = GrowingMatrix(n_rows, n_columns, a.nnz, np.dtype(np.float64))
    for rows in in_order(lambda task: a[task.start : task.stop] @ right, tasks, n_threads):
        ends = np.add(rows.indptr[:-1], rows.indptr[1:], dtype=np.int64)
        order = np.repeat(ends, np.diff(rows.indptr)) - np.arange(1, rows.nnz + 1)
        matrix.append(
            Block(rows.indptr[1:].astype(np.int64), rows.indices[order], rows.data[order])
        )
    return matrix.finish()


class CsrProduct:
    """``W`` times blocks of columns by the fastest of SciPy, a dense array and compiled loops.

    Small products never wait for numba to load; see the thresholds at the top of this file.

    Examples
    --------
    >>> W = CsrProduct(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    >>> W(np.array([[1.0], [3.0]])).ravel()
    array([3., 1.])
    """

    def __init__(self, matrix: sp.csr_array, n_jobs: int = -1) -> None:
        self.matrix, self.n_jobs = matrix, n_jobs
        self._work_done = 0
        self._dense: FloatArray | None = None
        n = matrix.shape[0]
        #: Whether the share of entries that are not zero makes a dense array faster.
        self.prefers_dense = (
            n >= _MIN_DENSE_NODES and matrix.nnz >= _DENSE_SHARE * n * n and fits(10 * n * n)
        )

    def __call__(
        self,
        block: FloatArray,
        *,
        scale: float = 1.0,
        base: FloatArray | None = None,
        keep: float = 0.0,
        out: FloatArray | None = None,
        total: FloatArray | None = None,
        weight: float = 0.0,
    ) -> FloatArray:
        """``scale · W @ block + keep · base``, which may be written to `out`; see `times`."""
        if self._is_compiled(block):
            options = {"scale": scale, "base": base, "keep": keep, "total": total, "weight": weight}
            return times(self.matrix, block, self.n_jobs, out=out, **options)  # type: ignore[arg-type]  # of each
        product = self._by_library(block)
        if scale != 1.0:
            product *= scale
        if base is not None and keep == -1.0:
            product -= base  # without a temporary array
        elif base is not None and keep:
            product += base if keep == 1.0 else keep * base
        if total is not None and weight:
            # In `out`, where its numbers are not needed any more.
            scaled = np.multiply(product, weight, out=out if base is not block else None)
            total += scaled
        return product

    def _by_library(self, block: FloatArray) -> FloatArray:
        if self.prefers_dense and self._dense is None:
            n, width = block.shape
            self._work_done += self.matrix.nnz * width
            if self._work_done >= _DENSE_REUSE * n * n or width >= _DENSE_WIDTH:
                self._dense = self.matrix.toarray()
        return np.asarray((self.matrix if self._dense is None else self._dense) @ block)

    def _is_compiled(self, block: FloatArray) -> bool:
        work = self.matrix.nnz * block.shape[1]
        factor = _WIDE_BLOCK_FACTOR if block.shape[1] >= _WIDE_BLOCK else 1
        min_work = _MIN_COMPILED_WORK // factor
        if self.prefers_dense or work < min_work:
            return False
        if _LOOPS in sys.modules:
            return True
        self._work_done += work
        return self._work_done >= _LOADING_WORK
