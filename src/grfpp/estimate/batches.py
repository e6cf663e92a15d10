"""Batches of walks: where factors are sampled, and what estimates of one kind have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from grfpp._memory import require_bytes
from grfpp._parallel import thread_count
from grfpp.errors import InputError
from grfpp.estimate.deflation import Deflation
from grfpp.estimate.estimate import KernelEstimate
from grfpp.estimate.factor import Factor, KeptFactor, MeanFactor, StoredFactor, WalkedFactor
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.options import MAX_DEGREE, WalkOptions
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.planning import Plans, plan_walks
from grfpp.walks.sampling import (
    ExecutorSampler,
    Progress,
    expected_entries,
    factor_bytes,
    require_walkers,
    walker_bytes,
)

#: Numbers of random streams: factor ``i`` of batch ``b`` of replicate ``r`` has the stream
#: ``i + _FACTORS_PER_BATCH · (b + _MAX_BATCHES · r)``.
_FACTORS_PER_BATCH = 4 * MAX_DEGREE
_MAX_BATCHES = 64


class Backend(Protocol):
    """Where factors are sampled and kept. No number depends on it."""

    @property
    def estimate(self) -> type[KernelEstimate]:
        """The class of estimates that the factors make."""

    def factors(
        self, plans: Sequence[WalkPlan], options: WalkOptions, progress: bool | Progress
    ) -> list[Factor]:
        """One factor for every plan, sampled."""

    def kept_factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[Factor]:
        """Factors of a replicate, of which perhaps a few rows are needed only."""

    def mean(self, factors: Sequence[Factor], weights: Sequence[float]) -> Factor:
        """A weighted mean of factors."""


@dataclass(frozen=True)
class LocalBackend:
    """The threads of this process or an executor; this process keeps the factors."""

    executor: Executor | None = None
    estimate: type[KernelEstimate] = KernelEstimate

    def factors(
        self, plans: Sequence[WalkPlan], options: WalkOptions, progress: bool | Progress
    ) -> list[Factor]:
        """Factors that are stored, or sampled whenever they are needed."""
        if options.storage == "recompute":
            return [WalkedFactor(plan, options.dtype) for plan in plans]
        _require_factors(plans, options)
        walk: Callable[..., Any] = partial(sample_factor, n_jobs=options.n_jobs)
        if self.executor is not None:
            walk = ExecutorSampler(self.executor).factor
        with reporting(progress, len(plans)) as report:
            return [
                StoredFactor(walk(plan, dtype=options.dtype, progress=report(number)))
                for number, plan in enumerate(plans)
            ]

    def kept_factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[Factor]:
        """Factors that are sampled when they are asked for."""
        return [KeptFactor(plan, options.dtype) for plan in plans]

    def mean(self, factors: Sequence[Factor], weights: Sequence[float]) -> Factor:
        """Their mean, stored."""
        return MeanFactor(factors, weights)


#: Threads of this process.
HERE = LocalBackend()


def _require_factors(plans: Sequence[WalkPlan], options: WalkOptions) -> None:
    """Refuse factors that do not all fit into memory, before the first is sampled."""
    plan, n = plans[0], plans[0].graph.n_nodes
    require_walkers(plan, options.n_jobs)
    n_bytes = factor_bytes(expected_entries(plan), n, options.dtype)
    buffers = thread_count(options.n_jobs) * walker_bytes(plan)
    require_bytes(
        len(plans) * n_bytes + buffers,
        f"{len(plans)} factors of {n} nodes with {plan.n_walks} walks each",
        advice="use a lower degree, fewer walks (n_walks), dtype='float32' or storage='recompute'",
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


@dataclass(frozen=True, eq=False)
class Batch:
    """One set of walks for every factor.

    Parameters
    ----------
    options
        With a degree that is a number.
    plans
        The walks on a graph.
    number
        Of the batch in an estimate, for streams of its own.
    backend
        Where the factors are sampled.
    """

    options: WalkOptions
    plans: Plans
    number: int = 0
    backend: Backend = HERE

    @classmethod
    def of(
        cls,
        graph: Graph,
        kernel: Kernel,
        options: WalkOptions,
        number: int = 0,
        backend: Backend = HERE,
    ) -> Batch:
        """Check the options and plan the walks."""
        if number >= _MAX_BATCHES:
            raise InputError(f"an estimate has at most {_MAX_BATCHES} batches of walks")
        plans = plan_walks(graph, kernel, options, measured=options.measures_error)
        return cls(options, plans, number, backend)

    def walks(self, replicate: int = 0) -> list[WalkPlan]:
        """One plan for every factor that is sampled."""
        n_factors = 2 * self.options.stitching_degree
        if self.options.reuse_walks:
            n_factors = 1 if self.plans.back is self.plans.forward else 2
        first = _FACTORS_PER_BATCH * (self.number + _MAX_BATCHES * replicate)
        return [self.plans.of_factor(first + number) for number in range(n_factors)]

    @property
    def steps(self) -> float:
        """Expected steps of a node in all factors."""
        return self.plans.forward.expected_steps * len(self.walks())

    def factors(self, replicate: int = 0, progress: bool | Progress = False) -> list[Factor]:
        """The factors, stored, or sampled whenever they are needed."""
        return self.backend.factors(self.walks(replicate), self.options, progress)

    def kept_factors(self, replicate: int) -> list[Factor]:
        """Factors of a replicate, of which perhaps a few rows are needed only."""
        return self.backend.kept_factors(self.walks(replicate), self.options)


@dataclass(frozen=True, eq=False)
class WalkedOrigin:
    """What estimates of one kind have in common: an `grfpp.estimate.estimate.Origin`."""

    graph: Graph
    kernel: Kernel
    deflation: Deflation | None
    batches: tuple[Batch, ...]
    #: Weight of each batch in the mean of the factors.
    weights: tuple[float, ...] = (1.0,)

    @property
    def _options(self) -> WalkOptions:
        return self.batches[0].options

    def mean(self, batches: Sequence[Sequence[Factor]]) -> Sequence[Factor]:
        """The weighted means of the factors of all batches."""
        if len(batches) == 1:
            return batches[0]
        backend = self.batches[0].backend
        return [backend.mean(factors, self.weights) for factors in zip(*batches, strict=True)]

    def replicate(self, number: int) -> KernelEstimate:
        """Another estimate of the kind, with random numbers of its own."""
        return self._of(self.mean([batch.kept_factors(number + 1) for batch in self.batches]))

    def estimate(self, factors: Sequence[Factor], **meta: Any) -> KernelEstimate:
        """The estimate that these factors make."""
        options = self._options
        description = {
            "kernel": _description(self.kernel),
            "degree": options.degree,
            "n_walks": sum(batch.options.n_walks for batch in self.batches),
            "termination": options.termination.to_dict(),
            "seed": options.seed,
            "walks": options.walks,
            "reuse_walks": options.reuse_walks,
            "symmetrize": options.symmetrizes(directed=self.graph.is_directed),
            "deflate": 0 if self.deflation is None else self.deflation.n_vectors,
            "steps_per_node": sum(batch.steps for batch in self.batches),
            "n_groups": options.n_groups,
            **meta,
        }
        return self._of(factors, meta=description, origin=self)

    def with_replicates(self, K: KernelEstimate) -> KernelEstimate:
        """The estimate with `n_groups` replicates, which are sampled now."""
        K.replicates = tuple(
            self._of(self.mean([batch.factors(replicate) for batch in self.batches]))
            for replicate in range(1, self._options.n_groups + 1)
        )
        return K

    def _of(self, factors: Sequence[Factor], **others: Any) -> KernelEstimate:
        options = self._options
        pairs = (
            [(factors[0], factors[-1])] * options.stitching_degree
            if options.reuse_walks
            else list(zip(factors[::2], factors[1::2], strict=True))
        )
        return self.batches[0].backend.estimate(
            pairs,
            sign=self.kernel.sign,
            symmetrize=options.symmetrizes(directed=self.graph.is_directed),
            deflation=self.deflation,
            n_jobs=options.n_jobs,
            node_ids=self.graph.names,
            **others,
        )


def _description(kernel: Kernel) -> Any:
    try:
        return kernel.to_dict()
    except InputError:  # coefficients given by a function
        return repr(kernel)
