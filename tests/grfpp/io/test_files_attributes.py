"""Attributes of nodes, in the order of the rows."""

import gzip

import networkx as nx
import pytest

import grfpp
from grfpp.io.files import read_attribute


@pytest.fixture
def graph():
    graph = nx.Graph()
    for node, kind in (("d", "x"), ("a", "y"), ("c", "x"), ("b", "z")):
        graph.add_node(node, kind=kind, rank=len(graph))
    graph.add_edges_from([("a", "b"), ("c", "d"), ("a", "c")])
    return graph


@pytest.mark.parametrize(
    ("suffix", "write"), [("gml", nx.write_gml), ("graphml", nx.write_graphml)]
)
def test_in_the_order_of_the_rows(graph, tmp_path, suffix, write):
    path = tmp_path / f"graph.{suffix}"
    write(graph, path)
    assert grfpp.Graph(path).node_ids == ["d", "a", "c", "b"]
    assert read_attribute(path, "kind") == ["x", "y", "x", "z"]
    assert read_attribute(path, "rank") == [0, 1, 2, 3]


def test_packed(graph, tmp_path):
    path = tmp_path / "graph.gml.gz"
    path.write_bytes(gzip.compress("\n".join(nx.generate_gml(graph)).encode()))
    assert read_attribute(path, "kind") == ["x", "y", "x", "z"]


def test_unknown(graph, tmp_path):
    path = tmp_path / "graph.gml"
    nx.write_gml(graph, path)
    with pytest.raises(grfpp.InputError, match="no node has an attribute 'kinds'; there are kind"):
        read_attribute(path, "kinds")


def test_of_nodes_that_have_none(tmp_path):
    path = tmp_path / "graph.graphml"
    nx.write_graphml(nx.path_graph(3), path)
    with pytest.raises(grfpp.InputError, match="nodes have none at all"):
        read_attribute(path, "kind")


def test_missing_at_some_nodes(graph, tmp_path):
    path = tmp_path / "graph.graphml"
    del graph.nodes["c"]["kind"]
    graph.nodes["a"]["kind"] = " "
    nx.write_graphml(graph, path)
    assert read_attribute(path, "kind") == ["x", None, None, "z"]


def test_no_number_is_none(tmp_path):
    path = tmp_path / "graph.graphml"
    numbers = nx.path_graph(2)
    numbers.nodes[0]["rank"], numbers.nodes[1]["rank"] = 0.0, float("nan")
    nx.write_graphml(numbers, path)
    assert read_attribute(path, "rank") == [0.0, None]


def test_formats_without_attributes(graph, tmp_path):
    path = tmp_path / "graph.txt"
    nx.write_edgelist(graph, path, data=False)
    with pytest.raises(grfpp.InputError, match="has no attributes of nodes"):
        read_attribute(path, "kind")


@pytest.mark.parametrize("suffix", ["gml", "graphml"])
def test_junk(tmp_path, suffix):
    path = tmp_path / f"graph.{suffix}"
    path.write_text("this is no graph")
    with pytest.raises(grfpp.InputError, match="not"):
        read_attribute(path, "kind")


def test_no_such_file(tmp_path):
    with pytest.raises(grfpp.InputError, match="there is no file"):
        read_attribute(tmp_path / "graph.gml", "kind")
