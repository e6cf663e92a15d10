"""From a tolerance to a budget: a few rows are walked several times with budgets that grow.

Only what these rows reach is looked at, and the result depends on the graph, the kernel and the
seed, not on what is asked for afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.kernels import Kernel
from grfpp.local.plan import LocalPlan
from grfpp.local.queries import local_rows
from grfpp.typing import FloatArray, IntArray

#: Edges that a row may follow where neither a tolerance nor a budget is given, times the mean
#: number of steps of the series (at least one); and the most.
DEFAULT_BUDGET, _MOST_DEFAULT = 4096.0, float(1 << 20)
#: Rows that are walked, and how often each.
N_ROWS, N_TIMES = 16, 4
#: The first budget, the factor to the next, and the largest that a tolerance is turned into.
_FIRST, _GROWTH, MOST_BUDGET = 64.0, 4.0, float(1 << 22)
#: What is aimed at, as a share of the tolerance.
_AIM = 0.85
#: How the error falls with the budget before two have told, and between which bounds.
_SLOPE, _SLOPES = 0.5, (0.3, 3.0)
#: How often a budget between one that is too small and one that is large enough is tried.
_REFINEMENTS = 3
#: Replicates from here on are those of pilots.
_OF_PILOTS = 1 << 30
#: Nodes without edges have exact rows, and say nothing; so many are drawn for each that is used.
_DRAWN = 8


def default_budget(plan: LocalPlan) -> float:
    """A budget that suits how far the series reaches."""
    return min(DEFAULT_BUDGET * max(1.0, plan.series.mean_steps), _MOST_DEFAULT)


def budget_for(plan: LocalPlan, kernel: Kernel, tol: float) -> float:
    """The edges that a row may follow to have the error `tol`, in the mean over nodes.

    Raises
    ------
    InputError
        Where that would be more than four million.
    """
    nodes = pilot_nodes(plan)
    if not len(nodes):
        return _FIRST
    measured: list[tuple[float, float]] = []
    aim = _AIM * tol
    for budget in _budgets(measured, aim):
        if budget > MOST_BUDGET:
            raise _refusal(kernel, tol, measured, budget)
        error = row_error(plan.with_budget(budget), nodes)
        measured.append((budget, error))
        if error <= aim:
            break
    return _refined(plan, nodes, measured, aim)


def pilot_nodes(plan: LocalPlan) -> IntArray:
    """Nodes with edges, at random; fewer where there are few."""
    graph = plan.graph
    random = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_OF_PILOTS,)))
    drawn = random.integers(0, graph.n_nodes, _DRAWN * N_ROWS)
    has_edges = graph.indptr[drawn + 1] > graph.indptr[drawn]
    return np.asarray(drawn[has_edges][:N_ROWS], np.int64)


def row_error(plan: LocalPlan, nodes: IntArray) -> float:
    """Relative error of rows in the 2-norm: its root mean square over `nodes`.

    From rows that are walked four times: their variance over the square of their mean's size.
    """
    times = [local_rows(plan.with_replicate(_OF_PILOTS + i), nodes) for i in range(N_TIMES)]
    mean = sum(times[1:], times[0]) / N_TIMES
    variance = sum(_squares(each - mean) for each in times) / (N_TIMES - 1)
    size = _squares(mean) - variance / N_TIMES
    # A row whose size drowns in its noise is all wrong.
    relative = np.where(size > 0, variance / np.maximum(size, 1e-300), np.where(variance > 0, 1, 0))
    return float(np.sqrt(np.mean(relative)))


def _squares(rows: sp.csr_array) -> FloatArray:
    matrix = rows.copy()
    matrix.data **= 2
    return np.asarray(matrix.sum(axis=1)).ravel()


def _slope(measured: list[tuple[float, float]]) -> float:
    if len(measured) < 2 or not measured[-1][1] > 0:
        return _SLOPE
    (before, error_before), (last, error) = measured[-2:]
    fall = math.log(max(error_before, 1e-300) / error) / math.log(last / before)
    return min(max(fall, _SLOPES[0]), _SLOPES[1])


def _budgets(measured: list[tuple[float, float]], aim: float) -> Iterator[float]:
    """Budgets to try, each chosen by what the ones before have shown."""
    yield _FIRST
    while True:
        last, error = measured[-1]
        foretold = last * (error / aim) ** (1 / _slope(measured))
        # Where three agree that it is out of reach, the fourth need not be walked.
        if len(measured) > 2 and foretold > 16 * MOST_BUDGET:
            yield foretold
        yield max(2 * last, min(_GROWTH * last, foretold))


def _refined(
    plan: LocalPlan, nodes: IntArray, measured: list[tuple[float, float]], aim: float
) -> float:
    """A budget between the last two that has the error as well: errors can fall steeply."""
    enough = measured[-1][0]
    for _ in range(_REFINEMENTS):
        budget = _between(measured, aim)
        if not budget < 0.8 * enough:
            break
        error = row_error(plan.with_budget(budget), nodes)
        if error <= aim:
            return budget
        measured.insert(-1, (budget, error))
    return enough


def _between(measured: list[tuple[float, float]], aim: float) -> float:
    """The budget at which the error would be as aimed at, between the last two."""
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
        f"tol={tol:g} would take some {budget:.1g} edges a row: {kernel!r} reaches too far on this "
        f"graph for pools ({last:.3g} edges gave {error:.2g})",
        advice=(
            "use grfpp.kernel_operator(W, kernel, tol), which solves or takes polynomials, or give "
            "a budget to see how far pools come"
        ),
    )
