"""From what a user asks for to plans that can be walked, checked at the door."""

from __future__ import annotations

from typing import Any, NamedTuple

from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel
from grfpp.options import WalkOptions
from grfpp.termination import Matched, Termination
from grfpp.typing import FloatArray
from grfpp.walks.budget import Budget
from grfpp.walks.growth import log_growth
from grfpp.walks.lengths import resolvable_length
from grfpp.walks.plan import WalkPlan
from grfpp.walks.truncation import (
    check_truncation,
    modulation_table,
    representable,
    series_has_ended,
)
from grfpp.walks.variance import check_variance

#: No table of a budget is longer.
_MAX_TABLE = 1 << 16


class Plans(NamedTuple):
    """Walks along the edges and, for directed graphs, against them (else the same plan)."""

    forward: WalkPlan
    back: WalkPlan

    def of_factor(self, number: int) -> WalkPlan:
        """The walks of a factor; those with odd numbers, the right ones, walk against the edges."""
        return (self.back if number % 2 else self.forward).with_factor(number)


def plan_walks(W: Any, kernel: Kernel, options: WalkOptions) -> Plans:
    """Check a request (see `grfpp.sample`) and plan its walks."""
    graph = as_graph(W)
    if not isinstance(kernel, Kernel):
        raise InputError(f"kernel must be a Kernel such as Diffusion(1.0), not {kernel!r}")
    degree, law = options.degree, options.termination
    kernel.check_converges(graph)
    kernel.check_converges(graph, degree)
    sides = [graph, graph.reversed()] if graph.is_directed else [graph]
    if options.walks == "pooled":
        plans = [_pools(side, kernel, options) for side in sides]
    else:
        modulation = modulation_table(kernel, degree, law)
        plans = [
            WalkPlan.of(side, modulation, law, options.n_walks, options.seed) for side in sides
        ]
    for plan in plans:
        check_variance(kernel, degree, plan, law, options.on_infinite_variance)
    check_truncation(kernel, degree, plans[0], options.truncate)
    if options.full_walks and options.walks == "independent":
        longest = resolvable_length(law)
        plans = [plan.with_lengths(law, longest) for plan in plans]
    return Plans(plans[0], plans[-1])


def _pools(graph: Graph, kernel: Kernel, options: WalkOptions) -> WalkPlan:
    modulation, budget = share_steps(kernel, options.degree, options.termination, graph)
    return WalkPlan.pooled(graph, modulation, budget, options.n_walks, options.seed)


def share_steps(
    kernel: Kernel, degree: int, law: Termination, graph: Graph
) -> tuple[FloatArray, Budget]:
    """The modulation as far as a pool goes, and how its steps are shared."""
    if not isinstance(law, Matched):
        modulation = modulation_table(kernel, degree, law)
        longest = min(len(modulation) - 1, resolvable_length(law))
        return modulation[: longest + 1], Budget.by_law(law, longest)
    n = 64
    while True:
        table = representable(kernel, degree, n)
        growth = log_growth(graph, n)
        budget = Budget.matched(law, table, growth)
        is_whole = budget.max_length < n // 2 and n // 2 > kernel.longest_gap
        ended = series_has_ended(kernel, table, n)
        if is_whole or ended or len(table) < n or n >= _MAX_TABLE:
            return table[: budget.max_length + 1], budget
        n *= 2
