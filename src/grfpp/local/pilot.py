"""From a tolerance to a budget: pilot rows are sampled several times with growing budgets.

The result depends on the graph, the kernel and the seed, not on later queries.
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

#: Edges of a row without tolerance and budget, for every step of the series in the mean.
DEFAULT_BUDGET = 4096.0
_MAX_DEFAULT_BUDGET = float(1 << 20)
#: Pilot rows.
N_ROWS = 16
#: Independent samples of each pilot row.
N_TIMES = 4
_FIRST_BUDGET = 64.0
#: Largest ratio of consecutive pilot budgets.
_MAX_GROWTH = 4.0
#: Largest budget that a tolerance may need.
MAX_BUDGET = float(1 << 22)
#: Target error as a share of the tolerance, since pilots are few.
_TARGET_SHARE_OF_TOLERANCE = 0.85
#: Rate ``r`` of ``error ~ budget^-r`` that is assumed before two budgets are measured.
_DEFAULT_RATE = 0.5
#: Bounds of the measured rate.
_RATE_BOUNDS = (0.3, 3.0)
#: Number of bisection steps between an insufficient and a sufficient budget.
_REFINEMENTS = 3
#: Replicates of pilots have indices from here on.
_PILOT_REPLICATES = 1 << 30
#: Nodes that are drawn for every pilot row; those without edges are not used.
_DRAWS_PER_ROW = 8


def default_budget(plan: LocalPlan) -> float:
    """A budget that suits how far the series reaches."""
    return min(DEFAULT_BUDGET * max(1.0, plan.series.mean_steps), _MAX_DEFAULT_BUDGET)


def budget_for(plan: LocalPlan, kernel: Kernel, tol: float) -> float:
    """The edges that a row may follow to have the error `tol`, in the mean over nodes.

    Raises
    ------
    InputError
        Where that would be more than four million.
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


def pilot_nodes(plan: LocalPlan) -> IntArray:
    """Nodes with edges, at random; fewer where there are few."""
    graph = plan.graph
    random = np.random.default_rng(
        np.random.SeedSequence(plan.seed, spawn_key=(_PILOT_REPLICATES,))
    )
    drawn = random.integers(0, graph.n_nodes, _DRAWS_PER_ROW * N_ROWS)
    has_edges = graph.indptr[drawn + 1] > graph.indptr[drawn]
    return np.asarray(drawn[has_edges][:N_ROWS], np.int64)


def row_error(plan: LocalPlan, nodes: IntArray) -> float:
    """Relative error of rows in the 2-norm: its root mean square over `nodes`.

    From rows that are sampled four times: their variance over the square of their mean's size.
    """
    times = [local_rows(plan.with_replicate(_PILOT_REPLICATES + i), nodes) for i in range(N_TIMES)]
    mean = sum(times[1:], times[0]) / N_TIMES
    variance = sum(_squares(each - mean) for each in times) / (N_TIMES - 1)
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
    """Budgets to try, each chosen by what the ones before have shown."""
    yield _FIRST_BUDGET
    while True:
        last, error = measured[-1]
        forecast = last * (error / aim) ** (1 / _rate(measured))
        # Three pilots that agree are enough to refuse.
        if len(measured) > 2 and forecast > 16 * MAX_BUDGET:
            yield forecast
        yield max(2 * last, min(_MAX_GROWTH * last, forecast))


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
