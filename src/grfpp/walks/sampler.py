"""Run a plan: blocks of rows on a pool of threads, joined into one sparse matrix."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.memory import require_bytes
from grfpp.parallel import in_order, thread_count
from grfpp.walks.plan import WalkPlan

#: Called with the number of rows done and the number of all rows.
Progress = Callable[[int, int], None]

#: Steps that one batch walks in lock-step: its buffers then stay in a core's second-level cache.
BATCH_STEPS = 24_000
#: Steps that one task of a thread walks: long enough to hide Python, short enough to interrupt.
TASK_STEPS = 600_000
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
    block = _Walker(plan, np.dtype(dtype)).walk(np.ascontiguousarray(chosen, dtype=np.int64))
    indptr = np.concatenate([[0], block.end])
    return _csr(block.value, block.columns, indptr, n)


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
    local = threading.local()

    def work(task: range) -> _Block:
        if not hasattr(local, "walker"):
            local.walker = _Walker(plan, value_type)
        block: _Block = local.walker.walk(np.arange(task.start, task.stop, dtype=np.int64))
        return block

    matrix = _GrowingMatrix(n, capacity, value_type)
    for block in in_order(work, tasks, min(thread_count(n_jobs), len(tasks))):
        matrix.append(block)
        if progress is not None:
            progress(matrix.n_rows, n)
    return matrix.finish()


class _Block(NamedTuple):
    """Consecutive rows of a factor: where each ends, its columns, its values."""

    end: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    value: npt.NDArray[Any]


class _Walker:
    """A plan's arrays and the buffers that one thread walks in."""

    def __init__(self, plan: WalkPlan, dtype: np.dtype[Any]) -> None:
        graph, rule = plan.graph, plan.rule
        # Multiplied in halves, so that neither overflows where the product does not; what does
        # overflow is found in the rows of the walks that come so far.
        with np.errstate(over="ignore", invalid="ignore"):
            half_power = rule.rate ** (np.arange(len(plan.modulation)) / 2)
            deposits = plan.deposits * half_power * half_power
        self._plan_arrays = (
            graph.indptr,
            graph.indices,
            rule.per_edge,
            rule.potential,
            deposits,
            plan.lengths.high,
            plan.lengths.low,
            plan.lengths.guide,
            _has_dead_ends(plan),
            np.uint64(plan.key),
            plan.n_walks,
        )
        self._weighted = len(rule.per_edge) > 0
        self._n_walks = plan.n_walks
        self._steps_per_row = plan.expected_steps
        self._dtype = dtype
        self._make_batch_buffers(BATCH_STEPS)
        self._make_output_buffers(2 * TASK_STEPS)

    def _make_batch_buffers(self, log_size: int) -> None:
        walkers = max(BATCH_STEPS // 4, self._n_walks)
        self._batch = (
            np.empty(walkers, np.uint64),  # state
            np.empty(walkers, np.int32),  # node
            np.empty(walkers, np.int32),  # place
            np.empty(walkers, np.int32),  # last
            np.empty(walkers, np.int64),  # edge
            np.empty(walkers if self._weighted else 0, np.float64),  # load
            np.empty(walkers, np.int32),  # length
            np.empty(BATCH_STEPS, np.int64),  # log_end
            np.empty(log_size, np.int32),  # log_node
            np.empty(log_size if self._weighted else 0, np.float64),  # log_load
            np.empty(_table_size(log_size), np.int32),  # table
            np.empty(log_size + 1, np.float64),  # sums
        )
        self._log_size = log_size

    def _make_output_buffers(self, size: int) -> None:
        self._index = np.empty(size, np.int32)
        self._value = np.empty(size, self._dtype)

    def walk(self, rows: npt.NDArray[np.int64]) -> _Block:
        from grfpp.walks.engine import sample_block

        end = np.empty(len(rows), np.int64)
        parts: list[tuple[npt.NDArray[np.int32], npt.NDArray[Any]]] = []
        done = written = 0
        while True:
            n_rows, n_entries, _, need_log, need_out = sample_block(
                *self._plan_arrays, rows[done:], *self._batch, end[done:], self._index, self._value
            )
            parts.append((self._index[:n_entries].copy(), self._value[:n_entries].copy()))
            end[done : done + n_rows] += written
            done += n_rows
            written += n_entries
            if done == len(rows):
                break
            if need_log > self._log_size:
                self._make_batch_buffers(need_log)
            if need_out > len(self._index):
                self._make_output_buffers(need_out)
        index, value = (
            parts[0]
            if len(parts) == 1
            else tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        )
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(value.sum())
        if suspicious and not np.isfinite(value).all():
            raise InputError(
                "the loads of the walks overflow: the weights are too large for this kernel; "
                "use graph.normalized('sym') or a smaller scale"
            )
        return _Block(end, index, value)


def _table_size(log_size: int) -> int:
    return 1 << max(4, (2 * log_size + 1).bit_length())


def _has_dead_ends(plan: WalkPlan) -> bool:
    """Whether a walk can arrive at a node that it cannot leave."""
    degree = plan.graph.out_degree
    return bool(degree.min() == 0 and (degree[plan.graph.indices] == 0).any())


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

    def append(self, block: _Block) -> None:
        n_entries = self._n_entries + len(block.columns)
        if n_entries > len(self._index):
            self._index = _enlarged(self._index, self._n_entries, n_entries * 3 // 2)
            self._value = _enlarged(self._value, self._n_entries, n_entries * 3 // 2)
        self._index[self._n_entries : n_entries] = block.columns
        self._value[self._n_entries : n_entries] = block.value
        following = self.n_rows + len(block.end)
        self._indptr[self.n_rows + 1 : following + 1] = block.end + self._n_entries
        self._n_entries, self.n_rows = n_entries, following

    def finish(self) -> sp.csr_array:
        self._index.resize(self._n_entries, refcheck=False)
        self._value.resize(self._n_entries, refcheck=False)
        return _csr(self._value, self._index, self._indptr, len(self._indptr) - 1)


def _csr(
    value: npt.NDArray[Any], index: npt.NDArray[np.int32], indptr: npt.NDArray[np.int64], n: int
) -> sp.csr_array:
    """A matrix of `n` columns that takes these arrays as they are."""
    # scipy wants one type for both index arrays: it would copy the long one to that of `indptr`.
    if len(index) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sp.csr_array((value, index, indptr), shape=(len(indptr) - 1, n))


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
