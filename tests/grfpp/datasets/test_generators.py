import inspect

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
from grfpp.errors import InputError


def as_networkx(graph):
    return nx.from_scipy_sparse_array(graph.adjacency)


def same(one, other):
    return (one.adjacency != other.adjacency).nnz == 0


@pytest.mark.parametrize(("n", "p"), [(20, 0.2), (100, 0.04), (300, 0.5)])
def test_erdos_renyi_joins_pairs_with_probability_p(n, p):
    n_graphs = 40
    counts = sum(erdos_renyi(n, p, seed=seed).adjacency.toarray() for seed in range(n_graphs))
    assert (counts == counts.T).all() and counts.diagonal().max() == 0
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
    for make, sizes in ((erdos_renyi, (10**7, 0.9)), (grid, (10**7,) * 2)):
        assert "bytes" in refusal(make, *sizes)  # too much for the memory


@pytest.mark.parametrize(("make", "second"), [(erdos_renyi, 0.2), (random_regular, 4)])
def test_the_seed_decides(make, second):
    assert same(make(50, second, seed=3), make(50, second, seed=3))
    assert not same(make(50, second, seed=3), make(50, second, seed=4))


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


def test_regular_graphs_trees_and_grids():
    graph = random_regular(100, 10, seed=1)
    assert set(graph.out_degree) == {10} and set(graph.weights) == {1.0}
    assert random_regular(5, 0).n_edges == 0
    for n, degree in ((5, 3), (4, 4)):
        message = refusal(random_regular, n, degree)
        assert f"no graph of {n} nodes has {degree} neighbours" in message
    assert nx.is_isomorphic(as_networkx(binary_tree(4)), nx.balanced_tree(2, 4))
    assert binary_tree(0).n_nodes == 1 and diameter(binary_tree()) == 12
    assert nx.is_isomorphic(as_networkx(grid(3, 5)), nx.grid_2d_graph(3, 5))
    assert grid(1, 1).n_edges == 0 and grid(1, 4).adjacency[0, 1] == 1


@pytest.mark.parametrize(
    ("make", "arguments", "name"),
    [
        (erdos_renyi, (5, 2), "p"),
        (erdos_renyi, (0, 0.5), "n_nodes"),
        (connected_random, (5, 0.5, -1), "seed"),
        (binary_tree, (30,), "depth"),
        (grid, (0, 3), "n_rows"),
    ],
)
def test_refusals(make, arguments, name):
    names = list(inspect.signature(make).parameters)
    with pytest.raises(InputError) as caught:
        make(**dict(zip(names, arguments, strict=False)))
    assert caught.value.argument == name
