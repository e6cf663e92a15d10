"""What is measured is what is said: errors, masks, seeds, moments."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp_lab.experiments import copies, graphs, measuring
from grfpp_lab.experiments.experiment import Settings, Size
from grfpp_lab.experiments.registry import EXPERIMENTS
from grfpp_lab.experiments.study import grid, theory

CELL = {
    "graph": "karate",
    "kernel": "diffusion:1",
    "sigma2": 0.8,
    "termination": "geometric:0.1",
    "degree": 2,
    "n_walks": 8,
    "repeats": 3,
    "seed": 5,
}


def test_errors_are_means_of_relative_errors():
    row = measuring.error_row(CELL)
    W = graphs.load("karate").normalized("sym", 0.8)
    kernel = grfpp.Diffusion(1.0)
    identity = {name: value for name, value in CELL.items() if name != "repeats"}
    errors = [
        grfpp.relative_error(grfpp.sample(W, kernel, 2, 8, grfpp.Geometric(0.1), seed), kernel, W)
        for seed in measuring.seeds(3, **identity)
    ]
    assert row["error"] == pytest.approx(np.mean(errors), rel=1e-12)
    assert row["standard_error"] == pytest.approx(np.std(errors, ddof=1) / np.sqrt(3), rel=1e-9)
    assert row["steps_per_node"] == pytest.approx(4 * 8 * 9, rel=1e-3)


def test_only_distant_pairs_count():
    row = measuring.error_row({**CELL, "distance": 4})
    source = nx.from_scipy_sparse_array(graphs.load("karate").adjacency)
    lengths = dict(nx.all_pairs_shortest_path_length(source))
    far = np.array([[lengths[i][j] >= 4 for j in range(34)] for i in range(34)])
    assert row["n_pairs"] == far.sum()
    assert row["diameter"] == 5
    np.testing.assert_array_equal(measuring.distances("karate") >= 4, far)
    exact = np.arange(34.0**2).reshape(34, 34) + 1
    shifted = exact + far
    found = measuring.relative_error(shifted, exact, far)
    assert found == pytest.approx(np.sqrt(far.sum()) / np.linalg.norm(exact[far]))
    assert measuring.relative_error(exact + ~far, exact, far) == 0


def test_a_graph_without_distant_pairs_is_refused():
    with pytest.raises(grfpp.InputError, match="karate has no connected nodes at distance 9"):
        measuring.error_row({**CELL, "distance": 9})


def test_seeds_differ_wherever_anything_differs():
    found = {
        seed
        for n_walks in (2, 4)
        for degree in (1, 2)
        for seed in measuring.seeds(3, n_walks=n_walks, degree=degree)
    }
    assert len(found) == 12
    assert all(0 <= seed < 2**56 for seed in found)


def test_weights_are_those_of_the_paper_and_edges_count_once():
    graph = graphs.load("football") if not graphs.at_hand(["football"])[1] else graphs.load("er-20")
    assert set(graph.weights) == {1.0}
    W = measuring.weights("karate", 0.5)
    degree = graphs.load("karate").adjacency.sum(axis=1)
    expected = 0.5 * graphs.load("karate").adjacency.toarray() / np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(W.adjacency.toarray(), expected)


def test_copies_are_independent_estimates():
    graph = graphs.load("er-20")
    many = copies.copies(graph, 50).normalized("sym")
    K = grfpp.sample(many, grfpp.Diffusion(1.0), 2, 4, seed=0)
    first, second = copies.pair_products(K, 20)
    whole = K.toarray()
    for number in (0, 7, 49):
        block = slice(20 * number, 20 * (number + 1))
        np.testing.assert_allclose((first @ second)[number], whole[block, block], atol=1e-12)
    assert len(np.unique(first.reshape(50, -1), axis=0)) == 50


def test_the_formula_is_without_bias_and_knows_its_error():
    """On matrices with known moments: X = a + noise, E[XᵀX] known."""
    rng = np.random.default_rng(0)
    n, size = 3, 10.0
    scores, formula = [], []
    for _ in range(60):
        first, second = rng.standard_normal((2, 400, n, n)) + np.eye(n)
        measured = np.sum((first @ second) ** 2, axis=(1, 2)) / size - 1
        told = theory._formula(
            measured,
            theory._batch_means(first.transpose(0, 2, 1) @ first),
            theory._batch_means(second @ second.transpose(0, 2, 1)),
            size,
        )
        scores.append(told["difference"] / told["difference_error"])
        formula.append(told["formula"])
    moment = (n + 1) * np.eye(n)  # E[XᵀX] for unit noise around the identity
    expected = np.sum(moment**2) / size - 1
    assert abs(np.mean(formula) - expected) < 4 * np.std(formula, ddof=1) / np.sqrt(60)
    assert abs(np.mean(scores)) < 4 / np.sqrt(60)
    assert 0.7 < np.std(scores) < 1.4


def test_generated_graphs_are_always_at_hand(monkeypatch, tmp_path):
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    graphs.load.cache_clear()
    found, skipped = graphs.at_hand([*graphs.EIGHT, *graphs.FAR])
    generated = {"er-20", "er-100", "binary-tree", "regular", "karate", "infection"}
    assert generated == set(found)
    assert "graphs/eurosis.gml is not at hand" in skipped["eurosis"]
    for name in found:
        assert graphs.load(name).n_nodes == graphs.n_nodes_of(name)
    graphs.load.cache_clear()


def test_graphs_of_the_table_are_as_far_apart_as_it_says():
    found, _ = graphs.at_hand(graphs.FAR)
    for name in found:
        graph, paper = graphs.load(name), graphs.FAR[name]
        assert abs(graph.n_nodes - paper.n_nodes) <= 15, name
        assert measuring.diameter(name) == paper.diameter, name


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("size", [Size.FULL, Size.QUICK, Size.TINY])
def test_plans_hold_plain_values_and_no_cell_twice(name, size, monkeypatch):
    import json

    monkeypatch.setattr(graphs, "load", lambda name: None)
    plan = EXPERIMENTS[name].plan(Settings(size))
    texts = [json.dumps(cell, sort_keys=True, allow_nan=False) for cell in plan.cells]
    assert texts
    assert len(set(texts)) == len(texts)
    assert all(cell.get("seed", cell.get("fold_seed")) is not None for cell in plan.cells)
    assert {cell["seed"] for cell in plan.cells if "seed" in cell} == {0}
    assert all(EXPERIMENTS[name].cost(cell) > 0 for cell in plan.cells)


@pytest.mark.parametrize("name", ["estimation", "long-range", "halting", "halting-long", "reuse"])
def test_the_full_grid_is_that_of_the_paper(name, monkeypatch):
    monkeypatch.setattr(graphs, "load", lambda name: None)
    cells = EXPERIMENTS[name].plan(Settings()).cells
    assert {cell["n_walks"] for cell in cells} == set(grid.N_WALKS) == {2, 4, 8, 16, 32, 64}
    assert {cell["repeats"] for cell in cells} == {10}
    assert len({cell["graph"] for cell in cells}) == 8
    assert {cell["degree"] for cell in cells} in ({1, 2, 3, 4}, {1, 2, 4})


def test_kernels_that_diverge_are_left_out_of_the_theorem():
    plain, wide = (
        {cell["kernel"] for cell in EXPERIMENTS["theory"].plan(Settings(Size.QUICK, 0, s)).cells}
        for s in (None, 2.0)
    )
    assert plain - wide == {"inverse-power:4:1"}


def test_settings_are_options():
    plain = EXPERIMENTS["estimation"].plan(Settings(Size.TINY))
    other = EXPERIMENTS["estimation"].plan(Settings(Size.TINY, 3, sigma2=0.7, p_halt=0.2))
    assert {cell["sigma2"] for cell in plain.cells} == {1.0}
    assert {(c["sigma2"], c["termination"], c["seed"]) for c in other.cells} == {
        (0.7, "geometric:0.2", 3)
    }
    with pytest.raises(grfpp.InputError, match=r"other-kernels: with sigma2 0\.96 and p_halt 0\.1"):
        EXPERIMENTS["other-kernels"].plan(Settings(Size.TINY, sigma2=0.96))
