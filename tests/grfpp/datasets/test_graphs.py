import networkx as nx
import numpy as np
import pytest
from datasets_helpers import diameter, file_refusal, is_frozen, needs_data, no_data

from grfpp import Graph
from grfpp.datasets import load_graph, read_labelled_gml

GML = """graph [
  node [ id 7 label "a" gt "x" ]
  node [ id 3 label "b" gt "y" ]
  node [ id 5 label "c" gt "x" ]
  edge [ source 7 target 3 value 2.5 ]
  edge [ source 3 target 5 ]
]
"""


def written(folder, text):
    path = folder / "little.gml"
    path.write_text(text)
    return path


def test_a_file(tmp_path):
    path = written(tmp_path, GML)
    little = read_labelled_gml(path)
    assert (little.name, little.source) == ("little", str(path))
    assert little.graph.node_ids == ["a", "b", "c"]
    assert little.classes == ("x", "y")
    np.testing.assert_array_equal(little.labels, [0, 1, 0])
    assert is_frozen(little.labels)
    same = Graph(path)
    assert (little.graph.adjacency != same.adjacency).nnz == 0
    assert repr(little) == (
        "GraphDataset('little', Graph(n_nodes=3, n_edges=2, undirected), 2 classes)"
    )


@pytest.mark.parametrize(
    "text",
    [
        *(GML.replace(' gt "y"', ""), GML.replace("2.5", "-1.0"), "", "graph [\n]\n"),
        *("graph [\n  node [ id 0\n", "graph [\n  node ] id\n"),
    ],
)
def test_refusals(tmp_path, text):
    file_refusal(read_labelled_gml, written(tmp_path, text))
    file_refusal(read_labelled_gml, tmp_path / "absent.gml")


def test_files_in_the_cache_or_of_networkx_are_read(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    (tmp_path / "graphs").mkdir()
    written(tmp_path / "graphs", GML).rename(tmp_path / "graphs/cora.gml")
    assert load_graph("cora", download=False).graph.n_nodes == 3
    # Of the karate club networkx has one.
    karate = load_graph("karate")
    assert karate.source == "networkx"
    assert karate.classes == ("Mr. Hi", "Officer")
    assert (karate.graph.n_nodes, karate.graph.n_edges) == (34, 78)
    assert set(karate.graph.weights) == {1.0}
    assert karate.graph.node_ids[33] == "33"
    clubs = dict(nx.karate_club_graph().nodes(data="club"))
    assert [karate.classes[label] for label in karate.labels] == [clubs[i] for i in range(34)]


@pytest.mark.parametrize(
    ("name", "n_nodes", "n_edges", "n_classes", "longest"),
    [
        ("karate", 34, 78, 2, 5),
        ("dolphins", 62, 159, 2, 8),
        ("polbooks", 105, 441, 3, 7),
        ("football", 115, 613, 12, 4),
        ("databases", 1006, 3155, 7, None),
        ("eurosis", 1272, 6454, 13, 10),
        ("cora", 2485, 5069, 7, None),
    ],
)
def test_real_graphs(name, n_nodes, n_edges, n_classes, longest):
    needs_data()
    dataset = load_graph(name)
    graph = dataset.graph
    assert (graph.n_nodes, graph.n_edges, len(dataset.classes)) == (n_nodes, n_edges, n_classes)
    assert not graph.is_directed
    assert len(dataset.labels) == len(set(graph.node_ids)) == n_nodes
    assert set(dataset.labels) == set(range(n_classes))
    assert dataset.source.endswith(f"{name}.gml")
    if longest:
        assert diameter(graph) == longest


def test_the_two_karate_clubs_differ_in_the_class_of_one_member(monkeypatch, tmp_path):
    needs_data()
    ours = load_graph("karate")
    no_data(monkeypatch, tmp_path)
    theirs = load_graph("karate")
    place = [ours.graph.node_ids.index(label) for label in theirs.graph.node_ids]
    assert (ours.graph.adjacency[place][:, place] != theirs.graph.adjacency).nnz == 0
    assert np.flatnonzero(ours.labels[place] != theirs.labels).tolist() == [8]
