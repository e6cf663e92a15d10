"""The demo's graphs are what they are called, and stay the same."""

import networkx as nx
import numpy as np
import pytest
from independent_walks import sample

import grfpp
from grfpp_lab.demo import measure
from grfpp_lab.demo.measure import demo_graphs, karate_club, sphere


@pytest.fixture(scope="module")
def graphs():
    return {each.name: each for each in demo_graphs()}


def test_all_are_connected_and_have_a_place_for_every_node(graphs):
    for each in graphs.values():
        assert nx.is_connected(nx.from_scipy_sparse_array(each.graph.adjacency))
        n_coordinates = 2 if each.faces is None else 3
        assert each.positions.shape == (each.graph.n_nodes, n_coordinates)
        assert len(np.unique(each.positions.round(6), axis=0)) == each.graph.n_nodes


@pytest.fixture(scope="module")
def results():
    return measure.measure_all([karate_club()], seed=0)


def test_every_degree_is_measured_at_the_same_costs(results):
    costs = {
        method: [round(r.steps_per_node) for r in results if (r.walks, r.degree) == method]
        for method in measure.METHODS
    }
    assert costs["independent", 1] == [288, 576, 1152]
    assert all(each == [288, 576, 1152] for each in costs.values())


def test_the_table_compares_at_equal_walks_and_at_equal_steps(results):
    shown = list(measure.worth_a_line(results))
    assert len(shown) == 7
    assert [r.degree for r in shown if r.n_walks == measure.MAIN_WALKS] == [1, 2, 4, 2]
    equal = [r for r in shown if measure.has_equal_steps(r)]
    assert [r.method for r in equal] == [
        *("GRF", "GRF++ degree 2", "GRF++ degree 4", "pooled degree 2")
    ]
    assert len({round(r.steps_per_node) for r in equal}) == 1


def test_errors_are_means_over_the_seeds(results):
    each = karate_club()
    W = each.graph.normalized("sym")
    errors = [
        grfpp.relative_error(sample(W, measure.KERNEL, 2, 16, seed=seed), measure.KERNEL, W)
        for seed in measure.seeds(0)
    ]
    (found,) = (r for r in results if (r.walks, r.degree, r.n_walks) == ("independent", 2, 16))
    assert len(errors) == measure.N_REPEATS
    assert found.error == pytest.approx(np.mean(errors))
    assert found.standard_error == pytest.approx(np.std(errors, ddof=1) / np.sqrt(len(errors)))


def test_more_walks_and_at_equal_walks_a_higher_degree_have_less_error(results):
    error = {(r.degree, r.n_walks): r.error for r in results if r.walks == "independent"}
    assert error[1, 64] < error[1, 32] < error[1, 16]
    assert error[2, 16] < error[1, 16]
    assert error[4, 16] < error[2, 16]


def test_progress_goes_up_to_the_end():
    seen = []
    measure.measure_all([sphere(1)], 0, lambda done, n: seen.append((done, n)))
    assert seen == [(i, 12) for i in range(1, 13)]


def test_rows():
    each = sphere(2)
    rows = measure.kernel_rows(each, seed=0)
    exact = measure.KERNEL.exact(each.graph.normalized("sym"))[each.start]
    np.testing.assert_allclose(rows[0].values, exact, atol=1e-7)
    assert [row.title for row in rows] == [
        *("exact", "GRF", "GRF", "GRF++ degree 4", "pooled degree 2")
    ]
    assert rows[0].n_missed == 0
    assert rows[1].n_missed > rows[2].n_missed >= rows[3].n_missed >= rows[4].n_missed
    for row in rows[1:]:
        error = np.linalg.norm(row.values - exact) / np.linalg.norm(exact)
        assert row.note.endswith(f"error {error:.2g}")
    assert "16 walks, 288 steps" in rows[1].note
    assert "64 walks, 1,152 steps" in rows[2].note
    assert "16 walks, 1,152 steps" in rows[3].note
    assert "32 walks, 1,152 steps" in rows[4].note
