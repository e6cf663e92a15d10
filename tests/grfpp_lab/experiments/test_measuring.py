"""The graphs of the experiments."""

import networkx as nx
import numpy as np
import pytest
from independent_walks import sample

import grfpp
from grfpp_lab.experiments import measuring


def test_generated_graphs_are_always_at_hand(no_data):
    found, skipped = measuring.at_hand([*measuring.EIGHT, *measuring.FAR])
    generated = {"er-20", "er-100", "binary-tree", "regular", "karate", "infection"}
    assert generated == set(found)
    assert "graphs/eurosis.gml is not at hand" in skipped["eurosis"]
    for name in found:
        assert measuring.load(name).n_nodes == measuring.n_nodes_of(name)


def test_graphs_of_the_table_are_as_far_apart_as_it_says():
    for name in measuring.at_hand(measuring.FAR)[0]:
        graph, paper = measuring.load(name), measuring.FAR[name]
        assert abs(graph.n_nodes - paper.n_nodes) <= 15, name
        assert measuring.diameter(name) == paper.diameter, name


def test_copies_are_independent_estimates():
    graph = measuring.load("er-20")
    many = measuring.copies(graph, 50).normalized("sym")
    K = sample(many, grfpp.Diffusion(1.0), 2, 4, seed=0)
    found, dense = measuring.blocks(K.chain, 20), K.toarray()
    for number in (0, 7, 49):
        block = slice(20 * number, 20 * (number + 1))
        np.testing.assert_allclose(found[number], dense[block, block], atol=1e-12)
    assert len(np.unique(found.reshape(50, -1), axis=0)) == 50


CELL = {
    **{"graph": "karate", "kernel": "diffusion:1", "scale": 0.8, "termination": "geometric:0.1"},
    **{"degree": 2, "n_walks": 8, "repeats": 3, "seed": 5},
}


def test_errors_are_means_of_relative_errors_and_less_for_pooled_walks_of_as_many_steps():
    row = measuring.error_row(CELL)
    W = measuring.load("karate").normalized("sym", 0.8)
    kernel = grfpp.Diffusion(1.0)
    identity = {name: value for name, value in CELL.items() if name != "repeats"}
    errors = [
        grfpp.relative_error(sample(W, kernel, 2, 8, seed=seed), kernel, W)
        for seed in measuring.seeds(3, **identity)
    ]
    assert row["error"] == pytest.approx(np.mean(errors), rel=1e-12)
    assert row["standard_error"] == pytest.approx(np.std(errors, ddof=1) / np.sqrt(3), rel=1e-9)
    assert row["steps_per_node"] == pytest.approx(4 * 8 * 9, rel=1e-3)
    pooled = measuring.error_row({**CELL, "termination": "matched:9", "walks": "pooled"})
    assert pooled["steps_per_node"] == pytest.approx(row["steps_per_node"], rel=1e-3)
    assert pooled["error"] < row["error"] / 50
    assert pooled["walks"] == "pooled" and "walks" not in row


def test_only_distant_pairs_count():
    row = measuring.error_row({**CELL, "distance": 4})
    source = nx.from_scipy_sparse_array(measuring.load("karate").adjacency)
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
    with pytest.raises(grfpp.InputError, match="karate has no connected nodes at distance 9"):
        measuring.error_row({**CELL, "distance": 9})


def test_weights_are_those_of_the_paper():
    assert set(measuring.load("er-20").weights) == {1.0}
    W, A = measuring.weights("karate", 0.5), measuring.load("karate").adjacency.toarray()
    roots = np.sqrt(A.sum(axis=1))
    np.testing.assert_allclose(W.adjacency.toarray(), 0.5 * A / np.outer(roots, roots))


def test_seeds_differ_wherever_anything_differs():
    settings = [{"n_walks": n_walks, "degree": degree} for n_walks in (2, 4) for degree in (1, 2)]
    found = {seed for each in settings for seed in measuring.seeds(3, **each)}
    assert len(found) == 12
    assert all(0 <= seed < 2**56 for seed in found)
