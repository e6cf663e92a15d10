"""Batches of walks: the factors of an estimate, and of others of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.deflation import Deflation
from grfpp.factors import Factor
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.options import MAX_DEGREE, WalkOptions
from grfpp.sampling.backend import HERE, Backend
from grfpp.walks import WalkPlan
from grfpp.walks.planning import Plans, plan_walks
from grfpp.walks.sampler import Progress

#: Random streams are numbered: the factors of a batch, the batches of an estimate, the estimates.
_FACTORS, _BATCHES = 4 * MAX_DEGREE, 64


@dataclass(frozen=True, eq=False)
class Batch:
    """One set of walks for every factor.

    Parameters
    ----------
    options
        With a degree that is a number.
    plans
        What they ask for, on a graph.
    number
        Of the batch in an estimate, for streams of its own.
    backend
        Who walks.
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
        """Check what is asked for and plan it."""
        if number >= _BATCHES:
            raise InputError(f"an estimate has at most {_BATCHES} batches of walks")
        plans = plan_walks(graph, kernel, options, measured=options.measures_error)
        return cls(options, plans, number, backend)

    def walks(self, group: int = 0) -> list[WalkPlan]:
        """One plan for every factor that is walked."""
        n_factors = 2 * self.options.stitching_degree
        if self.options.reuse_walks:
            n_factors = 1 if self.plans.back is self.plans.forward else 2
        first = _FACTORS * (self.number + _BATCHES * group)
        return [self.plans.of_factor(first + number) for number in range(n_factors)]

    @property
    def steps(self) -> float:
        """Expected steps of a node in all factors."""
        return self.plans.forward.expected_steps * len(self.walks())

    def factors(self, group: int = 0, progress: bool | Progress = False) -> list[Factor]:
        """The factors, walked and kept, or walked whenever they are needed."""
        return self.backend.factors(self.walks(group), self.options, progress)

    def kept_factors(self, group: int) -> list[Factor]:
        """Those of another estimate, of which perhaps a few rows are needed only."""
        return self.backend.kept_factors(self.walks(group), self.options)


@dataclass(frozen=True, eq=False)
class WalkedOrigin:
    """What estimates of one kind have in common: their `grfpp.estimate.origin.Origin`."""

    graph: Graph
    kernel: Kernel
    deflation: Deflation | None
    batches: tuple[Batch, ...]
    #: What share of each factor comes from each batch.
    weights: tuple[float, ...] = (1.0,)

    def replicate(self, number: int) -> KernelEstimate:
        """Another estimate of the kind, with random numbers of its own."""
        return self._of(self._means([each.kept_factors(number + 1) for each in self.batches]))

    def _means(self, batches: Sequence[Sequence[Factor]]) -> Sequence[Factor]:
        return mean_factors(batches, self.weights, self._backend)

    @property
    def _backend(self) -> Backend:
        return self.batches[0].backend

    def estimate(self, factors: Sequence[Factor], **meta: Any) -> KernelEstimate:
        """The estimate that these factors make."""
        options = self.batches[0].options
        described = {
            "kernel": _description(self.kernel),
            "degree": options.degree,
            "n_walks": sum(each.options.n_walks for each in self.batches),
            "termination": options.termination.to_dict(),
            "seed": options.seed,
            "walks": options.walks,
            "reuse_walks": options.reuse_walks,
            "symmetrize": self._symmetrizes,
            "deflate": 0 if self.deflation is None else self.deflation.n_vectors,
            "steps_per_node": sum(each.steps for each in self.batches),
            "n_groups": options.n_groups,
            **meta,
        }
        return self._of(factors, meta=described, origin=self)

    def with_replicates(self, K: KernelEstimate) -> KernelEstimate:
        """The estimate with the replicates that were asked for, which are walked now."""
        K.replicates = tuple(
            self._of(self._means([each.factors(group) for each in self.batches]))
            for group in range(1, self.batches[0].options.n_groups + 1)
        )
        return K

    @property
    def _symmetrizes(self) -> bool:
        return self.batches[0].options.symmetrizes(directed=self.graph.is_directed)

    def _of(self, factors: Sequence[Factor], **others: Any) -> KernelEstimate:
        options = self.batches[0].options
        pairs = (
            [(factors[0], factors[-1])] * options.stitching_degree
            if options.reuse_walks
            else list(zip(factors[::2], factors[1::2], strict=True))
        )
        return self._backend.estimate(
            pairs,
            sign=self.kernel.sign,
            symmetrize=self._symmetrizes,
            deflation=self.deflation,
            n_jobs=options.n_jobs,
            node_ids=self.graph.names,
            **others,
        )


def mean_factors(
    batches: Sequence[Sequence[Factor]], weights: Sequence[float], backend: Backend
) -> Sequence[Factor]:
    """The weighted means of the factors of several batches."""
    if len(batches) == 1:
        return batches[0]
    return [backend.mean(factors, weights) for factors in zip(*batches, strict=True)]


def _description(kernel: Kernel) -> Any:
    try:
        return kernel.to_dict()
    except InputError:  # coefficients given by a function
        return repr(kernel)
