from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from io_helpers import QUICK, dense, refusal, weight_matrices

from grfpp.graph import Graph


class Attributes:
    """Stands in for igraph's edge and vertex sequences."""

    def __init__(self, **values):
        self._values = values

    def attributes(self):
        return list(self._values)

    def __getitem__(self, name):
        return self._values[name]


class IGraphLike:
    """Stands in for igraph.Graph, which the tests must not depend on (it is GPL)."""

    def __init__(self, n, edges, directed=False, weight=None, name=None):
        self._n, self._edges, self._directed = n, edges, directed
        self.es = Attributes(**({} if weight is None else {"weight": weight}))
        self.vs = Attributes(**({} if name is None else {"name": name}))

    def is_directed(self):
        return self._directed

    def get_edgelist(self):
        return self._edges

    def vcount(self):
        return self._n


def edges_of(matrix, directed):
    rows, cols = np.nonzero(matrix if directed else np.triu(matrix))
    return list(zip(rows.tolist(), cols.tolist(), strict=True)), matrix[rows, cols].tolist()


@QUICK
@given(weight_matrices())
def test_networkx_round_trip(matrix):
    directed = not (matrix == matrix.T).all()
    edges, weights = edges_of(matrix, directed)
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(len(matrix)))
    graph.add_weighted_edges_from((u, v, w) for (u, v), w in zip(edges, weights, strict=True))
    np.testing.assert_array_equal(dense(graph), matrix)
    np.testing.assert_array_equal(nx.to_numpy_array(graph), matrix)


@QUICK
@given(weight_matrices())
def test_igraph_round_trip(matrix):
    directed = not (matrix == matrix.T).all()
    edges, weights = edges_of(matrix, directed)
    graph = IGraphLike(len(matrix), edges, directed, weights)
    np.testing.assert_array_equal(dense(graph), matrix)


def test_any_labels_keep_their_order():
    graph = nx.Graph()
    labels = ["b", 7, (1, 2), True, frozenset({3})]
    graph.add_nodes_from(labels)
    graph.add_edge((1, 2), "b", weight=3)
    read = Graph(graph)
    assert read.node_ids == labels
    assert read.adjacency[0, 2] == read.adjacency[2, 0] == 3
    assert Graph(nx.path_graph(3)).node_ids == [0, 1, 2]


def test_edges_without_a_weight_weigh_one():
    graph = nx.Graph([(0, 1)])
    graph.add_edge(1, 2, weight=0.5)
    np.testing.assert_array_equal(dense(graph), [[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]])
    assert Graph(nx.empty_graph(3)).n_edges == 0


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_are_summed(kind):
    graph = kind()
    graph.add_edge("a", "b", weight=1.5)
    graph.add_edge("a", "b", weight=2)
    graph.add_edge("b", "b", weight=4)
    back = 3.5 if kind is nx.MultiGraph else 0
    np.testing.assert_array_equal(dense(graph), [[0, 3.5], [back, 4]])


def test_views_are_read_like_graphs():
    graph = nx.DiGraph([(0, 1), (1, 2)])
    np.testing.assert_array_equal(dense(graph.reverse(copy=False)), nx.to_numpy_array(graph).T)
    assert Graph(graph.subgraph([1, 2])).node_ids == [1, 2]


@pytest.mark.parametrize("weight", ["heavy", None, 1j, [1.0], [[1], [2, 3]]])
def test_weights_that_are_no_numbers(weight):
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=weight)
    message = refusal(graph)
    assert "real numbers" in message
    assert "edge ('a', 'b')" in message
    assert "real numbers" in refusal(IGraphLike(2, [(0, 1)], weight=[weight]))


def test_one_word_among_numbers_is_found():
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 1.0, "weight")
    graph[2][3]["weight"] = "2"
    assert "'2' for edge (2, 3)" in refusal(graph)


def test_numbers_of_other_kinds():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=Fraction(1, 4))
    graph.add_edge(1, 2, weight=10**20)
    assert Graph(graph).weights.tolist() == [0.25, 0.25, 1e20, 1e20]
    graph.add_edge(0, 2, weight=10**400)
    assert "too large" in refusal(graph)


def test_bad_weights_of_graphs_are_refused_by_graph():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=-2.0)
    assert "negative" in refusal(graph)
    graph.add_edge(0, 1, weight=np.nan)
    assert "finite" in refusal(graph)
    assert "no nodes" in refusal(nx.Graph())


def test_igraph_names_and_defaults():
    named = Graph(IGraphLike(3, [(0, 1)], name=["x", "y", "z"]))
    assert named.node_ids == ["x", "y", "z"]
    np.testing.assert_array_equal(named.adjacency.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert Graph(IGraphLike(2, [(0, 1)])).node_ids is None
    assert Graph(IGraphLike(2, [(0, 1)], name=["x", "x"])).node_ids is None
    np.testing.assert_array_equal(
        dense(IGraphLike(2, [(0, 1), (0, 1), (1, 1)], directed=True)), [[0, 2], [0, 1]]
    )


def test_real_igraph():
    igraph = pytest.importorskip("igraph", reason="igraph is GPL and no dependency")
    graph = igraph.Graph.TupleList(
        [("a", "b", 2.0), ("b", "c", 0.5), ("c", "c", 3.0)], weights=True, directed=True
    )
    read = Graph(graph)
    assert read.node_ids == ["a", "b", "c"]
    np.testing.assert_array_equal(read.adjacency.toarray(), [[0, 2, 0], [0, 0, 0.5], [0, 0, 3]])
    zachary = igraph.Graph.Famous("Zachary")
    np.testing.assert_array_equal(dense(zachary), zachary.get_adjacency().data)
