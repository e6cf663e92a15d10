"""Batches of walks, the backend that samples their factors, and the origin of an estimate."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from grfpp._memory import require_bytes
from grfpp._parallel import thread_count
from grfpp.errors import InputError
from grfpp.estimate.deflation import Deflation
from grfpp.estimate.estimate import KernelEstimate
from grfpp.estimate.factor import Factor, KeptFactor, StoredFactor, WalkedFactor, weighted_mean
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.options import MAX_DEGREE, WalkOptions
from grfpp.walks import WalkPlan, sample_factor, sampling
from grfpp.walks.planning import Plans, plan_walks
from grfpp.walks.sampling import Progress

#: Seconds between two lines of progress where stderr is no terminal.
_SECONDS_PER_LINE = 1.0
#: Random streams of a batch: twice the factors of the largest degree, for pilot rows too. Factor
#: ``i`` of batch ``b`` of replicate ``r`` has ``i + _FACTORS_PER_BATCH · (b + _MAX_BATCHES · r)``.
_FACTORS_PER_BATCH = 4 * MAX_DEGREE
#: Batches of an estimate: their sizes grow geometrically, so no tolerance needs as many.
_MAX_BATCHES = 64


class Backend:
    """Samples factors on threads or an executor, and stores them in this process.

    Subclasses sample and store them elsewhere. No number depends on the backend.
    """

    #: The class of estimates that the factors make.
    estimate: type[KernelEstimate] = KernelEstimate

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor

    def factors(
        self, plans: Sequence[WalkPlan], options: WalkOptions, progress: bool | Progress
    ) -> list[Factor]:
        """One factor for every plan: stored, or sampled whenever it is needed."""
        if options.storage == "recompute":
            return [WalkedFactor(plan, options.dtype) for plan in plans]
        plan, n = plans[0], plans[0].graph.n_nodes
        sampling.require_walkers(plan, options.n_jobs)
        n_bytes = sampling.factor_bytes(sampling.expected_entries(plan), n, options.dtype)
        n_bytes *= len(plans)
        n_bytes += thread_count(options.n_jobs) * sampling.walker_bytes(plan)
        what = f"{len(plans)} factors of {n} nodes with {plan.n_walks} walks each"
        advice = "use a lower degree, fewer walks (n_walks), dtype='float32' or storage='recompute'"
        require_bytes(n_bytes, what, advice=advice)
        sample: Callable[..., Any] = partial(sample_factor, n_jobs=options.n_jobs)
        if self._executor is not None:
            sample = sampling.ExecutorSampler(self._executor).factor
        sample = partial(sample, dtype=options.dtype)
        with reporting(progress, len(plans)) as report:
            factors = [sample(plan, progress=report(i)) for i, plan in enumerate(plans)]
        return [StoredFactor(factor) for factor in factors]

    def lazy_factors(self, plans: Sequence[WalkPlan], options: WalkOptions) -> list[Factor]:
        """Factors that are sampled when they are first needed, a few rows or all."""
        return [KeptFactor(plan, options.dtype) for plan in plans]

    def mean(self, factors: Sequence[Factor], weights: Sequence[float]) -> Factor:
        """A weighted mean of factors, stored; the weights add up to one."""
        return StoredFactor(weighted_mean([factor.to_csr() for factor in factors], weights))


#: The backend of threads of this process.
LOCAL_BACKEND = Backend()


@contextmanager
def reporting(progress: bool | Progress, n_factors: int) -> Iterator[Any]:
    """A function from the number of a factor to its progress callback."""
    with ExitStack() as stack:
        update: Any = progress
        if progress is True:
            from rich.console import Console
            from rich.progress import Progress as Bar

            if (console := Console(stderr=True)).is_terminal:
                bar = stack.enter_context(Bar(console=console, transient=True))
                task = bar.add_task("walking", total=None)

                def update(done: int, total: int) -> None:
                    bar.update(task, completed=done, total=total)
            else:
                update = _progress_lines()

        def callback(number: int) -> Progress | None:
            if not update:
                return None
            return lambda done, n: update(number * n + done, n_factors * n)

        yield callback


def _progress_lines() -> Progress:
    """Progress as lines on stderr, for notebooks and logs: one a second, and the last."""
    last = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= _SECONDS_PER_LINE or done == total:
            last = now
            print(f"grfpp: walking, {done / total:.0%} of {total:,} rows", file=sys.stderr)

    return update


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
        Index of the batch in its estimate, which selects its random streams.
    """

    options: WalkOptions
    plans: Plans
    number: int = 0

    @classmethod
    def of(cls, graph: Graph, kernel: Kernel, options: WalkOptions, number: int = 0) -> Batch:
        """Check the options and plan the walks."""
        if number >= _MAX_BATCHES:
            raise InputError(f"an estimate has at most {_MAX_BATCHES} batches of walks")
        plans = plan_walks(graph, kernel, options, measured=options.measures_error)
        return cls(options, plans, number)

    def walks(self, replicate: int = 0) -> list[WalkPlan]:
        """One plan for every factor that is sampled."""
        n_factors = 2 * self.options.stitching_degree
        if self.options.reuse_walks:
            n_factors = 1 if self.plans.back is self.plans.forward else 2
        first = _FACTORS_PER_BATCH * (self.number + _MAX_BATCHES * replicate)
        return [self.plans.of_factor(first + number) for number in range(n_factors)]

    @property
    def steps(self) -> float:
        """Expected steps from a node in all factors."""
        return self.plans.forward.expected_steps * len(self.walks())


@dataclass(frozen=True, eq=False)
class WalkedOrigin:
    """The graph, the kernel and the walks of an estimate, from which replicates are sampled."""

    graph: Graph
    kernel: Kernel
    deflation: Deflation | None
    backend: Backend
    batches: tuple[Batch, ...]
    #: Weight of each batch in the mean of the factors.
    weights: tuple[float, ...] = (1.0,)
    #: Whether the estimate is the transpose of one that was sampled.
    transposed: bool = False

    @property
    def T(self) -> WalkedOrigin:
        """The origin of the transposed estimate."""
        return replace(self, transposed=not self.transposed)

    @property
    def _options(self) -> WalkOptions:
        return self.batches[0].options

    def mean(self, batches: Sequence[Sequence[Factor]]) -> Sequence[Factor]:
        """The weighted means of the factors of all batches."""
        if len(batches) == 1:
            return batches[0]
        return [self.backend.mean(factors, self.weights) for factors in zip(*batches, strict=True)]

    def replicate(self, number: int) -> KernelEstimate:
        """An independent estimate; number 0, 1, … is the same in every call."""
        K = self._replicate(number, self.backend.lazy_factors)
        return K.T if self.transposed else K

    def _replicate(self, number: int, factors: Callable[..., list[Factor]]) -> KernelEstimate:
        return self._of(self.mean([factors(b.walks(number + 1), b.options) for b in self.batches]))

    def estimate(self, factors: Sequence[Factor], **meta: Any) -> KernelEstimate:
        """The estimate that these factors make."""
        options, kernel = self._options, cast(Any, repr(self.kernel))
        with suppress(InputError):  # coefficients given by a function
            kernel = self.kernel.to_dict()
        description = {
            "kernel": kernel,
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
        """Sample `n_groups` replicates and store them with the estimate."""
        factors = partial(self.backend.factors, progress=False)
        n_groups = self._options.n_groups
        K.replicates = tuple(self._replicate(number, factors) for number in range(n_groups))
        return K

    def _of(self, factors: Sequence[Factor], **others: Any) -> KernelEstimate:
        options = self._options
        pairs = list(zip(factors[::2], factors[1::2], strict=False))
        if options.reuse_walks:
            pairs = [(factors[0], factors[-1])] * options.stitching_degree
        others |= {"sign": self.kernel.sign, "deflation": self.deflation, "n_jobs": options.n_jobs}
        symmetrize = options.symmetrizes(directed=self.graph.is_directed)
        names = self.graph.names
        return self.backend.estimate(pairs, symmetrize=symmetrize, node_ids=names, **others)
