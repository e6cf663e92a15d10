"""Estimates whose factors are walked and kept on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grfpp.distributed import tasks
from grfpp.distributed.cluster import Cluster
from grfpp.distributed.estimate import DistributedEstimate
from grfpp.distributed.factor import ClusterFactor
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.factors import Factor
from grfpp.memory import readable_bytes
from grfpp.options import WalkOptions
from grfpp.sampling.backend import reporting
from grfpp.typing import IntArray
from grfpp.walks import WalkPlan
from grfpp.walks.executors import row_blocks
from grfpp.walks.sampler import Progress
from grfpp.walks.sizes import expected_entries, factor_bytes

#: Share of the workers' memory that factors may take: beyond it Dask writes to disk.
_GRANTED = 0.6


@dataclass(frozen=True)
class ClusterBackend:
    """A `grfpp.sampling.backend.Backend` of the workers of a cluster."""

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
        granted = int(_GRANTED * limit)
        if len(plans) * each > granted:
            raise InputError(
                f"{len(plans)} factors of {n} nodes and their transposes need "
                f"{readable_bytes(len(plans) * each)}, but the workers may take "
                f"{readable_bytes(granted)} in all, {_GRANTED:.0%} of their limits",
                other="start more or larger workers",
                most_degree=int(granted / each * options.stitching_degree / len(plans)),
                float32=options.dtype == np.float64,
            )
