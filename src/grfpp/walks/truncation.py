"""Is the estimate's bias negligible? Asked before anything is walked.

A law that ends at length ``n``, by its own bounds or by the resolution of the random numbers, never
deposits beyond it: the factor is biased by at most ``Σ_{k>n} |f(k)| ρ(W)^k`` where ``W`` is
symmetric. Powers of a directed graph's ``W`` can exceed those of its spectral radius (which is zero
where there is no cycle), so for such graphs ``ρ`` is at least ``‖W^(n+1)‖^(1/(n+1))``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from grfpp.errors import InputError, TruncationError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.series import OUT_OF_RANGE, to_float64
from grfpp.termination import Geometric, Termination
from grfpp.typing import FloatArray
from grfpp.walks.lengths import resolvable_length
from grfpp.walks.plan import WalkPlan

#: Relative bias of a factor that counts as none.
NEGLIGIBLE_BIAS = 1e-12
#: Zeros in a row after which a modulation counts as ended (or underflowed).
ZERO_RUN = 64
#: How far such zeros are looked through when the coefficients are a function of k.
FAR = 256
#: Highest power of a directed graph's weights whose size is computed.
_HIGHEST_POWER = 256


def modulation_table(kernel: Kernel, degree: int, law: Termination) -> FloatArray:
    """``f(k)`` as far as walks of this law can go and float64 can tell it from zero."""
    longest = resolvable_length(law) + 1
    n = min(256, longest)
    while True:
        table = representable(kernel, degree, n)
        n_used = int(np.flatnonzero(table)[-1]) + 1
        if n == longest or series_has_ended(kernel, table, n) or len(table) < n:
            return table[:n_used]
        n = min(2 * n, longest)


def series_has_ended(kernel: Kernel, table: FloatArray, n: int) -> bool:
    """Whether the first `n` values of a modulation end with so many zeros that all follow."""
    n_used = int(np.flatnonzero(table)[-1]) + 1
    return n - n_used > max(ZERO_RUN, kernel.longest_gap)


def representable(kernel: Kernel, degree: int, n: int) -> FloatArray:
    """First `n` values of the modulation, or as many as the range of float64 allows.

    They may grow without end, as they do for the cosine kernel, while ``f(k) ρ^k`` falls.
    """
    try:
        table = kernel.modulation(degree, n)
    except InputError:
        exactly = kernel.modulation_decimal(degree, n)
        try:
            table = to_float64(exactly)
        except OverflowError as error:
            (too_large,) = error.args
            table = to_float64(exactly[:too_large])
    if not table[:1].any():
        raise InputError(f"{kernel!r}: the modulation of degree {degree} {OUT_OF_RANGE}")
    return table


def check_truncation(kernel: Kernel, degree: int, plan: WalkPlan, truncate: bool) -> None:
    """Refuse a law whose longest walk leaves out a part of the series that matters."""
    if not truncate:
        n, graph = plan.lengths.max_length, plan.graph
        reach = float(graph.adjacency.sum(axis=1).max())
        growth = partial(_growth_beyond, graph, n)
        check_series_truncation(kernel, degree, plan.modulation, n, reach, growth)


def check_series_truncation(
    kernel: Kernel,
    degree: int,
    modulation: FloatArray,
    n: int,
    reach: float,
    growth: Callable[[], float],
) -> None:
    """The same for weights whose powers beyond the n-th are about ``growth()^k``."""
    ended = not goes_on(kernel, degree, n)
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
    size = max(look_ahead(kernel, n), 256)
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


def look_ahead(kernel: Kernel, n: int) -> int:
    """How many values of the modulation tell whether it goes on beyond ``k = n``."""
    gap = kernel.longest_gap
    return 2 * n + ZERO_RUN + (2 * int(gap) if np.isfinite(gap) else FAR)


def goes_on(kernel: Kernel, degree: int, n: int, scale: float = 1.0) -> bool:
    """Whether ``f(k) · scale^k`` has values beyond ``k = n`` that float64 can tell from zero."""
    try:
        return bool(kernel.modulation(degree, look_ahead(kernel, n), scale=scale)[n + 1 :].any())
    except InputError:  # too large for float64
        return True


def _underflow_is_harmless(modulation: FloatArray, reach: float) -> bool:
    """Whether what lies beyond the table is nothing even after ``reach^k`` has been multiplied on.

    `reach` is a bound on the spectral radius. Where the table ends because float64 does, the rest
    is below ``1e-307 · reach^k``, and falls with ``k`` while ``reach`` is moderate.
    """
    log_rest = np.log(1e-307) + len(modulation) * np.log(max(reach, 1.0))
    return bool(log_rest < np.log(NEGLIGIBLE_BIAS) + np.log(np.abs(modulation).max()))
