"""Plans of pooled walks: how far they go, how steps are shared, what masses are counted in.

Late steps are taken by a single walker that goes on by chance, with a chance of at least
``B t_k / Σ_j t_j`` to come to step ``k``, where ``B`` is the budget and
``t_k = Σ_{j ≥ k} |f(j)| ρ^j``. Where no step lets masses grow by more than ``s``, what it deposits
there has a second moment of at most ``f(k)² s^2k Σ_j t_j / (B t_k) ≤ |f(k)| (s²/ρ)^k Σ_j t_j / B``.
In the measure of the walk ``s = ρ``: the variance is finite wherever the series converges
absolutely. In that of ``W`` masses grow with the row sums, which can be too much for kernels with a
radius of convergence. Then they are counted in another one, in which ``s`` is as near to ``ρ`` as
we like (see `ProportionalSteps.measured`), and the same holds.
"""

from __future__ import annotations

from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.options import WalkOptions
from grfpp.termination import Matched, Termination
from grfpp.typing import FloatArray
from grfpp.walks.budget import Budget
from grfpp.walks.growth import log_growth
from grfpp.walks.lengths import resolvable_length
from grfpp.walks.plan import WalkPlan
from grfpp.walks.transition import ProportionalSteps
from grfpp.walks.truncation import FAR, modulation_table, representable, series_has_ended
from grfpp.walks.variance import has_finite_variance

#: No table of a budget is longer.
_MAX_TABLE = 1 << 16


def plan_pools(graph: Graph, kernel: Kernel, options: WalkOptions) -> WalkPlan:
    """Plan pools on one graph."""
    degree, law = options.stitching_degree, options.termination
    steps = ProportionalSteps.on(graph)
    modulation, budget = share_steps(kernel, degree, law, graph)
    if isinstance(law, Matched) and not has_finite_variance(
        kernel, degree, steps, modulation, budget
    ):
        steps = measured_for(kernel, degree, steps)
    return WalkPlan.pooled(steps, modulation, budget, options.n_walks, options.seed)


def measured_for(kernel: Kernel, degree: int, steps: ProportionalSteps) -> ProportionalSteps:
    """Steps in a measure in which the variance is finite; for kernels with a radius.

    Its terms are at most ``|f(k)| r^k`` with ``r`` the geometric mean of both radii.
    """
    inner, outer = steps.graph.spectral_radius(), kernel.modulation_radius(degree)
    return steps.measured(inner**0.75 * outer**0.25)


def share_steps(
    kernel: Kernel,
    degree: int,
    law: Termination,
    graph: Graph,
) -> tuple[FloatArray, Budget]:
    """The modulation as far as a pool goes, and how its steps are shared."""
    if not isinstance(law, Matched):
        modulation = modulation_table(kernel, degree, law)
        longest = min(len(modulation) - 1, resolvable_length(law))
        return modulation[: longest + 1], Budget.by_law(law, longest)
    n = 64
    while True:
        table = representable(kernel, degree, n)
        budget = Budget.matched(law, table, log_growth(graph, n))
        is_whole = budget.max_length < n // 2 and n // 2 > min(kernel.longest_gap, FAR)
        ended = series_has_ended(kernel, table, n)
        if is_whole or ended or len(table) < n or n >= _MAX_TABLE:
            return table[: budget.max_length + 1], budget
        n *= 2
