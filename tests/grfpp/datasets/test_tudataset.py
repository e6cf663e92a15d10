import zipfile

import numpy as np
import pytest
from datasets_helpers import (
    diameter,
    file_refusal,
    is_frozen,
    needs_data,
    no_data,
    refusal,
    write_zip,
)
from little_memory import only

from grfpp.datasets import load_tudataset, read_tudataset

# A triangle, two nodes without an edge, a pair with a self-loop.
TABLES = {
    "A": "1, 2\n2, 3\n3, 1\n6, 7\n7, 6\n7, 7\n6, 7\n",
    "graph_indicator": "1\n1\n1\n2\n2\n3\n3\n",
    "graph_labels": "-1\n1\n-1\n",
    "node_labels": "5\n5\n6\n5\n6\n6\n6\n",
    "node_attributes": "0.5, 1\n1.5, 1\n2.5, 1\n3.5, 1\n4.5, 1\n5.5, 1\n6.5, 1\n",
}


def archive(folder, without=(), **changes):
    tables = {name: changes.get(name, text) for name, text in TABLES.items()}
    return write_zip(
        folder / "TINY.zip",
        {f"TINY/TINY_{name}.txt": text for name, text in tables.items() if name not in without},
    )


def test_what_is_in_an_archive(tmp_path):
    tiny = read_tudataset(archive(tmp_path))
    assert repr(tiny) == "TUDataset('TINY', 3 graphs, 2 classes)"
    assert tiny.classes == (-1, 1)
    np.testing.assert_array_equal(tiny.labels, [0, 1, 0])
    triangle, empty, loop = (graph.adjacency.toarray() for graph in tiny.graphs)
    np.testing.assert_array_equal(triangle, 1 - np.eye(3))
    np.testing.assert_array_equal(empty, np.zeros((2, 2)))
    np.testing.assert_array_equal(loop, [[0, 1], [1, 1]])
    assert [graph.n_edges for graph in tiny.graphs] == [3, 0, 2]
    assert not any(graph.is_directed for graph in tiny.graphs)
    assert [part.tolist() for part in tiny.node_labels] == [[5, 5, 6], [5, 6], [6, 6]]
    assert [part.shape for part in tiny.node_attributes] == [(3, 2), (2, 2), (2, 2)]
    assert all(map(is_frozen, (tiny.labels, tiny.node_labels[0], tiny.node_attributes[0])))


def test_nodes_in_any_order(tmp_path):
    ordered = read_tudataset(archive(tmp_path))
    # Node i of the ordered archive is node place[i] of this one, where graphs are interleaved.
    place = np.array([2, 3, 6, 1, 5, 4, 7])
    back = np.argsort(place)

    def moved(name):
        lines = TABLES[name].splitlines()
        return "\n".join(lines[i] for i in back)

    ends = [[place[int(word) - 1] for word in line.split(",")] for line in TABLES["A"].splitlines()]
    names = ("graph_indicator", "node_labels", "node_attributes")
    tables = {name: moved(name) for name in names}
    mixed = read_tudataset(archive(tmp_path, A="\n".join(f"{u}, {v}" for u, v in ends), **tables))
    for one, other in zip(ordered.graphs, mixed.graphs, strict=True):
        np.testing.assert_array_equal(one.adjacency.toarray(), other.adjacency.toarray())
    for part in ("node_labels", "node_attributes"):
        for one, other in zip(getattr(ordered, part), getattr(mixed, part), strict=True):
            np.testing.assert_array_equal(one, other)


def test_other_tables(tmp_path):
    tiny = read_tudataset(archive(tmp_path, without=("node_labels", "node_attributes")))
    assert tiny.node_labels is None and tiny.node_attributes is None
    assert [graph.n_edges for graph in read_tudataset(archive(tmp_path, A="")).graphs] == [0, 0, 0]
    several = read_tudataset(archive(tmp_path, node_labels="\n".join(["1, 0"] * 7)))
    assert several.node_labels[1].shape == (2, 2)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("A", "1, 2\n2, 8\n"),
        ("A", "1, 2\n\n2, 3\n"),
        ("A", "1, 2\n3, 4\n"),  # an edge joins two graphs
        ("graph_indicator", "1\n1\n4\n"),
        ("graph_indicator", "1\n1\n1\n3\n"),  # a graph without nodes
        ("graph_labels", "1\ntwo\n1\n"),
        ("graph_labels", "1, 2\n1, 2\n1, 3\n"),
        ("node_attributes", "1, 2\n1\n"),
        ("node_attributes", "nan\n" * 7),
    ],
)
def test_wrong_tables(tmp_path, table, text):
    path = archive(tmp_path, **{table: text})
    assert f"{path}: TINY/TINY_{table}.txt" in refusal(read_tudataset, path)


def test_missing_tables_and_damaged_archives(tmp_path):
    for table in ("A", "graph_labels", "graph_indicator"):
        message = refusal(read_tudataset, archive(tmp_path, without=(table,)))
        assert f"_{table}.txt" in message
    path = archive(tmp_path)
    data = path.read_bytes()
    file_refusal(read_tudataset, tmp_path / "absent.zip")
    for damaged in (b"", b"no zip file", data[: len(data) // 2]):
        path.write_bytes(damaged)
        file_refusal(read_tudataset, path)
    with zipfile.ZipFile(archive(tmp_path)) as whole:
        start = whole.getinfo("TINY/TINY_A.txt").header_offset + 60
    path.write_bytes(data[:start] + bytes(4) + data[start + 4 :])
    assert str(path) in refusal(read_tudataset, path)


def test_loading_by_name_and_files_that_announce_too_much(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    (tmp_path / "tudataset").mkdir()
    archive(tmp_path).rename(tmp_path / "tudataset/MUTAG.zip")
    assert len(load_tudataset("mutag", download=False)) == 3
    only(monkeypatch, 10)
    assert "bytes" in refusal(read_tudataset, archive(tmp_path))


@pytest.mark.parametrize(
    ("name", "n_graphs", "n_nodes", "n_edges", "classes"),
    [
        ("MUTAG", 188, 17.93, 19.79, (-1, 1)),
        ("PTC_MR", 344, 14.29, 14.69, (-1, 1)),
        ("ENZYMES", 600, 32.63, 62.14, (1, 2, 3, 4, 5, 6)),
        ("PROTEINS", 1113, 39.06, 72.82, (1, 2)),
        ("DD", 1178, 284.32, 715.66, (0, 1)),
        ("IMDB-BINARY", 1000, 19.77, 96.53, (0, 1)),
        ("IMDB-MULTI", 1500, 13.00, 65.94, (1, 2, 3)),
        ("NCI1", 4110, 29.87, 32.30, (0, 1)),
        ("REDDIT-BINARY", 2000, 429.63, 497.75, (0, 2)),
    ],
)
def test_real_collections(name, n_graphs, n_nodes, n_edges, classes):
    needs_data()
    dataset = load_tudataset(name)
    assert (dataset.name, len(dataset), dataset.classes) == (name, n_graphs, classes)
    assert round(np.mean([graph.n_nodes for graph in dataset.graphs]), 2) == n_nodes
    assert round(np.mean([graph.n_edges for graph in dataset.graphs]), 2) == n_edges
    assert not any(graph.adjacency.diagonal().any() for graph in dataset.graphs)
    if name == "ENZYMES":
        assert dataset.node_attributes[0].shape == (37, 18)
    if name == "REDDIT-BINARY":
        chosen = dataset.graphs[663]  # of the paper's long-range graphs
        assert (chosen.n_nodes, diameter(chosen)) == (436, 19)
