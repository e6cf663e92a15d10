"""From a tolerance to a budget."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import grfpp
from grfpp import Graph, InputError
from grfpp.errors import InputWarning
from grfpp.local import LocalPlan, local_rows, pilot

KERNEL = grfpp.Diffusion(3.0)
NETWORK = Graph(nx.barabasi_albert_graph(400, 3, seed=0)).normalized("sym")
EXACT = KERNEL.exact(NETWORK)


def plan_of(graph=NETWORK, kernel=KERNEL, budget=100.0, seed=0):
    return LocalPlan.of(graph, kernel, budget, seed)


def true_error(plan, nodes, n_times=40):
    """Root mean square over walks and nodes of the relative error of rows."""
    wanted = EXACT[nodes]
    squares = [
        ((local_rows(plan.with_replicate(i), nodes).toarray() - wanted) ** 2).sum(axis=1)
        for i in range(n_times)
    ]
    return np.sqrt(np.mean(np.mean(squares, axis=0) / (wanted**2).sum(axis=1)))


@pytest.mark.parametrize("budget", [100.0, 400.0])
def test_the_error_that_a_pilot_sees_is_the_true_one(budget):
    plan = plan_of(budget=budget)
    nodes = pilot.pilot_nodes(plan)
    # From 16 rows, four times each: some 10 % of it is chance.
    assert_allclose(pilot.row_error(plan, nodes), true_error(plan, nodes), rtol=0.35)
    assert pilot.row_error(plan_of(budget=1e5), np.arange(10)) < 1e-7  # exact rows have none


@pytest.mark.parametrize("tol", [0.3, 0.1, 0.03])
def test_the_budget_has_the_error_on_other_nodes_and_is_not_far_too_large(tol):
    budget = pilot.budget_for(plan_of(), KERNEL, tol)
    nodes = np.random.default_rng(1).choice(400, 40, replace=False)
    assert true_error(plan_of(budget=budget, seed=9), nodes) < tol
    assert true_error(plan_of(budget=budget / 8, seed=9), nodes) > tol / 2


def test_pilots_start_from_nodes_with_edges():
    graph = Graph([(0, 1), (1, 2)], n_nodes=60).normalized("sym")
    nodes = pilot.pilot_nodes(plan_of(graph))
    assert len(nodes) and set(nodes) <= {0, 1, 2}
    empty = Graph(np.zeros((5, 5)))
    assert not len(pilot.pilot_nodes(plan_of(empty)))
    assert pilot.budget_for(plan_of(empty), KERNEL, 1e-3) > 0


def test_default_budgets_grow_with_the_steps_of_the_series_up_to_a_limit():
    short, long, longest = (
        pilot.default_budget(plan_of(kernel=grfpp.Diffusion(time))) for time in (0.5, 8.0, 300.0)
    )
    assert short == pilot.DEFAULT_BUDGET < long < longest == 1 << 20


def test_smaller_tolerances_take_larger_budgets_until_they_are_refused(monkeypatch):
    budgets = [pilot.budget_for(plan_of(), KERNEL, tol) for tol in (0.5, 0.2, 0.05)]
    assert budgets == sorted(set(budgets))
    monkeypatch.setattr(pilot, "MAX_BUDGET", 200.0)
    with pytest.raises(InputError, match=r"tol=0.001 needs about .* edges a row"):
        pilot.budget_for(plan_of(), KERNEL, 1e-3)


def precision(near, nodes, exact):
    """The share of the ten nearest nodes that are right, of the nodes and by their true values."""
    found = np.take_along_axis(exact[nodes], near.top_k(nodes, 10)[0], axis=1)
    return np.mean(found >= 0.99 * np.sort(exact[nodes], axis=1)[:, -10:-9])


def test_the_default_budget_of_top_k_reaches_its_precision(monkeypatch):
    monkeypatch.setattr(pilot, "DEFAULT_BUDGET", 32.0)
    near = grfpp.LocalKernel(NETWORK, KERNEL, seed=3)
    nodes = np.random.default_rng(1).choice(400, 80, replace=False)
    assert near.ranking_plan.budget > near.budget
    assert precision(near, nodes, EXACT) > 0.93
    fixed = grfpp.LocalKernel(NETWORK, KERNEL, budget=near.budget, seed=3)
    assert fixed.ranking_plan is fixed.plan
    assert precision(fixed, nodes, EXACT) < 0.9


def test_a_default_budget_that_does_not_settle_the_nearest_nodes_warns(monkeypatch):
    monkeypatch.setattr(pilot, "DEFAULT_BUDGET", 4.0)
    W = grfpp.datasets.random_regular(400, 10, seed=0).normalized("sym")
    near = grfpp.LocalKernel(W, grfpp.Diffusion(8.0))
    with pytest.warns(InputWarning) as caught:
        near.top_k(0, 10)
    details = caught[0].message.details
    assert details["budget"] == near.ranking_plan.budget == 16 * near.budget
    assert 0 <= details["precision"] < 0.95
    near.top_k(1, 10)  # only the first query warns


def test_exact_rows_need_no_larger_budget():
    near = grfpp.LocalKernel(NETWORK, KERNEL, seed=3)
    assert near.ranking_plan is near.plan
    few = grfpp.LocalKernel(Graph(np.zeros((5, 5))), KERNEL)
    assert few.ranking_plan is few.plan
