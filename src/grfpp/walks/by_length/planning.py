"""Plans of walks that are kept apart by length, for modulations that are still to be learned."""

from __future__ import annotations

import numpy as np

from grfpp.graph import Graph
from grfpp.options import WalkOptions
from grfpp.termination import Matched
from grfpp.walks.budget import Budget
from grfpp.walks.lengths import resolvable_length
from grfpp.walks.plan import WalkPlan


def plan_by_length(graph: Graph, n_lengths: int, options: WalkOptions) -> WalkPlan:
    """Walks for any modulation of so many lengths; they end earlier where the law does."""
    law, ones = options.termination, np.ones(n_lengths)
    if options.walks == "independent":
        return WalkPlan.of(graph, ones, law, options.n_walks, options.seed)
    if isinstance(law, Matched):
        budget = Budget.for_learning(law, n_lengths)
    else:
        budget = Budget.by_law(law, resolvable_length(law, n_lengths - 1))
    return WalkPlan.pooled(graph, ones, budget, options.n_walks, options.seed)
