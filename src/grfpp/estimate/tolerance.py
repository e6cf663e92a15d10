"""``tol=``: sample batches of walks until the relative error of an estimate is small enough.

The error of the current estimate is measured by random products, and the noise of a few pilot rows
(`NoiseCurve`) forecasts the number of walks of the next batch. Factors of all batches are averaged,
weighted by their precision. The weights come from measured errors; the bias of that is small
compared with the error.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.estimate.batches import LOCAL_BACKEND, Backend, Batch, WalkedOrigin
from grfpp.estimate.deflation import Deflation
from grfpp.estimate.degree import pilot_noise, with_fixed_degree
from grfpp.estimate.error_bars import entry_error
from grfpp.estimate.estimate import KernelEstimate
from grfpp.estimate.factor import Factor
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.options import WalkOptions
from grfpp.walks.sampling import Progress

#: Error that a batch aims at, as a share of the tolerance: a margin for the error of forecasts.
_TARGET_SHARE_OF_TOLERANCE = 0.9
#: The same after an error of less than `_NEAR_RATIO` tolerances: forecasts are more accurate then.
_TARGET_SHARE_WHEN_NEAR = 0.95
#: Ratio of error and tolerance up to which the next batch is a small one.
_NEAR_RATIO = 1.5
#: Largest growth of the budget that one forecast is trusted with; beyond it an intermediate batch
#: is sampled first.
_MAX_EXTRAPOLATION = {"pooled": 16.0, "independent": 64.0}
#: Error of a batch above which products of noises count and forecasts are poor.
_NOISY_ERROR = 0.2
#: Ratio of the target to the error of a noisy batch below which forecasts are not trusted.
_LARGE_FALL = 0.125
#: Growth of the budget after such a batch: it halves the error at least.
_NOISY_GROWTH = 4
#: With ``error ∝ noise^p``, where the noise is that of one factor: the factor by which ``p − 1`` is
#: expected to shrink in the next batch. ``p > 1`` where products of the noises of several factors
#: matter, and ``p → 1`` as the error falls.
_EXCESS_POWER_DECAY = 0.5
#: Largest power that is trusted: two measured errors do not show higher ones reliably.
_MAX_POWER = 3.0
#: Largest share of the steps left before a cap that forecasts take: most are for the batch itself.
_FORECAST_SHARE = 0.25
#: Standard errors that are added to a measured error: a one-sided 95 % interval.
_CONFIDENCE = 1.65
#: Noise of a factor below which it counts as exact: `NoiseCurve` has 1e-150 for none.
_NO_NOISE = 1e-100
#: Weight below which a batch is left out of the mean: it would not change the error.
_MIN_WEIGHT = 1e-3
#: Steps a node in all factors beyond which a cap must be given: other methods are faster.
_MAX_STEPS_WITHOUT_CAP = 1e5
#: Batches before a forecast may refuse a request: the first two are small.
_MIN_BATCHES_FOR_FORECAST = 3
#: Nodes for each pilot row of `NoiseCurve`: pilots take a small share of the steps of a batch.
_NODES_PER_PILOT = 16
#: Smallest number of pilot rows: fewer have too much spread.
_MIN_PILOTS = 8
#: Largest number of pilot rows, which bounds the cost of forecasts.
_MAX_PILOTS = 64
#: Doublings of the number of walks that are sampled beyond the current one: each costs as much as
#: all before.
_MAX_DOUBLINGS = 4
#: Binary logarithm of the largest number of walks of a forecast: more cannot be sampled.
_MAX_LOG_WALKS = 60.0


def walk_to_tolerance(
    graph: Graph,
    kernel: Kernel,
    options: WalkOptions,
    deflation: Deflation | None = None,
    progress: bool | Progress = False,
    backend: Backend = LOCAL_BACKEND,
) -> KernelEstimate:
    """Sample an estimate whose measured error is below ``options.tol``.

    A warning has the measured error where a cap of the options is reached first. Without a cap, a
    forecast of more than 100,000 steps a node after three batches raises `InputError`.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.barabasi_albert_graph(500, 3, seed=0)).normalized("sym")
    >>> K = grfpp.sample(W, grfpp.Diffusion(2.0), tol=0.01, seed=0)
    >>> K.meta["relative_error"] <= 0.01
    True
    """
    degree = with_fixed_degree(graph, kernel, options, deflation).degree
    start = options.changed(degree=degree, n_walks=1)
    search, cap = _Search(graph, kernel, start, deflation, backend), ""
    while not (search.is_reached or cap):
        batch, cap = search.next_batch()
        if batch is not None and not search.sample(batch, progress):
            cap = "memory"
    if not search.is_reached:
        reasons = {"memory": " for want of memory", "rounding": " because of rounding"}
        problem = f"is not reached{reasons.get(cap, '')}"
        details = {"tol": search.tol, "error": search.error, "steps_per_node": search.steps}
        advice = (f"raise {cap}, or " if cap not in reasons else "") + "use kernel_operator"
        warn_user(InputWarning(problem, argument="tol", advice=advice, **details))
    assert search.estimate is not None
    origin: WalkedOrigin = search.estimate.origin
    return origin.with_replicates(search.estimate)


@dataclass
class _Search:
    """The batches so far, their errors, and the choice of the next one."""

    graph: Graph
    kernel: Kernel
    options: WalkOptions
    deflation: Deflation | None
    backend: Backend
    batches: list[Batch] = field(default_factory=list)
    factors: list[list[Factor]] = field(default_factory=list)
    #: The error of each batch alone, and of all together.
    errors: list[float] = field(default_factory=list)
    error: float = math.inf
    estimate: KernelEstimate | None = None
    steps: float = 0.0
    started: float = field(default_factory=time.monotonic)
    seconds_per_step: float = 0.0

    @cached_property
    def noise(self) -> NoiseCurve:
        """The noise of a factor by its number of walks."""
        return NoiseCurve(self.graph, self.kernel, self.options, self.deflation)

    @property
    def tol(self) -> float:
        """The tolerance."""
        assert self.options.tol is not None
        return self.options.tol

    @property
    def is_reached(self) -> bool:
        """Whether the error is within the tolerance."""
        return self.error <= self.tol

    def next_batch(self) -> tuple[Batch | None, str]:
        """The next batch, if any, and the name of the cap that makes it the last."""
        if self._is_exact():
            return None, "rounding"
        n_walks, n_needed = self._forecast_walks()
        steps_per_walk = self._planned(1).steps
        caps = {"max_steps": (self.options.max_steps or math.inf) - self.steps}
        if self.options.max_seconds is not None and self.seconds_per_step:
            left = self.options.max_seconds - (time.monotonic() - self.started)
            caps["max_seconds"] = left / self.seconds_per_step
        name, cap = min(caps.items(), key=lambda item: item[1])
        forecast = self.steps + n_needed * steps_per_walk
        may_refuse = cap == math.inf and len(self.batches) >= _MIN_BATCHES_FOR_FORECAST
        if may_refuse and forecast > _MAX_STEPS_WITHOUT_CAP:
            problem = f"of {self.tol:g} needs about {forecast:.1g} steps a node, {self.kernel!r} "
            problem += f"({self.steps:.3g} steps gave {self.error:.2g})"
            raise InputError(problem, argument="tol", advice="use kernel_operator, or max_steps")
        if n_walks * steps_per_walk <= cap:
            return self._planned(n_walks), ""
        if cap >= steps_per_walk:
            return self._planned(int(cap / steps_per_walk)), name
        if not self.batches:
            problem = f"must be at least {steps_per_walk:g}, the steps of one walk, found {cap:g}"
            raise InputError(problem, argument=name)
        return None, name

    def sample(self, batch: Batch, progress: bool | Progress) -> bool:
        """Sample a batch and measure the error; false where there is no memory for it."""
        before = time.monotonic()
        try:
            self.factors.append(self.backend.factors(batch.walks(), batch.options, progress))
        except InputError:
            if not self.factors:
                raise
            return False
        self.batches.append(batch)
        self.steps += batch.steps
        self.estimate = self._mean([len(self.batches) - 1], [1.0])
        self.error = self._measured(self.estimate)
        self.errors.append(self.error)
        if len(self.batches) > 1:
            precision = [1 / max(error, 1e-300) ** 2 for error in self.errors]
            weights = [number / sum(precision) for number in precision]
            used = [i for i, weight in enumerate(weights) if weight > _MIN_WEIGHT]
            total = sum(weights[i] for i in used)
            self.estimate = self._mean(used, [weights[i] / total for i in used])
            self.error = self._measured(self.estimate)
        self.seconds_per_step = (time.monotonic() - before) / batch.steps
        return True

    def _is_exact(self) -> bool:
        """Whether the last batch did not lower the error and has no noise."""
        if len(self.batches) < 2 or self.errors[-1] < 0.5 * self.errors[-2]:
            return False
        n_walks = self.batches[-1].options.n_walks
        return self.options.walks == "pooled" and self.noise.size(n_walks) < _NO_NOISE

    def _mean(self, used: list[int], weights: list[float]) -> KernelEstimate:
        batches = tuple(self.batches[i] for i in used)
        source = (self.graph, self.kernel, self.deflation, self.backend)
        origin = WalkedOrigin(*source, batches, tuple(weights))
        factors = origin.mean([self.factors[i] for i in used])
        meta = {"tol": self.tol, "tol_kind": self.options.tol_kind, "steps_per_node": self.steps}
        return origin.estimate(factors, **meta)

    def _measured(self, K: KernelEstimate) -> float:
        if self.options.tol_kind == "entry":
            return entry_error(K, self.kernel, self.graph)
        error = K.measure_error()
        return error.relative + _CONFIDENCE * error.relative_std

    def _planned(self, n_walks: int) -> Batch:
        options = self.options.changed(n_walks=n_walks)
        return Batch.of(self.graph, self.kernel, options, len(self.batches))

    def _forecast_walks(self) -> tuple[int, float]:
        """Number of walks of the next batch, and the forecast number for the target."""
        if not self.batches:
            return 1, 1.0
        is_near = self.error < _NEAR_RATIO * self.tol
        target = (_TARGET_SHARE_WHEN_NEAR if is_near else _TARGET_SHARE_OF_TOLERANCE) * self.tol
        last = self.batches[-1].options.n_walks
        needed = 1 / math.sqrt(max(target**-2 - self.error**-2, 1e-4 * target**-2))
        fall = needed / self.errors[-1]
        is_noisy = self.errors[-1] > _NOISY_ERROR and fall < _LARGE_FALL
        if is_noisy and len(self.batches) < _MIN_BATCHES_FOR_FORECAST:
            return math.ceil(_NOISY_GROWTH * last), math.inf
        growth = self._growth(last, fall)
        trusted, next_growth = _MAX_EXTRAPOLATION[self.options.walks], growth
        if growth > trusted:
            next_growth = min(max(growth / trusted, 2.0), _NOISY_GROWTH if is_noisy else trusted)
        return max(1, math.ceil(float(last * next_growth))), last * growth

    def _growth(self, n_walks: int, fall: float) -> float:
        """Ratio of the number of walks that multiplies the error of a batch by `fall`."""
        if self.options.walks == "independent":
            return float(fall**-2.0)
        before = self.noise.steps
        left = (self.options.max_steps or math.inf) - self.steps
        max_steps = min(_FORECAST_SHARE * left, self.steps)
        growth = self.noise.walks_for(n_walks, fall ** (1 / self._power()), max_steps) / n_walks
        self.steps += self.noise.steps - before
        return growth

    def _power(self) -> float:
        """The exponent ``p`` of ``error ∝ noise^p`` that the next batch is expected to have."""
        if len(self.batches) < 2:
            return 1.0
        before, last = (self.noise.size(batch.options.n_walks) for batch in self.batches[-2:])
        if not 0 < last < before:
            return 1.0
        observed = math.log(self.errors[-1] / self.errors[-2]) / math.log(last / before)
        return 1 + _EXCESS_POWER_DECAY * (min(max(observed, 1.0), _MAX_POWER) - 1)


@dataclass
class NoiseCurve:
    """The size of a factor's noise by its number of walks, up to a constant, from pilot rows.

    The noise of pools falls faster the larger they are, so no fixed power forecasts it. The noise
    of a few rows falls as that of all rows does: from 4 to 32 walks its ratio is within 13 % of
    that of the whole estimate's errors, mostly within 5 %. It is sampled at powers of two when it
    is first needed, interpolated between them, and extrapolated from the last two beyond.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.barabasi_albert_graph(500, 3, seed=0)).normalized("sym")
    >>> noise = NoiseCurve(W, grfpp.Diffusion(1.0), WalkOptions(seed=0, n_walks=1))
    >>> noise.size(4) > 4 * noise.size(16)
    True
    >>> noise.walks_for(4, 0.25) < 16
    True
    """

    graph: Graph
    kernel: Kernel
    options: WalkOptions
    deflation: Deflation | None = None
    #: Steps of all pilot rows, over the number of nodes.
    steps: float = 0.0
    _logs: list[float] = field(default_factory=list)

    def size(self, n_walks: float) -> float:
        """Size of the noise; zero where there is none."""
        return math.exp(self._log(math.log2(n_walks)))

    def walks_for(self, n_walks: int, fall: float, max_steps: float = math.inf) -> float:
        """Number of walks with which the noise is `fall` times that of `n_walks`.

        The forecast takes about `max_steps` steps a node at most.
        """
        max_steps += self.steps
        start = math.log2(n_walks)
        target = self._log(start) + math.log(fall)
        level = math.floor(start)
        while self._log(level + 1) > target and level < start + _MAX_DOUBLINGS:
            # The next level takes twice the steps of the last, and as many as all so far.
            if level + 3 > len(self._logs) and 2 * self.steps > max_steps:
                break
            level += 1
        before, after = self._log(level), self._log(level + 1)
        if after >= before:
            return 2.0**_MAX_LOG_WALKS if after > target else 2.0 ** (level + 1)
        return float(2.0 ** min(level + (target - before) / (after - before), _MAX_LOG_WALKS))

    def _log(self, level: float) -> float:
        """The logarithm of the noise of ``2^level`` walks."""
        low = math.floor(level)
        while len(self._logs) < low + 1 + (level > low):
            self._logs.append(self._measured(2 ** len(self._logs)))
        before = self._logs[low]
        return before if level == low else before + (level - low) * (self._logs[low + 1] - before)

    def _measured(self, n_walks: int) -> float:
        n = self.graph.n_nodes
        n_rows = min(max(n // _NODES_PER_PILOT, _MIN_PILOTS), _MAX_PILOTS)
        options = self.options.changed(n_walks=n_walks)
        total = 0.0
        for plan, _, shares, noise in pilot_noise(self.graph, self.kernel, options, n_rows):
            squares = np.asarray(noise.multiply(noise).sum(axis=1)).ravel()
            if self.deflation is not None:
                squares = squares - np.sum((noise @ self.deflation.vectors) ** 2, axis=1)
            total += float(shares @ squares)
            self.steps += 2 * n_rows * plan.expected_steps / n
        return math.log(max(total, 1e-300)) / 2
