"""`grfpp convert`, and commands that take what it wrote."""

import json
import signal

import networkx as nx
import numpy as np
import pytest
from cli_helpers import accepted, refused, start, write_karate

from grfpp import Graph


def test_a_list_becomes_a_folder_that_commands_take(tmp_path, capsys):
    path, target = write_karate(tmp_path), tmp_path / "karate.grf"
    told = accepted(capsys, "convert", path, target)
    lines = dict(line.split("  ", 1) for line in told.splitlines())
    assert lines["graph  "[:5]].strip().endswith("karate.txt: 34 nodes, 78 edges, undirected")
    assert lines["names"].strip() == "none: nodes are 0 to 33"
    assert lines["weights"].strip() == "of their own"
    assert "reading" in lines["time"] and str(target) in lines["wrote"]
    options = ("--rows", "0,33", "--seed", "1", "--json")
    one, other = (
        json.loads(accepted(capsys, "estimate", graph, *options)) for graph in (path, target)
    )
    assert one["rows"] == other["rows"]


def test_json_and_options(tmp_path, capsys):
    path = tmp_path / "calls.csv"
    path.write_text("when;who;whom\n1;ann;bob\n2;bob;cy\n3;ann;bob\n")
    target = tmp_path / "calls.grf"
    options = ["--columns", "who,whom", "--directed", "--duplicates", "max", "--memory", "100MB"]
    document = json.loads(accepted(capsys, "convert", path, target, *options, "--json"))
    assert document["graph"] == {
        "path": str(path), "n_nodes": 3, "n_edges": 2, "directed": True,
    }  # fmt: skip
    assert document["weights"] == 1.0 and document["names"] == "text"
    assert set(document["seconds"]) == {"reading", "naming", "sorting", "writing"}
    assert document["output"]["n_bytes"] > 100
    graph = Graph.open(target)
    np.testing.assert_array_equal(
        graph.adjacency.toarray(), Graph(path, columns=["who", "whom"], directed=True,
                                         duplicates="max").adjacency.toarray()
    )  # fmt: skip


def test_nodes_without_edges(tmp_path, capsys):
    (tmp_path / "edges.txt").write_text("0 1\n")
    accepted(capsys, "convert", tmp_path / "edges.txt", tmp_path / "x.grf", "--nodes", "5")
    assert Graph.open(tmp_path / "x.grf").n_nodes == 5


def test_what_is_refused(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("a,b,1\nb,c,x\n")
    target = tmp_path / "x.grf"
    assert refused(capsys, "convert", path, target).endswith(
        "line 2: the weight 'x' is not a number"
    )
    path.write_text("1 2\n1 2\n")
    text = refused(capsys, "convert", path, target, "--duplicates", "error", "--separator", "space")
    assert "line 2: the edge 1 - 2 is listed again, after line 1; use --duplicates sum or" in text
    assert "GRAPH.grf must end in .grf" in refused(capsys, "convert", path, tmp_path / "x.npz")
    assert "--memory must be 50MB" in refused(capsys, "convert", path, target, "--memory", "1k")
    assert "there is no file" in refused(capsys, "convert", tmp_path / "no.csv", target)
    assert "does not exist" in refused(capsys, "convert", path, tmp_path / "no" / "x.grf")
    (tmp_path / "mine.grf").mkdir()
    (tmp_path / "mine.grf" / "letter").write_text("dear")
    assert "without header.json" in refused(capsys, "convert", path, tmp_path / "mine.grf")
    assert "does not exist" in refused(capsys, "estimate", tmp_path / "nothing.grf")
    assert not target.exists()


def test_a_missing_package_is_named(tmp_path, capsys, monkeypatch):
    import sys

    (tmp_path / "edges.txt").write_text("0 1\n")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    text = refused(capsys, "convert", tmp_path / "edges.txt", tmp_path / "x.grf")
    assert "needs duckdb" in text and "'.[large]'" in text
    assert [each.name for each in tmp_path.iterdir()] == ["edges.txt"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_cleans_up(tmp_path, number):
    path = tmp_path / "edges.txt"
    path.write_text("".join(f"n{n} n{n * 7 % 100_003}\n" for n in range(300_000)))
    (tmp_path / "out").mkdir()
    with start("convert", path, tmp_path / "out" / "x.grf") as process:
        while not list((tmp_path / "out").glob(".x*/unsorted/*.parquet")):
            assert process.poll() is None
        process.send_signal(number)
        process.communicate()
    assert process.returncode in (130, 128 + number)
    assert list((tmp_path / "out").iterdir()) == []


def test_options_of_edge_lists_are_for_edge_lists(capsys, tmp_path):
    path = tmp_path / "g.gml"
    nx.write_gml(nx.path_graph(3), path)
    target = tmp_path / "g.grf"
    assert "--memory is for lists of edges" in refused(
        capsys, "convert", path, target, "--memory", "1GB"
    )
    assert "says itself that it is undirected" in refused(
        capsys, "convert", path, target, "--directed"
    )
    assert not target.exists()
    edges = tmp_path / "g.txt"
    edges.write_text("0 1\n")
    told = refused(capsys, "convert", edges, target, "--undirected", "max")
    assert told.startswith("--undirected is not for lists") and "--duplicates max" in told
    assert "--mesh-weights is for meshes" in refused(
        capsys, "convert", edges, target, "--mesh-weights", "unit"
    )


def test_what_is_read_is_not_written_to(capsys, tmp_path):
    folder = tmp_path / "g.grf"
    Graph([(0, 1)]).save(folder)
    told = refused(capsys, "convert", folder, folder)
    assert "is the same file as" in told
