"""GML and GraphML: weights, names, and nothing that is invented or dropped."""

import pytest
from io_helpers import file_refusal, read_text


def node(number, extra=""):
    return f"node [ id {number} {extra} ]\n"


def edge(u, v, extra=""):
    return f"edge [ source {u} target {v} {extra} ]\n"


def gml(*parts):
    return "graph [\n" + "".join(parts) + "]\n"


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (('label "x"', 'label "Zoë"'), ["x", "Zoë"]),
        (('label "x"', 'label "x"'), [5, 3]),
        (('label "x"', ""), [5, 3]),
        (("label [ a 1 ]", "label [ a 2 ]"), [5, 3]),
    ],
)
def test_labels_or_ids_name_the_nodes(labels, names):
    content = gml(node(5, labels[0]), node(3, labels[1]), edge(5, 3))
    assert read_text(content, ".gml").node_ids == names


@pytest.mark.parametrize(
    ("attributes", "weights"),
    [
        (("weight 2.5 value 7", "value 8"), [2.5, 2.5, 1, 1]),
        (("value 7", ""), [7, 7, 1, 1]),
        (('value "friend"', ""), [1, 1, 1, 1]),
    ],
)
def test_weights(attributes, weights):
    edges = edge(0, 1, attributes[0]), edge(1, 2, attributes[1])
    assert read_text(gml(node(0), node(1), node(2), *edges), ".gml").weights.tolist() == weights


def test_directions_and_parallel_edges():
    two = (node(0), node(1), edge(0, 1))
    assert read_text(gml("directed 1\n", *two), ".gml").is_directed
    assert "multigraph 1" in file_refusal(gml(*two, edge(0, 1)), ".gml")
    assert read_text(gml("multigraph 1\n", *two, edge(0, 1)), ".gml").weights.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("graph [\n  node [\n", "line 4"),
        (gml(node(0), "&\n"), "line 3"),
        ("", "no graph"),
        ("graph 5", "not a GML graph"),
        (gml(node(0), edge(0, 1)), "undefined target 1"),
        (gml("node [ label 1 ]"), "no 'id'"),
        (gml(node(0), edge(0, 0, 'weight "x"')), "real numbers"),
        (gml(node(0), edge(0, 0, "weight NAN")), "finite"),
        ("a [ " * 5000, "recursion"),
        (b"graph [\n\xff", "line 2"),
        (gml(), "no nodes"),
        (gml(node(0, f"graph [ {node(1)} ]")), "a graph within a graph"),
        (gml(node(0), edge(0, 0, f"graph [ {node(1)} ]")), "a graph within a graph"),
        (gml(node(0), f"graph [ {node(1)} ]"), "a graph within a graph"),
        (gml(node(0)) + gml(node(1)), "more than one graph"),
    ],
)
def test_damaged_gml(content, words):
    assert words in file_refusal(content, ".gml")


# --- GraphML --------------------------------------------------------------------------------------

WEIGHT = '<key id="d0" for="edge" attr.name="weight" attr.type="double"/>\n'
NODES = '<node id="a"/>\n<node id="b"/>\n'
EDGE = '<edge source="a" target="b"><data key="d0">2.5</data></edge>\n'
INNER = '<graph edgedefault="undirected"><node id="x"/><edge source="x" target="x"/></graph>'


def graphml(body, kind="undirected", keys=WEIGHT, namespace=True):
    spaces = ' xmlns="http://graphml.graphdrawing.org/xmlns"' if namespace else ""
    return (
        f'<?xml version="1.0"?>\n<graphml{spaces}>\n{keys}<graph edgedefault="{kind}">\n'
        f"{body}</graph>\n</graphml>\n"
    )


@pytest.mark.parametrize("namespace", [True, False])
def test_graphml(namespace):
    graph = read_text(graphml(NODES + EDGE, namespace=namespace), ".graphml")
    assert graph.node_ids == ["a", "b"] and graph.weights.tolist() == [2.5, 2.5]
    assert read_text(graphml(NODES + EDGE, "directed"), ".graphml").is_directed
    assert read_text(graphml(NODES + EDGE + EDGE), ".graphml").weights.tolist() == [5, 5]


def test_ports_drawings_and_groups():
    port = NODES.replace("/>", '><port name="p"/></node>', 1)
    assert read_text(graphml(port + EDGE), ".graphml").n_edges == 1  # and no warning
    drawing = NODES.replace("/>", "><data key='d0'><graph><node/></graph></data></node>", 1)
    assert read_text(graphml(drawing + EDGE), ".graphml").n_nodes == 2
    group = f'<node id="g" yfiles.foldertype="group">{INNER}</node>\n'
    assert read_text(graphml(NODES + group + EDGE), ".graphml").node_ids == ["a", "b", "g", "x"]


ENTITIES = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "x"}">' for i in range(12))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (graphml(NODES + EDGE)[:-20], "line 8: not well-formed XML"),
        (graphml(NODES + '<edge source="a"/>\n'), "unknown nodes: [None]"),
        (graphml(NODES + '<edge source="a" target="z"/>\n'), "unknown nodes: ['z']"),
        (graphml("<node/>\n"), "without an id"),
        ("<html></html>", "its root is <html>"),
        ("<graphml></graphml>", "not a GraphML graph"),
        ("", "line 1: not well-formed XML"),
        (graphml(NODES + EDGE.replace("2.5", "x")), "not a GraphML graph"),
        (graphml(NODES + EDGE, keys=WEIGHT.replace("double", "string")), "real numbers"),
        (graphml(""), "no nodes"),
        ('<?xml version="1.0" encoding="nonsense"?><graphml/>', "encoding"),
        (f"<!DOCTYPE graphml [{ENTITIES}]><graphml><node id='a'>&e11;</node></graphml>", "line 1"),
        # Nothing is dropped.
        (graphml(f'<node id="a">{INNER}</node>\n'), "lists 2 nodes and 1 edges"),
        (graphml(f'{NODES}<edge source="a" target="b">{INNER}</edge>\n'), "lists"),
        (graphml(NODES).replace("</graphml>", f"{INNER}</graphml>"), "lists"),
        (graphml(NODES).replace("</graphml>", '<node id="z"/></graphml>'), "lists"),
        (graphml(f'<node id="c">{NODES}</node>\n'), "lists"),
        (graphml(NODES + EDGE).replace("<edge", '<edge xmlns="other"'), "lists"),
        (graphml(NODES + 2 * EDGE.replace("<edge", '<edge id="1"')), "lists"),
    ],
)
def test_damaged_graphml(content, words):
    assert words in file_refusal(content, ".graphml")
