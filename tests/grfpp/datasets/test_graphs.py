import networkx as nx
import numpy as np
import pytest
from datasets_helpers import diameter, file_refusal, is_frozen, needs_data, no_data

from grfpp import Graph
from grfpp.datasets import load_graph, load_planetoid, read_labelled_gml, read_planetoid
from grfpp.errors import InputError

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


PLANETOID = {
    "edges": np.array([[0, 1], [1, 2], [2, 1], [3, 4]], np.int32),
    "labels": np.array([3, -1, 3, 5, 5], np.int8),
    "n_nodes": np.array(6 - 1),
    "train": np.array([0]),
    "validation": np.array([3]),
    "test": np.array([2, 4]),
}


def planetoid_file(folder, **changes):
    path, arrays = folder / "citations.npz", {**PLANETOID, **changes}
    np.savez(path, **{name: each for name, each in arrays.items() if each is not None})
    return path


def test_a_planetoid_file(tmp_path):
    data = read_planetoid(planetoid_file(tmp_path))
    assert repr(data) == (
        "SplitGraph('citations', Graph(n_nodes=5, n_edges=3, undirected), 2 classes, 1/1/2)"
    )
    assert data.labels.tolist() == [0, -1, 0, 1, 1]
    assert (data.graph.weights == 1).all()
    assert (data.train.tolist(), data.validation.tolist(), data.test.tolist()) == ([0], [3], [2, 4])
    assert is_frozen(data.labels) and is_frozen(data.test)
    with pytest.raises(InputError) as caught:
        load_planetoid("citeseer")
    assert caught.value.argument == "name"


@pytest.mark.parametrize(
    "changes",
    [
        {"test": None},
        {"n_nodes": np.array(0)},
        {"n_nodes": np.array(4)},
        {"edges": np.zeros((3, 3), int)},
        {"edges": np.array([[0, 9]])},
        {"edges": np.array([[0.0, 1.0]])},
        {"labels": np.zeros(4, int)},
        {"labels": np.full(5, -1)},
        {"labels": np.array([{}, 1, 2, 3, 4], object)},  # a pickle
        {"train": np.array([1])},
        {"train": np.array([7])},
        {"train": np.array([2])},
    ],
)
def test_planetoid_refusals(tmp_path, changes):
    file_refusal(read_planetoid, planetoid_file(tmp_path, **changes))


@pytest.mark.parametrize("name", ["cora", "Pubmed", "planetoid-cora"])
def test_the_real_split(name):
    needs_data()
    data = load_planetoid(name, download=False)
    assert not data.graph.is_directed
    assert (np.bincount(data.labels[data.train]) == 20).all()
    assert (len(data.validation), len(data.test)) == (500, 1000)
