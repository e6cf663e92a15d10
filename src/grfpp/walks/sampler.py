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

from grfpp.arguments import node_numbers
from grfpp.linalg.growing import Block, GrowingMatrix
from grfpp.linalg.sparse import csr
from grfpp.memory import require_bytes
from grfpp.parallel import in_order, thread_count
from grfpp.typing import IntArray
from grfpp.walks.plan import WalkPlan
from grfpp.walks.sizes import (
    BATCH_STEPS,
    expected_entries,
    factor_bytes,
    require_walkers,
    walker_of,
)
from grfpp.walks.walker import Output

#: Called with the number of rows done and the number of all rows.
Progress = Callable[[int, int], None]

#: Steps that one task of a thread walks: long enough to hide Python, short enough to interrupt.
TASK_STEPS = 100_000


def sample_rows(
    plan: WalkPlan, rows: npt.ArrayLike, dtype: npt.DTypeLike = np.float64, *, n_jobs: int = 1
) -> sp.csr_array:
    """Walk from the chosen rows; a pure function of its arguments, but for `n_jobs`.

    Returns
    -------
    csr_array of shape ``(len(rows), n_nodes)``
        Columns stand in the order of their first visit.
    """
    n = plan.graph.n_nodes
    chosen = node_numbers(rows, n, "rows")
    if len(chosen) * plan.expected_steps <= TASK_STEPS:
        expected = int(1.2 * len(chosen) * (plan.expected_steps + 1)) + 64
        block = walker_of(plan, BATCH_STEPS).walk(chosen, Output(expected, np.dtype(dtype)))
        indptr = np.concatenate([[0], block.end])
        return csr(block.values.copy(), block.columns.copy(), indptr, n)
    require_walkers(plan, n_jobs)
    return _sampled(plan, np.dtype(dtype), n_jobs, rows=chosen)


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
    require_walkers(plan, n_jobs)
    return _sampled(plan, np.dtype(dtype), n_jobs, progress=progress)


def _sampled(
    plan: WalkPlan,
    dtype: np.dtype[Any],
    n_jobs: int,
    *,
    rows: IntArray | None = None,
    progress: Progress | None = None,
) -> sp.csr_array:
    n = plan.graph.n_nodes
    n_rows, capacity = n if rows is None else len(rows), expected_entries(plan, rows)
    require_bytes(
        factor_bytes(capacity, n_rows, dtype),
        f"a factor of {n_rows} nodes with {plan.n_walks} walks each",
        float32=dtype == np.float64,
    )
    matrix = GrowingMatrix(n_rows, n, capacity, dtype)
    _fill(matrix, plan, n_jobs=n_jobs, rows=rows, progress=progress)
    return matrix.finish()


def _fill(
    matrix: GrowingMatrix,
    plan: WalkPlan,
    *,
    n_jobs: int,
    rows: IntArray | None = None,
    progress: Progress | None = None,
) -> None:
    """Let the threads that walk append what they find to a matrix, in the order of the rows."""
    n = plan.graph.n_nodes if rows is None else len(rows)
    blocks = walk_blocks(
        plan,
        rows=rows,
        n_jobs=n_jobs,
        dtype=matrix.dtype,
        then=lambda task, block: matrix.append(block, task.start),
        on_failure=matrix.abandon,
    )
    for task, _ in blocks:
        if progress is not None:
            progress(task.stop, n)


def walk_blocks(
    plan: WalkPlan,
    *,
    n_jobs: int,
    dtype: np.dtype[Any],
    rows: IntArray | None = None,
    then: Callable[[range, Block], None] | None = None,
    on_failure: Callable[[], None] = lambda: None,
) -> Iterator[tuple[range, Block]]:
    """Walk from all nodes, or from `rows`, block by block: the rows, and what their walks left.

    Blocks come in the order of their rows, and are valid until the next one is asked for: their
    memory is used again. `then` is called for each in the thread that walked it, `on_failure` in
    one where something went wrong.
    """
    n = plan.graph.n_nodes if rows is None else len(rows)
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
            local.walker = walker_of(plan, BATCH_STEPS)
        try:
            output = free.get_nowait()
        except Empty:
            output = Output(TASK_STEPS * 5 // 4, dtype)
        nodes = (
            np.arange(task.start, task.stop, dtype=np.int64)
            if rows is None
            else rows[task.start : task.stop]
        )
        block = local.walker.walk(nodes, output)
        if then is not None:
            then(task, block)
        return block, output

    results = in_order(work, tasks, max(1, min(thread_count(n_jobs), len(tasks))))
    with closing(results):
        for task, (block, output) in zip(tasks, results, strict=True):
            yield task, block
            free.put(output)
