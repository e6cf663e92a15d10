"""Functions that run on workers: pure, so that Dask can recompute lost results.

No number depends on how rows are cut into blocks, or on which worker holds which block: every entry
of a result is summed by one task, in the order in which one machine sums it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.estimate.chain import compact_rows, feature_sides
from grfpp.estimate.factor import weighted_mean
from grfpp.io.shards import SIDES, ShardFormat, write_shard
from grfpp.linalg.csr import csr, sparse_product, stack_rows
from grfpp.typing import FloatArray, IntArray
from grfpp.walks import WalkPlan, sample_rows


class RowBlock(sp.csr_array):  # type: ignore[misc]  # untyped base
    """Some rows of a sparse matrix, which reports its size, so that Dask does not move it."""

    def __sizeof__(self) -> int:
        return int(self.data.nbytes + self.indices.nbytes + self.indptr.nbytes)


class ColumnBlock(sp.coo_array):  # type: ignore[misc]  # untyped base
    """Some columns of a block of rows, as COO: it is sent to another worker, and many are empty."""

    def __sizeof__(self) -> int:
        return int(self.data.nbytes + sum(part.nbytes for part in self.coords))


@dataclass(frozen=True, eq=False)
class SharedPlan:
    """A plan on a worker, whose arrays are shared by the blocks that are sampled there."""

    plan: WalkPlan

    def __sizeof__(self) -> int:
        graph = self.plan.graph
        arrays: tuple[Any, ...] = (graph.indptr, graph.indices, *self.plan.layout.arrays)
        return int(sum(array.nbytes for array in arrays))


def identity(value: Any) -> Any:
    """Return the argument, as a result that stays on the workers."""
    return value


def sample_block(shared: SharedPlan, key: int, dtype: Any, nodes: range | IntArray) -> RowBlock:
    """Sample rows of the factor whose random streams begin with `key`."""
    shared.plan.graph.require_unchanged()
    plan = replace(shared.plan, key=key)
    return RowBlock(sample_rows(plan, np.asarray(nodes, dtype=np.int64), dtype))


def mean_block(weights: Sequence[float], blocks: Sequence[RowBlock]) -> RowBlock:
    """The weighted mean of the same rows of several factors."""
    return RowBlock(weighted_mean(blocks, weights))


def count_columns(block: RowBlock, edges: IntArray) -> IntArray:
    """Number of entries in the columns ``edges[i] … edges[i + 1]``."""
    return np.histogram(block.indices, edges)[0]


def split_columns(block: RowBlock, edges: IntArray) -> list[ColumnBlock]:
    """The columns ``edges[i] … edges[i + 1]`` of a block, for every ``i``."""
    by_column = block.tocsc()
    return [ColumnBlock(by_column[:, first:last]) for first, last in pairwise(edges)]


def join_transposed(blocks: Sequence[ColumnBlock]) -> RowBlock:
    """The same columns of all blocks of rows, transposed: a row lists its sources in order."""
    matrix = sp.vstack(blocks).T.tocsr()
    return RowBlock(csr(matrix.data, matrix.indices, matrix.indptr, matrix.shape[1]))


def columns_by_part(block: RowBlock, edges: IntArray) -> list[IntArray]:
    """Nonempty columns of a block, by parts of the next factor, counted from each first row."""
    nodes = np.unique(block.indices)
    parts = np.split(nodes, np.searchsorted(nodes, edges[1:-1]))
    return [part - first for part, first in zip(parts, edges[:-1], strict=True)]


def take_rows(block: RowBlock, rows: Sequence[IntArray], part: int) -> RowBlock:
    """Rows of a part, of which `rows` lists those of all parts."""
    return RowBlock(block[rows[part]])


def multiply(block: RowBlock, parts: Sequence[RowBlock]) -> RowBlock:
    """A block times a sparse matrix, given the rows of it at the block's nonempty columns."""
    _, compact = compact_rows(block)
    return RowBlock(sparse_product(compact, stack_rows(parts), n_jobs=1))


def features(
    x: RowBlock,
    y: RowBlock,
    sign: int,
    symmetrized: bool,
    low_rank: tuple[FloatArray, FloatArray] | None,
) -> list[RowBlock]:
    """Both sides of the features of some nodes, from rows of both halves of the chain."""
    sides = feature_sides(x, y, sign, symmetrized)
    if low_rank is not None:
        sides = tuple(sp.hstack(pair, format="csr") for pair in zip(sides, low_rank, strict=True))
    return [RowBlock(side) for side in sides]


def count_entries(block: RowBlock) -> int:
    """Number of entries of a block."""
    return int(block.nnz)


def write_features(
    sides: Sequence[RowBlock], number: int, start: int, folder: str, format: ShardFormat
) -> dict[str, Any]:
    """Write both sides of some rows; idempotent, since Dask may repeat it."""
    shards = {
        name: write_shard(folder, f"{name}-{number:05d}", format, start, matrix)
        for name, matrix in zip(SIDES, sides, strict=True)
    }
    return {"sides": shards, "n_columns": sides[0].shape[1], "dtype": str(sides[0].dtype)}
