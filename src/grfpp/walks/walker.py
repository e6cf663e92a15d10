"""One thread's hands: the buffers that the compiled loops walk in."""

from __future__ import annotations

from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.linalg.growing import Block
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.plan import WalkPlan


class Output:
    """Room for a block, used again for the next one once the block has been copied away."""

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        self.columns = np.empty(size, np.int32)
        self.values = np.empty(size, dtype)

    def enlarge(self, used: int, size: int) -> None:
        """Make room for `size` entries and keep the first `used`."""
        larger = Output(size, self.values.dtype)
        larger.columns[:used] = self.columns[:used]
        larger.values[:used] = self.values[:used]
        self.columns, self.values = larger.columns, larger.values


class Walker:
    """A plan's arrays and the buffers of one batch of walkers.

    A batch walks `batch_steps` steps in lock-step; a row that takes more makes the buffers grow.
    """

    def __init__(self, plan: WalkPlan, batch_steps: int) -> None:
        self._plan = plan
        # Plain tuples: a class of ours in the types of a compiled function would be looked for in
        # caches of earlier versions, and break where it has moved.
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
        """Walk from `rows`; the block lies in `output`.

        The random streams start from `key`, or from the plan's own.
        """
        from grfpp.walks.engine import sample_block

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
    """Refuse what has left the range of numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(values.sum())
    if suspicious and not np.isfinite(values).all():
        raise InputError(
            "the loads of the walks overflow: the weights are too large for this kernel; "
            "use graph.normalized('sym') or a smaller scale"
        )
