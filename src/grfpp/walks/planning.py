"""From a request (graph, kernel, options) to checked plans of walks."""

from __future__ import annotations

from typing import Any, NamedTuple

from grfpp.errors import InputError, shown
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel
from grfpp.options import WalkOptions
from grfpp.termination import Matched, Termination
from grfpp.typing import FloatArray
from grfpp.walks.convergence import (
    MAX_GAP,
    check_truncation,
    check_variance,
    has_finite_variance,
    log_growth,
    modulation_table,
    representable,
    series_has_ended,
)
from grfpp.walks.plan import Budget, WalkPlan, resolvable_length
from grfpp.walks.transition import ProportionalSteps

#: Longest table of a modulation for pools: no budget is spread over more steps.
_MAX_TABLE = 1 << 16


class Plans(NamedTuple):
    """Walks along the edges and, on directed graphs, against them (else the same plan twice)."""

    forward: WalkPlan
    back: WalkPlan

    def of_factor(self, number: int) -> WalkPlan:
        """The plan of a factor; odd numbers, the right factors, walk against the edges."""
        return (self.back if number % 2 else self.forward).with_factor(number)


def plan_walks(W: Any, kernel: Kernel, options: WalkOptions, *, measured: bool = False) -> Plans:
    """Check a request (see `grfpp.sample`) and plan its walks.

    With `measured` there is no warning of a predicted large error: the caller measures the error.
    """
    graph = as_graph(W)
    graph.require_unchanged()
    require_kernel(kernel)
    degree, law = options.stitching_degree, options.termination
    kernel.check_converges(graph)
    kernel.check_converges(graph, degree)
    sides = [graph, graph.reversed()] if graph.is_directed else [graph]
    if options.walks == "pooled":
        plans = [plan_pools(side, kernel, options) for side in sides]
    else:
        modulation = modulation_table(kernel, degree, law)
        plans = [
            WalkPlan.of(side, modulation, law, options.n_walks, options.seed) for side in sides
        ]
    for plan in plans:
        check_variance(kernel, degree, plan, law, options.on_infinite_variance, measured=measured)
    if not options.truncate:
        check_truncation(kernel, degree, plans[0])
    if options.full_walks and options.walks == "independent":
        longest = resolvable_length(law)
        plans = [plan.with_lengths(law, longest) for plan in plans]
    return Plans(plans[0], plans[-1])


def require_kernel(kernel: Any) -> None:
    """Refuse anything but a `Kernel`."""
    if not isinstance(kernel, Kernel):
        raise InputError(
            f"must be a Kernel such as Diffusion(1.0), not {shown(kernel)}", argument="kernel"
        )


def check_normalized(kernel: Kernel, options: WalkOptions, scale: float) -> None:
    """Refuse requests that fail on every graph with weights ``scale · D^-1/2 A D^-1/2``.

    The request is checked on a single edge, where it is most likely to succeed: the spectral radius
    is `scale` on all such graphs, and squared loads grow by at least its square, which is their
    growth on a single edge.
    """
    action = options.on_infinite_variance
    quiet = options.changed(on_infinite_variance="raise" if action == "raise" else "ignore")
    edge = Graph([[0.0, 1.0], [1.0, 0.0]]).normalized("sym", scale)
    plan_walks(edge, kernel, quiet, measured=True)


def plan_pools(graph: Graph, kernel: Kernel, options: WalkOptions) -> WalkPlan:
    """Plan pools on one graph.

    In late steps the pool is a single walker that reaches step ``k`` with probability at least
    ``B t_k / Σ_j t_j``, where ``B`` is the budget and ``t_k = Σ_{j ≥ k} |f(j)| ρ^j``. If masses
    grow by at most ``s`` in a step, the second moment of its deposit is at most
    ``f(k)² s^2k Σ_j t_j / (B t_k) ≤ |f(k)| (s²/ρ)^k Σ_j t_j / B``. In the measure of the walk
    ``s = ρ``, and the variance is finite wherever the series converges absolutely. Masses of ``W``
    grow with the row sums, which can be too much for kernels with a radius of convergence. They are
    then counted in another measure, in which ``s`` is close to ``ρ``.
    """
    degree, law = options.stitching_degree, options.termination
    steps = ProportionalSteps.on(graph)
    modulation, budget = share_steps(kernel, degree, law, graph)
    # A radius of zero: graphs without cycles, on which all walks end.
    may_diverge = isinstance(law, Matched) and graph.spectral_radius() > 0.0
    if may_diverge and not has_finite_variance(kernel, degree, steps, modulation, budget):
        steps = measured_for(kernel, degree, steps)
    n_walks, seed = options.n_walks, options.seed
    return WalkPlan.of(steps, modulation, budget, n_walks, seed, step=options.step)


def measured_for(kernel: Kernel, degree: int, steps: ProportionalSteps) -> ProportionalSteps:
    """Steps in a measure with finite variance, for kernels with a radius of convergence.

    The terms of the variance are at most ``|f(k)| r^k``, where ``r`` is the geometric mean of the
    spectral radius and the radius of convergence.
    """
    inner, outer = steps.graph.spectral_radius(), kernel.modulation_radius(degree)
    return steps.measured(inner**0.75 * outer**0.25)


def share_steps(
    kernel: Kernel, degree: int, law: Termination, graph: Graph
) -> tuple[FloatArray, Budget]:
    """The modulation up to the last step of a pool, and the split of its budget."""
    if not isinstance(law, Matched):
        modulation = modulation_table(kernel, degree, law)
        longest = min(len(modulation) - 1, resolvable_length(law))
        return modulation[: longest + 1], Budget.by_law(law, longest)
    n = 64
    while True:
        table = representable(kernel, degree, n)
        budget = Budget.matched(law, table, log_growth(graph, n))
        is_whole = budget.max_length < n // 2 and n // 2 > min(kernel.longest_gap, MAX_GAP)
        ended = series_has_ended(kernel, table, n)
        if is_whole or ended or len(table) < n or n >= _MAX_TABLE:
            return table[: budget.max_length + 1], budget
        n *= 2
