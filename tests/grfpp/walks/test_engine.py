"""The compiled loops of walks against plain Python, and properties of pools."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, QUICK, graphs, laws

from grfpp import Diffusion, FixedLength, Geometric, Graph, Matched, Poisson
from grfpp.walks import WalkPlan, sample_factor, sample_rows
from grfpp.walks.convergence import log_growth
from grfpp.walks.plan import Budget
from grfpp.walks.planning import share_steps
from grfpp.walks.pool_arrays import PoolLayout
from grfpp.walks.reference import reference_rows
from grfpp.walks.transition import ProportionalSteps

#: Signs alternate and nothing is zero, so that every deposit shows.
MODULATION = 1.3 * (-0.6) ** np.arange(60) / np.sqrt(1 + np.arange(60))
BUDGETS = [0.3, 1, 3, 16, 100]


def lengths_of(law, graph, is_pooled=True):
    if not is_pooled:
        return law
    if isinstance(law, Matched):
        return Budget.matched(law, MODULATION, log_growth(graph, len(MODULATION)))
    return Budget.by_law(law, min(59, 59 if law.max_length is None else law.max_length))


def assert_engine_equals_reference(plan, tolerance=1e-12):
    n = plan.graph.n_nodes
    found = sample_rows(plan, range(n)).toarray()
    wanted = reference_rows(plan, range(n))
    assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())
    return found


def series(graph, coefficients):
    W = graph.adjacency.toarray()
    return sum(f * np.linalg.matrix_power(W, k) for k, f in enumerate(coefficients))


@pytest.mark.parametrize(
    ("law", "n_walks"),
    [
        *((law, n_walks) for law in (Matched(9), Geometric(0.15)) for n_walks in BUDGETS),
        *((law, "independent") for law in (Geometric(0.15), Poisson(4.0), FixedLength(7))),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", GRAPHS)
def test_engine_equals_reference_on_every_kind_of_graph(name, law, n_walks):
    graph, is_pooled = GRAPHS[name], n_walks != "independent"
    lengths, number = lengths_of(law, graph, is_pooled), n_walks if is_pooled else 12
    assert_engine_equals_reference(WalkPlan.of(graph, MODULATION, lengths, number, 5, 3))


@pytest.mark.parametrize("name", ["weighted, sym", "directed, None", "loops and isolated, sym"])
def test_engine_equals_reference_in_another_measure(name):
    graph = GRAPHS[name]
    steps = ProportionalSteps.on(graph).measured(1.2 * graph.spectral_radius())
    plan = WalkPlan.of(steps, MODULATION, lengths_of(Matched(9), graph), 2, 1)
    assert np.ptp(plan.measure) > 0
    assert_engine_equals_reference(plan)


@settings(QUICK, max_examples=120)
@given(graphs(), laws(), st.integers(1, 9), st.integers(0, 2**70), st.integers(0, 9))
def test_engine_equals_reference_on_generated_graphs(graph, law, n_walks, seed, factor):
    for lengths, number in ((law, n_walks), (lengths_of(law, graph), 0.9 * n_walks)):
        plan = WalkPlan.of(graph, MODULATION, lengths, number, seed, factor)
        assert_engine_equals_reference(plan)


@pytest.mark.parametrize("name", GRAPHS)
def test_with_room_for_everything_a_row_is_the_series_itself(name):
    graph = GRAPHS[name]
    budget = lengths_of(Matched(9), graph)
    plan = WalkPlan.of(graph, MODULATION, budget, 10**4, seed=0)
    wanted = series(graph, MODULATION[: budget.max_length + 1])
    found = sample_factor(plan).toarray()
    assert_allclose(found, wanted, atol=1e-12 * np.abs(wanted).max())


def test_a_ball_that_fits_is_exact_and_what_lies_beyond_is_not():
    path = Graph(nx.to_scipy_sparse_array(nx.path_graph(400))).normalized("sym")
    modulation, budget = share_steps(Diffusion(1.0), 1, Matched(9), path)
    plan = WalkPlan.of(path, modulation, budget, 4, seed=0)
    row, exact = sample_rows(plan, [200]).toarray()[0], Diffusion(0.5).exact(path)[200]
    assert_allclose(row[198:203], exact[198:203], rtol=1e-4)
    assert not np.allclose(row, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_walks", [1, 16, 300])
def test_hubs_cost_no_more_than_the_budget(n_walks):
    n = 20_000
    star = Graph(nx.to_scipy_sparse_array(nx.star_graph(n - 1), format="csr"))
    for graph in (star.normalized("sym"), Graph(star.adjacency * np.linspace(1, 2, n))):
        modulation, budget = share_steps(Diffusion(1.0), 1, Matched(9), graph)
        plan = WalkPlan.of(graph, modulation, budget, n_walks, seed=0)
        per_row = np.diff(sample_rows(plan, range(50)).indptr)
        assert per_row.max() <= min(9 * n_walks + 2 * budget.max_length + 3, n)


def test_edges_are_picked_in_proportion_to_their_weights():
    weights = np.array([8.0, 4.0, 2.0, 1.0, 1.0])
    matrix = np.zeros((6, 6))
    matrix[0, 1:] = weights
    budget = Budget.by_importance(np.ones(1), 1.0)
    plan = WalkPlan.of(Graph(matrix), np.array([0.0, 1.0]), budget, 1, seed=0)
    found = np.array([sample_rows(plan.with_factor(i), [0]).toarray()[0, 1:] for i in range(3000)])
    assert_allclose(found.sum(axis=1), weights.sum())  # one edge, with the mass of all
    share = (found > 0).mean(axis=0)
    error = np.sqrt(share * (1 - share) / len(found))
    assert (np.abs(share - weights / weights.sum()) < 4 * error).all()


def test_heavy_edges_are_followed_with_what_they_carry():
    matrix = np.zeros((12, 12))
    matrix[0, 1:] = [100.0, *[1.0] * 10]
    budget = Budget.by_importance(np.ones(1), 3.0)
    plan = WalkPlan.of(Graph(matrix), np.array([0.0, 1.0]), budget, 1, seed=0)
    row = sample_rows(plan, [0]).toarray()[0]
    assert_allclose(row[1], 100.0)
    assert_allclose(np.sort(row[2:])[-2:], [5.0, 5.0])  # two edges stand for ten


def test_threads_and_blocks_change_no_bit(monkeypatch):
    graph = Graph(nx.to_scipy_sparse_array(nx.barabasi_albert_graph(3000, 4, seed=0)))
    for W in (graph.normalized("sym"), GRAPHS["weighted, sym"]):
        modulation, budget = share_steps(Diffusion(5.0), 2, Matched(9), W)
        plan = WalkPlan.of(W, modulation, budget, 16, seed=0)
        wanted = sample_factor(plan, n_jobs=1)
        for steps in (300, 7_000, 100_000):
            monkeypatch.setattr("grfpp.walks.sampling.TASK_STEPS", steps)
            for n_jobs in (1, 2, 5):
                found = sample_factor(plan, n_jobs=n_jobs)
                for part in ("data", "indices", "indptr"):
                    assert_array_equal(getattr(found, part), getattr(wanted, part))


def test_single_precision_is_the_rounded_double():
    graph = GRAPHS["weighted, sym"]
    plan = WalkPlan.of(graph, MODULATION, lengths_of(Matched(9), graph), 2, 0)
    double, single = (sample_factor(plan, dtype=dtype) for dtype in (np.float64, np.float32))
    assert single.dtype == np.float32
    assert_array_equal(single.toarray(), double.toarray().astype(np.float32))


def test_the_smallest_and_largest_weights():
    for scale in (1e-300, 1e-150, 1e150):
        graph = Graph(np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 1e-9], [0.5, 1e-9, 0.0]]) * scale)
        modulation = np.array([1.0, 1.0 / scale])
        budget = Budget.by_importance(np.ones(1), 9.0)
        plan = WalkPlan.of(graph, modulation, budget, 1, seed=0)
        row = sample_rows(plan, [0]).toarray()[0]
        assert_allclose(row[1:], [1.0, 0.5], rtol=1e-6)


def test_rows_are_sorted_alike_in_blocks_of_any_size(monkeypatch):
    for graph in GRAPHS.values():
        steps = ProportionalSteps.carrying(graph)
        whole = PoolLayout.of(steps)
        monkeypatch.setattr("grfpp.walks.pool_arrays.BLOCK_EDGES", 3)
        for one, other in zip(whole.arrays, PoolLayout.of(steps).arrays, strict=True):
            assert_array_equal(one, other)
        monkeypatch.undo()
