"""Factors and dense blocks whose rows lie on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.distributed import tasks
from grfpp.distributed.cluster import Cluster
from grfpp.estimate.factor import Factor
from grfpp.linalg.csr import Block, GrowingMatrix, stack_rows
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.sampling import factor_bytes


class ClusterDense:
    """Rows of a dense matrix in blocks, each a future; `numpy.asarray` brings it here."""

    def __init__(self, cluster: Cluster, parts: Sequence[Any]) -> None:
        self._cluster = cluster
        self._parts = list(parts)

    @property
    def whole(self) -> Any:
        """One future of all rows: put together on one worker, from which others take it."""
        return self._cluster.submit(tasks.stack, self._parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.concatenate(self._cluster.gather(self._parts)).astype(
            np.float64 if dtype is None else dtype, copy=False
        )


def whole_of(cluster: Cluster, dense: Any) -> Any:
    """The future of a dense matrix, which is here or on the workers."""
    return dense.whole if isinstance(dense, ClusterDense) else cluster.put(np.asarray(dense))


#: Columns are counted in so many ranges, to cut them into parts with as many entries each.
_MAX_COLUMN_BINS = 1024
#: Parts for each thread of the cluster, so that none waits long for the last one.
_PARTS_PER_THREAD = 2


class ClusterFactor(Factor):
    """A factor in blocks of rows, each a future that stays on its worker.

    A product has one task a block, and no sums of several: vectors travel, factors do not. The
    transposed factor is a second set of blocks, made by the workers among themselves when it is
    first needed, in which the entries of a row stand in the order of their sources; so its products
    are summed in the order in which one machine sums them.

    Parameters
    ----------
    cluster
        Where the blocks are.
    ranges
        The rows of each block, in order.
    make
        Gives the futures of all blocks; called when all rows are first needed.
    make_rows
        From some nodes to the future of their rows, for who needs few of a factor that is not there
        yet.
    """

    def __init__(
        self,
        cluster: Cluster,
        ranges: Sequence[range],
        dtype: np.dtype[Any],
        make: Callable[[], list[Any]],
        make_rows: Callable[[IntArray], Any] | None = None,
    ) -> None:
        self.cluster = cluster
        self._ranges = list(ranges)
        self.dtype = dtype
        self._make = make
        self._make_rows = make_rows

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return self._ranges[-1].stop

    @property
    def ranges(self) -> list[range]:
        """The rows of each block."""
        return self._ranges

    @cached_property
    def blocks(self) -> list[Any]:
        """Futures of the blocks of rows."""
        return self._make()

    @cached_property
    def _parts(self) -> tuple[IntArray, list[Any]]:
        """Where the columns are cut, and the futures of the transposed blocks."""
        cluster, n = self.cluster, self.n_nodes
        n_parts = min(n, len(self._ranges), max(4, _PARTS_PER_THREAD * cluster.n_threads))
        bins = np.unique(np.linspace(0, n, min(n, _MAX_COLUMN_BINS) + 1).astype(np.int64))
        counts = cluster.gather(
            cluster.map_colocated(tasks.count_columns, *self._blocks_with(bins))
        )
        edges = _balanced(bins, np.sum(counts, axis=0), n_parts)
        pieces = cluster.map_colocated(tasks.split_columns, *self._blocks_with(edges))
        picked = [cluster.map(tasks.pick, pieces, [j] * len(pieces)) for j in range(len(edges) - 1)]
        parts = cluster.map(tasks.join_transposed, picked)
        cluster.wait(parts)  # products go where they are
        return edges, parts

    def _blocks_with(self, value: Any) -> tuple[list[Any], list[Any]]:
        return self.blocks, [value] * len(self.blocks)

    def sides(self, *, transposed: bool) -> tuple[IntArray, list[Any]]:
        """Where the rows of the factor or of its transpose are cut, and their blocks."""
        if transposed:
            return self._parts
        edges = np.array([0, *(each.stop for each in self._ranges)], dtype=np.int64)
        return edges, self.blocks

    def matmat(self, dense: FloatArray, n_jobs: int) -> FloatArray:
        """``factor @ dense``, which stays on the workers until it is asked for."""
        return self._times(self.blocks, dense)

    def rmatmat(self, dense: FloatArray, n_jobs: int) -> FloatArray:
        """``factor.T @ dense``, likewise."""
        return self._times(self._parts[1], dense)

    def _times(self, blocks: Sequence[Any], dense: Any) -> FloatArray:
        cluster, whole = self.cluster, whole_of(self.cluster, dense)
        parts = cluster.map_colocated(tasks.times, blocks, [whole] * len(blocks))
        return cast(FloatArray, ClusterDense(cluster, parts))

    def rows(self, nodes: IntArray, n_jobs: int) -> sp.csr_array:
        """Chosen rows; where the blocks are not there yet, these are walked alone."""
        if "blocks" not in vars(self) and self._make_rows is not None:
            (found,) = self.cluster.gather([self._make_rows(np.asarray(nodes))])
            return found.matrix
        return self._taken(nodes, *self.sides(transposed=False))

    def columns(self, nodes: IntArray, n_jobs: int) -> sp.csr_array:
        """Chosen columns, as rows."""
        return self._taken(nodes, *self._parts)

    def _taken(self, nodes: IntArray, edges: IntArray, blocks: Sequence[Any]) -> sp.csr_array:
        # Asked for in the order of the blocks, and put into theirs here.
        order = np.argsort(nodes, kind="stable")
        wanted = np.asarray(nodes)[order]
        cuts = np.searchsorted(wanted, edges)
        asked = [
            (block, wanted[start:stop] - edge)
            for block, edge, (start, stop) in zip(blocks, edges[:-1], pairwise(cuts), strict=True)
            if stop > start
        ]
        if not asked:
            return sp.csr_array((0, self.n_nodes), dtype=self.dtype)
        taken = self.cluster.gather(
            self.cluster.map_colocated(tasks.take, *zip(*asked, strict=True))
        )
        found = stack_rows([each.matrix for each in taken])
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return found[back]

    @cached_property
    def n_entries(self) -> int:
        """Entries of all rows."""
        cluster = self.cluster
        return int(sum(cluster.gather(cluster.map_colocated(tasks.count_entries, self.blocks))))

    def csr_bytes(self, *, transposed: bool) -> int:
        """Bytes that all rows take here."""
        return factor_bytes(self.n_entries, self.n_nodes, self.dtype)

    def to_csr(self, n_jobs: int = -1) -> sp.csr_array:
        """The factor, brought here."""
        return self._brought(self.blocks)

    def transposed_csr(self, n_jobs: int = -1) -> sp.csr_array:
        """Its transpose, brought here."""
        return self._brought(self._parts[1])

    def _brought(self, blocks: Sequence[Any]) -> sp.csr_array:
        require_bytes(self.csr_bytes(transposed=False), f"a factor of {self.n_nodes} nodes")
        return stacked(self.cluster, blocks, self.n_nodes, self.n_entries)


def stacked(cluster: Cluster, blocks: Sequence[Any], n_rows: int, n_entries: int) -> sp.csr_array:
    """All blocks of rows in one matrix here, fetched a few at a time."""
    matrix: GrowingMatrix | None = None
    for block in cluster.one_by_one(blocks):
        part = block.matrix
        if matrix is None:
            matrix = GrowingMatrix(n_rows, part.shape[1], n_entries, part.dtype)
        matrix.append(Block(part.indptr[1:].astype(np.int64), part.indices, part.data))
    assert matrix is not None
    return matrix.finish()


def _balanced(bins: IntArray, counts: IntArray, n_parts: int) -> IntArray:
    """Cut columns, counted in bins, into parts with nearly as many entries each.

    Examples
    --------
    >>> _balanced(np.arange(6), np.array([8, 1, 1, 2, 4]), 2)
    array([0, 2, 5])
    """
    before = np.concatenate([[0], np.cumsum(counts + 1)])  # one more, that none counts for nothing
    cuts = np.searchsorted(before, np.linspace(0, before[-1], n_parts + 1)[1:-1])
    return np.unique(np.concatenate([[0], bins[cuts], [bins[-1]]]))
