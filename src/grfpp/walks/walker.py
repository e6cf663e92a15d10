"""Work buffers of one thread, for the compiled loops of independent walks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.linalg.csr import Block
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.budget import Budget
from grfpp.walks.plan import WalkPlan
from grfpp.walks.pool_arrays import NODE_BYTES, PoolSeries, WorkBuffers


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
    """A plan's arrays and the work buffers of one batch of walkers.

    A batch takes `batch_steps` steps in lock-step; the buffers grow for a row that takes more.
    """

    def __init__(self, plan: WalkPlan, batch_steps: int) -> None:
        self._plan = plan
        # Plain tuples: a class of ours in a compiled function's signature would break the caches
        # of earlier versions when it moves.
        self._plan_arrays = (plan.layout.arrays, tuple(plan.lengths), plan.deposits)
        self._n_walkers = max(batch_steps // 4, plan.n_walks)
        self._n_rows = batch_steps
        self._make_buffers(batch_steps)

    def _make_buffers(self, log_size: int) -> None:
        n = self._n_walkers
        carried = not self._plan.steps.telescopes
        table_size = 1 << max(4, (2 * log_size + 1).bit_length())
        self._log_size = log_size
        self._walkers = (
            np.empty(n, np.uint64),  # state
            np.empty(n, np.int64),  # here
            np.empty(n, np.int32),  # place
            np.empty(n, np.int32),  # last
            np.empty(n, np.int64),  # slot
            np.empty(carried * n, np.float64),  # load
            np.empty(n, np.int32),  # length
            np.empty(self._n_rows, np.int64),  # log_end
            np.empty(log_size, np.int64),  # log_word
            np.empty(carried * log_size, np.float64),  # log_load
        )
        self._table = (
            np.empty(table_size, np.int32),  # table
            np.empty(log_size + 1, np.int64),  # found_word
            np.empty(log_size + 1, np.float64),  # sums
        )

    def walk(self, rows: IntArray, output: Output, key: int | None = None) -> Block:
        """Sample `rows` into `output`, with streams that start from `key` or the plan's key."""
        from grfpp.walks.independent import sample_block

        stream = np.uint64(self._plan.key if key is None else key)
        end = np.empty(len(rows), np.int64)
        done = written = 0
        while True:
            n_rows, n_entries, need_log, need_out = sample_block(
                *self._plan_arrays,
                stream,
                self._plan.n_walks,
                rows[done:],
                self._walkers,
                self._table,
                end[done:],
                output.columns[written:],
                output.values[written:],
            )
            end[done : done + n_rows] += written
            done += n_rows
            written += n_entries
            if done == len(rows):
                break
            if need_log > self._log_size:
                self._make_buffers(need_log)
            if need_out > len(output.columns) - written:
                output.enlarge(written, written + need_out + len(output.columns) // 2)
        values = output.values[:written]
        require_finite(values)
        return Block(end, output.columns[:written], values)


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

    def walk(self, rows: IntArray, output: Output, key: int | None = None) -> Block:
        """Let pools spread from `rows`; the block lies in `output`.

        The random streams start from `key`, or from the plan's own.
        """
        from grfpp.walks.pool import write_rows

        plan = self._plan
        stream = np.uint64(plan.key if key is None else key)
        # Compiled for float64 alone.
        is_double = output.values.dtype == np.float64
        target = output if is_double else Output(len(output.columns), np.dtype(np.float64))

        def call(done: int, *arrays: Any) -> tuple[int, int, int]:
            buffers = self._buffers.of(self._room)
            result: tuple[int, int, int] = write_rows(
                plan.layout, self._series, stream, rows[done:], buffers, *arrays
            )
            return result

        def enlarge_room() -> None:
            self._room *= 2

        block = filled(call, len(rows), target, enlarge_room)
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
    """Let a compiled loop write rows to `output` until all are done.

    `call` takes the number of rows done and the arrays for the others. It returns how many rows it
    has done, how many entries it has written, and why it ended.
    """
    from grfpp.walks.pool import NO_ROOM

    end = np.empty(n_rows, np.int64)
    done = written = 0
    while True:
        columns, values = output.columns[written:], output.values[written:]
        n_done, n_entries, reason = call(done, end[done:], columns, values)
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
    """What the pools of a plan deposit, and how their steps share the budget."""
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


def pool_bytes(plan: WalkPlan) -> int:
    """Bytes of the buffers of one pool."""
    return NODE_BYTES * pool_room(plan)
