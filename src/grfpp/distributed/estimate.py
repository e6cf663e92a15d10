"""Kernel estimates whose factors are stored on a cluster: backend, features, shards, `sample`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import scipy.sparse as sp

from grfpp._checks import one_of
from grfpp._memory import readable_bytes
from grfpp.distributed import tasks
from grfpp.distributed.cluster import Cluster
from grfpp.distributed.factor import ClusterFactor, stacked
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.batches import Backend
from grfpp.estimate.chain import Chain, require_features, row_products
from grfpp.estimate.factor import Factor
from grfpp.estimate.sampling import sample_estimate
from grfpp.io.atomic import atomic_folder
from grfpp.io.shards import HEADER, write_header, write_names
from grfpp.kernels import Kernel
from grfpp.options import Degree, WalkOptions
from grfpp.termination import Termination
from grfpp.typing import FloatArray
from grfpp.walks import WalkPlan
from grfpp.walks.sampling import Progress, expected_entries, factor_bytes, row_blocks

#: Share of the workers' memory that factors may take: beyond it Dask writes to disk.
_MEMORY_SHARE = 0.6


class DistributedEstimate(KernelEstimate):
    """A `KernelEstimate` on a Dask cluster, the same to the last bit as one that is sampled here.

    It has the methods of any estimate. The factors stay on the workers, in blocks of rows; only
    vectors and requested rows are sent. The workers' memory is freed when the estimate is
    (``del K``), or when the client closes.

    `factors`, `matrices`, `to_torch` and `save` fetch the factors, and are refused where they do
    not fit.
    """

    @property
    def cluster(self) -> Cluster:
        """Where the factors are."""
        return cast(ClusterFactor, self.chain.links[0].factor).cluster

    def _half_blocks(self) -> tuple[Sequence[range], list[Any], list[Any]]:
        """Rows of the blocks, and futures of both halves ``X Yᵀ`` of the chain in these blocks."""
        X, Y = self.chain.halves()
        ranges = cast(ClusterFactor, X.links[0].factor).ranges
        return ranges, self._product_blocks(X), self._product_blocks(Y)

    def _product_blocks(self, chain: Chain) -> list[Any]:
        """Futures of blocks of rows of a chain, each multiplied by the rows that it reaches."""
        (_, blocks), *others = (
            cast(ClusterFactor, link.factor).sides(transposed=link.transposed)
            for link in chain.links
        )
        map_colocated, n = self.cluster.map_colocated, len(blocks)
        for edges, parts in others:
            wanted = map_colocated(tasks.reached, blocks, edges)
            taken = [
                map_colocated(tasks.take_reached, [part] * n, wanted, number)
                for number, part in enumerate(parts)
            ]
            by_block = list(map(list, zip(*taken, strict=True)))
            blocks = map_colocated(tasks.multiply, blocks, by_block)
        return blocks

    def _feature_blocks(self) -> tuple[Sequence[range], list[Any]]:
        """Rows of the blocks, and futures of their features, both sides."""
        ranges, left, right = self._half_blocks()
        low_rank: list[Any] = [None] * len(ranges)
        if self.low_rank is not None:
            A, B = self.low_rank
            low_rank = [(A[rows.start : rows.stop], B[rows.start : rows.stop]) for rows in ranges]
        rule = self.sign, self.symmetrized
        return ranges, self.cluster.map(tasks.features, left, right, *rule, low_rank)

    def _chain_diagonal(self) -> FloatArray:
        _, left, right = self._half_blocks()
        parts = self.cluster.gather(self.cluster.map(row_products, left, right))
        return np.asarray(self.sign * np.concatenate(parts))

    def features(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Sparse feature matrices ``X, Y`` with ``K̂ = X Yᵀ``, computed by the workers and fetched.

        `save_features` leaves them there.
        """
        X, Y = self._feature_sides(0, 1)
        return X, Y

    def feature_side(self, side: Literal["left", "right"]) -> sp.csr_array:
        """One of the two matrices of `features`."""
        return self._feature_sides(int(one_of(side, "side", ("left", "right")) == "right"))[0]

    def _feature_sides(self, *sides: int) -> list[sp.csr_array]:
        cluster, (_, blocks) = self.cluster, self._feature_blocks()
        parts = [cluster.map(operator.getitem, blocks, side) for side in sides]
        counts = [sum(cluster.gather(cluster.map(tasks.count_entries, part))) for part in parts]
        require_features(sum(counts), self.n_nodes, self.degree)
        return [
            stacked(cluster, part, self.n_nodes, count)
            for part, count in zip(parts, counts, strict=True)
        ]

    def save_features(
        self, folder: str | Path, format: Literal["parquet", "npz"] = "parquet"
    ) -> None:
        """Write the features ``X, Y`` to a folder, in shards of consecutive nodes.

        The folder appears when it is complete. Workers write the shards where they see the folder,
        as on one machine or a shared file system; else this process fetches and writes them, a few
        at a time. `grfpp.distributed.load_features` reads it.

        Parameters
        ----------
        folder
            A new one, or one of features, which is replaced.
        format
            ``"parquet"``: one row for each node with its index, the columns and the values of its
            entries as lists; needs the extra ``frames``. ``"npz"``: arrays of a CSR matrix.

        Notes
        -----
        The folder holds ``features.json`` (format, shapes, what made the estimate, the nodes,
        entries and checksums of all shards), ``left-00000.parquet``, ``right-00000.parquet``, …,
        and ``nodes.parquet`` (or ``.npz``) where nodes have names.
        """
        one_of(format, "format", ("parquet", "npz"))
        cluster, (ranges, blocks) = self.cluster, self._feature_blocks()
        names = self.names.to_array()
        with atomic_folder(Path(folder), HEADER) as temporary:
            path = str(temporary.resolve())
            places = list(range(len(ranges))), [rows.start for rows in ranges]
            if cluster.sees(path):
                writing = cluster.map(tasks.write_features, blocks, *places, path, format)
                shards = cluster.gather(writing)
            else:
                write = partial(tasks.write_features, folder=path, format=format)
                shards = list(map(write, cluster.one_by_one(blocks), *places))
            header: dict[str, Any] = {
                "file_format": format,
                "n_nodes": self.n_nodes,
                "n_columns": shards[0]["n_columns"],
                "dtype": shards[0]["dtype"],
                "made_by": dict(self._made_by),
                "shards": [shard["sides"] for shard in shards],
            }
            if names is not None:
                header["names"] = write_names(temporary, format, names)
            write_header(temporary, header)


@dataclass(eq=False)
class ClusterBackend(Backend):
    """Samples and stores factors on the workers of a cluster."""

    estimate = DistributedEstimate
    cluster: Cluster
    #: The rows of each block, the same for all factors, so that means have the same blocks.
    ranges: list[range] = field(default_factory=list)

    def factors(
        self, plans: Sequence[WalkPlan], options: WalkOptions, progress: bool | Progress
    ) -> list[Factor]:
        """Factors whose blocks are all sampled when this returns."""
        self.cluster.check(plans[0].graph)
        self._require_memory(plans, options)
        factors = self._factors(plans, options)
        blocks = [block for factor in factors for block in factor.blocks]
        self.cluster.wait(blocks, [len(rows) for rows in self.ranges] * len(factors), progress)
        return list(factors)

    def lazy_factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[Factor]:
        """Factors that are sampled when they are first needed, a few rows or all."""
        return list(self._factors(plans, options))

    def mean(self, factors: Sequence[Factor], weights: Sequence[float]) -> Factor:
        """A weighted mean of factors, on the workers."""
        parts = cast(Sequence[ClusterFactor], factors)

        def make(rows: list[Any]) -> list[Any]:
            same_rows = list(map(list, zip(*(part.futures(rows) for part in parts), strict=True)))
            return self.cluster.map(tasks.mean, tuple(weights), same_rows)

        return ClusterFactor(self.cluster, self.ranges, parts[0].dtype, make)

    def _factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[ClusterFactor]:
        cluster, dtype = self.cluster, options.dtype
        if not self.ranges:
            self.ranges.extend(row_blocks(plans[0], cluster.n_threads))
        # Plans of one layout differ only in their keys.
        layouts = {id(plan.layout): plan for plan in plans}
        shared = {key: cluster.put(tasks.SharedPlan(plan)) for key, plan in layouts.items()}

        def factor(plan: WalkPlan) -> ClusterFactor:
            make = partial(cluster.map, tasks.walk, shared[id(plan.layout)], plan.key, dtype)
            return ClusterFactor(cluster, self.ranges, dtype, make)

        return [factor(plan) for plan in plans]

    def _require_memory(self, plans: Sequence[WalkPlan], options: WalkOptions) -> None:
        """Refuse factors that the workers cannot store, before the first is sampled."""
        limit, n = self.cluster.memory, plans[0].graph.n_nodes
        # Twice, for their transposes.
        n_bytes = 2 * len(plans) * factor_bytes(expected_entries(plans[0]), n, options.dtype)
        if limit is not None and n_bytes > _MEMORY_SHARE * limit:
            needed, allowed = map(readable_bytes, (n_bytes, int(_MEMORY_SHARE * limit)))
            problem = f"{len(plans)} factors of {n} nodes need {needed}, but workers may take "
            problem += f"{_MEMORY_SHARE:.0%} of their memory, {allowed}"
            raise InputError(problem, advice="start more workers, or use dtype='float32'")


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
        A `KernelEstimate` whose factors are stored on the workers until it is deleted, or the
        client closes.

    Raises
    ------
    InputError
        Where there are no workers, where some lack the package, its version or the graph's folder,
        and where the factors would not fit into their memory.
    """
    options |= {"degree": degree, "n_walks": n_walks, "termination": termination, "seed": seed}
    chosen = WalkOptions.of(without=("storage",), **options)
    backend = ClusterBackend(Cluster(client))
    return cast(DistributedEstimate, sample_estimate(W, kernel, chosen, progress, backend))
