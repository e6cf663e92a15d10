"""Walking until an estimate has the error that is asked for.

A first batch of walks is small. The error of what has been walked is measured by random products
(`grfpp.estimate.own_error`), and how the noise of a few rows falls with their walks
(`grfpp.sampling.falling_noise`) tells how many walks the next batch needs. Factors of all batches
are averaged, each with the weight of its precision, so nothing that was walked is thrown away. The
weights come from the errors that are measured, which makes for a bias, one that is small beside the
error itself.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.estimate import KernelEstimate
from grfpp.estimate.deflation import Deflation
from grfpp.estimate.own_error import LARGE, entry_error, seems_large
from grfpp.factors import Factor
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.options import WalkOptions
from grfpp.sampling.backend import HERE, Backend
from grfpp.sampling.batches import Batch, WalkedOrigin, mean_factors
from grfpp.sampling.degree import settle_degree
from grfpp.sampling.falling_noise import FallingNoise
from grfpp.walks.sampler import Progress

#: How the error of independent walks falls with their number; that of pools is looked up
#: (`grfpp.sampling.falling_noise`).
_INDEPENDENT = 0.5
#: What is aimed at, as a share of the tolerance; and where that was just missed.
_AIM, _AIM_AGAIN = 0.9, 0.95
#: Where more than so many times as many walks are foretold, the share of them that is walked first
#: is one of so many, to foretell it better.
_FAR = {"pooled": 16.0, "independent": 64.0}
#: Where the error is above this, noise times noise counts, and little is foretold: if it has to
#: fall by much, there are so many times as many walks, which is what pools need for that at most.
_NOISY, _MUCH, _GROWTH = 0.2, 0.125, 4
#: Where noises multiply, errors fall as a power of the factors' noise. That power less one, at the
#: next batch over what it was at the last two; and no power beyond this is believed.
_FADING, _STEEPEST = 0.5, 3.0
#: The share of what a cap leaves that may be walked to foretell it.
_TO_FORETELL = 0.25
#: So sure must one be of an error that was measured.
_SURE = 1.65
#: Below this there is none.
_NO_NOISE = 1e-100
#: Batches with less than this weight are left out.
_NEGLIGIBLE = 1e-3
#: Steps a node in all factors that nobody walks unasked, and how many batches tell of so many.
_MOST_STEPS, _TELLING = 1e5, 3


def walk_to_tolerance(
    graph: Graph,
    kernel: Kernel,
    options: WalkOptions,
    deflation: Deflation | None = None,
    progress: bool | Progress = False,
    backend: Backend = HERE,
) -> KernelEstimate:
    """Sample an estimate whose own error is below ``options.tol``.

    Where a cap of the options ends it before, a warning says what was reached. Where the first
    three batches foretell more than 100,000 steps a node, that is an error, unless there is a cap.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.barabasi_albert_graph(500, 3, seed=0)).normalized("sym")
    >>> K = grfpp.sample(W, grfpp.Diffusion(2.0), tol=0.01, seed=0)
    >>> K.meta["relative_error"] <= 0.01
    True
    """
    settled = settle_degree(graph, kernel, options, deflation)
    start = options.changed(degree=settled.degree, n_walks=1)
    search = _Search(graph, kernel, start, deflation, backend)
    while True:
        batch, ends = search.next_batch()
        if batch is not None and not search.walk(batch, progress):
            ends = "memory"
        if search.error <= search.tol:
            return search.finished()
        if ends:
            warn_user(search.shortfall(ends))
            return search.finished()


def warn_if_large(K: KernelEstimate) -> None:
    """Warn of an estimate that is off by more than half of its kernel, and say what to do."""
    origin = K.origin
    assert origin is not None
    radius = origin.graph.spectral_radius()
    with np.errstate(over="ignore", invalid="ignore"):
        values = origin.kernel.value(np.array([-radius, radius]))
    if not np.isfinite(values).all():
        warn_user(
            InputWarning(
                f"the values of {origin.kernel!r} exceed the range of float64 on this graph, whose "
                f"spectral radius is {radius:.6g}, and so may those of the estimate",
                other="take weights of a smaller scale, or a kernel that grows less",
            )
        )
        return
    if not seems_large(K.one_order, origin.kernel, origin.graph):
        return
    error = K.measure_error()
    if error.relative > LARGE:
        warn_user(
            InputWarning(
                f"this estimate of {origin.kernel!r} is off by {error.relative:.2g} of the "
                "kernel's size (Frobenius norm, measured by random products)",
                finer=_walked(K),
            )
        )


def _walked(K: KernelEstimate) -> tuple[int | None, bool, int]:
    """The degree if a higher one may help, whether deflation may, and the number of walks."""
    undirected = not K.origin.graph.is_directed  # type: ignore[union-attr]  # it has one
    return K.degree if undirected else None, undirected and K.deflation is None, K.meta["n_walks"]


@dataclass
class _Search:
    """What has been walked so far, and what to walk next."""

    graph: Graph
    kernel: Kernel
    options: WalkOptions
    deflation: Deflation | None
    backend: Backend
    batches: list[Batch] = field(default_factory=list)
    factors: list[list[Factor]] = field(default_factory=list)
    #: The errors of the batches by themselves, and of all together.
    errors: list[float] = field(default_factory=list)
    error: float = math.inf
    estimate: KernelEstimate | None = None
    steps: float = 0.0
    started: float = field(default_factory=time.monotonic)
    seconds_a_step: float = 0.0

    @cached_property
    def noise(self) -> FallingNoise:
        """How the noise of a factor falls with its walks."""
        return FallingNoise(self.graph, self.kernel, self.options, self.deflation)

    @property
    def tol(self) -> float:
        """What is asked for."""
        assert self.options.tol is not None
        return self.options.tol

    def next_batch(self) -> tuple[Batch | None, str]:
        """What to walk next, if anything, and the name of the cap that makes it the last."""
        if self._is_exact():
            return None, "rounding"
        n_walks, predicted = self._wanted_walks()
        a_walk = self._planned(1).steps
        wanted = n_walks * a_walk
        caps = {"max_steps": (self.options.max_steps or math.inf) - self.steps}
        if self.options.max_seconds is not None and self.seconds_a_step:
            left = self.options.max_seconds - (time.monotonic() - self.started)
            caps["max_seconds"] = left / self.seconds_a_step
        name, cap = min(caps.items(), key=lambda item: item[1])
        if not math.isfinite(cap) and len(self.batches) >= _TELLING:
            in_all = self.steps + predicted * a_walk
            if in_all > _MOST_STEPS:
                raise self._refusal(in_all)
        if wanted <= cap:
            return self._planned(n_walks), ""
        if not self.batches and cap < a_walk:
            raise InputError(
                f"must be at least {a_walk:g}, which one walk takes, found {cap:g}", argument=name
            )
        return (self._planned(int(cap / a_walk)) if cap >= a_walk else None), name

    def walk(self, batch: Batch, progress: bool | Progress) -> bool:
        """Walk a batch and measure what there is then; tells whether there was room for it."""
        before = time.monotonic()
        try:
            self.factors.append(batch.factors(progress=progress))
        except InputError:
            if not self.factors:
                raise
            return False
        self.batches.append(batch)
        self.steps += batch.steps
        alone = self._made([batch], [self.factors[-1]], [1.0])
        self.errors.append(self._measured(alone))
        self.estimate = alone if len(self.batches) == 1 else self._joint()
        self.error = self.errors[0] if self.estimate is alone else self._measured(self.estimate)
        self.seconds_a_step = (time.monotonic() - before) / batch.steps
        return True

    def finished(self) -> KernelEstimate:
        """The estimate that all batches make, with its replicates."""
        assert self.estimate is not None
        assert isinstance(self.estimate.origin, WalkedOrigin)
        return self.estimate.origin.with_replicates(self.estimate)

    def _is_exact(self) -> bool:
        """Whether more walks bring nothing, and those that there are have no noise."""
        if len(self.batches) < 2 or self.errors[-1] < 0.5 * self.errors[-2]:
            return False
        n_walks = self.batches[-1].options.n_walks
        return self.options.walks == "pooled" and self.noise.size(n_walks) < _NO_NOISE

    def _joint(self) -> KernelEstimate:
        precision = [1 / max(error, 1e-300) ** 2 for error in self.errors]
        weights = [each / sum(precision) for each in precision]
        used = [i for i, weight in enumerate(weights) if weight > _NEGLIGIBLE]
        total = sum(weights[i] for i in used)
        return self._made(
            [self.batches[i] for i in used],
            [self.factors[i] for i in used],
            [weights[i] / total for i in used],
        )

    def _made(
        self, batches: list[Batch], factors: list[list[Factor]], weights: list[float]
    ) -> KernelEstimate:
        origin = WalkedOrigin(
            self.graph, self.kernel, self.deflation, tuple(batches), tuple(weights)
        )
        return origin.estimate(
            mean_factors(factors, weights, self.backend),
            tol=self.tol,
            tol_kind=self.options.tol_kind,
            steps_per_node=self.steps,
        )

    def _measured(self, K: KernelEstimate) -> float:
        if self.options.tol_kind == "entry":
            return entry_error(K, self.kernel, self.graph)
        found = K.measure_error()
        return found.relative + _SURE * found.relative_std

    def _planned(self, n_walks: int) -> Batch:
        options = self.options.changed(n_walks=n_walks)
        return Batch.of(self.graph, self.kernel, options, len(self.batches), self.backend)

    def _wanted_walks(self) -> tuple[int, float]:
        """Walks of the next batch, and of one that brings the error to the one aimed at."""
        if not self.batches:
            return 1, 1.0
        aim = (_AIM_AGAIN if self.error < 1.5 * self.tol else _AIM) * self.tol
        last = self.batches[-1].options.n_walks
        needed = 1 / math.sqrt(max(aim**-2 - self.error**-2, 1e-4 * aim**-2))
        fall = needed / self.errors[-1]
        is_noisy = self.errors[-1] > _NOISY and fall < _MUCH
        if is_noisy and len(self.batches) < _TELLING:
            return math.ceil(_GROWTH * last), math.inf
        growth = self._growth(last, fall)
        far, taken = _FAR[self.options.walks], growth
        if growth > far:
            taken = min(max(growth / far, 2.0), _GROWTH if is_noisy else far)
        return max(1, math.ceil(float(last * taken))), last * growth

    def _growth(self, n_walks: int, fall: float) -> float:
        """How many times as many walks let the error of a batch fall so far."""
        if self.options.walks == "independent":
            return float(fall ** (-1 / _INDEPENDENT))
        before = self.noise.steps
        left = (self.options.max_steps or math.inf) - self.steps
        most = min(_TO_FORETELL * left, self.steps)  # as many as there are already
        growth = self.noise.walks_for(n_walks, fall ** (1 / self._power()), most) / n_walks
        self.steps += self.noise.steps - before
        return growth

    def _power(self) -> float:
        """Of the factors' noise, as which the error is taken to fall."""
        if len(self.batches) < 2:
            return 1.0
        before, last = (self.noise.size(each.options.n_walks) for each in self.batches[-2:])
        if not 0 < last < before:
            return 1.0
        seen = math.log(self.errors[-1] / self.errors[-2]) / math.log(last / before)
        return 1 + _FADING * (min(max(seen, 1.0), _STEEPEST) - 1)

    def _refusal(self, steps: float) -> InputError:
        return InputError(
            f"of {self.tol:g} would take some {steps:.1g} steps a node: {self.kernel!r} reaches "
            f"too far on this graph for walks ({self.steps:.3g} steps gave {self.error:.2g})",
            argument="tol",
            operator=True,
            capped="max_steps",
        )

    def shortfall(self, cap: str) -> InputWarning:
        """What was reached where a cap ends the walks."""
        why = {"memory": " for want of memory", "rounding": " (rounding is more)"}.get(cap, "")
        return InputWarning(
            f"of {self.tol:g} is not reached{why}: {self.steps:.4g} steps a node gave an "
            f"error of {self.error:.2g}",
            argument="tol",
            cap="" if why else cap,
            operator=True,
        )
