"""Is the estimate's variance finite, is its bias negligible? Asked before anything is walked.

The second moment of a row of a factor is governed by ``Σ_k f(k)² q_k / τ(k)``, where
``q_k = mean(M^k 1)`` and ``M[i, j] = W[i, j]² / p(i → j)``. The mean is right for every law, but
where that sum grows without end no number of walks helps.

A law that ends at length ``n``, by its own bounds or by the resolution of the random numbers, never
deposits beyond it: the factor is biased by at most ``Σ_{k>n} |f(k)| ρ(W)^k`` where ``W`` is
symmetric. Powers of a directed graph's ``W`` can exceed those of its spectral radius (which is zero
where there is no cycle), so for such graphs ``ρ`` is at least ``‖W^(n+1)‖^(1/(n+1))``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
from grfpp.linalg.spectrum import perron_root
from grfpp.options import OnInfiniteVariance, WalkOptions
from grfpp.series import to_float64
from grfpp.termination import Geometric, Termination
from grfpp.typing import FloatArray
from grfpp.walks.lengths import LengthTable, resolvable_length
from grfpp.walks.plan import WalkPlan
from grfpp.walks.transition import UniformSteps

#: Relative bias of a factor that counts as none.
NEGLIGIBLE_BIAS = 1e-12
#: Powers of M that are really computed; later ones are extrapolated.
_MOMENT_POWERS = 16
#: The last term of a sum that converges is smaller than this share of the largest one.
_CONVERGED = 1e-3
#: Zeros in a row after which a modulation counts as ended (or underflowed).
_ZERO_RUN = 64
#: How far such zeros are looked through when the coefficients are a function of k.
_FAR = 256
#: Highest power of a directed graph's weights whose size is computed.
_HIGHEST_POWER = 256


def modulation_table(kernel: Kernel, degree: int, law: Termination) -> FloatArray:
    """``f(k)`` as far as walks of this law can go and float64 can tell it from zero."""
    longest = resolvable_length(law) + 1
    n = min(256, longest)
    while True:
        table = _representable(kernel, degree, n)
        n_used = int(np.flatnonzero(table)[-1]) + 1
        ended = n - n_used > max(_ZERO_RUN, kernel.longest_gap)
        if n == longest or ended or len(table) < n:
            return table[:n_used]
        n = min(2 * n, longest)


def _representable(kernel: Kernel, degree: int, n: int) -> FloatArray:
    """First `n` values of the modulation, or as many as the range of float64 allows.

    They may grow without end, as they do for the cosine kernel, while ``f(k) ρ^k`` falls.
    """
    try:
        return kernel.modulation(degree, n)
    except InputError:
        exactly = kernel.modulation_decimal(degree, n)
    try:
        return to_float64(exactly)
    except OverflowError as error:
        (too_large,) = error.args
        return to_float64(exactly[:too_large])


def check_normalized(kernel: Kernel, options: WalkOptions, scale: float) -> None:
    """Refuse what works on no graph at all whose weights are ``scale · D^-1/2 A D^-1/2``.

    The spectral radius of these is `scale`, unless they have no edge. Squares of loads grow by its
    square at least, because they do not grow more slowly than the square of the mean.
    """
    degree, law = options.degree, options.termination
    kernel.check_radius(scale)
    kernel.check_radius(scale, degree)
    modulation = modulation_table(kernel, degree, law)
    lengths = LengthTable.of(law, len(modulation) - 1)
    modulation, n = modulation[: lengths.max_length + 1], lengths.max_length
    if law.max_length is None and options.on_infinite_variance == "raise":
        growth = np.array([0.0, 2 * np.log(scale)])
        logs = _variance_terms(modulation, lengths, growth)
        if not (_converges(logs) or _sum_is_finite(kernel, degree, n, growth[-1])):
            problem, remedies = _infinite_variance(kernel, degree, law, logs, growth[-1])
            raise InfiniteVarianceError(problem, **remedies)
    if not options.truncate:
        _check_truncation(kernel, degree, modulation, n, scale, lambda: scale)


def check_truncation(kernel: Kernel, degree: int, plan: WalkPlan, truncate: bool) -> None:
    """Refuse a law whose longest walk leaves out a part of the series that matters."""
    if not truncate:
        n, graph = plan.lengths.max_length, plan.graph
        reach = float(graph.adjacency.sum(axis=1).max())
        growth = partial(_growth_beyond, graph, n)
        _check_truncation(kernel, degree, plan.modulation, n, reach, growth)


def _check_truncation(
    kernel: Kernel,
    degree: int,
    modulation: FloatArray,
    n: int,
    reach: float,
    growth: Callable[[], float],
) -> None:
    """The same for weights whose powers beyond the n-th are about ``growth()^k``."""
    ended = not _goes_on(kernel, degree, n)
    if ended and _underflow_is_harmless(modulation, reach):
        return
    radius = growth()
    bias = _share_beyond(kernel, degree, radius, n)
    if bias <= NEGLIGIBLE_BIAS:
        return
    remedy = (
        {"smaller weights": "the modulation falls below the range of float64 there"}
        if ended
        else {"law": Geometric(0.1)}
    )
    raise TruncationError(
        f"walks end after {n} steps, which leaves out {bias:.2g} of the series of each factor "
        f"({kernel!r} at degree {degree}, spectral radius {radius:.4g}): the "
        "estimate would be biased.",
        **remedy,
        truncate=True,
    )


def truncation_bias(kernel: Kernel, degree: int, graph: Graph, n: int) -> float:
    """Share of ``Σ |f(k)| ρ^k`` that lies beyond ``k = n``."""
    return _share_beyond(kernel, degree, _growth_beyond(graph, n), n)


def _share_beyond(kernel: Kernel, degree: int, radius: float, n: int) -> float:
    if radius >= kernel.modulation_radius(degree):
        return 1.0
    size = max(_look_ahead(kernel, n), 256)
    while True:
        terms = np.abs(kernel.modulation(degree, size, scale=radius))
        total, beyond, late = (float(terms[k:].sum()) for k in (0, n + 1, size // 2))
        # What is still missing is nothing, or little beside what is left out already.
        if late <= max(1e-3 * NEGLIGIBLE_BIAS * total, 1e-6 * beyond) or size > 2**16:
            return beyond / total
        size *= 2


def _growth_beyond(graph: Graph, n: int) -> float:
    """``ρ`` such that the powers of ``W`` beyond the n-th are about ``ρ^k`` or smaller."""
    radius = graph.spectral_radius()
    if not graph.is_directed:
        return radius
    W, vector, log_norm = graph.adjacency, np.ones(graph.n_nodes), 0.0
    power = min(n + 1, _HIGHEST_POWER)
    for _ in range(power):
        vector = W @ vector
        largest = float(vector.max())
        if largest == 0.0:  # no walk is that long
            return radius
        vector /= largest
        log_norm += np.log(largest)
    return max(radius, float(np.exp(log_norm / power)))


def _look_ahead(kernel: Kernel, n: int) -> int:
    """How many values of the modulation tell whether it goes on beyond ``k = n``."""
    gap = kernel.longest_gap
    return 2 * n + _ZERO_RUN + (2 * int(gap) if np.isfinite(gap) else _FAR)


def _goes_on(kernel: Kernel, degree: int, n: int, scale: float = 1.0) -> bool:
    """Whether ``f(k) · scale^k`` has values beyond ``k = n`` that float64 can tell from zero."""
    try:
        return bool(kernel.modulation(degree, _look_ahead(kernel, n), scale=scale)[n + 1 :].any())
    except InputError:  # too large for float64
        return True


def check_variance(
    kernel: Kernel, degree: int, plan: WalkPlan, law: Termination, action: OnInfiniteVariance
) -> None:
    """Refuse a law whose variance does not converge, and warn of one that drowns the estimate."""
    if action == "ignore":
        return
    bound = growth_bound(plan.steps)
    logs = variance_terms(plan, bound)
    finite = law.max_length is not None or _converges(logs)
    if finite and error_floor(plan, logs, bound[-1] / 2) <= 1:
        return
    # The bound does not settle it: iterate for the growth itself.
    growth = moment_growth(plan.steps)
    logs = variance_terms(plan, growth)
    if (
        finite
        or _converges(logs)
        or _sum_is_finite(kernel, degree, plan.lengths.max_length, growth[-1])
    ):
        with np.errstate(divide="ignore"):
            log_radius = float(np.log(plan.graph.spectral_radius()))
        _warn_if_hopeless(kernel, degree, plan, law, error_floor(plan, logs, log_radius))
        return
    problem, remedies = _infinite_variance(kernel, degree, law, logs, growth[-1])
    if action == "raise":
        raise InfiniteVarianceError(problem, **remedies)
    warn_user(InputWarning(problem, **remedies))


def _infinite_variance(
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


def _converges(logs: FloatArray) -> bool:
    return bool(logs[-1] <= logs.max() + np.log(_CONVERGED))


def _sum_is_finite(kernel: Kernel, degree: int, n: int, growth: float) -> bool:
    """Whether the sum has no further terms, because the modulation is a polynomial that ends."""
    scale = float(np.exp(np.clip(growth / 2, 0.0, 700.0)))
    return not _goes_on(kernel, degree, n, scale)


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
        # M = D (W ∘ W) has the eigenvalues of the symmetric D^1/2 (W ∘ W) D^1/2.
        root = np.sqrt(steps.inverse_probability)
        M = M.multiply(root[np.newaxis, :]).multiply(1 / np.maximum(root, 1)[:, np.newaxis]).tocsr()
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


def variance_terms(plan: WalkPlan, growth: FloatArray) -> FloatArray:
    """``log(f(k)² q_k / τ(k))`` for every length in the plan's table."""
    return _variance_terms(plan.modulation, plan.lengths, growth)


def _variance_terms(modulation: FloatArray, lengths: LengthTable, growth: FloatArray) -> FloatArray:
    k = np.arange(len(modulation))
    n_known = len(growth) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        extrapolated = growth[-2] + (k - (n_known - 1)) * growth[-1]
        log_q = np.where(k < n_known, growth[np.minimum(k, n_known - 1)], extrapolated)
        log_f = np.log(np.abs(modulation))
        logs = 2 * log_f + log_q - np.log(lengths.survival)
    # Series in W² have f(k) = 0 at every other k: let each length stand for its neighbour too.
    return np.maximum(logs, np.roll(logs, 1)) if len(logs) > 2 else logs


def _remedy(kernel: Kernel, degree: int, n: int, growth: float) -> dict[str, Any]:
    """A geometric law whose survival falls more slowly than the square root of the terms."""
    f = np.abs(_representable(kernel, degree, _look_ahead(kernel, n)))
    late = np.flatnonzero(f)[-_ZERO_RUN:]
    gap = max(int(late[-1] - late[0]), 1)
    decay = (np.log(f[late[-1]]) - np.log(f[late[0]])) / gap + growth / 2
    if decay >= -1e-6:
        return {"smaller weights": "no law makes it finite"}
    return {"law": Geometric(float(f"{min(0.5, 1 - np.exp(decay)):.1g}"))}


def _underflow_is_harmless(modulation: FloatArray, reach: float) -> bool:
    """Whether what lies beyond the table is nothing even after ``reach^k`` has been multiplied on.

    `reach` is a bound on the spectral radius. Where the table ends because float64 does, the rest
    is below ``1e-307 · reach^k``, and falls with ``k`` while ``reach`` is moderate.
    """
    log_rest = np.log(1e-307) + len(modulation) * np.log(max(reach, 1.0))
    return bool(log_rest < np.log(NEGLIGIBLE_BIAS) + np.log(np.abs(modulation).max()))
