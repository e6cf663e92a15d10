"""What is summed along a pool: the kernel's own coefficients, as far as they matter."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.local.weights import PLAIN, LocalWeights
from grfpp.typing import FloatArray
from grfpp.walks.budget import NEGLIGIBLE_TAIL, Budget

#: No table is longer.
_MAX_TABLE = 1 << 16
#: Ratios of coefficients that differ by less are the same.
_SAME = 1e-12
#: Rounds of a residual pool in units of ``1 / (1 − γ)``: nothing is left of ``γ^rounds``.
_ROUNDS = 256


class Series(NamedTuple):
    """``scale · Σ_k deposits[k] x_k`` with pools ``x_k``, or ``scale · Σ_k ratio^k x_k``."""

    #: Power of two by which masses are divided at each step, to stay in the range of numbers.
    unit: float
    #: A factor of the whole.
    scale: float
    #: ``α_k`` times what masses have been divided by; zero at the end.
    deposits: FloatArray
    #: How a budget is shared among the steps.
    steps: Budget
    #: The same where two sides take half of the steps each.
    half_steps: Budget
    #: ``γ`` where the series is geometric and one pool serves all steps, else 0.
    ratio: float
    most_rounds: int
    #: Mean number of steps, each weighted by what it contributes at most.
    mean_steps: float

    @classmethod
    def of(cls, graph: Graph, kernel: Kernel) -> Series:
        """That of a kernel on a graph; refused where it diverges."""
        weights = LocalWeights.of(graph)
        radius = _radius(graph, kernel, weights)
        unit = _power_of_two(radius / weights.value) if weights.kind == PLAIN else 1.0
        terms = _terms(kernel, radius)
        tail = np.cumsum(np.abs(terms)[::-1])[::-1]
        n = int(np.flatnonzero(tail > NEGLIGIBLE_TAIL * tail[0])[-1]) + 1
        # (radius / rate)^k undoes that masses are counted in units of the rate, not of the radius.
        rate = weights.value * unit
        deposits = terms[:n] if rate == radius else kernel.coefficients(n, scale=rate)
        ratio = _ratio(terms[:n]) if weights.keeps_mass else 0.0
        return cls(
            unit=unit,
            scale=float(deposits[0]) if ratio else 1.0,
            deposits=np.append(deposits, 0.0),
            steps=Budget.by_importance(tail[1:n], 1.0),
            half_steps=Budget.by_importance(tail[1:n:2], 1.0),
            ratio=ratio,
            most_rounds=int(_ROUNDS / (1.0 - ratio)) + _ROUNDS,
            mean_steps=float(tail[1:].sum() / tail[0]),
        )


def _radius(graph: Graph, kernel: Kernel, weights: LocalWeights) -> float:
    """The growth of powers of the weights; from the normalisation where that tells it."""
    if weights.kind != PLAIN:
        bound = weights.value
        if bound >= kernel.radius * (1 - 1e-7):
            kernel.check_radius(bound if weights.keeps_mass else graph.spectral_radius())
        return bound
    radius = graph.spectral_radius()
    kernel.check_radius(radius)
    return radius or 1.0


def _power_of_two(number: float) -> float:
    return float(2.0 ** np.round(np.log2(number)))


def _terms(kernel: Kernel, radius: float) -> FloatArray:
    """``α_k radius^k`` as far as they are not negligible."""
    n = 64
    while True:
        terms = np.abs(kernel.coefficients(n, scale=radius))
        total, late = float(terms.sum()), float(terms[n // 2 :].sum())
        is_whole = late <= 0.01 * NEGLIGIBLE_TAIL * total and n // 2 > min(kernel.longest_gap, 256)
        if not math.isfinite(total) or total == 0.0:
            raise InputError(f"{kernel!r}: its series leaves the range of float64 on this graph")
        if is_whole:
            return kernel.coefficients(n, scale=radius)
        if n >= _MAX_TABLE:
            raise InputError(
                f"{kernel!r} takes more than {n} terms of its series on this graph (spectral "
                f"radius {radius:.6g}), too many for walks",
                other="use grfpp.kernel_operator(W, kernel), which solves or takes polynomials",
            )
        n *= 2


def _ratio(terms: FloatArray) -> float:
    """The ratio of a geometric series of positive ratio, else 0."""
    if len(terms) < 3 or not terms[0]:
        return 0.0
    ratio = float(terms[1] / terms[0])
    if not 0.0 < ratio < 1.0:
        return 0.0
    expected = terms[0] * ratio ** np.arange(len(terms))
    return ratio if np.all(np.abs(terms - expected) <= _SAME * np.abs(expected)) else 0.0
