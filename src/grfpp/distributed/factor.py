"""Factors and dense blocks whose rows are stored on the workers of a cluster."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.distributed import tasks
from grfpp.distributed.cluster import Cluster
from grfpp.estimate.factor import Factor
from grfpp.linalg.csr import Block, GrowingMatrix, stack_rows, times
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.sampling import factor_bytes

#: Columns are counted in at most so many ranges, to cut them into parts of equal size.
_MAX_COLUMN_BINS = 1024
#: Parts for each thread of the cluster, for an even load.
_PARTS_PER_THREAD = 2


@dataclass(eq=False)
class ClusterDense:
    """Rows of a dense matrix in blocks, each a future; `numpy.asarray` fetches it."""

    cluster: Cluster
    parts: list[Any]

    def whole(self) -> Any:
        """One future of all rows: concatenated on one worker, from which others fetch them."""
        return self.cluster.submit(np.concatenate, self.parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.concatenate(self.cluster.gather(self.parts)).astype(
            np.float64 if dtype is None else dtype, copy=False
        )


@dataclass(eq=False)
class ClusterFactor(Factor):
    """A factor in blocks of rows, each a future that stays on its worker.

    A product has one task a block, and no sums of several: vectors are sent, factors are not. The
    transposed factor is a second set of blocks, which the workers make when it is first needed. The
    entries of its rows are in the order of their sources, so that its products are summed in the
    order in which one machine sums them.

    Parameters
    ----------
    cluster
        Where the blocks are.
    ranges
        The rows of each block, in order.
    make
        Gives the futures of several sets of rows, each a range or an array of nodes.
    """

    cluster: Cluster
    ranges: list[range]
    dtype: np.dtype[Any]
    make: Callable[[list[Any]], list[Any]]

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return self.ranges[-1].stop

    @cached_property
    def blocks(self) -> list[Any]:
        """Futures of the blocks of rows."""
        return self.make(self.ranges)

    def futures(self, rows: list[Any]) -> list[Any]:
        """Futures of several sets of rows."""
        return self.blocks if rows is self.ranges else self.make(rows)

    @cached_property
    def _transposed(self) -> tuple[IntArray, list[Any]]:
        """The columns at which the transpose is cut, and the futures of its blocks."""
        cluster, n, blocks = self.cluster, self.n_nodes, self.blocks
        n_parts = min(n, len(blocks), max(4, _PARTS_PER_THREAD * cluster.n_threads))
        bins = np.unique(np.linspace(0, n, min(n, _MAX_COLUMN_BINS) + 1).astype(np.int64))
        counting = cluster.map_colocated(tasks.count_columns, blocks, bins)
        edges = _balanced(bins, np.sum(cluster.gather(counting), axis=0), n_parts)
        pieces = cluster.map_colocated(tasks.split_columns, blocks, edges)
        n_cut = len(edges) - 1
        by_part = [cluster.map(operator.getitem, pieces, part) for part in range(n_cut)]
        parts = cluster.map(tasks.join_transposed, by_part)
        cluster.wait(parts)  # products run where they are
        return edges, parts

    def sides(self, *, transposed: bool) -> tuple[IntArray, list[Any]]:
        """The rows at which the factor or its transpose is cut, and the futures of the blocks."""
        if transposed:
            return self._transposed
        return np.array([0, *(rows.stop for rows in self.ranges)], dtype=np.int64), self.blocks

    def matmat(self, dense: Any, n_jobs: int, *, transposed: bool = False) -> FloatArray:
        """``factor @ dense``, which stays on the workers until it is needed here."""
        cluster, (_, blocks) = self.cluster, self.sides(transposed=transposed)
        block = dense.whole() if isinstance(dense, ClusterDense) else cluster.put(np.asarray(dense))
        parts = cluster.map_colocated(times, blocks, block, 1)
        return cast(FloatArray, ClusterDense(cluster, parts))

    def rows(self, nodes: IntArray, n_jobs: int, *, transposed: bool = False) -> sp.csr_array:
        """Chosen rows; where the blocks are not made yet, only these are sampled."""
        if not len(nodes):
            return sp.csr_array((0, self.n_nodes), dtype=self.dtype)
        if not transposed and "blocks" not in vars(self):
            return sp.csr_array(*self.cluster.gather(self.make([nodes])))
        edges, blocks = self.sides(transposed=transposed)
        order = np.argsort(nodes, kind="stable")
        ordered = nodes[order]
        cuts = np.searchsorted(ordered, edges)
        requests = [
            (block, ordered[start:stop] - edge)
            for block, edge, (start, stop) in zip(blocks, edges[:-1], pairwise(cuts), strict=True)
            if stop > start
        ]
        taken = self.cluster.map_colocated(
            operator.getitem, *map(list, zip(*requests, strict=True))
        )
        return sp.csr_array(stack_rows(self.cluster.gather(taken))[np.argsort(order)])

    @cached_property
    def n_entries(self) -> int:
        """Number of entries of all rows."""
        counting = self.cluster.map_colocated(tasks.count_entries, self.blocks)
        return sum(self.cluster.gather(counting))

    def csr_bytes(self, *, transposed: bool = False) -> int:
        """Bytes that all rows need in this process."""
        return factor_bytes(self.n_entries, self.n_nodes, self.dtype)

    def to_csr(self, n_jobs: int = -1, *, transposed: bool = False) -> sp.csr_array:
        """The factor, fetched."""
        require_bytes(self.csr_bytes(), f"a factor of {self.n_nodes} nodes")
        _, blocks = self.sides(transposed=transposed)
        return stacked(self.cluster, blocks, self.n_nodes, self.n_entries)


def stacked(cluster: Cluster, blocks: Sequence[Any], n_rows: int, n_entries: int) -> sp.csr_array:
    """All blocks of rows as one matrix in this process, fetched a few at a time."""
    matrix: GrowingMatrix | None = None
    for part in cluster.one_by_one(blocks):
        if matrix is None:
            matrix = GrowingMatrix(n_rows, part.shape[1], n_entries, part.dtype)
        matrix.append(Block.of(part))
    assert matrix is not None
    return matrix.finish()


def _balanced(bins: IntArray, counts: IntArray, n_parts: int) -> IntArray:
    """Cut columns, counted in bins, into parts with nearly as many entries each.

    Examples
    --------
    >>> _balanced(np.arange(6), np.array([8, 1, 1, 2, 4]), 2)
    array([0, 2, 5])
    """
    before = np.concatenate([[0], np.cumsum(counts + 1)])  # no bin counts for nothing
    cuts = np.searchsorted(before, np.linspace(0, before[-1], n_parts + 1)[1:-1])
    return np.unique(np.concatenate([[0], bins[cuts], [bins[-1]]]))
