"""Graphs that are made on the spot are what their names say."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from grfpp_lab import families


def test_grid():
    graph = families.grid(10_000)
    assert (graph.n_nodes, graph.n_edges) == (10_000, 2 * 100 * 99)
    assert sorted(np.bincount(graph.out_degree)) == [0, 0, 4, 4 * 98, 98 * 98]


@pytest.mark.parametrize("n_nodes", [1, 2, 1000])
def test_any_number_of_nodes(n_nodes):
    assert families.grid(n_nodes).n_nodes in (1, 1024)
    assert families.random_regular(n_nodes).n_nodes == n_nodes
    assert families.scale_free(n_nodes).n_nodes == n_nodes


def test_random_regular():
    graph = families.random_regular(10_000)
    assert not graph.is_directed
    assert graph.out_degree.max() == 10
    assert np.mean(graph.out_degree == 10) > 0.99
    assert set(graph.weights) == {1.0}


def test_scale_free():
    graph = families.scale_free(20_000)
    degree = graph.out_degree
    assert not graph.is_directed
    assert connected_components(graph.adjacency)[0] == 1
    # Every node brings five links, some of which meet.
    assert 9.8 < degree.mean() <= 10
    # The tail is a power law: P(degree ≥ k) ~ k^-2, so the largest is about m √n.
    assert 200 < degree.max() < 3000
    for k in (20, 40, 80):
        assert np.mean(degree >= k) == pytest.approx(30 / (k * (k + 1)), rel=0.25)


def test_dense():
    graph = families.dense(400, 100)
    assert not graph.is_directed
    assert graph.out_degree.mean() == pytest.approx(100, rel=0.03)
    assert graph.adjacency.diagonal().max() == 0


def test_the_same_every_time():
    for make in (families.random_regular, families.scale_free):
        assert np.array_equal(make(500).indices, make(500).indices)
