"""Clusters of points, whiskers, modularity."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import QUICK, graphs

from grfpp.tasks.partition import anchors, cluster_groups, modularity


def matrix(graph):
    return sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=float))


def with_trees():
    """Two cliques joined by two edges; a path, a star and a branching tree hang on them."""
    graph = nx.disjoint_union(nx.complete_graph(10), nx.complete_graph(10))
    graph.add_edges_from([(0, 10), (1, 11)])
    graph.add_edges_from([(2, 20), (20, 21), (21, 22)])
    graph.add_edges_from([(12, 23), (12, 24), (12, 25)])
    graph.add_edges_from([(13, 26), (26, 27), (26, 28)])
    return graph


def hanging_parts(graph, largest):
    """Nodes on the small side of a bridge, by networkx."""
    inside = set()
    for bridge in list(nx.bridges(graph)):
        graph.remove_edge(*bridge)
        side = min((nx.node_connected_component(graph, node) for node in bridge), key=len)
        graph.add_edge(*bridge)
        inside |= side if len(side) <= largest else set()
    return inside


@pytest.mark.parametrize("largest", [1, 3, 8])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_they_are_on_the_small_sides_of_bridges(largest, seed):
    graph = nx.gnm_random_graph(80, 160, seed=seed)
    graph = nx.disjoint_union(graph, nx.complete_graph(5))
    graph.add_edge(0, 80)
    graph.add_edges_from((node, 100 + node) for node in range(0, 20, 3))
    graph = nx.convert_node_labels_to_integers(
        graph.subgraph(nx.node_connected_component(graph, 0))
    )
    found = np.flatnonzero(anchors(matrix(graph), largest) != np.arange(len(graph)))
    assert set(found) == hanging_parts(nx.Graph(graph), largest)
    assert len(found)


def test_cliques_hang_too():
    graph = nx.disjoint_union(nx.complete_graph(20), nx.complete_graph(6))
    graph.add_edge(3, 20)
    assert_array_equal(anchors(matrix(graph), 6)[20:], [3] * 6)
    assert_array_equal(anchors(matrix(graph), 5), np.arange(26))


def test_components():
    graph = nx.disjoint_union_all([with_trees(), nx.path_graph(2), nx.empty_graph(2)])
    expected = [*range(20), 2, 2, 2, 12, 12, 12, 13, 13, 13, 29, 29, 31, 32]
    assert_array_equal(anchors(matrix(graph), 3), expected)


def test_loops_do_not_count():
    graph = with_trees()
    graph.add_edge(22, 22)
    assert anchors(matrix(graph), 3)[22] == 2


@pytest.mark.parametrize("graph", [nx.balanced_tree(2, 5), nx.star_graph(9), nx.path_graph(5)])
def test_there_are_none_on_a_tree(graph):
    assert_array_equal(anchors(matrix(graph), 40), np.arange(len(graph)))


@given(graphs())
@QUICK
def test_anchors_stay(graph):
    A = graph.adjacency
    found = anchors(sp.csr_array(A + A.T), 4)
    assert_array_equal(found[found], found)


def clusters(points, k, n_init, seed):
    groups, vectors = np.zeros(len(points), int), np.ones((len(points), k - 1))
    return cluster_groups(points, vectors, groups, k, n_init, seed)


def clouds(distance):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(x, 0.2, (50, 2)) for x in (0.0, distance, 2 * distance)])


@pytest.mark.parametrize("distance", [0.3, 1.0, 5.0])
def test_the_cluster_is_the_likeliest(distance):
    found = clusters(clouds(distance), 3, 10, 0)
    assert_array_equal(found.probabilities.argmax(axis=1), found.labels)
    assert_allclose(found.probabilities.sum(axis=1), 1)


def test_clusters_far_apart_are_sure():
    near, far = (clusters(clouds(each), 3, 10, 0).probabilities for each in (0.5, 5.0))
    assert far.max(axis=1).min() > 0.999
    assert near.max(axis=1).min() < 0.7


@pytest.mark.parametrize("weight", [None, "weight"])
def test_it_is_that_of_networkx(weight):
    club = nx.karate_club_graph()
    labels = np.arange(34) % 3
    sets = [set(np.flatnonzero(labels == each)) for each in range(3)]
    expected = nx.community.modularity(club, sets, weight=weight)
    assert modularity(nx.to_scipy_sparse_array(club, weight=weight), labels) == pytest.approx(
        expected
    )


def test_without_edges():
    assert modularity(sp.csr_array((3, 3)), np.array([0, 1, 1])) == 0
