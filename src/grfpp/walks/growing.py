"""A sparse matrix that is built row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.sparse import csr
from grfpp.walks.walker import Block


class GrowingMatrix:
    """Rows appended in order to one CSR matrix, without a second copy of it at the end.

    Memory that is reserved but never written costs nothing, and shrinking an array in place moves
    nothing: so it begins a little too large and only grows where `capacity` was a bad guess.
    """

    def __init__(self, n_rows: int, n_columns: int, capacity: int, dtype: np.dtype[Any]) -> None:
        self._indptr = np.zeros(n_rows + 1, np.int64)
        self._n_columns = n_columns
        self._index = np.empty(capacity, np.int32)
        self._value = np.empty(capacity, dtype)
        self._n_entries = 0
        self.n_rows = 0

    def append(self, block: Block) -> None:
        """Add the rows that follow."""
        n_entries = self._n_entries + len(block.columns)
        if n_entries > len(self._index):
            self._index = _enlarged(self._index, self._n_entries, n_entries * 3 // 2)
            self._value = _enlarged(self._value, self._n_entries, n_entries * 3 // 2)
        self._index[self._n_entries : n_entries] = block.columns
        self._value[self._n_entries : n_entries] = block.values
        following = self.n_rows + len(block.end)
        self._indptr[self.n_rows + 1 : following + 1] = block.end + self._n_entries
        self._n_entries, self.n_rows = n_entries, following

    def finish(self) -> sp.csr_array:
        """Give the matrix."""
        self._index.resize(self._n_entries, refcheck=False)
        self._value.resize(self._n_entries, refcheck=False)
        return csr(self._value, self._index, self._indptr, self._n_columns)


def _enlarged(array: npt.NDArray[Any], used: int, size: int) -> npt.NDArray[Any]:
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger
