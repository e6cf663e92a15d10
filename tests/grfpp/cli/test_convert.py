"""`grfpp convert`, and commands that take what it wrote."""

import signal

import numpy as np
from cli_helpers import accepted, document, start, write_karate

from grfpp import Graph


def test_a_list_becomes_a_folder_that_commands_take(tmp_path, capsys):
    path, target = write_karate(tmp_path), tmp_path / "karate.grf"
    told = accepted(capsys, "convert", path, target)
    lines = dict(line.split("  ", 1) for line in told.splitlines())
    assert lines["graph  "[:5]].strip().endswith("karate.txt: 34 nodes, 78 edges, undirected")
    assert lines["names"].strip() == "none: nodes are 0 to 33"
    assert lines["weights"].strip() == "one per edge"
    assert "reading" in lines["time"] and str(target) in lines["wrote"]
    options = ("--rows", "0,33", "--seed", "1")
    one, other = (document(capsys, "estimate", graph, *options) for graph in (path, target))
    assert one["rows"] == other["rows"]


def test_json_and_options(tmp_path, capsys):
    path = tmp_path / "calls.csv"
    path.write_text("when;who;whom\n1;ann;bob\n2;bob;cy\n3;ann;bob\n")
    target = tmp_path / "calls.grf"
    options = ["--columns", "who,whom", "--directed", "--duplicates", "max", "--memory", "100MB"]
    told = document(capsys, "convert", path, target, *options)
    graph = {"path": str(path), "n_nodes": 3, "n_edges": 2, "directed": True}
    assert told["graph"] == graph
    assert told["weights"] == 1.0 and told["names"] == "text"
    assert set(told["seconds"]) == {"reading", "naming", "sorting", "writing"}
    assert told["output"]["n_bytes"] > 100
    read = Graph(path, columns=["who", "whom"], directed=True, duplicates="max")
    for part in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(Graph.open(target), part), getattr(read, part))
    (tmp_path / "edges.txt").write_text("0 1\n")
    accepted(capsys, "convert", tmp_path / "edges.txt", tmp_path / "x.grf", "--nodes", "5")
    assert Graph.open(tmp_path / "x.grf").n_nodes == 5


def test_asked_to_end_it_cleans_up(tmp_path):
    """What becomes of other signals is tested with `grfpp estimate`."""
    path = tmp_path / "edges.txt"
    path.write_text("".join(f"n{n} n{n * 7 % 100_003}\n" for n in range(300_000)))
    (tmp_path / "out").mkdir()
    with start("convert", path, tmp_path / "out" / "x.grf") as process:
        while not list((tmp_path / "out").glob(".x*/*/listed.txt")):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode in (130, 128 + signal.SIGTERM)
    assert list((tmp_path / "out").iterdir()) == []
