"""A sparse matrix that is built row by row."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.linalg.sparse import csr
from grfpp.memory import require_bytes


class Block(NamedTuple):
    """Consecutive rows of a sparse matrix: where each ends, its columns, its values."""

    end: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]


class GrowingMatrix:
    """Rows appended in order to one CSR matrix, without a second copy of it at the end.

    Memory that is reserved but never written costs nothing, and shrinking an array in place moves
    nothing: so it begins a little too large and only grows where `capacity` was a bad guess.

    Blocks may come from several threads at once. Places are given out in the order of the rows;
    the threads then copy side by side, since the first touch of new memory takes its time.
    """

    def __init__(self, n_rows: int, n_columns: int, capacity: int, dtype: np.dtype[Any]) -> None:
        self._indptr = np.zeros(n_rows + 1, np.int64)
        self._n_columns = n_columns
        self._index = np.empty(capacity, np.int32)
        self._value = np.empty(capacity, dtype)
        self._n_entries = 0
        self._n_rows = 0
        self._n_copying = 0
        self._abandoned = False
        self._changed = threading.Condition()

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values."""
        return np.dtype(self._value.dtype)

    def append(self, block: Block, first_row: int | None = None) -> None:
        """Add the rows that follow, or those from `first_row` on when their turn has come."""
        changed = self._changed
        first_row = self._n_rows if first_row is None else first_row
        with changed:
            changed.wait_for(lambda: self._n_rows == first_row or self._abandoned)
            if self._abandoned:
                return
            start, end = self._n_entries, self._n_entries + len(block.columns)
            if end > len(self._index):
                changed.wait_for(lambda: self._n_copying == 0)
                size = end * 3 // 2 * (self._index.itemsize + self._value.itemsize)
                require_bytes(size, f"a sparse matrix of at least {end} entries")
                self._index = _enlarged(self._index, start, end * 3 // 2)
                self._value = _enlarged(self._value, start, end * 3 // 2)
            index, value = self._index[start:end], self._value[start:end]
            following = first_row + len(block.end)
            self._indptr[first_row + 1 : following + 1] = block.end + start
            self._n_entries, self._n_rows = end, following
            self._n_copying += 1
            changed.notify_all()
        index[:] = block.columns
        value[:] = block.values
        with changed:
            self._n_copying -= 1
            changed.notify_all()

    def abandon(self) -> None:
        """Let nobody wait any longer for rows that will not come."""
        with self._changed:
            self._abandoned = True
            self._changed.notify_all()

    def finish(self) -> sp.csr_array:
        """Give the matrix."""
        self._index.resize(self._n_entries, refcheck=False)
        self._value.resize(self._n_entries, refcheck=False)
        return csr(self._value, self._index, self._indptr, self._n_columns)


def _enlarged(array: npt.NDArray[Any], used: int, size: int) -> npt.NDArray[Any]:
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger
