"""From what a user asks for to plans that can be walked, checked at the door."""

from __future__ import annotations

from typing import Any, NamedTuple

from grfpp.errors import InputError
from grfpp.graph import as_graph
from grfpp.kernels import Kernel
from grfpp.options import WalkOptions
from grfpp.walks.lengths import resolvable_length
from grfpp.walks.plan import WalkPlan
from grfpp.walks.pools.planning import plan_pools
from grfpp.walks.truncation import check_truncation, modulation_table
from grfpp.walks.variance import check_variance


class Plans(NamedTuple):
    """Walks along the edges and, for directed graphs, against them (else the same plan)."""

    forward: WalkPlan
    back: WalkPlan

    def of_factor(self, number: int) -> WalkPlan:
        """The walks of a factor; those with odd numbers, the right ones, walk against the edges."""
        return (self.back if number % 2 else self.forward).with_factor(number)


def plan_walks(W: Any, kernel: Kernel, options: WalkOptions, *, measured: bool = False) -> Plans:
    """Check a request (see `grfpp.sample`) and plan its walks.

    Where the error will be `measured`, there is no need to warn of what it may come to.
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
    check_truncation(kernel, degree, plans[0], options.truncate)
    if options.full_walks and options.walks == "independent":
        longest = resolvable_length(law)
        plans = [plan.with_lengths(law, longest) for plan in plans]
    return Plans(plans[0], plans[-1])


def require_kernel(kernel: Any) -> None:
    """Refuse what is no kernel."""
    if not isinstance(kernel, Kernel):
        raise InputError(f"kernel must be a Kernel such as Diffusion(1.0), not {kernel!r}")
