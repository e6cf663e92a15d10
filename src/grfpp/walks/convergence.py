"""Bias and variance of a factor, checked before anything is sampled.

A law that ends at length ``n`` biases a factor by at most ``Σ_{k>n} |f(k)| ‖W^k‖``. The second
moment of a row is governed by ``Σ_k f(k)² q_k / τ(k)`` with ``q_k = mean(M^k 1)`` and
``M[i, j] = W[i, j]² / p(i → j)``: where that sum diverges, no number of walks helps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from grfpp.errors import (
    InfiniteVarianceError,
    InputError,
    InputWarning,
    TruncationError,
    warn_user,
)
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.spectra import perron_root
from grfpp.options import OnInfiniteVariance
from grfpp.series import log, out_of_range, to_float64
from grfpp.termination import Matched, Termination
from grfpp.typing import FloatArray
from grfpp.walks.plan import Budget, WalkPlan, resolvable_length
from grfpp.walks.transition import ProportionalSteps, UniformSteps

#: Relative bias of a factor that is accepted: far below the error of any estimate.
NEGLIGIBLE_BIAS = 1e-12
#: Consecutive zeros after which a modulation is taken to have ended or underflowed, unless the
#: kernel states longer gaps.
ZERO_RUN = 64
#: Longest gap between nonzero coefficients that are given by a function of ``k``, whose gaps are
#: unknown.
MAX_GAP = 256
#: Highest power of a directed graph's weights whose norm is computed; later ones are extrapolated.
_MAX_POWER = 256
#: Powers of ``M`` that are computed; later ones are extrapolated by its spectral radius.
_MOMENT_POWERS = 16
#: Largest ratio of the last to the largest term of a sum that is taken to converge.
_CONVERGED = 1e-3
#: Mean reach of a factor, in steps, at which the relative error is about one for pools of
#: `_MAX_REACH_STEPS`; measured on meshes, citation and scale-free graphs.
_MAX_REACH = 24.0
#: Steps of a node in all factors at that measurement, the default at degree 2. Four times the steps
#: allow for twice the reach.
_MAX_REACH_STEPS = 576.0

# --- the modulation as a table --------------------------------------------------------------------


def modulation_table(kernel: Kernel, degree: int, law: Termination) -> FloatArray:
    """``f(k)`` up to the longest walk of this law, or to where it underflows float64."""
    longest = resolvable_length(law) + 1
    n = min(256, longest)
    while True:
        table = representable(kernel, degree, n)
        if n == longest or series_has_ended(kernel, table, n) or len(table) < n:
            return table[: int(np.flatnonzero(table)[-1]) + 1]
        n = min(2 * n, longest)


def series_has_ended(kernel: Kernel, table: FloatArray, n: int) -> bool:
    """Whether the first `n` values of a modulation end with a run of zeros longer than any gap."""
    return n - int(np.flatnonzero(table)[-1]) - 1 > max(ZERO_RUN, kernel.longest_gap)


def representable(kernel: Kernel, degree: int, n: int) -> FloatArray:
    """First `n` values of the modulation, or fewer where later ones exceed the range of float64.

    They may grow without bound, as for the cosine kernel, while ``f(k) ρ^k`` decreases.
    """
    try:
        table = kernel.modulation(degree, n)
    except InputError:
        digits = kernel.modulation_decimal(degree, n)
        try:
            table = to_float64(digits)
        except OverflowError as error:
            table = to_float64(digits[: error.args[0]])
    if not table[:1].any():
        raise out_of_range(f"{kernel!r}: the modulation of degree {degree}")
    return table


def lookahead(kernel: Kernel, n: int) -> int:
    """Number of values of the modulation that show whether it has terms beyond ``k = n``."""
    gap = kernel.longest_gap
    return 2 * n + ZERO_RUN + (2 * int(gap) if np.isfinite(gap) else MAX_GAP)


def has_terms_beyond(kernel: Kernel, degree: int, n: int, scale: float = 1.0) -> bool:
    """Whether ``f(k) · scale^k`` has nonzero values in float64 beyond ``k = n``."""
    try:
        return bool(kernel.modulation(degree, lookahead(kernel, n), scale=scale)[n + 1 :].any())
    except InputError:  # too large for float64
        return True


# --- bias -----------------------------------------------------------------------------------------


def log_growth(graph: Graph, n: int) -> FloatArray:
    """An estimate of ``log ‖W^k‖`` for ``k = 0 … n``.

    For symmetric ``W`` it is ``k log ρ``. On directed graphs, powers of ``W`` can exceed those of
    the spectral radius, which is zero without cycles: there it is the logarithm of the largest row
    sum of ``W^k``, extrapolated linearly beyond the 256th power.
    """
    log_radius = float(log(np.array(graph.spectral_radius())))
    with np.errstate(invalid="ignore"):
        if not graph.is_directed:
            return np.where(np.arange(n + 1) == 0, 0.0, np.arange(n + 1) * log_radius)
    logs = [0.0]
    vector = np.ones(graph.n_nodes)
    while len(logs) <= min(n, _MAX_POWER):
        vector = graph.adjacency @ vector
        largest = float(vector.max())
        if largest == 0.0:  # no walk is that long
            return np.array([*logs, *[-np.inf] * (n + 1 - len(logs))])
        vector /= largest
        logs.append(logs[-1] + math.log(largest))
    slope = max(log_radius, logs[-1] - logs[-2]) if len(logs) > 1 else log_radius
    return np.concatenate([logs, logs[-1] + slope * np.arange(1, n + 2 - len(logs))])


def check_truncation(kernel: Kernel, degree: int, plan: WalkPlan) -> None:
    """Refuse a law whose longest walk omits more than a negligible part of the series."""
    n, graph = plan.lengths.max_length, plan.graph
    has_ended = not has_terms_beyond(kernel, degree, n)
    # Where the table ends because float64 does, the rest is below ``1e-307 · radius^k``.
    radius_bound = max(float(graph.adjacency.sum(axis=1).max()), 1.0)
    log_rest = np.log(1e-307) + len(plan.modulation) * np.log(radius_bound)
    negligible = np.log(NEGLIGIBLE_BIAS) + np.log(np.abs(plan.modulation).max())
    if has_ended and log_rest < negligible:
        return
    bias = truncation_bias(kernel, degree, graph, n)
    if bias > NEGLIGIBLE_BIAS:
        raise TruncationError(
            f"walks end after {n} steps, which leaves out {bias:.2g} of the series of each factor "
            f"({kernel!r}, degree {degree}, spectral radius {graph.spectral_radius():.4g})",
            advice="scale the weights down: the modulation underflows"
            if has_ended
            else "use termination='geometric:0.1' or accept it with truncate=True",
        )


def truncation_bias(kernel: Kernel, degree: int, graph: Graph, n: int) -> float:
    """Share of ``Σ |f(k)| ρ^k`` that lies beyond ``k = n``; ``‖W^k‖`` for ρ^k if directed."""
    radius = _radius_beyond(graph, n)
    if radius >= kernel.modulation_radius(degree):
        return 1.0
    if radius == 0.0:  # no walk is that long
        return 0.0
    size = max(lookahead(kernel, n), 256)
    while True:
        terms = np.abs(kernel.modulation(degree, size, scale=radius))
        if graph.is_directed:
            with np.errstate(over="ignore"):
                terms *= np.exp(log_growth(graph, size - 1) - np.arange(size) * np.log(radius))
        total, beyond, late = (float(terms[k:].sum()) for k in (0, n + 1, size // 2))
        # The missing terms are negligible, or small relative to those beyond n.
        if late <= max(1e-3 * NEGLIGIBLE_BIAS * total, 1e-6 * beyond) or size > 2**16:
            return beyond / total
        size *= 2


def _radius_beyond(graph: Graph, n: int) -> float:
    """``ρ`` such that the powers of ``W`` beyond the n-th are about ``ρ^k`` or smaller."""
    radius = graph.spectral_radius()
    if not graph.is_directed:
        return radius
    power = min(n + 1, _MAX_POWER)
    return max(radius, float(np.exp(log_growth(graph, power)[power] / power)))


# --- variance -------------------------------------------------------------------------------------


def check_variance(
    kernel: Kernel,
    degree: int,
    plan: WalkPlan,
    law: Termination,
    action: OnInfiniteVariance,
    *,
    measured: bool = False,
) -> None:
    """Refuse a law with infinite variance, and warn of a predicted relative error above one.

    There is no warning where the caller measures the error of the estimate (`measured`).
    """
    if action == "ignore":
        return
    if isinstance(law, Matched):
        if not measured:
            _warn_if_reach_exceeds_budget(kernel, degree, plan)
        return
    bound = growth_bound(plan.steps)
    logs = variance_terms(plan.modulation, plan.lengths.survival, bound)
    finite = law.max_length is not None or converges(logs)
    if finite and (plan.is_pooled or error_floor(plan, logs, bound[-1] / 2) <= 1):
        return
    # The bound is not sufficient: compute the growth by power iteration.
    growth = moment_growth(plan.steps)
    logs = variance_terms(plan.modulation, plan.lengths.survival, growth)
    n = plan.lengths.max_length
    if finite or converges(logs) or sum_is_finite(kernel, degree, n, growth[-1]):
        if not (plan.is_pooled or measured):
            _warn_if_error_exceeds_one(kernel, degree, plan, law, logs)
        return
    message = infinite_variance(kernel, degree, law, logs, growth[-1])
    if action == "raise":
        raise message
    problem, _, terms = message.problem.partition(": ")
    warn_user(InputWarning(problem, advice=message.advice, terms=terms))


def has_finite_variance(
    kernel: Kernel, degree: int, steps: ProportionalSteps, modulation: FloatArray, budget: Budget
) -> bool:
    """Whether the variance of a pool is finite in the measure of `steps`."""
    return (
        steps.telescopes
        or not np.isfinite(kernel.modulation_radius(degree))
        or any(
            converges(variance_terms(modulation, budget.survival, growth(steps)))
            for growth in (growth_bound, moment_growth)
        )
    )


def _warn_if_reach_exceeds_budget(kernel: Kernel, degree: int, plan: WalkPlan) -> None:
    """Warn of kernels that reach too far for the budget of a pool."""
    lengths = np.arange(len(plan.modulation))
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(plan.modulation)) + log_growth(plan.graph, len(lengths) - 1)
    terms = np.exp(logs - logs.max())
    reach = float(terms @ lengths / terms.sum())
    steps = 2 * degree * plan.expected_steps
    max_reach = _MAX_REACH * np.sqrt(steps / _MAX_REACH_STEPS)
    if reach > max_reach and steps < len(plan.graph.indices):
        problem = "the kernel reaches too far for the walks, expect a relative error near one"
        advice = "use a higher degree ('auto'), deflate='auto', more walks, or kernel_operator"
        known: dict[str, Any] = {"kernel": kernel, "degree": degree, "n_walks": plan.n_walks}
        warn_user(InputWarning(problem, advice=advice, **known, reach=reach))


def _warn_if_error_exceeds_one(
    kernel: Kernel, degree: int, plan: WalkPlan, law: Termination, logs: FloatArray
) -> None:
    """Warn of independent walks whose relative error exceeds one by the terms of the variance."""
    with np.errstate(divide="ignore"):
        floor = error_floor(plan, logs, float(np.log(plan.graph.spectral_radius())))
    if floor > 1:
        advice = "use longer walks, a higher degree or smaller weights"
        known: dict[str, Any] = {"kernel": kernel, "degree": degree, "termination": law}
        known |= {"n_walks": plan.n_walks, "least_relative_error": floor}
        problem = "the relative error of each factor exceeds one"
        warn_user(InputWarning(problem, advice=advice, **known))


def infinite_variance(
    kernel: Kernel, degree: int, law: Termination, logs: FloatArray, growth: float
) -> InfiniteVarianceError:
    """The error to raise, with a geometric law of finite variance as advice where one exists."""
    n = len(logs) - 1
    f = np.abs(representable(kernel, degree, lookahead(kernel, n)))
    late = np.flatnonzero(f)[-ZERO_RUN:]
    gap = max(int(late[-1] - late[0]), 1)
    # The survival must decrease more slowly than the square root of the terms.
    decay = (np.log(f[late[-1]]) - np.log(f[late[0]])) / gap + growth / 2
    advice = "scale the weights down: no law of the lengths has finite variance"
    if decay < -1e-6:
        advice = f"use termination='geometric:{min(0.5, 1 - np.exp(decay)):.1g}' or longer walks"
    return InfiniteVarianceError(
        f"with {law!r} the variance of this estimate is infinite or nearly so: at k = {n} its "
        f"terms are still {np.exp(logs[-1] - logs.max()):.2g} of the largest",
        advice=advice,
    )


def error_floor(plan: WalkPlan, logs: FloatArray, log_radius: float) -> float:
    """An approximate lower bound on the relative error of a factor.

    The variance of a row is at least ``Σ_k f(k)² q_k / τ(k) / n_walks`` minus the square of its
    mean over ``n_walks``, and its mean has a norm of at most ``Σ_k |f(k)| ρ^k``.
    """
    lengths = np.arange(1, len(plan.modulation))
    with np.errstate(divide="ignore"):
        log_f = np.log(np.abs(plan.modulation))
    log_mean = np.logaddexp(log_f[0], np.logaddexp.reduce(log_f[1:] + lengths * log_radius))
    # `variance_terms` may have counted each term twice.
    log_square = np.logaddexp.reduce(logs) - np.log(2 * plan.n_walks)
    return float(np.exp(np.clip(log_square / 2 - log_mean, -700, 700)))


def converges(logs: FloatArray) -> bool:
    """Whether the last of the terms with these logarithms is small relative to the largest."""
    return bool(logs[-1] <= logs.max() + np.log(_CONVERGED))


def sum_is_finite(kernel: Kernel, degree: int, n: int, growth: float) -> bool:
    """Whether the sum is finite because the modulation is a polynomial without further terms."""
    return not has_terms_beyond(kernel, degree, n, float(np.exp(np.clip(growth / 2, 0.0, 700.0))))


def growth_bound(steps: UniformSteps) -> FloatArray:
    """As `moment_growth`, with the largest row sum of ``M`` in place of its spectral radius."""
    rate = _known_growth(steps)
    if rate is None:
        top = _unit(steps)
        with np.errstate(divide="ignore"):
            rate = float(np.log(steps.second_moments(top).sum(axis=1).max()) + 2 * np.log(top))
    return np.array([0.0, rate])


def moment_growth(steps: UniformSteps) -> FloatArray:
    """``log q_k`` for the first powers of ``M``, then the log of its spectral radius."""
    graph, top = steps.graph, _unit(steps)
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
    if rate is None:
        if not graph.is_directed:
            root = steps.symmetrizer()
            M = M.multiply(root[np.newaxis, :]).multiply(1 / root[:, np.newaxis]).tocsr()
        with np.errstate(divide="ignore"):
            rate = np.log(perron_root(M, symmetric=not graph.is_directed)) + 2 * np.log(top)
    return np.array([*logs, rate])


def _unit(steps: UniformSteps) -> float:
    """The largest weight: weights are divided by it before they are squared."""
    return float(steps.graph.weights.max(initial=0.0)) or 1.0


def _known_growth(steps: UniformSteps) -> float | None:
    """The growth in closed form, or ``None``.

    Where loads telescope on an undirected graph, ``M`` is similar to the transition matrix times
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
        logs = 2 * np.log(np.abs(modulation)) + log_q - np.log(survival)
    # Series in W² have f(k) = 0 at every other k: each length takes the larger of two neighbours.
    return np.maximum(logs, np.roll(logs, 1)) if len(logs) > 2 else logs
