import networkx as nx
import numpy as np
import pytest
from datasets_helpers import diameter, refusal

from grfpp.datasets import (
    binary_tree,
    connected_random,
    erdos_renyi,
    grid,
    random_regular,
)


def as_networkx(graph):
    return nx.from_scipy_sparse_array(graph.adjacency)


def same(one, other):
    return (one.adjacency != other.adjacency).nnz == 0


@pytest.mark.parametrize(("n", "p"), [(20, 0.2), (100, 0.04), (300, 0.5)])
def test_erdos_renyi_joins_pairs_with_probability_p(n, p):
    counts = np.zeros((n, n))
    n_graphs = 40
    for seed in range(n_graphs):
        graph = erdos_renyi(n, p, seed=seed)
        assert not graph.is_directed
        counts += graph.adjacency.toarray()
    assert counts.diagonal().max() == 0
    z = (counts - n_graphs * p) / np.sqrt(n_graphs * p * (1 - p))
    upper = z[np.triu_indices(n, 1)]
    assert abs(upper.mean()) < 5 / np.sqrt(len(upper))
    assert abs((upper**2).mean() - 1) < 5 * np.sqrt(3 / len(upper))
    # Row by row too: no place in the triangle is preferred.
    by_row = z.sum(axis=1) / np.sqrt(n - 1)
    assert np.abs(by_row).max() < 5


def test_erdos_renyi_at_the_ends():
    assert erdos_renyi(1, 0.5).n_nodes == 1
    assert erdos_renyi(30, 0.0).n_edges == 0
    assert erdos_renyi(30, 1.0).n_edges == 435
    assert erdos_renyi(30, 1e-300).n_edges == 0
    assert erdos_renyi(50_000, 1e-4).n_nodes == 50_000


def test_the_seed_decides():
    assert same(erdos_renyi(50, 0.2, seed=3), erdos_renyi(50, 0.2, seed=3))
    assert not same(erdos_renyi(50, 0.2, seed=3), erdos_renyi(50, 0.2, seed=4))
    assert same(random_regular(50, 4, seed=3), random_regular(50, 4, seed=3))
    assert not same(random_regular(50, 4, seed=3), random_regular(50, 4, seed=4))


@pytest.mark.parametrize("p", [0.0, 0.001, 0.004, 0.02])
def test_connected_graphs_are_connected(p):
    for seed in range(3):
        graph = connected_random(500, p, seed=seed)
        plain = erdos_renyi(500, p, seed=seed)
        n_components = nx.number_connected_components(as_networkx(plain))
        assert nx.is_connected(as_networkx(graph))
        assert graph.n_edges == plain.n_edges + n_components - 1
        assert set(graph.weights) == {1.0}
    assert connected_random(1, 0.5).n_nodes == 1


def test_regular():
    graph = random_regular(100, 10, seed=1)
    assert set(graph.out_degree) == {10}
    assert set(graph.weights) == {1.0}
    assert random_regular(5, 0).n_edges == 0
    for n, degree in ((5, 3), (4, 4)):
        assert f"no graph of {n} nodes has {degree} neighbours" in refusal(
            random_regular, n, degree
        )


def test_tree():
    assert nx.is_isomorphic(as_networkx(binary_tree(4)), nx.balanced_tree(2, 4))
    assert same(binary_tree(4), binary_tree(4))
    assert binary_tree(0).n_nodes == 1
    assert diameter(binary_tree()) == 12
    assert "at most 29" in refusal(binary_tree, 30)


def test_grid():
    assert nx.is_isomorphic(as_networkx(grid(3, 5)), nx.grid_2d_graph(3, 5))
    assert grid(1, 1).n_edges == 0
    assert grid(1, 4).adjacency[0, 1] == 1


def test_refusals():
    assert "p must be a number in [0, 1], found 2" in refusal(erdos_renyi, 5, 2)
    assert "n_nodes must be a whole number >= 1, found 0" in refusal(erdos_renyi, 0, 0.5)
    assert "seed" in refusal(connected_random, 5, 0.5, seed=-1)
    assert "bytes" in refusal(erdos_renyi, 10**7, 0.9)
    assert "bytes" in refusal(grid, 10**7, 10**7)
    assert "n_rows" in refusal(grid, 0, 3)
