"""The demo's graphs are what they are called, and stay the same."""

from dataclasses import replace

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


def test_sizes_and_places_are_the_same_every_time(graphs):
    sizes = {name: (each.graph.n_nodes, each.graph.n_edges) for name, each in graphs.items()}
    n, m = sizes.pop("erdos-renyi")
    assert sizes == {"karate": (34, 78), "tree": (127, 126), "sphere": (642, 1920)}
    assert n == 100
    assert abs(m - 0.06 * 100 * 99 / 2) < 4 * np.sqrt(0.06 * 100 * 99 / 2)
    for again in demo_graphs():
        np.testing.assert_array_equal(again.positions, graphs[again.name].positions)
        assert (again.graph.adjacency != graphs[again.name].graph.adjacency).nnz == 0


def test_the_tree_is_drawn_level_by_level(graphs):
    tree = graphs["tree"]
    source = nx.from_scipy_sparse_array(tree.graph.adjacency)
    levels = nx.single_source_shortest_path_length(source, 0)
    radii = np.linalg.norm(tree.positions, axis=1)
    np.testing.assert_allclose(radii, [levels[node] for node in range(127)], atol=1e-12)


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


def test_pooled_walks_have_a_small_part_of_the_error(results):
    error = {(r.walks, r.degree, r.n_walks): r.error for r in results}
    for n_walks in measure.walks_of(2):
        assert 5 * error["pooled", 2, n_walks] < error["independent", 2, n_walks]


def test_seeds_of_different_demos_do_not_overlap():
    assert not set(measure.seeds(0)) & set(measure.seeds(1))


def test_cells_of_the_table():
    result = measure.Measurement("Any", 9, "independent", 2, 16, 1234.5, 0.12345, 0.0067, 0.5)
    assert measure.table_cells(result) == [
        *("GRF++ degree 2", "16", "1,234", "0.123 ± 0.007", "0.500")
    ]
    small = replace(result, walks="pooled", error=0.000123, standard_error=4e-6)
    assert measure.table_cells(small)[::3] == ["pooled degree 2", "0.000123 ± 0.000004"]


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
