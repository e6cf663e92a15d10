"""Pools by length against the definition: the engine with the modulation e_k; means W^k."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.linalg import matrix_power
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, LAWS, QUICK, directed, graphs, weighted
from statistics_helpers import copies

from grfpp import Graph, InputError, Matched
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.budget import Budget
from grfpp.walks.by_length import MAX_LENGTHS, LengthWalker, sample_by_length
from grfpp.walks.reference import reference_rows

N_LENGTHS = 6


def plan_of(graph, f, mean, n_walks=1, seed=3, factor=1):
    budget = Budget.for_learning(Matched(mean), len(f))
    return WalkPlan.pooled(graph, np.asarray(f, float), budget, n_walks, seed, factor)


@pytest.mark.parametrize("mean", [0.5, 3, 40])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_modulation_gives_the_engines_factor(name, mean):
    graph = GRAPHS[name]
    deposits = sample_by_length(plan_of(graph, np.ones(N_LENGTHS), mean))
    assert deposits.n_lengths == N_LENGTHS
    for f in (*np.eye(N_LENGTHS), np.random.default_rng(0).normal(size=N_LENGTHS)):
        wanted, found = sample_factor(plan_of(graph, f, mean)), deposits.factor(f)
        assert_array_equal(found.indptr, wanted.indptr)
        assert_array_equal(found.indices, wanted.indices)
        assert_allclose(found.data, wanted.data, rtol=1e-12, atol=1e-15)


@given(graph=graphs(), mean=st.floats(0.2, 30), seed=st.integers(0, 2**64))
@QUICK
def test_the_reference_agrees(graph, mean, seed):
    f = np.array([1.0, -0.5, 0.25, 2.0])
    plan = plan_of(graph, f, mean, seed=seed)
    found = sample_by_length(plan).factor(f).toarray()
    assert_allclose(found, reference_rows(plan, range(graph.n_nodes)), rtol=1e-11, atol=1e-13)


def with_loops_and_isolated():
    matrix = np.zeros((30, 30))
    matrix[:27, :27] = weighted(27, seed=2, density=0.2)
    matrix[[0, 3, 28], [0, 3, 28]] = [0.5, 2.0, 1.0]
    return matrix


SOURCES = {
    "weighted": weighted(30, density=0.2),
    "unweighted": nx.to_numpy_array(nx.barabasi_albert_graph(30, 3, seed=0)),
    "directed": directed(30),
    "loops and isolated": with_loops_and_isolated(),
}


@pytest.mark.parametrize("budget", [3, 16, 144])
@pytest.mark.parametrize("name", SOURCES)
def test_every_length_has_its_power_for_a_mean(name, budget):
    graph, n_copies = Graph(SOURCES[name]).normalized("sym"), 800
    W, many = graph.adjacency.toarray(), copies(graph.adjacency, n_copies)
    # As much for late steps as for early ones: else small budgets hardly ever come so far.
    shares = Budget.by_importance(np.ones(N_LENGTHS - 1), budget)
    deposits = sample_by_length(WalkPlan.pooled(many, np.ones(N_LENGTHS), shares, 1, seed=3))
    # Products with a few vectors and not single entries, of which some are met very seldom.
    vectors = np.random.default_rng(0).normal(size=(30, 3))
    z = []
    for k, unit in enumerate(np.eye(N_LENGTHS)):
        found = (deposits.factor(unit) @ np.tile(vectors, (n_copies, 1))).reshape(n_copies, 30, 3)
        exact, error = matrix_power(W, k) @ vectors, found.std(axis=0) / np.sqrt(n_copies)
        varies = error > 1e-12
        assert_allclose(found.mean(axis=0)[~varies], exact[~varies], atol=1e-12)
        z.append((found.mean(axis=0) - exact)[varies] / error[varies])
    assert len(np.concatenate(z)) > 100
    assert 0.85 < np.sqrt(np.mean(np.concatenate(z) ** 2)) < 1.15


def test_lengths_rise_within_an_entry_and_stand_once():
    deposits = sample_by_length(plan_of(GRAPHS["weighted, sym"], np.ones(12), 60))
    begins = np.append(0, deposits.ends[:-1])
    for begin, end in zip(begins, deposits.ends, strict=True):
        assert (np.diff(deposits.lengths[begin:end]) > 0).all()


def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 3000, size=(2, 9000))
    W = Graph((np.concatenate([pairs, pairs[::-1]], axis=1), None), n_nodes=3000).normalized("sym")
    plan = plan_of(W, np.ones(12), 9, n_walks=20)
    one, many = (sample_by_length(plan, n_jobs=n_jobs) for n_jobs in (1, 3))
    for name in ("indptr", "columns", "ends", "lengths", "amounts"):
        assert_array_equal(getattr(one, name), getattr(many, name))


def test_output_that_outgrows_the_first_guess(monkeypatch):
    plan = plan_of(copies(GRAPHS["weighted, sym"].adjacency, 20), np.ones(12), 60)
    wanted = sample_by_length(plan)
    monkeypatch.setattr(LengthWalker.__init__, "__defaults__", (1,))
    found = sample_by_length(plan)
    for name in ("indptr", "columns", "ends", "lengths", "amounts"):
        assert_array_equal(getattr(found, name), getattr(wanted, name))


@pytest.mark.parametrize("law", LAWS)
def test_laws_are_budgets_too(law):
    graph, f = GRAPHS["weighted, sym"], np.random.default_rng(0).normal(size=5)
    budget = Budget.by_law(LAWS[law], 4)
    plans = (WalkPlan.pooled(graph, each, budget, 7, 3) for each in (np.ones(5), f))
    deposits, wanted = sample_by_length(next(plans)), sample_factor(next(plans))
    assert_allclose(deposits.factor(f).toarray(), wanted.toarray(), rtol=1e-12, atol=1e-15)


def test_masses_that_overflow_are_refused():
    graph = Graph(np.array([[0, 1e200], [1e200, 0]]))
    with pytest.raises(InputError, match="overflow"):
        sample_by_length(plan_of(graph, np.ones(5), 9))


def test_too_many_lengths_are_refused():
    budget = Budget.by_importance(np.ones(MAX_LENGTHS), 9.0)
    plan = WalkPlan.pooled(GRAPHS["one node"], np.ones(9), budget, 1, 0)
    with pytest.raises(InputError, match="lengths are kept apart"):
        sample_by_length(plan)
