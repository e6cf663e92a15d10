"""Run a plan: blocks of rows on threads or on an executor, joined into one sparse matrix.

Sizes are computed, or measured on a few pilot rows, before anything is allocated.
"""

from __future__ import annotations

import os
import pickle
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import closing
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._checks import node_numbers
from grfpp._memory import require_bytes
from grfpp._parallel import in_order, split, thread_count
from grfpp.errors import InputError, shown
from grfpp.linalg.csr import Block, GrowingMatrix, csr
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.plan import Budget, WalkPlan
from grfpp.walks.pool_arrays import NO_ROOM, NODE_BYTES, PoolSeries, WorkBuffers, hash_table

#: Called with the number of rows done and the number of all rows.
Progress = Callable[[int, int], None]

#: Steps that one task of a thread takes: long enough to hide Python, short enough to interrupt.
TASK_STEPS = 100_000
#: Steps of one batch in lock-step: its buffers then stay in a core's second-level cache.
BATCH_STEPS = 16_000
#: Share of all rows that are sampled as pilots, to forecast the entries of a row.
PILOT_SHARE = 1 / 64
#: Largest number of pilot rows.
PILOT_ROWS = 512
#: Largest number of steps of all pilot rows but the first.
_PILOT_STEPS = 2e7
#: Pilot rows that are sampled first, to refuse excessive requests early.
_FIRST_ROWS = 8
#: Smallest matrix, in entries, for which a few pilot rows pay.
_MIN_PILOT_ENTRIES = 1 << 23
#: Entries of the pilot's first buffer, which grows.
_PILOT_ENTRIES = 1 << 16
#: Blocks of rows for each worker of an executor, for load balance.
_BLOCKS_PER_WORKER = 4
_MIN_BLOCKS = 8
#: Steps of a block on an executor at most: a few seconds, after which an interruption is seen.
_MAX_BLOCK_STEPS = 50_000_000


def sample_rows(
    plan: WalkPlan, rows: npt.ArrayLike, dtype: npt.DTypeLike = np.float64, *, n_jobs: int = 1
) -> sp.csr_array:
    """Chosen rows of a factor; a pure function of its arguments but for `n_jobs`.

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
        return csr(block.values.copy(), block.columns.copy(), np.append(0, block.end), n)
    require_walkers(plan, n_jobs)
    return _sample(plan, np.dtype(dtype), n_jobs, rows=chosen)


def sample_factor(
    plan: WalkPlan,
    *,
    n_jobs: int = -1,
    dtype: npt.DTypeLike = np.float64,
    progress: Progress | None = None,
) -> sp.csr_array:
    """A whole factor, sampled on `n_jobs` threads; the same bits for any number of them."""
    require_walkers(plan, n_jobs)
    return _sample(plan, np.dtype(dtype), n_jobs, progress=progress)


def _sample(
    plan: WalkPlan,
    dtype: np.dtype[Any],
    n_jobs: int,
    *,
    rows: IntArray | None = None,
    progress: Progress | None = None,
) -> sp.csr_array:
    matrix = _empty_factor(plan, dtype, rows)
    blocks = walk_blocks(
        plan,
        rows=rows,
        n_jobs=n_jobs,
        dtype=dtype,
        then=lambda task, block: matrix.append(block, task.start),
        on_failure=matrix.abandon,
    )
    for task, _ in blocks:
        if progress is not None:
            progress(task.stop, plan.graph.n_nodes)
    return matrix.finish()


def _empty_factor(
    plan: WalkPlan, dtype: np.dtype[Any], rows: IntArray | None = None
) -> GrowingMatrix:
    """The matrix that rows are appended to, if there is memory for all of them."""
    n = plan.graph.n_nodes
    n_rows, capacity = n if rows is None else len(rows), expected_entries(plan, rows)
    require_bytes(
        factor_bytes(capacity, n_rows, dtype),
        f"a factor of {n_rows} nodes with {plan.n_walks} walks each",
        advice="use fewer walks (n_walks)",
    )
    return GrowingMatrix(n_rows, n, capacity, dtype)


def walk_blocks(
    plan: WalkPlan,
    *,
    n_jobs: int,
    dtype: np.dtype[Any],
    rows: IntArray | None = None,
    then: Callable[[range, Block], None] | None = None,
    on_failure: Callable[[], None] = lambda: None,
) -> Iterator[tuple[range, Block]]:
    """Sample all rows, or `rows`, block by block, in their order.

    A block is valid until the next iteration, which reuses its memory. `then` is called for
    each in the thread that sampled it, `on_failure` in a thread that raises.
    """
    n = plan.graph.n_nodes if rows is None else len(rows)
    size = max(1, int(TASK_STEPS / (plan.expected_steps + 1)))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]
    local = threading.local()
    free: SimpleQueue[Output] = SimpleQueue()

    def work(task: range) -> tuple[Block, Output]:
        try:
            if not hasattr(local, "walker"):
                local.walker = walker_of(plan, BATCH_STEPS)
            try:
                output = free.get_nowait()
            except Empty:
                output = Output(TASK_STEPS * 5 // 4, dtype)
            nodes = np.arange(task.start, task.stop, dtype=np.int64)
            block = local.walker.walk(nodes if rows is None else rows[nodes], output)
            if then is not None:
                then(task, block)
            return block, output
        except BaseException:
            on_failure()
            raise

    results = in_order(work, tasks, max(1, min(thread_count(n_jobs), len(tasks))))
    with closing(results):
        for task, (block, output) in zip(tasks, results, strict=True):
            yield task, block
            free.put(output)


# --- sizes ----------------------------------------------------------------------------------------


def walker_of(plan: WalkPlan, batch_steps: int) -> Walker | PoolWalker:
    """The work buffers of one thread for a plan."""
    return PoolWalker(plan) if plan.is_pooled else Walker(plan, batch_steps)


def walker_bytes(plan: WalkPlan) -> int:
    """Bytes of the work buffers of one thread."""
    if plan.is_pooled:
        return NODE_BYTES * pool_room(plan)
    return int(plan.n_walks * (40 + 30 * plan.lengths.mean))


def require_walkers(plan: WalkPlan, n_jobs: int) -> None:
    """Refuse a number of walks whose work buffers do not fit into memory."""
    n_threads = thread_count(n_jobs)
    require_bytes(
        n_threads * walker_bytes(plan),
        f"sampling {plan.n_walks} walks from one node, on each of {n_threads} threads,",
        advice="use fewer walks (n_walks)",
    )


def factor_bytes(n_entries: int, n_rows: int, dtype: np.dtype[Any]) -> int:
    """Bytes of a sparse matrix with so many entries."""
    return n_entries * (np.dtype(np.int32).itemsize + dtype.itemsize) + 8 * n_rows


def most_entries(plan: WalkPlan) -> float:
    """Entries that a row of a factor has at most, but for chance."""
    late_steps = 2 * plan.lengths.max_length if plan.is_pooled else 0
    bound = 1.2 * plan.expected_steps + 10 * plan.n_walks**0.5 + 1 + late_steps
    return float(min(bound, plan.graph.n_nodes))


def expected_entries(plan: WalkPlan, rows: IntArray | None = None) -> int:
    """An estimate, on the high side, of the entries in all rows of a factor, or in `rows`.

    Many walks visit the same nodes: pilot rows measure the number of distinct ones.
    """
    n = plan.graph.n_nodes if rows is None else len(rows)
    affordable = max(_FIRST_ROWS, int(_PILOT_STEPS / (plan.expected_steps + 1)))
    n_pilots = min(PILOT_ROWS, int(PILOT_SHARE * n), affordable)
    few = n_pilots < 4 * _FIRST_ROWS
    if n < _FIRST_ROWS or (few and n * most_entries(plan) < _MIN_PILOT_ENTRIES):
        return int(n * most_entries(plan)) + 1
    require_walkers(plan, 1)
    walker, output = walker_of(plan, BATCH_STEPS), Output(_PILOT_ENTRIES, np.dtype(np.float64))
    per_row = 0.0
    for n_rows in (_FIRST_ROWS, max(_FIRST_ROWS, n_pilots)):
        pilots = np.linspace(0, n - 1, n_rows).astype(np.int64)
        block = walker.walk(pilots if rows is None else rows[pilots], output)
        per_row = (1 + n_rows**-0.5) * len(block.columns) / n_rows
        # A quarter of a factor's bytes, since so few rows may be unusual ones.
        require_bytes(
            int(3 * n * per_row),
            f"a factor of {n} nodes with {plan.n_walks} walks each",
            advice="use fewer walks (n_walks)",
        )
    return int(n * per_row) + 1


# --- work buffers of one thread -------------------------------------------------------------------


class Output:
    """Memory for a block of rows, used again for the next block."""

    def __init__(
        self, size: int, dtype: np.dtype[Any], column_dtype: npt.DTypeLike = np.int32
    ) -> None:
        self.columns = np.empty(size, column_dtype)
        self.values = np.empty(size, dtype)

    def enlarge(self, used: int, size: int) -> None:
        """Make room for `size` entries and keep the first `used`."""
        require_bytes(size * (self.columns.itemsize + self.values.itemsize), f"{size} entries")
        larger = Output(size, self.values.dtype, self.columns.dtype)
        larger.columns[:used] = self.columns[:used]
        larger.values[:used] = self.values[:used]
        self.columns, self.values = larger.columns, larger.values


class Walker:
    """A plan's arrays and the work buffers of one batch of independent walkers.

    A batch takes `batch_steps` steps in lock-step; the buffers grow for a row that takes more.
    """

    def __init__(self, plan: WalkPlan, batch_steps: int) -> None:
        self._plan = plan
        # Plain tuples: a class of ours in a compiled function's signature would break the caches
        # of earlier versions when it moves.
        self._law = (plan.layout.arrays, tuple(plan.lengths), plan.deposits)
        self._batch_steps = self._log_size = batch_steps
        self._make_buffers()

    def _make_buffers(self) -> None:
        n, n_log = max(self._batch_steps // 4, self._plan.n_walks), self._log_size
        is_carried = not self._plan.steps.telescopes
        self._walkers = (
            np.empty(n, np.uint64),  # state
            np.empty(n, np.int64),  # here
            np.empty(n, np.int32),  # position
            np.empty(n, np.int32),  # last
            np.empty(n, np.int64),  # slot
            np.empty(is_carried * n, np.float64),  # load
            np.empty(n, np.int32),  # length
            np.empty(self._batch_steps, np.int64),  # log_end
            np.empty(n_log, np.int64),  # log_word
            np.empty(is_carried * n_log, np.float64),  # log_load
        )
        cells, _ = hash_table(1 << max(4, (2 * n_log + 1).bit_length()))
        self._table = (cells, np.empty(n_log + 1, np.int32))

    def _enlarge(self) -> None:
        self._log_size *= 2
        self._make_buffers()

    def walk(self, rows: IntArray, output: Output, key: int | None = None) -> Block:
        """Sample `rows` into `output`, with streams that start from `key` or the plan's key."""
        from grfpp.walks.independent import sample_block

        stream = np.uint64(self._plan.key if key is None else key)

        def call(done: int, out: Any) -> Any:
            n_walks = self._plan.n_walks
            buffers = (self._walkers, self._table)
            return sample_block(self._law, stream, n_walks, rows[done:], *buffers, out)

        block = filled(call, len(rows), output, self._enlarge)
        require_finite(block.values)
        return block


def require_finite(values: FloatArray) -> None:
    """Refuse values that overflowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(values.sum())
    if suspicious and not np.isfinite(values).all():
        raise InputError(
            "the loads of the walks overflow: the weights are too large for this kernel",
            advice="normalise the weights ('sym') or use a smaller scale",
        )


class PoolWalker:
    """A plan's arrays and the work buffers of one pool."""

    def __init__(self, plan: WalkPlan) -> None:
        self._plan, self._buffers, self._room = plan, WorkBuffers(), pool_room(plan)
        self._series = pool_series(plan, plan.deposits)

    def _enlarge(self) -> None:
        self._room *= 2

    def walk(self, rows: IntArray, output: Output, key: int | None = None) -> Block:
        """Sample `rows` into `output`, with streams that start from `key` or the plan's key."""
        from grfpp.walks.pool import write_rows

        plan = self._plan
        stream = np.uint64(plan.key if key is None else key)
        # Compiled for float64 alone.
        is_double = output.values.dtype == np.float64
        target = output if is_double else Output(len(output.columns), np.dtype(np.float64))

        def call(done: int, out: Any) -> Any:
            buffers = self._buffers.of(self._room)
            return write_rows(plan.layout, self._series, stream, rows[done:], buffers, out)

        block = filled(call, len(rows), target, self._enlarge)
        require_finite(block.values)
        if is_double:
            return block
        with np.errstate(over="ignore"):
            single = block.values.astype(output.values.dtype)
        require_finite(single)
        return block._replace(values=single)


def filled(
    call: Callable[..., tuple[int, int, int]],
    n_rows: int,
    output: Output,
    enlarge_room: Callable[[], None],
) -> Block:
    """Call a compiled loop until all rows are written to `output`, which grows.

    `call` takes the number of rows done and, for the others, the arrays of a `Block`. It returns
    the number of rows and of entries that it has written, and why it ended.
    """
    end = np.empty(n_rows, np.int64)
    done = written = 0
    while True:
        columns, values = output.columns[written:], output.values[written:]
        n_done, n_entries, reason = call(done, (end[done:], columns, values))
        end[done : done + n_done] += written
        done += n_done
        written += n_entries
        if done == n_rows:
            return Block(end, output.columns[:written], output.values[:written])
        if reason == NO_ROOM:
            enlarge_room()
        else:
            output.enlarge(written, 2 * len(output.columns) + 64)


def pool_series(plan: WalkPlan, deposits: FloatArray) -> PoolSeries:
    """The deposits and the budget of the pools of a plan."""
    budget = plan.lengths
    assert isinstance(budget, Budget)
    padded = np.append(deposits, 0.0)
    return PoolSeries(padded, budget.share, budget.rest, float(plan.expected_steps))


def pool_room(plan: WalkPlan) -> int:
    """Nodes that the buffers of a pool have room for, a power of two."""
    # A step follows at most one edge more than its share, which is below one in the last steps.
    followed = plan.expected_steps + 2 * plan.lengths.max_length + 8
    everything = plan.graph.n_nodes + len(plan.graph.indices) + 8
    return 1 << int(min(followed, everything)).bit_length()


# --- executors ------------------------------------------------------------------------------------


class ExecutorSampler:
    """Samples factors on an executor; the same bits as `sample_factor`.

    Executors whose workers are other processes send them the plan with every block of rows. It is
    pickled once for all factors, and a process unpickles it once.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> with ThreadPoolExecutor(2) as pool:
    ...     K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0, executor=pool)
    >>> K.entry(0, 1) == grfpp.sample(W, grfpp.Diffusion(1.0), seed=0).entry(0, 1)
    True
    """

    def __init__(self, executor: Executor) -> None:
        if not callable(getattr(executor, "submit", None)):
            raise InputError(
                "must be an executor such as concurrent.futures.ProcessPoolExecutor(), not "
                f"{shown(executor)}",
                argument="executor",
            )
        self._executor = executor
        self._n_workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        self._packed: dict[int, PackedPlan] = {}

    def factor(
        self, plan: WalkPlan, dtype: np.dtype[Any], progress: Progress | None = None
    ) -> sp.csr_array:
        """A whole factor."""
        matrix = _empty_factor(plan, dtype)
        # Plans of several factors differ in their keys alone, and share what is large.
        packed = self._packed.setdefault(id(plan.layout), PackedPlan(plan))
        blocks = row_blocks(plan, self._n_workers)
        pending: deque[Future[sp.csr_array]] = deque()
        try:
            for rows in blocks:
                pending.append(self._executor.submit(walk_rows, packed, plan.key, rows, dtype))
            for rows in blocks:
                part = pending.popleft().result()
                matrix.append(Block(part.indptr[1:].astype(np.int64), part.indices, part.data))
                if progress is not None:
                    progress(rows.stop, plan.graph.n_nodes)
        finally:  # on an error or Ctrl-C: drop what has not begun
            for future in pending:
                future.cancel()
        return matrix.finish()


def row_blocks(plan: WalkPlan, n_workers: int) -> list[range]:
    """Cut all rows into blocks of nearly the same length, for so many workers."""
    n = plan.graph.n_nodes
    by_steps = int(n * plan.expected_steps / _MAX_BLOCK_STEPS)
    n_blocks = min(n, max(_MIN_BLOCKS, _BLOCKS_PER_WORKER * n_workers, by_steps))
    return split(n, n_blocks)


class PackedPlan:
    """A plan that is pickled once however often it is sent, and unpickled once by a process."""

    def __init__(self, plan: WalkPlan) -> None:
        self.plan = plan
        self._packed: tuple[str, bytes] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self._packed is None:
            self._packed = secrets.token_hex(16), pickle.dumps(self.plan, protocol=5)
        return _unpacked, self._packed


#: The plan that this process unpickled last, by its token.
_last: dict[str, PackedPlan] = {}


def _unpacked(token: str, content: bytes) -> PackedPlan:
    if token not in _last:
        _last.clear()
        _last[token] = PackedPlan(pickle.loads(content))
    return _last[token]


def walk_rows(packed: PackedPlan, key: int, rows: range, dtype: np.dtype[Any]) -> sp.csr_array:
    """Sample one block of rows on one thread; the key is that of the factor."""
    plan = replace(packed.plan, key=key)
    return sample_rows(plan, np.arange(rows.start, rows.stop, dtype=np.int64), dtype)
