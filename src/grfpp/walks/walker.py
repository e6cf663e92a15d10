"""One thread's hands: the buffers that the compiled loops walk in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.walks.plan import WalkPlan


class Block(NamedTuple):
    """Consecutive rows of a factor: where each ends, its columns, its values."""

    end: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]


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

    Parameters
    ----------
    plan
        What to walk.
    batch_steps
        Steps that one batch walks in lock-step; a row that takes more makes the buffers grow.
    """

    def __init__(self, plan: WalkPlan, batch_steps: int) -> None:
        layout = plan.layout
        # Multiplied in halves, so that neither overflows where the product does not; what does
        # overflow is found in the rows of the walks that come so far.
        with np.errstate(over="ignore", invalid="ignore"):
            half_power = layout.rate ** (np.arange(len(plan.modulation)) / 2)
            deposits = plan.deposits * half_power * half_power
        self._plan_arrays = (
            layout.word,
            layout.slots,
            layout.factors,
            layout.stride,
            layout.node,
            layout.potential,
            layout.inverse_potential,
            deposits,
            plan.lengths.high,
            plan.lengths.low,
            plan.lengths.guide,
            np.uint64(plan.key),
            plan.n_walks,
        )
        self._weighted = len(layout.factors) > 0
        self._n_walkers = max(batch_steps // 4, plan.n_walks)
        self._n_rows = batch_steps
        self._make_buffers(batch_steps)

    def _make_buffers(self, log_size: int) -> None:
        n = self._n_walkers
        weighted = int(self._weighted)
        table_size = 1 << max(4, (2 * log_size + 1).bit_length())
        self._log_size = log_size
        self._buffers = (
            np.empty(n, np.uint64),  # state
            np.empty(n, np.int64),  # here
            np.empty(n, np.int32),  # place
            np.empty(n, np.int32),  # last
            np.empty(n, np.int64),  # slot
            np.empty(weighted * n, np.float64),  # load
            np.empty(n, np.int32),  # length
            np.empty(self._n_rows, np.int64),  # log_end
            np.empty(log_size, np.int64),  # log_word
            np.empty(weighted * log_size, np.float64),  # log_load
            np.empty(table_size, np.int32),  # table
            np.empty(log_size + 1, np.int64),  # found_word
            np.empty(log_size + 1, np.float64),  # sums
        )

    def walk(self, rows: npt.NDArray[np.int64], output: Output) -> Block:
        """Walk from `rows`; the block lies in `output`."""
        from grfpp.walks.engine import sample_block

        end = np.empty(len(rows), np.int64)
        done = written = 0
        while True:
            n_rows, n_entries, need_log, need_out = sample_block(
                *self._plan_arrays,
                rows[done:],
                *self._buffers,
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
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(values.sum())
        if suspicious and not np.isfinite(values).all():
            raise InputError(
                "the loads of the walks overflow: the weights are too large for this kernel; "
                "use graph.normalized('sym') or a smaller scale"
            )
        return Block(end, output.columns[:written], values)
