"""Parts of large graphs."""

import networkx as nx
import numpy as np

from grfpp import Graph
from grfpp.datasets import grid
from grfpp.tasks.nodes.kriging import patches
from grfpp.tasks.nodes.kriging.patches import patch_of


def test_small_graphs_are_taken_whole():
    graph = grid(10, 10)
    part, nodes = patch_of(graph, np.array([3]), 0)
    assert part is graph
    np.testing.assert_array_equal(nodes, np.arange(100))


def test_a_part_is_the_graph_between_its_nodes(monkeypatch):
    monkeypatch.setattr(patches, "MOST_NODES", 200)
    graph = grid(40, 40)
    known = np.arange(0, 1600, 7)
    part, nodes = patch_of(graph, known, 0)
    assert 150 < len(nodes) <= 200
    assert (np.diff(nodes) > 0).all()
    np.testing.assert_array_equal(
        part.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(nodes, nodes)]
    )
    assert np.isin(nodes, known).sum() > 10
    np.testing.assert_array_equal(patch_of(graph, known, 0)[1], nodes)
    # Balls: most nodes have all their neighbours.
    assert np.mean(part.out_degree == graph.out_degree[nodes]) > 0.4


def test_many_small_components_end_all_the_same(monkeypatch):
    monkeypatch.setattr(patches, "MOST_NODES", 500)
    graph = Graph(nx.disjoint_union_all([nx.path_graph(2)] * 600))
    part, nodes = patch_of(graph, np.arange(0, 1200, 2), 0)
    assert part.n_nodes == len(nodes) == 2 * patches._MOST_CENTRES
