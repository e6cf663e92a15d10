"""Kernel estimates whose factors lie on a cluster: backend, features, shards and `sample`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._checks import one_of
from grfpp._memory import readable_bytes
from grfpp.distributed import tasks
from grfpp.distributed.cluster import Cluster
from grfpp.distributed.factor import ClusterFactor, stacked
from grfpp.distributed.tasks import RowBlock
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.batches import reporting
from grfpp.estimate.chain import Chain, Link, SignedChain, feature_sides, require_features
from grfpp.estimate.factor import Factor
from grfpp.estimate.sampling import sample_estimate
from grfpp.io.atomic import atomic_folder
from grfpp.io.shards import (
    HEADER,
    SIDES,
    ShardFormat,
    write_header,
    write_names,
    write_shard,
)
from grfpp.kernels import Kernel
from grfpp.options import Degree, WalkOptions
from grfpp.termination import Termination
from grfpp.typing import FloatArray, IntArray
from grfpp.walks import WalkPlan
from grfpp.walks.sampling import Progress, expected_entries, factor_bytes, row_blocks


class FeatureBlock(NamedTuple):
    """Features of some nodes, both sides."""

    left: RowBlock
    right: RowBlock


@dataclass(frozen=True)
class Halves:
    """Futures of the halves ``X Yᵀ`` of a chain, in the same blocks of rows."""

    cluster: Cluster
    ranges: list[range]
    left: list[Any]
    right: list[Any]

    @classmethod
    def of(cls, cluster: Cluster, chain: Chain) -> Halves:
        """Submit what makes them; nothing comes here."""
        X, Y = chain.halves()
        ranges = cluster_factor(X.links[0]).ranges
        return cls(cluster, ranges, _products(cluster, X), _products(cluster, Y))

    def diagonal(self) -> FloatArray:
        """The diagonal of the chain."""
        parts = self.cluster.gather(self.cluster.map(tasks.diagonal, self.left, self.right))
        return np.concatenate(parts)

    def features(
        self, walked: SignedChain, low_rank: tuple[FloatArray, FloatArray] | None
    ) -> list[Any]:
        """Futures of `FeatureBlock`, one for each block of rows."""
        rule = walked.sign, walked.symmetrized
        low_rank_rows: list[Any] = [None] * len(self.ranges)
        if low_rank is not None:
            low_rank_rows = [
                tuple(side[rows.start : rows.stop] for side in low_rank) for rows in self.ranges
            ]
        return self.cluster.map(
            feature_block, self.left, self.right, [rule] * len(self.ranges), low_rank_rows
        )


def cluster_factor(link: Link) -> ClusterFactor:
    """The factor of a link of a chain that is on a cluster."""
    assert isinstance(link.factor, ClusterFactor)
    return link.factor


def _products(cluster: Cluster, chain: Chain) -> list[Any]:
    """Blocks of the rows of a chain: each asks the workers for the rows that it reaches."""
    first, *others = chain.links
    _, blocks = cluster_factor(first).sides(transposed=first.transposed)
    for link in others:
        edges, parts = cluster_factor(link).sides(transposed=link.transposed)
        wanted = cluster.map_colocated(tasks.reached, blocks, [edges] * len(blocks))
        taken: list[list[Any]] = [
            cluster.map_colocated(
                tasks.take_reached, [part] * len(blocks), wanted, [j] * len(blocks)
            )
            for j, part in enumerate(parts)
        ]
        following = [list(each) for each in zip(*taken, strict=True)]
        blocks = cluster.map_colocated(tasks.multiply, blocks, following)
    return blocks


def feature_block(
    x: RowBlock,
    y: RowBlock,
    rule: tuple[int, bool],
    low_rank_rows: tuple[FloatArray, FloatArray] | None,
) -> FeatureBlock:
    """Features from rows of both halves; on a worker."""
    sides = feature_sides(x.matrix, y.matrix, *rule)
    if low_rank_rows is not None:
        A, B = low_rank_rows
        sides = sp.hstack([sides[0], A], format="csr"), sp.hstack([sides[1], B], format="csr")
    return FeatureBlock(*map(RowBlock, sides))


def side_of(block: FeatureBlock, number: int) -> RowBlock:
    """One side."""
    return block[number]


def entries_of(block: FeatureBlock) -> IntArray:
    """Entries of both sides."""
    return np.array([each.matrix.nnz for each in block], dtype=np.int64)


def save_shards(
    cluster: Cluster,
    folder: Path,
    format: ShardFormat,
    blocks: Sequence[Any],
    ranges: Sequence[range],
    *,
    made_by: Mapping[str, Any],
    names: npt.NDArray[Any] | None,
) -> None:
    """Write all blocks of features, whole or not at all."""
    with atomic_folder(folder, HEADER) as temporary:
        place = str(temporary.resolve())
        arguments = [[each] * len(ranges) for each in (place, format)]
        numbers = list(range(len(ranges)))
        starts = [rows.start for rows in ranges]
        if cluster.sees(place):
            writing = cluster.map(write_block, blocks, numbers, starts, *arguments)
            written = cluster.gather(writing)
        else:
            found = cluster.one_by_one(blocks)
            written = list(map(write_block, found, numbers, starts, *arguments))
        facts: dict[str, Any] = {
            "file_format": format,
            "n_nodes": ranges[-1].stop,
            "n_columns": written[0]["n_columns"],
            "dtype": written[0]["dtype"],
            "made_by": made_by,
            "shards": [each["sides"] for each in written],
        }
        if names is not None:
            facts["names"] = write_names(temporary, format, names)
        write_header(temporary, facts)


def write_block(
    block: FeatureBlock, number: int, start: int, folder: str, format: ShardFormat
) -> dict[str, Any]:
    """Write both sides of some rows; on a worker. Written again, it is the same."""
    sides = {
        side: write_shard(folder, f"{side}-{number:05d}", format, start, part.matrix)
        for side, part in zip(SIDES, block, strict=True)
    }
    matrix = block.left.matrix
    return {"sides": sides, "n_columns": matrix.shape[1], "dtype": str(matrix.dtype)}


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
        n = len(blocks)
        return [
            stacked(
                cluster, cluster.map(side_of, blocks, [side] * n), self.n_nodes, int(counts[side])
            )
            for side in wanted
        ]

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


#: Share of the workers' memory that factors may take: beyond it Dask writes to disk.
_MEMORY_SHARE = 0.6


@dataclass(frozen=True)
class ClusterBackend:
    """A `grfpp.estimate.batches.Backend` of the workers of a cluster."""

    cluster: Cluster
    estimate: type[KernelEstimate] = DistributedEstimate
    #: How rows are cut, by the first who walks: means are made of the same rows of all batches.
    ranges: list[range] = field(default_factory=list)

    def factors(
        self, plans: Sequence[WalkPlan], options: WalkOptions, progress: bool | Progress
    ) -> list[Factor]:
        """All blocks of all factors at once, walked when this returns."""
        self.cluster.check(plans[0].graph)
        self._require_memory(plans, options)
        factors = self._planned(plans, options)
        blocks = [each for factor in factors for each in factor.blocks]
        sizes = [len(rows) for factor in factors for rows in factor.ranges]
        with reporting(progress, 1) as report:
            tell, done = report(0), 0

            def count(number: int) -> None:
                nonlocal done
                done += sizes[number]
                if tell is not None:
                    tell(done, sum(sizes))

            self.cluster.wait(blocks, count)
        return list(factors)

    def kept_factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[Factor]:
        """Factors that are walked when they are asked for: whole, or a few rows."""
        return list(self._planned(plans, options))

    def mean(self, factors: Sequence[Factor], weights: Sequence[float]) -> Factor:
        """Means of the blocks, on the workers."""
        parts = [each for each in factors if isinstance(each, ClusterFactor)]

        def make() -> list[Any]:
            same_rows = [list(each) for each in zip(*(part.blocks for part in parts), strict=True)]
            return self.cluster.map(tasks.mean, [list(weights)] * len(same_rows), same_rows)

        return ClusterFactor(self.cluster, self.ranges, parts[0].dtype, make)

    def _planned(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[ClusterFactor]:
        cluster, dtype = self.cluster, options.dtype
        if not self.ranges:
            self.ranges.extend(row_blocks(plans[0], cluster.n_threads))
        ranges = self.ranges
        shared: dict[int, Any] = {}
        for plan in plans:  # those of all factors differ in their keys alone
            if id(plan.layout) not in shared:
                shared[id(plan.layout)] = cluster.put(tasks.SharedPlan(plan))

        def factor(plan: Any, key: int) -> ClusterFactor:
            def make() -> list[Any]:
                n = len(ranges)
                return cluster.map(tasks.walk, [plan] * n, [key] * n, ranges, [dtype] * n)

            def make_rows(nodes: IntArray) -> Any:
                return cluster.submit(tasks.walk, plan, key, nodes, dtype)

            return ClusterFactor(cluster, ranges, dtype, make, make_rows)

        return [factor(shared[id(plan.layout)], plan.key) for plan in plans]

    def _require_memory(self, plans: Sequence[WalkPlan], options: WalkOptions) -> None:
        """Refuse factors that the workers cannot keep, before the first is walked."""
        limit, n = self.cluster.memory, plans[0].graph.n_nodes
        if limit is None:
            return
        # Twice: their transposes too.
        each = 2 * factor_bytes(expected_entries(plans[0]), n, options.dtype)
        granted = int(_MEMORY_SHARE * limit)
        if len(plans) * each > granted:
            raise InputError(
                f"{len(plans)} factors of {n} nodes and their transposes need "
                f"{readable_bytes(len(plans) * each)}, but the workers may take "
                f"{readable_bytes(granted)} in all, {_MEMORY_SHARE:.0%} of their limits",
                advice="start more or larger workers, or use a smaller degree or dtype='float32'",
            )


def sample(
    client: Any,
    W: Any,
    kernel: Kernel | str,
    degree: Degree = 2,
    n_walks: int = 16,
    termination: Termination | str | None = None,
    seed: int | None = None,
    *,
    progress: bool | Progress = False,
    **options: Any,
) -> DistributedEstimate:
    """`grfpp.sample` on the workers of a Dask cluster, the same to the last bit.

    Parameters
    ----------
    client
        A ``distributed.Client``, not asynchronous, whose workers have this version of grfpp.
    W
        A `Graph`, or anything that `Graph` takes. One that is on disk is opened by the workers,
        under the same path; others are sent to them, once.
    kernel, degree, n_walks, termination, seed, options
        As for `grfpp.sample`. Factors stay on the workers: ``storage`` is not an option.
    progress
        ``True`` for a progress bar on the terminal, or a function that is called with the rows
        done and the rows to do.

    Returns
    -------
    DistributedEstimate
        A `KernelEstimate` whose factors lie on the workers until it is deleted, or the client
        closes.

    Raises
    ------
    InputError
        Where there are no workers, where some lack the package, its version or the graph's folder,
        and where the factors would not fit into their memory.
    """
    chosen = WalkOptions.of(
        without=("storage",),
        degree=degree,
        n_walks=n_walks,
        termination=termination,
        seed=seed,
        **options,
    )
    backend = ClusterBackend(Cluster(client))
    return cast(DistributedEstimate, sample_estimate(W, kernel, chosen, progress, backend))
