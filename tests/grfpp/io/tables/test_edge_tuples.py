import networkx as nx
import numpy as np
import pytest
from io_helpers import dense, refusal

from grfpp.graph import Graph


def test_two_or_three_edges_are_not_a_matrix():
    graph = Graph([(0, 1), (1, 2)])
    assert repr(graph) == "Graph(n_nodes=3, n_edges=2, undirected)"
    graph = Graph([(0, 1, 5), (1, 2, 6), (2, 0, 7)], directed=True)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 5, 0], [0, 0, 6], [7, 0, 0]])
    np.testing.assert_array_equal(dense([[0, 1], [1, 2]]), [[0, 1], [1, 2]])  # lists of lists are


def test_nodes_may_have_names():
    graph = Graph([("zoë", "adam", 2), ("adam", "02139", 1)])
    assert graph.node_ids == ["zoë", "adam", "02139"]
    assert graph.weights.tolist() == [2, 2, 1, 1]
    assert Graph([(np.int32(7), 5)]).node_ids == [5, 7]


def test_edges_of_networkx():
    graph = nx.les_miserables_graph()
    ours, theirs = Graph(list(graph.edges(data="weight"))), Graph(graph)
    assert ours.n_edges == theirs.n_edges
    assert ours.adjacency.sum() == theirs.adjacency.sum()


def test_options():
    edges = [(0, 1, 2.0), (1, 0, 3.0)]
    assert Graph(edges, duplicates="max", n_nodes=5).adjacency.sum() == 6
    assert "number 1: the edge 1 - 0 is listed again" in refusal(edges, duplicates="error")
    assert "separator is for text edge lists, not for lists" in refusal(edges, separator=",")
    assert "names node 1, but 1 nodes are 0 to 0" in refusal(edges, n_nodes=1)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([(0, 1), [1, 2]], "a list of tuples is a list of edges"),
        ([(0, 1, 1, 0)] * 4, "list of lists or as an array"),
        ([(0,)], "a list of tuples"),
        ([(0, "a")], "all text or all whole numbers"),
        ([(0.5, 1)], "all text or all whole numbers"),
        ([(True, False)], "all text or all whole numbers"),
        ([(0, 1, "x")], "found 'x' for the edge (0, 1)"),
        ([(0, 1, {"weight": 2})], "for the edge (0, 1)"),
        ([(0, 1, 1), (1, 2, -1)], "not negative, found (1, 2, -1)"),
        ([(0, 1), (1, 2, 3.0)], "either all edges of a list have a weight or none has"),
        ([("a", "b", 2), ("b", "c")], "found ('a', 'b', 2) and ('b', 'c')"),
        ([(0, 1, float("nan"))], "must be finite"),
        ([(0, 10**30)], "must be given as text"),
        (((0, 1, 2), (1, 2, 3), (2, 0, 1)), "a tuple of tuples"),
    ],
)
def test_refusals(edges, words):
    assert words in refusal(edges)
