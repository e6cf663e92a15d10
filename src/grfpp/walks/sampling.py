"""Run a plan: sample blocks of rows on threads or an executor, and join them to a sparse matrix.

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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._checks import node_numbers
from grfpp._memory import require_bytes
from grfpp._parallel import in_order, split, thread_count
from grfpp.errors import InputError, shown
from grfpp.linalg.csr import Block, GrowingMatrix, csr
from grfpp.typing import FloatArray, IntArray, WordArray
from grfpp.walks.plan import Budget, WalkPlan
from grfpp.walks.pool_arrays import NO_ROOM, NODE_BYTES, PoolSeries, WorkBuffers, hash_table

#: Called with the number of rows done and the number of all rows.
Progress = Callable[[int, int], None]

#: Steps of one task of a thread: enough to hide the overhead of Python calls, few enough for Ctrl-C
#: to be noticed soon.
TASK_STEPS = 100_000
#: Steps of one batch in lock-step: its work buffers fit into a core's second-level cache.
BATCH_STEPS = 16_000
#: Share of all rows that are sampled as pilots, to forecast the entries of a row.
PILOT_SHARE = 1 / 64
#: Largest number of pilot rows: the margin of the forecast is then below 5 %.
PILOT_ROWS = 512
#: Largest number of steps of all pilot rows but the first: about a second.
_PILOT_STEPS = 2e7
#: Pilot rows that are sampled first, to refuse excessive requests early.
_FIRST_ROWS = 8
#: Smallest bound on the entries of a matrix (100 MB) for which few pilot rows are sampled.
_MIN_PILOT_ENTRIES = 1 << 23
#: Entries that the pilot's output has room for at first; it grows.
_PILOT_ENTRIES = 1 << 16
#: Blocks of rows for each worker of an executor, for load balance.
_BLOCKS_PER_WORKER = 4
#: Smallest number of blocks on an executor, for progress and interruption.
_MIN_BLOCKS = 8
#: Largest number of steps of a block on an executor: a few seconds, so that Ctrl-C is noticed.
_MAX_BLOCK_STEPS = 50_000_000


def sample_rows(
    plan: WalkPlan, rows: npt.ArrayLike, dtype: npt.DTypeLike = np.float64, *, n_jobs: int = 1
) -> sp.csr_array:
    """Chosen rows of a factor; a pure function of its arguments but for `n_jobs`.

    Returns
    -------
    csr_array of shape ``(len(rows), n_nodes)``
        With columns in the order of their first visit.
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
    """An empty matrix that rows are appended to; refused without memory for all of them."""
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

    A block is valid until the next iteration, which reuses its memory. `then` is called with each
    block in the thread that sampled it, `on_failure` in a thread that raises.
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
        return NODE_BYTES * pool_room(plan) + 8  # and the resolution
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
    """Bytes of a sparse matrix with `n_entries` entries."""
    return n_entries * (np.dtype(np.int32).itemsize + dtype.itemsize) + 8 * n_rows


def max_row_entries(plan: WalkPlan) -> float:
    """A bound on the entries of a row of a factor that only rare outliers exceed."""
    late_steps = 2 * plan.lengths.max_length if plan.is_pooled else 0
    bound = 1.2 * plan.expected_steps + 10 * plan.n_walks**0.5 + 1 + late_steps
    return float(min(bound, plan.graph.n_nodes))


def expected_entries(plan: WalkPlan, rows: IntArray | None = None) -> int:
    """An estimate, on the high side, of the entries in all rows of a factor, or in `rows`.

    Many walks visit the same nodes, so pilot rows measure the number of distinct ones.
    """
    n = plan.graph.n_nodes if rows is None else len(rows)
    affordable = max(_FIRST_ROWS, int(_PILOT_STEPS / (plan.expected_steps + 1)))
    n_pilots = min(PILOT_ROWS, int(PILOT_SHARE * n), affordable)
    few = n_pilots < 4 * _FIRST_ROWS
    if n < _FIRST_ROWS or (few and n * max_row_entries(plan) < _MIN_PILOT_ENTRIES):
        return int(n * max_row_entries(plan)) + 1
    require_walkers(plan, 1)
    walker, output = walker_of(plan, BATCH_STEPS), Output(_PILOT_ENTRIES, np.dtype(np.float64))
    per_row = 0.0
    for n_rows in (_FIRST_ROWS, max(_FIRST_ROWS, n_pilots)):
        pilots = np.linspace(0, n - 1, n_rows).astype(np.int64)
        block = walker.walk(pilots if rows is None else rows[pilots], output)
        per_row = (1 + n_rows**-0.5) * len(block.columns) / n_rows
        # Three of twelve bytes an entry: a quarter of the factor, since few rows may be unusual.
        require_bytes(
            int(3 * n * per_row),
            f"a factor of {n} nodes with {plan.n_walks} walks each",
            advice="use fewer walks (n_walks)",
        )
    return int(n * per_row) + 1


# --- work buffers of one thread -------------------------------------------------------------------


class Output:
    """Memory for a block of rows, reused for the next block."""

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


class WalkerBuffers(NamedTuple):
    """Buffers for every walker of a batch that moves in lock-step."""

    #: State of its random stream, and the word of its node.
    state: WordArray
    here: IntArray
    #: Its next step in the log, and the end of its steps there.
    position: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    #: The out-edge that it takes.
    slot: IntArray
    #: Its load; empty where loads telescope.
    load: FloatArray
    #: Its number of steps.
    length: npt.NDArray[np.int32]


class StepLog(NamedTuple):
    """The steps of a batch of walkers, row by row."""

    #: End of every row.
    end: IntArray
    #: Word of the node that every step leads to, and the load there.
    word: IntArray
    load: FloatArray


class Walker:
    """A plan's arrays and the work buffers of one batch of independent walkers.

    A batch takes `batch_steps` steps in lock-step; the buffers grow for a row that takes more.
    """

    def __init__(self, plan: WalkPlan, batch_steps: int) -> None:
        self._plan = plan
        self._law = (plan.layout.arrays, plan.lengths, plan.deposits)
        self._batch_steps = self._log_size = batch_steps
        self._make_buffers()

    def _make_buffers(self) -> None:
        n, n_log = max(self._batch_steps // 4, self._plan.n_walks), self._log_size
        is_carried = not self._plan.steps.telescopes
        walkers = WalkerBuffers(
            state=np.empty(n, np.uint64),
            here=np.empty(n, np.int64),
            position=np.empty(n, np.int32),
            last=np.empty(n, np.int32),
            slot=np.empty(n, np.int64),
            load=np.empty(is_carried * n),
            length=np.empty(n, np.int32),
        )
        loads = np.empty(is_carried * n_log)
        log = StepLog(np.empty(self._batch_steps, np.int64), np.empty(n_log, np.int64), loads)
        cells, _ = hash_table(1 << max(4, (2 * n_log + 1).bit_length()))
        self._buffers = (walkers, log, (cells, np.empty(n_log + 1, np.int32)))

    def _enlarge(self) -> None:
        self._log_size *= 2
        self._make_buffers()

    def walk(self, rows: IntArray, output: Output, key: int | None = None) -> Block:
        """Sample `rows` into `output`, with random streams of `key` or of the plan's key."""
        from grfpp.walks.independent import sample_block

        stream = np.uint64(self._plan.key if key is None else key)

        def call(done: int, out: Any) -> Any:
            n_walks = self._plan.n_walks
            return sample_block(self._law, stream, n_walks, rows[done:], *self._buffers, out)

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
        """Sample `rows` into `output`, with random streams of `key` or of the plan's key."""
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
    the number of rows, the number of entries, and an exit code such as `NO_ROOM`.
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
    return PoolSeries(
        padded, budget.share, budget.rest, float(plan.expected_steps), options=plan.step or None
    )


def pool_room(plan: WalkPlan) -> int:
    """Number of nodes that the buffers of a pool have room for, a power of two."""
    # A step follows at most one edge more than its share, which is below one in the last steps.
    followed = plan.expected_steps + 2 * plan.lengths.max_length + 8
    everything = plan.graph.n_nodes + len(plan.graph.indices) + 8
    return 1 << int(min(followed, everything)).bit_length()


# --- executors ------------------------------------------------------------------------------------


class ExecutorSampler:
    """Samples factors on an executor; the same bits as `sample_factor`.

    Executors of processes send the plan with every block of rows. It is pickled once for all
    factors, and unpickled once by each process.

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
        # Plans of several factors differ in their keys only, and share the layout.
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
        finally:  # on an error or Ctrl-C: cancel blocks that have not begun
            for future in pending:
                future.cancel()
        return matrix.finish()


def row_blocks(plan: WalkPlan, n_workers: int) -> list[range]:
    """Split all rows into blocks of nearly the same length for `n_workers` workers."""
    n = plan.graph.n_nodes
    by_steps = int(n * plan.expected_steps / _MAX_BLOCK_STEPS)
    n_blocks = min(n, max(_MIN_BLOCKS, _BLOCKS_PER_WORKER * n_workers, by_steps))
    return split(n, n_blocks)


class PackedPlan:
    """A plan that is pickled once for all messages, and unpickled once by each process."""

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
    """Sample one block of rows on one thread, with the key of the factor."""
    plan = replace(packed.plan, key=key)
    return sample_rows(plan, np.arange(rows.start, rows.stop, dtype=np.int64), dtype)
