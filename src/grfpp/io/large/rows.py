"""Sorted edges -> the rows of a matrix, written as they come."""

from __future__ import annotations

import numpy as np

from grfpp.io.folder.writer import FolderWriter
from grfpp.typing import AnyInts, FloatArray

_ROWS = 1 << 22


class RowWriter:
    """Rows, of which the entries come in order.

    Parameters
    ----------
    writer, prefix
        What is written to, and what the names of its arrays begin with.
    n_nodes
        How many rows there are.
    weighted
        Whether weights are written.
    strengths
        The array for the sums of rows, if they are wanted; without weights, numbers of entries.
    """

    def __init__(
        self,
        writer: FolderWriter,
        n_nodes: int,
        prefix: str = "",
        *,
        weighted: bool,
        strengths: str | None,
    ) -> None:
        self._writer, self._prefix, self._n_nodes = writer, prefix, n_nodes
        self._weighted, self._strengths = weighted, strengths
        #: The row whose end is not known yet, the entries before this block, its sum so far.
        self._row, self._n_edges, self._sum = 0, 0, 0.0
        self.largest = 0.0
        for name in ("indices", "weights")[: 1 + weighted]:
            writer.append(prefix + name, [])
        writer.append(f"{prefix}indptr", [0])

    def append(self, rows: AnyInts, columns: AnyInts, weights: FloatArray) -> None:
        """Write entries that come after all others."""
        self._writer.append(f"{self._prefix}indices", columns)
        if self._weighted:
            self._writer.append(f"{self._prefix}weights", weights)
        last = int(rows[-1])
        self._end_rows(last, rows, weights)
        begin = int(np.searchsorted(rows, last))
        if self._strengths is not None:
            self._sum = float(self._sums(np.zeros(len(rows) - begin, int), weights[begin:], 1)[0])
        self._n_edges += len(rows)

    def close(self) -> None:
        """End all rows that are left."""
        nothing = np.empty(0)
        self._end_rows(self._n_nodes, nothing.astype(np.int64), nothing)

    def _end_rows(self, last: int, rows: AnyInts, weights: FloatArray) -> None:
        """Write the ends of all rows before `last`."""
        while self._row < last:
            stop = min(last, self._row + _ROWS)
            ends = np.searchsorted(rows, np.arange(self._row + 1, stop + 1))
            self._writer.append(f"{self._prefix}indptr", self._n_edges + ends)
            if self._strengths is not None:
                begin, end = int(np.searchsorted(rows, self._row)), int(ends[-1])
                sums = self._sums(rows[begin:end] - self._row, weights[begin:end], stop - self._row)
                self._writer.append(self._strengths, sums)
                self.largest = max(self.largest, float(sums.max(initial=0.0)))
            self._row, self._sum = stop, 0.0

    def _sums(self, rows: AnyInts, weights: FloatArray, n_rows: int) -> FloatArray:
        """Sums from left to right, of which the first goes on from the block before."""
        values = weights if self._weighted else np.ones(len(rows))
        places = np.concatenate([[0], rows])
        with np.errstate(over="ignore"):
            sums = np.bincount(places, np.concatenate([[self._sum], values]), minlength=n_rows)
        return np.asarray(sums, np.float64)
