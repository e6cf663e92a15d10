"""`DistributedEstimate`: a kernel estimate whose factors lie on the workers of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from grfpp.arguments import one_of
from grfpp.chain import require_features
from grfpp.distributed.cluster import Cluster
from grfpp.distributed.features import Halves, cluster_factor, entries_of, side_of
from grfpp.distributed.saving import save_shards
from grfpp.estimate import KernelEstimate
from grfpp.linalg.growing import Block, GrowingMatrix
from grfpp.typing import FloatArray


class DistributedEstimate(KernelEstimate):
    """A `KernelEstimate` on a Dask cluster, the same to the last bit as one that is sampled here.

    Products, rows, entries, projections and features are asked for as of any estimate. The factors
    stay on the workers, in blocks of rows; what travels is vectors, and rows that are asked for.
    The workers' memory is freed when the estimate is (``del K``), or when the client closes.

    `factors`, `matrices`, `to_torch` and `save` bring the factors here, and are refused where they
    do not fit.
    """

    @property
    def cluster(self) -> Cluster:
        """Where the factors are."""
        return cluster_factor(self.chain.links[0]).cluster

    @property
    def _halves(self) -> Halves:
        return Halves.of(self.cluster, self.chain)

    def features(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Sparse feature matrices ``X, Y`` with ``K̂ = X Yᵀ``, made by the workers, brought here.

        `save_features` leaves them there.
        """
        X, Y = self._feature_sides((0, 1))
        return X, Y

    def feature_side(self, side: Literal["left", "right"]) -> sp.csr_array:
        """One of the two matrices that `features` gives."""
        one_of(side, "side", ("left", "right"))
        return self._feature_sides((int(side == "right"),))[0]

    def _feature_sides(self, wanted: tuple[int, ...]) -> list[sp.csr_array]:
        cluster, halves = self.cluster, self._halves
        blocks = halves.features(self._walked, self.low_rank)
        counts = np.sum(cluster.gather(cluster.map(entries_of, blocks)), axis=0)
        require_features(int(sum(counts[side] for side in wanted)), self.n_nodes, self.degree)
        return [self._brought(blocks, side, int(counts[side])) for side in wanted]

    def _brought(self, blocks: list[Any], side: int, n_entries: int) -> sp.csr_array:
        matrix: GrowingMatrix | None = None
        for found in self.cluster.one_by_one(
            self.cluster.map(side_of, blocks, [side] * len(blocks))
        ):
            part = found.matrix
            if matrix is None:
                matrix = GrowingMatrix(self.n_nodes, part.shape[1], n_entries, part.dtype)
            matrix.append(Block(part.indptr[1:].astype(np.int64), part.indices, part.data))
        assert matrix is not None
        return matrix.finish()

    def save_features(
        self, folder: str | Path, format: Literal["parquet", "npz"] = "parquet"
    ) -> None:
        """Write the features ``X, Y`` to a folder, in shards of consecutive nodes.

        The folder appears when all of it is there. Workers write their own shards where they see
        the folder, as on one machine or a shared file system; else all comes through here, a shard
        at a time. `grfpp.distributed.load_features` reads it.

        Parameters
        ----------
        folder
            A new one, or one that this has written, which is replaced.
        format
            ``"parquet"``: a row a node with its number, the columns and the values of its entries
            as lists; needs the extra ``frames``. ``"npz"``: arrays of a CSR matrix.

        Notes
        -----
        The folder holds ``features.json`` (format, shapes, what made the estimate, the nodes,
        entries and checksums of all shards), ``left-00000.parquet``, ``right-00000.parquet``, …,
        and ``nodes.parquet`` (or ``.npz``) where nodes have names.
        """
        one_of(format, "format", ("parquet", "npz"))
        halves = self._halves
        blocks = halves.features(self._walked, self.low_rank)
        save_shards(
            self.cluster,
            Path(folder),
            format,
            blocks,
            halves.ranges,
            made_by=dict(self._made_by),
            names=self.names.to_array(),
        )

    def _walked_diagonal(self) -> FloatArray:
        return np.asarray(self.sign * self._halves.diagonal())
