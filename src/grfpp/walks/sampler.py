"""Run a plan: blocks of rows on a pool of threads, joined into one sparse matrix."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.memory import require_bytes
from grfpp.parallel import in_order, thread_count
from grfpp.sparse import csr
from grfpp.walks.growing import GrowingMatrix
from grfpp.walks.plan import WalkPlan
from grfpp.walks.walker import Block, Output, Walker

#: Called with the number of rows done and the number of all rows.
Progress = Callable[[int, int], None]

#: Steps that one batch walks in lock-step: its buffers then stay in a core's second-level cache.
BATCH_STEPS = 16_000
#: Steps that one task of a thread walks: long enough to hide Python, short enough to interrupt.
TASK_STEPS = 100_000
#: Rows that are walked to learn how many entries a row has: a share of all, and at most so many.
PILOT_SHARE = 1 / 64
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
    _require_buffers(plan)
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
    matrix = GrowingMatrix(n, n, capacity, value_type)
    blocks = walk_blocks(
        plan,
        n_jobs=n_jobs,
        dtype=value_type,
        then=lambda rows, block: matrix.append(block, rows.start),
        on_failure=matrix.abandon,
    )
    for rows, _ in blocks:
        if progress is not None:
            progress(rows.stop, n)
    return matrix.finish()


def walk_blocks(
    plan: WalkPlan,
    *,
    n_jobs: int,
    dtype: np.dtype[Any],
    then: Callable[[range, Block], None] | None = None,
    on_failure: Callable[[], None] = lambda: None,
) -> Iterator[tuple[range, Block]]:
    """Walk from all nodes, block by block: the rows, and what their walks left.

    Blocks come in the order of their rows, and are valid until the next one is asked for: their
    memory is used again. `then` is called for each in the thread that walked it, `on_failure` in
    one where something went wrong.
    """
    n = plan.graph.n_nodes
    size = max(1, int(TASK_STEPS / (plan.expected_steps + 1)))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]
    local = threading.local()
    free: SimpleQueue[Output] = SimpleQueue()

    def work(task: range) -> tuple[Block, Output]:
        try:
            return walked(task)
        except BaseException:
            on_failure()
            raise

    def walked(task: range) -> tuple[Block, Output]:
        if not hasattr(local, "walker"):
            local.walker = Walker(plan, BATCH_STEPS)
        try:
            output = free.get_nowait()
        except Empty:
            output = Output(TASK_STEPS * 5 // 4, dtype)
        block = local.walker.walk(np.arange(task.start, task.stop, dtype=np.int64), output)
        if then is not None:
            then(task, block)
        return block, output

    results = in_order(work, tasks, min(thread_count(n_jobs), len(tasks)))
    with closing(results):
        for task, (block, output) in zip(tasks, results, strict=True):
            yield task, block
            free.put(output)


def _expected_entries(plan: WalkPlan) -> int:
    """A good guess, on the high side, of how many entries the factor will have."""
    n = plan.graph.n_nodes
    per_row = min(1.0 + 1.2 * plan.expected_steps + 10 * plan.n_walks**0.5, n)
    n_pilots = min(PILOT_ROWS, int(PILOT_SHARE * n))
    if n_pilots >= 32:
        # Many walks meet: a few rows tell how many distinct nodes they really reach.
        rows = np.linspace(0, n - 1, n_pilots).astype(np.int64)
        per_row = (1 + n_pilots**-0.5) * sample_rows(plan, rows).nnz / n_pilots
    return int(n * per_row) + 1


def _require_buffers(plan: WalkPlan) -> None:
    """Refuse a number of walks whose buffers cannot fit, before anything is walked."""
    needed = plan.n_walks * (40 + 30 * plan.lengths.mean)
    require_bytes(int(needed), f"walking {plan.n_walks} walks from one node")
