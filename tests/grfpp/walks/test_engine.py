import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from small_graphs import GRAPHS, LAWS, QUICK, graphs, laws

from grfpp import FixedLength, Geometric, Graph, Poisson
from grfpp.walks import WalkPlan, sample_rows
from grfpp.walks.reference import reference_rows


def modulation(n=200, ratio=-0.6):
    """Signs alternate and nothing is zero, so that every deposit shows."""
    return 1.3 * ratio ** np.arange(n) / np.sqrt(1 + np.arange(n))


def assert_engine_equals_reference(plan, tolerance=1e-12):
    n = plan.graph.n_nodes
    found = sample_rows(plan, range(n)).toarray()
    wanted = reference_rows(plan, range(n))
    assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())
    return wanted


@pytest.mark.parametrize("name", GRAPHS)
def test_engine_equals_reference_on_every_kind_of_graph(name):
    for law in (Geometric(0.15), Poisson(4.0), FixedLength(7)):
        plan = WalkPlan.of(GRAPHS[name], modulation(), law, n_walks=12, seed=5, factor=3)
        assert_engine_equals_reference(plan)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "name", ["weighted, sym", "unweighted, sym", "directed, None", "loops and isolated, rw"]
)
def test_engine_equals_reference_for_every_law(name, law):
    plan = WalkPlan.of(GRAPHS[name], modulation(), LAWS[law], n_walks=25, seed=11)
    found = assert_engine_equals_reference(plan)
    assert np.count_nonzero(found) > plan.graph.n_nodes


@pytest.mark.parametrize("name", ["unweighted, sym", "unweighted, rw", "regular, raw"])
def test_telescoped_loads_are_the_products_along_the_walk(name):
    plan = WalkPlan.of(GRAPHS[name], modulation(ratio=0.9), Geometric(0.05), n_walks=20, seed=1)
    assert len(plan.layout.factors) == 0
    assert_engine_equals_reference(plan)


@settings(QUICK, max_examples=120)
@given(graphs(), laws(), st.integers(1, 9), st.integers(0, 2**70), st.integers(0, 9))
def test_engine_equals_reference_on_generated_graphs(graph, law, n_walks, seed, factor):
    plan = WalkPlan.of(graph, modulation(60), law, n_walks, seed, factor)
    assert_engine_equals_reference(plan)


def test_large_graph_with_many_collisions_in_the_hash_table():
    # Every walk of one row ends somewhere else: the row's table is as full as it can be.
    n = 3000
    star = np.zeros((n, n))
    star[0, 1:] = 1.0
    plan = WalkPlan.of(Graph(star), np.array([1.0, 0.5]), FixedLength(1), n_walks=6000, seed=0)
    row = sample_rows(plan, [0]).toarray()
    assert_allclose(row, reference_rows(plan, [0]), rtol=1e-12)
    assert np.count_nonzero(row) > 2000
