"""From a tolerance or a precision to a budget, by pilot rows with growing budgets.

The budget depends on the graph, the kernel and the seed, not on later queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.kernels import Kernel
from grfpp.local.plan import LocalPlan
from grfpp.local.queries import local_resolutions, local_rows, local_top_k, local_values
from grfpp.typing import FloatArray, IntArray

#: Default budget of a row per mean step of the series: a millisecond or so.
DEFAULT_BUDGET = 4096.0
#: Largest default budget: a fraction of a second.
_MAX_DEFAULT_BUDGET = float(1 << 20)
#: Number of pilot rows: the error over all nodes is then known to about a quarter.
N_ROWS = 16
#: Independent samples of each pilot row: three degrees of freedom for its variance.
N_TIMES = 4
#: Budget of the first pilots: small relative to that of any useful tolerance.
_FIRST_BUDGET = 64.0
#: Largest ratio of consecutive pilot budgets, so that a wrong forecast costs little.
_MAX_GROWTH = 4.0
#: Largest budget for a tolerance; solvers are faster beyond it.
MAX_BUDGET = float(1 << 22)
#: Target error as a share of the tolerance: a margin for the noise of so few pilots.
_TARGET_SHARE_OF_TOLERANCE = 0.85
#: Rate ``r`` of ``error ~ budget^-r`` before two budgets are measured: that of independent samples.
_DEFAULT_RATE = 0.5
#: Bounds of the measured rate: pools that are nearly exact have high ones.
_RATE_BOUNDS = (0.3, 3.0)
#: Number of interpolations between an insufficient and a sufficient budget; few, as each samples.
_REFINEMENTS = 3
#: Index of the first replicate of the pilots, beyond those of any query.
_PILOT_REPLICATES = 1 << 30
#: Nodes that are drawn for every pilot row, since those without edges are skipped.
_DRAWS_PER_ROW = 8
#: Nearest nodes whose precision decides on the default budget of `plan_ranking`.
_TOP = 10
#: Number of nodes whose nearest ones are compared: the precision is then known to about 0.02.
_N_RANKED = 32
#: Precision that the default budget must reach: one wrong node in two lists of ten.
_MIN_PRECISION = 0.95
#: Share of the reference's tenth value from which a node is right: closer values are ties to users.
_TIE = 0.99
#: Growth of the budget from one pilot to the next, which halves the error of independent samples.
_RANKING_GROWTH = 4.0
#: Largest growth in all, which is that of the cost of a query; `_MAX_DEFAULT_BUDGET` bounds it too.
_MAX_RANKING_GROWTH = 16.0


def default_budget(plan: LocalPlan) -> float:
    """The default budget, in proportion to the mean number of steps of the series."""
    return min(DEFAULT_BUDGET * max(1.0, plan.series.mean_steps), _MAX_DEFAULT_BUDGET)


def budget_for(plan: LocalPlan, kernel: Kernel, tol: float) -> float:
    """The budget of a row for the root mean square error `tol` over nodes.

    Raises
    ------
    InputError
        Where it exceeds four million edges.
    """
    nodes = pilot_nodes(plan)
    if not len(nodes):
        return _FIRST_BUDGET
    measured: list[tuple[float, float]] = []
    aim = _TARGET_SHARE_OF_TOLERANCE * tol
    for budget in _budgets(measured, aim):
        if budget > MAX_BUDGET:
            raise _refusal(kernel, tol, measured, budget)
        error = row_error(plan.with_budget(budget), nodes)
        measured.append((budget, error))
        if error <= aim:
            break
    return _refined(plan, nodes, measured, aim)


def plan_ranking(plan: LocalPlan) -> LocalPlan:
    """The plan with the smallest of a few budgets that finds the ten nearest nodes.

    Lists of ten are compared with those of an independent sample of four times the budget.

    Warns
    -----
    InputWarning
        Where the largest budget does not reach a precision of 0.95.
    """
    plan.graph.require_unchanged()
    nodes = pilot_nodes(plan, _N_RANKED)
    if not len(nodes) or not local_resolutions(plan, nodes).any():
        return plan
    largest = max(plan.budget, min(_MAX_RANKING_GROWTH * plan.budget, _MAX_DEFAULT_BUDGET))
    while plan.budget <= largest:
        larger = plan.with_budget(_RANKING_GROWTH * plan.budget)
        precision = _precision(plan, larger.with_replicate(_PILOT_REPLICATES), nodes)
        if precision >= _MIN_PRECISION:
            return plan
        best, plan = plan, larger
    advice = "use a larger budget, or grfpp.kernel_operator(W, kernel)"
    details: dict[str, Any] = {"budget": best.budget, "precision": precision}
    warn_user(InputWarning("the ten nearest nodes are not settled", advice=advice, **details))
    return best


def _precision(plan: LocalPlan, reference: LocalPlan, nodes: IntArray) -> float:
    """The share of the ten nearest nodes that are among those of a more accurate plan."""
    nearest, _ = local_top_k(plan, nodes, _TOP)
    _, values = local_top_k(reference, nodes, _TOP)
    is_node = nearest >= 0
    found = local_values(reference, nodes, np.where(is_node, nearest, 0))
    is_wrong = is_node & (found < _TIE * values[:, -1:])
    return 1.0 - float(is_wrong.sum() / max(1, is_node.sum()))


def pilot_nodes(plan: LocalPlan, count: int = N_ROWS) -> IntArray:
    """Random nodes with edges; fewer than `count` where few nodes have any."""
    graph = plan.graph
    random = np.random.default_rng(
        np.random.SeedSequence(plan.seed, spawn_key=(_PILOT_REPLICATES,))
    )
    drawn = random.integers(0, graph.n_nodes, _DRAWS_PER_ROW * count)
    has_edges = graph.walked.degrees(drawn) > 0
    return np.asarray(drawn[has_edges][:count], np.int64)


def row_error(plan: LocalPlan, nodes: IntArray) -> float:
    """Relative error of rows in the 2-norm: its root mean square over `nodes`.

    It is the variance of four samples of a row, divided by the squared norm of their mean.
    """
    plans = [plan.with_replicate(_PILOT_REPLICATES + i) for i in range(N_TIMES)]
    samples = [local_rows(replicate, nodes) for replicate in plans]
    mean = sum(samples[1:], samples[0]) / N_TIMES
    variance = sum(_squares(sample - mean) for sample in samples) / (N_TIMES - 1)
    size = _squares(mean) - variance / N_TIMES
    # A row whose norm is not above its noise has a relative error of one.
    relative = np.where(size > 0, variance / np.maximum(size, 1e-300), np.where(variance > 0, 1, 0))
    return float(np.sqrt(np.mean(relative)))


def _squares(rows: sp.csr_array) -> FloatArray:
    matrix = rows.copy()
    matrix.data **= 2
    return np.asarray(matrix.sum(axis=1)).ravel()


def _rate(measured: list[tuple[float, float]]) -> float:
    if len(measured) < 2 or not measured[-1][1] > 0:
        return _DEFAULT_RATE
    (before, error_before), (last, error) = measured[-2:]
    fall = math.log(max(error_before, 1e-300) / error) / math.log(last / before)
    return min(max(fall, _RATE_BOUNDS[0]), _RATE_BOUNDS[1])


def _budgets(measured: list[tuple[float, float]], aim: float) -> Iterator[float]:
    """Budgets to measure, each extrapolated from the measurements before."""
    yield _FIRST_BUDGET
    while True:
        last, error = measured[-1]
        forecast = last * (error / aim) ** (1 / _rate(measured))
        # Three measurements are enough to refuse a tolerance.
        if len(measured) > 2 and forecast > 16 * MAX_BUDGET:
            yield forecast
        yield max(2 * last, min(_MAX_GROWTH * last, forecast))


def _refined(
    plan: LocalPlan, nodes: IntArray, measured: list[tuple[float, float]], aim: float
) -> float:
    """A smaller sufficient budget between the last two: errors can decrease steeply."""
    sufficient = measured[-1][0]
    for _ in range(_REFINEMENTS):
        budget = _between(measured, aim)
        if not budget < 0.8 * sufficient:
            break
        error = row_error(plan.with_budget(budget), nodes)
        if error <= aim:
            return budget
        measured.insert(-1, (budget, error))
    return sufficient


def _between(measured: list[tuple[float, float]], aim: float) -> float:
    """The budget with the target error, interpolated between the last two."""
    (last, error) = measured[-1]
    if len(measured) < 2:
        return last
    before, error_before = measured[-2]
    if not 0 < error < error_before:
        return last
    share = math.log(error_before / aim) / math.log(error_before / error)
    return float(math.ceil(before * (last / before) ** min(max(share, 0.0), 1.0)))


def _refusal(
    kernel: Kernel, tol: float, measured: list[tuple[float, float]], budget: float
) -> InputError:
    last, error = measured[-1]
    return InputError(
        f"tol={tol:g} needs about {budget:.1g} edges a row for {kernel!r} on this graph "
        f"({last:.3g} edges have an error of {error:.2g})",
        advice="use grfpp.kernel_operator(W, kernel, tol), or a budget",
    )
