import pytest
from io_helpers import file_refusal, read_text

WEIGHT = '<key id="d0" for="edge" attr.name="weight" attr.type="double"/>\n'


def document(body, kind="undirected", keys=WEIGHT, namespace=True):
    spaces = ' xmlns="http://graphml.graphdrawing.org/xmlns"' if namespace else ""
    return (
        f'<?xml version="1.0"?>\n<graphml{spaces}>\n{keys}<graph edgedefault="{kind}">\n'
        f"{body}</graph>\n</graphml>\n"
    )


NODES = '<node id="a"/>\n<node id="b"/>\n'
EDGE = '<edge source="a" target="b"><data key="d0">2.5</data></edge>\n'


@pytest.mark.parametrize("namespace", [True, False])
def test_weights_and_names(namespace):
    graph = read_text(document(NODES + EDGE, namespace=namespace), ".graphml")
    assert graph.node_ids == ["a", "b"]
    assert graph.weights.tolist() == [2.5, 2.5]


def test_directions_and_parallel_edges():
    assert read_text(document(NODES + EDGE, "directed"), ".graphml").is_directed
    assert read_text(document(NODES + EDGE + EDGE), ".graphml").weights.tolist() == [5, 5]


def test_ports_make_no_warning():
    port = NODES.replace("/>", '><port name="p"/></node>', 1)
    assert read_text(document(port + EDGE), ".graphml").n_edges == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (document(NODES + EDGE)[:-20], "line 8: not well-formed XML"),
        (document(NODES)[:-40].replace("</graph>", ""), "not well-formed XML"),
        (document(NODES + '<edge source="a"/>\n'), "line 7: <edge> has no 'target'"),
        (document(NODES + '<edge source="a" target="z"/>\n'), "line 7: an edge ends at node 'z'"),
        (document("<node/>\n"), "line 5: <node> has no 'id'"),
        ("<html></html>", "line 1: not GraphML: the outermost element is <html>"),
        ("<graphml></graphml>", "no <graph>"),
        ("0 1\n", "line 1: not well-formed XML"),
        ("", "line 1: not well-formed XML"),
        (document(NODES + EDGE.replace("2.5", "x")), "not a GraphML graph"),
        (document(NODES + EDGE.replace("d0", "d9")), "not a GraphML graph"),
        (document(NODES + EDGE.replace("2.5", "nan")), "finite"),
        (document(NODES + EDGE, keys=WEIGHT.replace("double", "string")), "real numbers"),
        (document(""), "no nodes"),
        ('<?xml version="1.0" encoding="nonsense"?><graphml/>', "encoding"),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".graphml")


def test_entities_cannot_blow_up():
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "x"}">' for i in range(12))
    body = "<graphml><graph><node id='a'>&e11;</node></graph></graphml>"
    bomb = f"<!DOCTYPE graphml [{entities}]>{body}"
    assert "line 1" in file_refusal(bomb, ".graphml")


INNER = '<graph edgedefault="undirected"><node id="x"/><edge source="x" target="x"/></graph>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (document(f'<node id="a">{INNER}</node>\n'), "line 5: a graph within a graph"),
        (
            document(f'{NODES}<edge source="a" target="b">{INNER}</edge>\n'),
            "line 7: a graph within",
        ),
        (document(f"{NODES}{INNER}"), "line 7: a graph within a graph"),
        (document(NODES).replace("</graphml>", f"{INNER}</graphml>"), "a second graph"),
        (document(NODES).replace("</graphml>", '<node id="z"/></graphml>'), "must lie in <graph>"),
        (document(f'<node id="a">{NODES}</node>\n'), "<node> must lie in <graph>, not in <node>"),
        (
            document(NODES + EDGE).replace("<edge", '<edge xmlns="other"'),
            "lists 2 nodes and 1 edges, of which",
        ),
        (
            document(NODES + 2 * EDGE.replace("<edge", '<edge id="1"')),
            "lists 2 nodes and 2 edges, of which",
        ),
    ],
)
def test_nothing_is_dropped(content, words):
    assert words in file_refusal(content, ".graphml")


def test_what_only_looks_like_a_graph():
    drawing = NODES.replace("/>", "><data key='d0'><graph><node/></graph></data></node>", 1)
    assert read_text(document(drawing + EDGE), ".graphml").n_nodes == 2


def test_groups_of_yed_are_read_whole():
    group = f'<node id="g" yfiles.foldertype="group">{INNER}</node>\n'
    assert read_text(document(NODES + group + EDGE), ".graphml").node_ids == ["a", "b", "g", "x"]
