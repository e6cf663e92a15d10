"""What workers do: pure functions of what they are given, so that whatever is lost is made again.

No number depends on how rows are cut into blocks, or on which worker has which: every entry of a
result is summed by one task, in the order in which one machine sums it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.estimate.chain import compact_rows, row_products
from grfpp.estimate.factor import weighted_mean
from grfpp.linalg.csr import csr, stack_rows
from grfpp.typing import FloatArray, IntArray
from grfpp.walks import WalkPlan, sample_rows


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some rows of a sparse matrix; Dask is told how large it is, and leaves it where it is."""

    matrix: sp.csr_array

    def __sizeof__(self) -> int:
        matrix = self.matrix
        return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


@dataclass(frozen=True, eq=False)
class SharedPlan:
    """A plan on a worker, laid out once and shared by the blocks that are walked there."""

    plan: WalkPlan

    def __sizeof__(self) -> int:
        graph = self.plan.graph
        arrays: tuple[Any, ...] = (graph.indptr, graph.indices, *self.plan.layout.arrays)
        return int(sum(each.nbytes for each in arrays))


def keep(value: Any) -> Any:
    """What was sent, as a result that stays on the workers."""
    return value


def walk(shared: SharedPlan, key: int, nodes: range | IntArray, dtype: np.dtype[Any]) -> RowBlock:
    """Rows of the factor whose streams begin with `key`."""
    shared.plan.graph.require_unchanged()
    plan = replace(shared.plan, key=key)
    chosen = np.asarray(nodes, dtype=np.int64)
    return RowBlock(sample_rows(plan, chosen, dtype))


def mean(weights: Sequence[float], blocks: Sequence[RowBlock]) -> RowBlock:
    """The weighted mean of the same rows of several factors."""
    return RowBlock(weighted_mean([each.matrix for each in blocks], weights))


def count_entries(block: RowBlock) -> int:
    """Entries of a block."""
    return int(block.matrix.nnz)


def count_columns(block: RowBlock, edges: IntArray) -> IntArray:
    """Entries between the columns ``edges[i] … edges[i + 1]``."""
    part = np.searchsorted(edges, block.matrix.indices, side="right") - 1
    return np.bincount(part, minlength=len(edges) - 1)


@dataclass(frozen=True, eq=False)
class Piece:
    """Some columns of a block of rows, on its way to another worker.

    A row number for every entry: most rows have few entries in a few columns, or none.
    """

    n_rows: int
    n_columns: int
    rows: npt.NDArray[np.int32]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]

    def __sizeof__(self) -> int:
        return int(self.rows.nbytes + self.columns.nbytes + self.values.nbytes)

    def matrix(self) -> sp.csr_array:
        """As a sparse matrix."""
        counts = np.bincount(self.rows, minlength=self.n_rows)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return csr(self.values, self.columns, indptr, self.n_columns)


def split_columns(block: RowBlock, edges: IntArray) -> list[Piece]:
    """A block cut at columns; entries keep their order."""
    matrix = block.matrix
    n_rows, n_parts = matrix.shape[0], len(edges) - 1
    # Few parts: a short type of number, which numpy sorts without comparing.
    part = (np.searchsorted(edges, matrix.indices, side="right") - 1).astype(np.uint16)
    order = np.argsort(part, kind="stable")
    rows = np.repeat(np.arange(n_rows, dtype=np.int32), np.diff(matrix.indptr))
    ends = np.cumsum(np.bincount(part, minlength=n_parts))
    pieces = []
    for (first, last), (start, stop) in zip(pairwise(edges), pairwise([0, *ends]), strict=True):
        chosen = order[start:stop]
        columns = matrix.indices[chosen] - np.int32(first)
        pieces.append(Piece(n_rows, int(last - first), rows[chosen], columns, matrix.data[chosen]))
    return pieces


def pick(pieces: Sequence[Piece], number: int) -> Piece:
    """One of several."""
    return pieces[number]


def join_transposed(pieces: Sequence[Piece]) -> RowBlock:
    """The same columns of all blocks of rows, transposed: a row lists its sources in order."""
    turned = stack_rows([each.matrix() for each in pieces]).T.tocsr()
    return RowBlock(csr(turned.data, turned.indices, turned.indptr, turned.shape[1]))


def take(block: RowBlock, rows: IntArray) -> RowBlock:
    """Chosen rows of a block."""
    return RowBlock(block.matrix[rows])


def times(block: RowBlock, dense: FloatArray) -> FloatArray:
    """Rows of a product with a dense block."""
    from grfpp.linalg.csr import times as csr_times

    return csr_times(block.matrix, dense, n_jobs=1)


def stack(parts: Sequence[FloatArray]) -> FloatArray:
    """A dense block of all its rows."""
    return np.concatenate(parts)


def reached(block: RowBlock, edges: IntArray) -> list[IntArray]:
    """Which rows of the next factor a block needs, part by part, counted from the part's first."""
    found = np.unique(block.matrix.indices)
    cuts = np.searchsorted(found, edges)
    return [
        found[start:stop] - edges[number] for number, (start, stop) in enumerate(pairwise(cuts))
    ]


def take_reached(block: RowBlock, wanted: Sequence[IntArray], number: int) -> RowBlock:
    """The rows that another block needs of this one."""
    return take(block, wanted[number])


def multiply(block: RowBlock, following: Sequence[RowBlock]) -> RowBlock:
    """Rows of a product with a sparse matrix, of which all rows are here that are needed."""
    from grfpp.linalg.csr import sparse_product

    _, compact = compact_rows(block.matrix)
    rows = stack_rows([each.matrix for each in following])
    return RowBlock(sparse_product(compact, rows, n_jobs=1))


def diagonal(x: RowBlock, y: RowBlock) -> FloatArray:
    """The diagonal of ``X Yᵀ``, from the same rows of both."""
    return row_products(x.matrix, y.matrix)
