"""Nearest nodes with a probability of being right: budgets that grow until ranks are apart.

Independent pools of growing budgets are averaged. Their spread gives the error of each candidate,
and the errors bound the probability that the set of the ``r`` nearest is wrong, by the sum of the
tails of Student's distribution over all pairs across its boundary. A query ends when the bound for
its ``k`` nearest is small enough, or is not expected to be with all budgets. A first pool that
followed all edges is exact, and its ranks are certain.

Few pools give a poor variance. It is shrunk towards a common one of all candidates of the query,
which is taken as proportional to ``√(value · degree)``.

References
----------
G. K. Smyth, Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments, Statistical Applications in Genetics and Molecular Biology 3, 2004, section
3: variances shrunk towards a common one, and the degrees of freedom that this adds.
"""

from __future__ import annotations

import numpy as np

from grfpp.local.plan import LocalPlan
from grfpp.local.queries import Choice, local_top_k
from grfpp.local.seeds import Seeds
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Degrees of freedom of the variance that all candidates share. This and `_RATE` were chosen on
#: other graphs than those of ``python -m grfpp_lab.studies.confidence``.
_PRIOR_FREEDOM = 8
#: Variance of a pool as a power of its budget: between that of independent samples and the square,
#: which is nearly reached by pools that push most of their mass.
_RATE = 1.5


def certain_top_k(
    plan: LocalPlan, seeds: Seeds, k: int, choice: Choice, confidence: float
) -> tuple[IntArray, FloatArray, BoolArray]:
    """The `k` largest entries of rows, and whether the first ones of them are certain as a set."""
    from grfpp.local.loops import rank_lists

    n, n_listed, allowed = len(seeds), plan.list_length(k), 1.0 - confidence
    nodes, values, certain = np.empty((n, k), np.int64), np.empty((n, k)), np.empty((n, k), bool)
    weights = np.array([stage.budget for stage in plan.stages]) ** _RATE
    which = np.arange(n)
    lists: list[tuple[IntArray, FloatArray]] = []
    for number, stage in enumerate(plan.stages, start=1):
        missed = np.empty(len(which))
        lists.append(local_top_k(stage, seeds.take(which), n_listed, choice, missed))
        best, means = lists[0]
        risks = np.repeat(missed[:, np.newaxis] > 0, k, axis=1).astype(np.float64)
        is_open = missed > 0
        if number > 1:
            best, means = np.full(best.shape, -1), np.zeros(best.shape)
            least = np.empty(len(which))
            found = tuple(np.array(arrays) for arrays in zip(*lists, strict=True))
            divisor = (plan.layout, choice.by_degree, choice.strength)
            rank_lists(found, weights, divisor, _PRIOR_FREEDOM, (best, means, risks, least))
            is_open = (risks[:, -1] > allowed) & (least <= allowed)
        nodes[which], values[which] = best[:, :k], means[:, :k]
        certain[which] = risks <= allowed
        if not is_open.any():
            break
        which, lists = which[is_open], [(a[is_open], b[is_open]) for a, b in lists]
    return nodes, values, certain
