import networkx as nx
import numpy as np
import pytest
from io_helpers import file_refusal, read_text

from grfpp.graph import Graph

NAMED = nx.relabel_nodes(nx.karate_club_graph(), lambda i: f"p{i}")


@pytest.mark.parametrize("graph", [nx.path_graph(5), nx.karate_club_graph(), NAMED])
@pytest.mark.parametrize("data", [True, False, ["weight"]])
@pytest.mark.parametrize(("suffix", "mark"), [(".txt", " "), (".csv", ","), (".tsv", "\t")])
def test_all_that_networkx_writes(tmp_path, graph, data, suffix, mark):
    path = tmp_path / f"list{suffix}"
    nx.write_edgelist(graph, path, data=data, delimiter=mark)
    found, wanted = Graph(path), Graph(graph)
    order = found.index(list(graph))
    expected = wanted.adjacency.toarray() if data else wanted.adjacency.toarray() > 0
    np.testing.assert_array_equal(found.adjacency.toarray()[np.ix_(order, order)], expected)


def test_other_attributes_are_left_alone():
    graph = read_text(
        "# by networkx\na b {'x': {'y': 1}, 'weight': 2, 'z': ', {'}\n\nb c {'weight': 3}"
    )
    assert graph.weights.tolist() == [2, 2, 3, 3]
    assert read_text("a b {'x': 1, 'y': 2}\n", columns=(0, 1)).weights.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b {'weight': 3}\nb c {}\n", "line 2: expected 3 fields, as in the first line"),
        ("a b {}\nb c 3\n", "line 2: expected source, target and a dictionary"),
        ("a b {'weight': '3'}\n", "line 1: the weight in \"{'weight': '3'}\" is not a number"),
        ("a b {'weight': True}\n", "line 1: the weight in"),
        ("a b {'weight': -3}\n", "line 1: weights must be finite and not negative"),
        ("a b {'weight': nan}\n", "line 1: \"{'weight': nan}\" is not a dictionary"),
        ("a b {'weight': 1e999}\n", "line 1: weights must be finite"),
        ("a b {}\nb c {__import__('os')}\n", "line 2: \"{__import__('os')}\" is not a dictionary"),
        ("a b {1, 2}\n", "is not a dictionary"),
        ("a b {" + "[" * 10**4 + "}\n", "is not a dictionary"),
        ("a b {" + "-" * 10**4 + "1}\n", "is not a dictionary"),
        ("a b {" + "-" * 10**6 + "1}\n", "1,000,003 characters is too long"),
        ("a b {'\\d', 1}\n", "is not a dictionary"),
    ],
)
def test_refusals(text, words):
    assert words in file_refusal(text)
