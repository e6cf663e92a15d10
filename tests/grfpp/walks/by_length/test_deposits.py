"""Deposits by length against the definition: the engine with the modulation e_k."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, LAWS, QUICK, graphs, laws

from grfpp import Graph, InputError
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.by_length import LengthWalker, sample_by_length
from grfpp.walks.reference import reference_rows


def plan_of(graph, modulation, law=LAWS["geometric"], n_walks=7, seed=3, factor=1):
    return WalkPlan.of(graph, np.asarray(modulation, float), law, n_walks, seed, factor)


@pytest.mark.parametrize("name", GRAPHS)
def test_every_length_is_the_factor_of_its_unit_modulation(name):
    graph, n_lengths = GRAPHS[name], 6
    deposits = sample_by_length(plan_of(graph, np.ones(n_lengths)))
    assert deposits.n_lengths == n_lengths
    for unit in np.eye(n_lengths):
        wanted = sample_factor(plan_of(graph, unit)).toarray()
        assert_allclose(deposits.factor(unit).toarray(), wanted, rtol=1e-13)


@pytest.mark.parametrize("law", LAWS)
def test_any_modulation_gives_the_engines_factor(law):
    graph = GRAPHS["weighted, sym"]
    f = np.random.default_rng(0).normal(size=5)
    deposits = sample_by_length(plan_of(graph, np.ones(5), LAWS[law]))
    wanted = sample_factor(plan_of(graph, f, LAWS[law]))
    found = deposits.factor(f)
    assert_array_equal(found.indptr, wanted.indptr)
    assert_array_equal(found.indices, wanted.indices)
    assert_allclose(found.data, wanted.data, rtol=1e-12, atol=1e-15)


@given(graph=graphs(), law=laws(), n_walks=st.integers(1, 6), seed=st.integers(0, 2**64))
@QUICK
def test_the_reference_agrees(graph, law, n_walks, seed):
    f = np.array([1.0, -0.5, 0.25, 2.0])
    plan = WalkPlan.of(graph, f, law, n_walks, seed)
    deposits = sample_by_length(plan)
    wanted = reference_rows(plan, range(graph.n_nodes))
    found = deposits.factor(f[: deposits.n_lengths]).toarray()
    assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)


def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 3000, size=(2, 9000))
    W = Graph((np.concatenate([pairs, pairs[::-1]], axis=1), None), n_nodes=3000).normalized("sym")
    plan = plan_of(W, np.ones(12), n_walks=20)
    one, many = (sample_by_length(plan, n_jobs=n_jobs) for n_jobs in (1, 3))
    for name in ("indptr", "columns", "ends", "lengths", "amounts"):
        assert_array_equal(getattr(one, name), getattr(many, name))


def test_output_that_outgrows_the_first_guess(monkeypatch):
    plan = plan_of(GRAPHS["weighted, sym"], np.ones(12), n_walks=300)
    wanted = sample_by_length(plan)
    monkeypatch.setattr(LengthWalker.__init__, "__defaults__", (1,))
    found = sample_by_length(plan)
    assert_array_equal(found.amounts, wanted.amounts)


def test_a_modulation_of_the_wrong_size_is_refused():
    deposits = sample_by_length(plan_of(GRAPHS["unweighted, sym"], np.ones(4)))
    with pytest.raises(InputError, match="must hold 4 numbers"):
        deposits.factor(np.ones(5))


def test_loads_that_overflow_are_refused():
    graph = Graph(np.array([[0, 1e200], [1e200, 0]]))
    with pytest.raises(InputError, match="overflow"):
        sample_by_length(plan_of(graph, np.ones(5)))
