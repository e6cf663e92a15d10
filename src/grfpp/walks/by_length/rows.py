"""What walks leave by length, row by row: the room for it and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.typing import FloatArray, IntArray

#: Lengths are stored in two bytes.
MOST_LENGTHS = np.iinfo(np.int16).max


class LengthRows(NamedTuple):
    """Consecutive rows: where each ends, their columns, where the deposits of each entry end."""

    row_end: IntArray
    columns: npt.NDArray[np.int32]
    entry_end: IntArray
    #: Of every deposit.
    lengths: npt.NDArray[np.int16]
    amounts: FloatArray


class LengthOutput:
    """Room for rows that grows where it is too small; they are then walked again."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity

    def collect(self, n_rows: int, walk: Callable[..., tuple[int, int]]) -> LengthRows:
        """Let a compiled loop fill `LengthRows`.

        `walk` returns the number of entries and of deposits, or negative ones for lack of room.
        """
        row_end = np.empty(n_rows, np.int64)
        while True:
            arrays = self._arrays()
            n_entries, n_deposits = walk(row_end, *arrays)
            if n_entries >= 0:
                break
            self._capacity *= 2
        columns, entry_end = (array[:n_entries].copy() for array in arrays[:2])
        lengths, amounts = (array[:n_deposits].copy() for array in arrays[2:])
        if not np.isfinite(amounts).all():
            raise InputError(
                "the loads of the walks overflow: the weights are too large for walks of this "
                "length; use graph.normalized('sym') or a smaller scale"
            )
        return LengthRows(row_end, columns, entry_end, lengths, amounts)

    def _arrays(self) -> tuple[npt.NDArray[Any], ...]:
        types = (np.int32, np.int64, np.int16, np.float64)
        return tuple(np.empty(self._capacity, each) for each in types)
