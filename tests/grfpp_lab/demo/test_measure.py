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
    assert n == 100 and abs(m - 297) < 4 * np.sqrt(297)  # of 100 * 99 / 2 pairs, 6 % each
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
def measured():
    seen = []
    return measure.measure_all([karate_club()], 0, lambda *now: seen.append(now)), seen


@pytest.fixture
def results(measured):
    return measured[0]


def test_methods_are_compared_at_equal_walks_and_at_equal_steps(measured):
    results, seen = measured
    assert seen == [(i, 12) for i in range(1, 13)]
    for method in measure.METHODS:
        costs = [round(r.steps_per_node) for r in results if (r.walks, r.degree) == method]
        assert costs == [288, 576, 1152]
    shown = list(measure.worth_a_line(results))
    assert len(shown) == 7
    assert [r.degree for r in shown if r.n_walks == measure.MAIN_WALKS] == [1, 2, 4, 2]
    equal = [r for r in shown if measure.has_equal_steps(r)]
    names = ["GRF", "GRF++ degree 2", "GRF++ degree 4", "pooled degree 2"]
    assert [r.method for r in equal] == names
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
    assert not set(measure.seeds(0)) & set(measure.seeds(1))
    assert found.error == pytest.approx(np.mean(errors))
    assert found.standard_error == pytest.approx(np.std(errors, ddof=1) / np.sqrt(len(errors)))


def test_cells_of_the_table():
    result = measure.Measurement("Any", 9, "independent", 2, 16, 1234.5, 0.12345, 0.0067, 0.5)
    cells = ["GRF++ degree 2", "16", "1,234", "0.123 ± 0.007", "0.500"]
    assert measure.table_cells(result) == cells
    small = replace(result, walks="pooled", error=0.000123, standard_error=4e-6)
    assert measure.table_cells(small)[::3] == ["pooled degree 2", "0.000123 ± 0.000004"]


def test_rows():
    each = sphere(2)
    rows = measure.kernel_rows(each, seed=0)
    exact = measure.KERNEL.exact(each.graph.normalized("sym"))[each.start]
    np.testing.assert_allclose(rows[0].values, exact, atol=1e-7)
    titles = ["exact", "GRF", "GRF", "GRF++ degree 4", "pooled degree 2"]
    assert [row.title for row in rows] == titles
    assert rows[0].n_missed == 0
    assert rows[1].n_missed > rows[2].n_missed >= rows[3].n_missed >= rows[4].n_missed
    for row in rows[1:]:
        error = np.linalg.norm(row.values - exact) / np.linalg.norm(exact)
        assert row.note.endswith(f"error {error:.2g}")
    budgets = ((16, "288"), (64, "1,152"), (16, "1,152"), (32, "1,152"))
    for row, (n_walks, steps) in zip(rows[1:], budgets, strict=True):
        assert f"{n_walks} walks, {steps} steps" in row.note
