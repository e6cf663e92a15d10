import pytest
from io_helpers import file_refusal, read_text, real_data

from grfpp.graph import Graph

HEAD = "graph [\n"


def node(number, extra=""):
    return f"node [ id {number} {extra} ]\n"


def edge(u, v, extra=""):
    return f"edge [ source {u} target {v} {extra} ]\n"


def graph(*parts):
    return HEAD + "".join(parts) + "]\n"


@pytest.mark.parametrize(
    ("name", "n_nodes", "n_edges"),
    [
        ("karate", 34, 78),
        ("dolphins", 62, 159),
        ("polbooks", 105, 441),
        ("football", 115, 613),
        ("databases", 1006, 3155),
        ("eurosis", 1272, 6454),
        ("cora", 2485, 5069),
    ],
)
def test_real_graphs(name, n_nodes, n_edges):
    read = Graph(real_data("graphs", f"{name}.gml"))
    assert (read.n_nodes, read.n_edges, read.is_directed) == (n_nodes, n_edges, False)
    assert len(set(read.node_ids)) == n_nodes


def test_labels_or_ids_name_the_nodes():
    labelled = graph(node(5, 'label "x"'), node(3, 'label "y"'), edge(5, 3))
    assert read_text(labelled, ".gml").node_ids == ["x", "y"]
    twice = graph(node(5, 'label "x"'), node(3, 'label "x"'), edge(5, 3))
    assert read_text(twice, ".gml").node_ids == [5, 3]
    some = graph(node(5, 'label "x"'), node(3), edge(5, 3))
    assert read_text(some, ".gml").node_ids == [5, 3]
    nested = graph(node(5, "label [ a 1 ]"), node(3, "label [ a 2 ]"), edge(5, 3))
    assert read_text(nested, ".gml").node_ids == [5, 3]


def test_weights():
    nodes = node(0), node(1), node(2)
    both = graph(*nodes, edge(0, 1, "weight 2.5 value 7"), edge(1, 2, "value 8"))
    assert read_text(both, ".gml").weights.tolist() == [2.5, 2.5, 1, 1]
    value = graph(*nodes, edge(0, 1, "value 7"), edge(1, 2))
    assert read_text(value, ".gml").weights.tolist() == [7, 7, 1, 1]
    words = graph(*nodes, edge(0, 1, 'value "friend"'), edge(1, 2))
    assert read_text(words, ".gml").weights.tolist() == [1, 1, 1, 1]


def test_directions_and_parallel_edges():
    arc = graph("directed 1\n", node(0), node(1), edge(0, 1))
    assert read_text(arc, ".gml").is_directed
    two = graph(node(0), node(1), edge(0, 1), edge(0, 1))
    assert "multigraph 1" in file_refusal(two, ".gml")
    assert read_text(two.replace(HEAD, HEAD + "multigraph 1\n"), ".gml").weights.tolist() == [2, 2]


def test_names_beyond_ascii():
    assert read_text(graph(node(0, 'label "Zoë"')), ".gml").node_ids == ["Zoë"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("graph [\n  node [\n", "line 4: not GML: expected ']', found EOF"),
        ("graph [\n node ]\n]", "line 2: not GML"),
        (graph(node(0), "&\n"), "line 3: not GML: cannot tokenize"),
        ("0 1\n", "line 1"),
        ("", "no graph"),
        ("graph 5", "not a GML graph"),
        (graph(node(0), edge(0, 1)), "undefined target 1"),
        (graph(node(0), node(0)), "node id 0 is duplicated"),
        (graph("node [ label 1 ]"), "no 'id'"),
        (graph(node(0), edge(0, 0, 'weight "x"')), "real numbers, found 'x'"),
        (graph(node(0), edge(0, 0, "weight -1")), "negative"),
        (graph(node(0), edge(0, 0, "weight NAN")), "finite"),
        ("a [ " * 5000, "nested too deeply"),
        (b"graph [\n\xff", "line 2: not UTF-8"),
        (graph(), "no nodes"),
        (graph(node(0, f"graph [ {node(1)} ]")), "a graph within a graph"),
        (graph(node(0), edge(0, 0, f"graph [ {node(1)} ]")), "a graph within a graph"),
        (graph(node(0), f"graph [ {node(1)} ]"), "a graph within a graph"),
        (graph(node(0)) + graph(node(1)), "more than one graph"),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".gml")
