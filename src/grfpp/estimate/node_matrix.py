"""``K[i, j]``, ``K[rows]`` and ``numpy.asarray(K)`` for matrices that are not formed."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.nodes import NodeNames, whole_slice
from grfpp.typing import FloatArray, IntArray

#: Rows that are computed at a time: 100 MB for 100,000 nodes.
_BLOCK_ROWS = 128
#: The module of scipy's ``sparse @ K``, which asks for `LinearOperator`'s product only if
#: ``numpy.asanyarray(K)`` gives no array; it has no other hook.
_SCIPY_PRODUCTS = "scipy.sparse._base"


class NodeMatrix(LinearOperator):  # type: ignore[misc]  # untyped base
    """A square operator with a row and a column for every node of a graph.

    ``K[…]`` indexes as numpy does, up to rounding: whole numbers (negative ones from the end),
    lists, slices, and masks with a truth value for every node. Names of nodes stand for indices.
    Two lists make pairs; ``K[numpy.ix_(rows, columns)]`` is the matrix of all rows and all columns.
    Only the requested rows or columns are computed, whichever are fewer.
    """

    #: The names of the nodes.
    names: NodeNames

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return int(self.shape[0])

    @property
    def node_ids(self) -> Sequence[Any] | None:
        """The names of the nodes in the order of the rows; ``None`` where they are numbered."""
        return self.names.ids

    def index(self, names: Any) -> Any:
        """Convert the names of nodes to the indices of their rows; see `Graph.index`."""
        return self.names.index(names)

    @abstractmethod
    def toarray(self) -> FloatArray:
        """The whole matrix, dense; refused where it does not fit into memory."""

    @abstractmethod
    def _rows(self, nodes: IntArray) -> Any:
        """Rows of these nodes, dense or as a CSR array."""

    @abstractmethod
    def _entry(self, i: int, j: int) -> float:
        """One number."""

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        """The whole matrix for numpy, refused as by `toarray`."""
        if sys._getframe(1).f_globals.get("__name__") == _SCIPY_PRODUCTS:
            return np.array(None, dtype=object)
        if copy is False:
            raise ValueError(f"{type(self).__name__} has no array that could be shared")
        return self.toarray().astype(np.float64 if dtype is None else dtype, copy=False)

    def dot(self, x: Any) -> Any:
        """``K @ x``, of as many rows as there are nodes."""
        if (shape := np.shape(x)) and shape[0] != self.n_nodes:
            problem = f"the right side must have a row for each of {self.n_nodes} nodes, found "
            raise InputError(f"{problem}shape {shape}")
        return super().dot(x)

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not 1 <= len(parts) <= 2 or any(part is None or part is Ellipsis for part in parts):
            raise InputError(f"K[rows] and K[rows, columns] are supported, found K[{key!r}]")
        parts = (*parts, slice(None))[:2]
        rows, columns = (
            np.arange(self.n_nodes)[whole_slice(part)]
            if isinstance(part, slice)
            else self.names.indices_like(part, name, from_end=True)
            for part, name in zip(parts, ("rows", "columns"), strict=True)
        )
        if any(isinstance(part, slice) for part in parts):  # every row with every column
            block = self._submatrix(rows.ravel(), columns.ravel())
            return block.reshape(rows.shape + columns.shape)
        if rows.ndim == columns.ndim == 0:
            return self._entry(int(rows), int(columns))
        if rows.ndim == columns.ndim == 2 and rows.shape[1] == columns.shape[0] == 1:  # numpy.ix_
            return self._submatrix(rows[:, 0], columns[0])
        try:
            rows, columns = np.broadcast_arrays(rows, columns)
        except ValueError:
            shapes = f"rows of shape {rows.shape} and columns of shape {columns.shape}"
            advice = "use K[numpy.ix_(rows, columns)] for all pairs"
            raise InputError(f"{shapes} do not make pairs", advice=advice) from None
        return self._pairs(rows.ravel(), columns.ravel()).reshape(rows.shape)

    def _submatrix(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """All rows and all columns."""
        n, few = self.n_nodes, min(len(rows), len(columns))
        if 2 * few > n:
            return np.asarray(self.toarray()[np.ix_(rows, columns)])
        if len(columns) < len(rows):
            return np.asarray(self.T._submatrix(columns, rows).T)
        require_bytes(8 * len(rows) * len(columns), f"{len(rows)} x {len(columns)} entries")
        result = np.empty((len(rows), len(columns)))
        for start in range(0, len(rows), _BLOCK_ROWS):
            part = slice(start, start + _BLOCK_ROWS)
            result[part] = _dense(self._rows(rows[part])[:, columns])
        return result

    def _pairs(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """One entry for each row and its column."""
        if len(np.unique(columns)) < len(np.unique(rows)):
            return np.asarray(self.T._pairs(columns, rows))
        result = np.empty(len(rows))
        unique, position = np.unique(rows, return_inverse=True)
        order = np.argsort(position, kind="stable")
        for start in range(0, len(unique), _BLOCK_ROWS):
            ends = np.searchsorted(position, [start, start + _BLOCK_ROWS], sorter=order)
            chosen = order[ends[0] : ends[1]]
            block = self._rows(unique[start : start + _BLOCK_ROWS])
            result[chosen] = _dense(block[position[chosen] - start, columns[chosen]])
        return result


def _dense(block: Any) -> Any:
    return block.toarray() if hasattr(block, "toarray") else block
