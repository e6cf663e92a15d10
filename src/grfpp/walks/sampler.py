"""Run a plan: blocks of rows on a pool of threads, joined into one sparse matrix."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.memory import require_bytes
from grfpp.parallel import in_order, thread_count
from grfpp.sparse import csr
from grfpp.walks.plan import WalkPlan
from grfpp.walks.walker import Block, Output, Walker

#: Called with the number of rows done and the number of all rows.
Progress = Callable[[int, int], None]

#: Steps that one batch walks in lock-step: its buffers then stay in a core's second-level cache.
BATCH_STEPS = 24_000
#: Steps that one task of a thread walks: long enough to hide Python, short enough to interrupt.
TASK_STEPS = 250_000
#: Rows that are walked to learn how many entries a row has, when memory may be short.
PILOT_ROWS = 512


def sample_rows(
    plan: WalkPlan, rows: npt.ArrayLike, dtype: npt.DTypeLike = np.float64
) -> sp.csr_array:
    """Walk from the chosen rows; a pure function of its arguments.

    Returns
    -------
    csr_array of shape ``(len(rows), n_nodes)``
        Columns stand in the order of their first visit.
    """
    chosen = np.asarray(rows)
    n = plan.graph.n_nodes
    if chosen.ndim != 1 or (
        len(chosen) and (chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= n)
    ):
        raise InputError(f"rows must be a list of whole numbers from 0 to {n - 1}")
    walker = Walker(plan, BATCH_STEPS)
    output = Output(int(1.2 * len(chosen) * (plan.expected_steps + 1)) + 64, np.dtype(dtype))
    block = walker.walk(np.ascontiguousarray(chosen, dtype=np.int64), output)
    indptr = np.concatenate([[0], block.end])
    return csr(block.values.copy(), block.columns.copy(), indptr, n)


def sample_factor(
    plan: WalkPlan,
    *,
    n_jobs: int = -1,
    dtype: npt.DTypeLike = np.float64,
    progress: Progress | None = None,
) -> sp.csr_array:
    """Walk from every node, on `n_jobs` threads.

    The result is the same to the last bit for any number of threads.
    """
    n = plan.graph.n_nodes
    value_type = np.dtype(dtype)
    _require_buffers(plan)
    capacity = _expected_entries(plan)
    stored = capacity * (np.dtype(np.int32).itemsize + value_type.itemsize) + 8 * n
    require_bytes(stored, f"a factor of {n} nodes with {plan.n_walks} walks each")
    size = max(1, int(TASK_STEPS / (plan.expected_steps + 1)))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]
    n_threads = min(thread_count(n_jobs), len(tasks))
    local = threading.local()
    free: SimpleQueue[Output] = SimpleQueue()

    def work(task: range) -> tuple[Block, Output]:
        if not hasattr(local, "walker"):
            local.walker = Walker(plan, BATCH_STEPS)
        try:
            output = free.get_nowait()
        except Empty:
            output = Output(2 * TASK_STEPS, value_type)
        rows = np.arange(task.start, task.stop, dtype=np.int64)
        return local.walker.walk(rows, output), output

    matrix = _GrowingMatrix(n, capacity, value_type)
    for block, output in in_order(work, tasks, n_threads):
        matrix.append(block)
        free.put(output)
        if progress is not None:
            progress(matrix.n_rows, n)
    return matrix.finish()


class _GrowingMatrix:
    """Rows appended in order to one CSR matrix, without a second copy of it at the end.

    Memory that is reserved but never written costs nothing, and shrinking an array in place moves
    nothing: so it begins a little too large and only grows where `capacity` was a bad guess.
    """

    def __init__(self, n: int, capacity: int, dtype: np.dtype[Any]) -> None:
        self._indptr = np.zeros(n + 1, np.int64)
        self._index = np.empty(capacity, np.int32)
        self._value = np.empty(capacity, dtype)
        self._n_entries = 0
        self.n_rows = 0

    def append(self, block: Block) -> None:
        n_entries = self._n_entries + len(block.columns)
        if n_entries > len(self._index):
            self._index = _enlarged(self._index, self._n_entries, n_entries * 3 // 2)
            self._value = _enlarged(self._value, self._n_entries, n_entries * 3 // 2)
        self._index[self._n_entries : n_entries] = block.columns
        self._value[self._n_entries : n_entries] = block.values
        following = self.n_rows + len(block.end)
        self._indptr[self.n_rows + 1 : following + 1] = block.end + self._n_entries
        self._n_entries, self.n_rows = n_entries, following

    def finish(self) -> sp.csr_array:
        self._index.resize(self._n_entries, refcheck=False)
        self._value.resize(self._n_entries, refcheck=False)
        return csr(self._value, self._index, self._indptr, len(self._indptr) - 1)


def _enlarged(array: npt.NDArray[Any], used: int, size: int) -> npt.NDArray[Any]:
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


def _expected_entries(plan: WalkPlan) -> int:
    """A good guess, on the high side, of how many entries the factor will have."""
    n = plan.graph.n_nodes
    per_row = min(1.0 + 1.2 * plan.expected_steps + 10 * plan.n_walks**0.5, n)
    if n > 8 * PILOT_ROWS:
        # Many walks meet: a few rows tell how many distinct nodes they really reach.
        rows = np.linspace(0, n - 1, PILOT_ROWS).astype(np.int64)
        per_row = 1.05 * sample_rows(plan, rows).nnz / PILOT_ROWS
    return int(n * per_row) + 1


def _require_buffers(plan: WalkPlan) -> None:
    """Refuse a number of walks whose buffers cannot fit, before anything is walked."""
    needed = plan.n_walks * (40 + 30 * plan.lengths.mean)
    require_bytes(int(needed), f"walking {plan.n_walks} walks from one node")
