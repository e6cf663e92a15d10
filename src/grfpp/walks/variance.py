"""Is the estimate's variance finite? Asked before anything is walked.

The second moment of a row of a factor is governed by ``Σ_k f(k)² q_k / τ(k)``, where
``q_k = mean(M^k 1)`` and ``M[i, j] = W[i, j]² / p(i → j)``. The mean is right for every law, but
where that sum grows without end no number of walks helps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grfpp.errors import InfiniteVarianceError, InputWarning, warn_user
from grfpp.kernels import Kernel
from grfpp.linalg.spectra.spectrum import perron_root
from grfpp.options import OnInfiniteVariance
from grfpp.termination import Geometric, Matched, Termination
from grfpp.typing import FloatArray
from grfpp.walks.budget import Budget
from grfpp.walks.growth import log_growth
from grfpp.walks.plan import WalkPlan
from grfpp.walks.transition import ProportionalSteps, UniformSteps
from grfpp.walks.truncation import ZERO_RUN, goes_on, look_ahead, representable

#: Powers of M that are really computed; later ones are extrapolated.
_MOMENT_POWERS = 16
#: The last term of a sum that converges is smaller than this share of the largest one.
_CONVERGED = 1e-3
#: Mean steps of a factor at which an estimate of so many steps in all is lost.
_THIN, _THIN_BUDGET = 24.0, 576.0


def check_variance(
    kernel: Kernel,
    degree: int,
    plan: WalkPlan,
    law: Termination,
    action: OnInfiniteVariance,
    *,
    measured: bool = False,
) -> None:
    """Refuse a law whose variance does not converge, and warn of one that drowns the estimate.

    Not of the latter where the error will be `measured`.
    """
    if action == "ignore":
        return
    if isinstance(law, Matched):
        if not measured:
            _warn_if_spread_thin(kernel, degree, plan)
        return
    bound = growth_bound(plan.steps)
    logs = variance_terms(plan.modulation, plan.lengths.survival, bound)
    finite = law.max_length is not None or converges(logs)
    if finite and (plan.is_pooled or error_floor(plan, logs, bound[-1] / 2) <= 1):
        return
    # The bound does not settle it: iterate for the growth itself.
    growth = moment_growth(plan.steps)
    logs = variance_terms(plan.modulation, plan.lengths.survival, growth)
    if (
        finite
        or converges(logs)
        or sum_is_finite(kernel, degree, plan.lengths.max_length, growth[-1])
    ):
        if plan.is_pooled or measured:
            return
        with np.errstate(divide="ignore"):
            log_radius = float(np.log(plan.graph.spectral_radius()))
        _warn_if_hopeless(kernel, degree, plan, law, error_floor(plan, logs, log_radius))
        return
    problem, remedies = infinite_variance(kernel, degree, law, logs, growth[-1])
    if action == "raise":
        raise InfiniteVarianceError(problem, **remedies)
    warn_user(InputWarning(problem, **remedies))


def has_finite_variance(
    kernel: Kernel,
    degree: int,
    steps: ProportionalSteps,
    modulation: FloatArray,
    budget: Budget,
) -> bool:
    """Whether a pool's late steps leave little, in the measure that `steps` count in."""
    if steps.telescopes or not np.isfinite(kernel.modulation_radius(degree)):
        return True
    bound = growth_bound(steps)
    if converges(variance_terms(modulation, budget.survival, bound)):
        return True
    return converges(variance_terms(modulation, budget.survival, moment_growth(steps)))


def _warn_if_spread_thin(kernel: Kernel, degree: int, plan: WalkPlan) -> None:
    """Warn where a kernel reaches so far that a pool of this size is lost in it.

    Measured on meshes, citation and scale-free graphs: at `_THIN` steps a factor on average (half
    the mean length of all walks over the degree) a budget of `_THIN_BUDGET` gives an error of about
    one, and a budget four times as large allows for twice as many.
    """
    lengths = np.arange(len(plan.modulation))
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(plan.modulation)) + log_growth(plan.graph, len(lengths) - 1)
    terms = np.exp(logs - logs.max())
    reach = float(terms @ lengths / terms.sum())
    budget = 2 * degree * plan.expected_steps
    if reach > _THIN * np.sqrt(budget / _THIN_BUDGET) and budget < len(plan.graph.indices):
        warn_user(
            f"{kernel!r} at degree {degree} reaches {reach:.3g} steps far with every factor, too "
            f"far for {plan.n_walks} walks: expect an error of the size of the kernel itself. Take "
            "a higher degree (degree='auto'), deflate='auto', more walks, or kernel.apply"
        )


def infinite_variance(
    kernel: Kernel, degree: int, law: Termination, logs: FloatArray, growth: float
) -> tuple[str, dict[str, Any]]:
    """What is wrong, and what would help."""
    n = len(logs) - 1
    problem = (
        f"with {law!r} the variance of this estimate is infinite or nearly so: the terms "
        f"f(k)² q(k) / τ(k) are still {np.exp(logs[-1] - logs.max()):.2g} of the largest at "
        f"k = {n}."
    )
    return problem, _remedy(kernel, degree, n, growth)


def error_floor(plan: WalkPlan, logs: FloatArray, log_radius: float) -> float:
    """About the least relative error that a factor can have, by the terms of its variance.

    A row's variance is at least ``Σ_k f(k)² q_k / τ(k) / n_walks`` less its mean's square over
    ``n_walks``, and its mean has a norm of at most ``Σ_k |f(k)| ρ^k``.
    """
    lengths = np.arange(1, len(plan.modulation))
    with np.errstate(divide="ignore"):
        log_f = np.log(np.abs(plan.modulation))
    log_mean = np.logaddexp(log_f[0], np.logaddexp.reduce(log_f[1:] + lengths * log_radius))
    # `variance_terms` may have counted each term twice.
    log_square = np.logaddexp.reduce(logs) - np.log(2 * plan.n_walks)
    return float(np.exp(np.clip(log_square / 2 - log_mean, -700, 700)))


def _warn_if_hopeless(
    kernel: Kernel, degree: int, plan: WalkPlan, law: Termination, floor: float
) -> None:
    if floor > 1:
        warn_user(
            f"with {law!r} and {plan.n_walks} walks a factor of {kernel!r} at degree {degree} has "
            f"a relative error of {floor:.2g} at least: the estimate is of no use. Let walks be "
            "longer (a smaller p_halt, a larger mean), or take a higher degree or smaller weights"
        )


def converges(logs: FloatArray) -> bool:
    """Whether the terms with these logarithms have fallen far enough at the end of the table."""
    return bool(logs[-1] <= logs.max() + np.log(_CONVERGED))


def sum_is_finite(kernel: Kernel, degree: int, n: int, growth: float) -> bool:
    """Whether the sum has no further terms, because the modulation is a polynomial that ends."""
    scale = float(np.exp(np.clip(growth / 2, 0.0, 700.0)))
    return not goes_on(kernel, degree, n, scale)


def growth_bound(steps: UniformSteps) -> FloatArray:
    """Like `moment_growth`, with M's largest row sum in place of its spectral radius."""
    rate = _known_growth(steps)
    if rate is not None:
        return np.array([0.0, rate])
    top = float(steps.graph.weights.max(initial=0.0)) or 1.0
    with np.errstate(divide="ignore"):
        largest = np.log(steps.second_moment_bound(top))
    return np.array([0.0, largest + 2 * np.log(top)])


def moment_growth(steps: UniformSteps) -> FloatArray:
    """``log q_k`` for the first powers of M and, as last entry, by how much it grows with ``k``.

    The growth is the logarithm of M's spectral radius.
    """
    graph = steps.graph
    top = float(graph.weights.max(initial=0.0)) or 1.0
    M = steps.second_moments(top)
    vector = np.ones(graph.n_nodes)
    logs = [0.0]
    for _ in range(_MOMENT_POWERS):
        vector = M @ vector
        size = float(vector.mean())
        if size == 0.0:  # no walk is that long
            return np.array([*logs, -np.inf])
        vector /= size
        logs.append(logs[-1] + np.log(size) + 2 * np.log(top))
    rate = _known_growth(steps)
    if rate is not None:
        return np.array([*logs, rate])
    if not graph.is_directed:
        root = steps.symmetrizer()
        M = M.multiply(root[np.newaxis, :]).multiply(1 / root[:, np.newaxis]).tocsr()
    radius = perron_root(M, symmetric=not graph.is_directed)
    with np.errstate(divide="ignore"):
        return np.array([*logs, np.log(radius) + 2 * np.log(top)])


def _known_growth(steps: UniformSteps) -> float | None:
    """The growth where nothing has to be iterated for.

    On an undirected graph on which loads telescope, M is similar to the transition matrix times
    the square of the rate.
    """
    if steps.graph.is_directed or not steps.telescopes:
        return None
    return float(2 * np.log(steps.rate))


def variance_terms(modulation: FloatArray, survival: FloatArray, growth: FloatArray) -> FloatArray:
    """``log(f(k)² q_k / τ(k))`` for every length in the table."""
    k = np.arange(len(modulation))
    n_known = len(growth) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        extrapolated = growth[-2] + (k - (n_known - 1)) * growth[-1]
        log_q = np.where(k < n_known, growth[np.minimum(k, n_known - 1)], extrapolated)
        log_f = np.log(np.abs(modulation))
        logs = 2 * log_f + log_q - np.log(survival)
    # Series in W² have f(k) = 0 at every other k: let each length stand for its neighbour too.
    return np.maximum(logs, np.roll(logs, 1)) if len(logs) > 2 else logs


def _remedy(kernel: Kernel, degree: int, n: int, growth: float) -> dict[str, Any]:
    """A geometric law whose survival falls more slowly than the square root of the terms."""
    f = np.abs(representable(kernel, degree, look_ahead(kernel, n)))
    late = np.flatnonzero(f)[-ZERO_RUN:]
    gap = max(int(late[-1] - late[0]), 1)
    decay = (np.log(f[late[-1]]) - np.log(f[late[0]])) / gap + growth / 2
    if decay >= -1e-6:
        return {"smaller weights": "no law makes it finite"}
    return {"law": Geometric(float(f"{min(0.5, 1 - np.exp(decay)):.1g}"))}
