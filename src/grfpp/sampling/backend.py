"""Where factors are walked and kept: in this process, on an executor, on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from grfpp.estimate import KernelEstimate
from grfpp.factors import Factor, KeptFactor, MeanFactor, StoredFactor, WalkedFactor
from grfpp.memory import require_bytes
from grfpp.options import WalkOptions
from grfpp.parallel import thread_count
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.executors import ExecutorSampler
from grfpp.walks.sampler import Progress
from grfpp.walks.sizes import (
    expected_entries,
    factor_bytes,
    most_walks,
    require_walkers,
    walker_bytes,
)


class Backend(Protocol):
    """Who walks the factors of an estimate. No number depends on it."""

    @property
    def estimate(self) -> type[KernelEstimate]:
        """What the factors make."""

    def factors(
        self, plans: Sequence[WalkPlan], options: WalkOptions, progress: bool | Progress
    ) -> list[Factor]:
        """One factor for every plan, walked."""

    def kept_factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[Factor]:
        """Those of another estimate, of which perhaps a few rows are needed only."""

    def mean(self, factors: Sequence[Factor], weights: Sequence[float]) -> Factor:
        """A weighted mean of factors."""


@dataclass(frozen=True)
class LocalBackend:
    """The threads of this process or, where there is one, an executor; this process keeps all."""

    executor: Executor | None = None
    estimate: type[KernelEstimate] = KernelEstimate

    def factors(
        self, plans: Sequence[WalkPlan], options: WalkOptions, progress: bool | Progress
    ) -> list[Factor]:
        """Factors that are kept, or walked whenever they are needed."""
        if options.storage == "recompute":
            return [WalkedFactor(each, options.dtype) for each in plans]
        _require_factors(plans, options)
        walk: Callable[..., Any] = partial(sample_factor, n_jobs=options.n_jobs)
        if self.executor is not None:
            walk = ExecutorSampler(self.executor).factor
        with reporting(progress, len(plans)) as report:
            return [
                StoredFactor(walk(each, dtype=options.dtype, progress=report(number)))
                for number, each in enumerate(plans)
            ]

    def kept_factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[Factor]:
        """Factors that are walked when they are asked for."""
        return [KeptFactor(each, options.dtype) for each in plans]

    def mean(self, factors: Sequence[Factor], weights: Sequence[float]) -> Factor:
        """Their mean, stored."""
        return MeanFactor(factors, weights)


#: Threads of this process.
HERE = LocalBackend()


def _require_factors(plans: Sequence[WalkPlan], options: WalkOptions) -> None:
    """Refuse factors that cannot all be kept, before the first is walked."""
    plan, n_factors, degree = plans[0], len(plans), options.stitching_degree
    n = plan.graph.n_nodes
    require_walkers(plan, options.n_jobs)
    each = factor_bytes(expected_entries(plan), n, options.dtype)
    working = thread_count(options.n_jobs) * walker_bytes(plan)
    per_entry = n * n_factors * (4 + options.dtype.itemsize)
    require_bytes(
        n_factors * each + working,
        f"{n_factors} factors of {n} nodes with {plan.n_walks} walks each",
        most_degree=lambda room: int((room - working) / each * degree / n_factors),
        most_walks=lambda room: most_walks(plan, (room - working) / per_entry),
        float32=options.dtype == np.float64,
        recompute=True,
    )


@contextmanager
def reporting(progress: bool | Progress, n_factors: int) -> Iterator[Any]:
    """Give a function that makes the progress callback of each factor."""
    if progress is False or progress is None:
        yield lambda number: None
        return
    if callable(progress):
        yield lambda number: lambda done, n: progress(number * n + done, n_factors * n)
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("walking", total=None)

        def report(number: int) -> Progress:
            return lambda done, n: bar.update(
                task, completed=number * n + done, total=n_factors * n
            )

        yield report
