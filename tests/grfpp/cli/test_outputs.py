import json
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from cli_helpers import accepted, refused

import grfpp
from grfpp.cli.outputs import check_output, graph_document, graph_fact, plain, write_csv
from grfpp.errors import InputError
from grfpp.io.storage.archive import save_arrays


def test_graphs_are_described():
    ring = grfpp.Graph(nx.cycle_graph(1200))
    assert graph_fact("a.txt", ring) == ("graph", "a.txt: 1,200 nodes, 1,200 edges, undirected")
    arcs = grfpp.Graph(nx.path_graph(3, create_using=nx.DiGraph))
    assert graph_fact("b.txt", arcs)[1].endswith("3 nodes, 2 edges, directed")
    assert graph_document("b.txt", arcs) == {
        "path": "b.txt",
        "n_nodes": 3,
        "n_edges": 2,
        "directed": True,
    }


def test_labels_that_json_can_hold():
    assert [plain(label) for label in (3, "Anna", (1, 2))] == [3, "Anna", "(1, 2)"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_outputs_are_no_folders_pipes_or_devices(folder):
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    (folder / "null.csv").symlink_to("/dev/null")
    for name, words in (("folder", "folder"), ("pipe", "device"), ("null", "device")):
        with pytest.raises(InputError, match=f"--output {name}.csv: it is .*{words}"):
            check_output(Path(f"{name}.csv"), ".csv")


def test_no_cell_of_a_table_is_a_formula(folder):
    write_csv(Path("t.csv"), ["node", "=1"], [["@me", 0.5], ["\ud800", -1], [3, "-2"]])
    text = "node,'=1\n'@me,0.5\n\\ud800,-1\n3,-2\n"
    assert Path("t.csv").read_text() == text


# What each command reads, and the options that name what it writes.
COMMANDS = {
    "estimate": ["estimate", "INPUT", "--output", "OUTPUT"],
    "project": ["estimate", "INPUT", "--project", "2", "--output", "OUTPUT"],
    "rows": ["estimate", "INPUT", "--rows", "0", "--output", "OUTPUT"],
    "cluster": ["cluster", "INPUT", "-k", "2", "--output", "OUTPUT"],
    "interpolate": ["interpolate", "INPUT", "--output", "OUTPUT"],
    "picture": ["interpolate", "INPUT", "--picture", "OUTPUT"],
    "classify": ["classify", "INPUT", "--output", "OUTPUT"],
}
SUFFIXES = {
    "estimate": (".npz", ".npz"), "project": (".npz", ".npz"), "rows": (".csv", ".csv"),
    "cluster": (".csv", ".csv"), "interpolate": (".off", ".csv"), "picture": (".off", ".png"),
    "classify": (".zip", ".csv"),
}  # fmt: skip


#: Files of one name have one suffix.
LINKS = [
    (command, link)
    for command, (suffix, output_suffix) in SUFFIXES.items()
    for link in ("symbolic", "hard", *(("name", "dotted") if suffix == output_suffix else ()))
]


@pytest.mark.parametrize(("command", "link"), LINKS)
def test_no_output_overwrites_an_input(folder, capsys, command, link):
    suffix, output_suffix = SUFFIXES[command]
    source, output = folder / f"in{suffix}", folder / f"out{output_suffix}"
    source.write_bytes(b"precious")
    if link in ("name", "dotted"):
        output = folder / "." / ".." / folder.name / source.name if link == "dotted" else source
    else:
        (output.symlink_to if link == "symbolic" else output.hardlink_to)(source)
    words = {"INPUT": source, "OUTPUT": output}
    message = refused(capsys, *(words.get(word, word) for word in COMMANDS[command]))
    assert "is the same file as" in message
    assert source.read_bytes() == b"precious"


def test_labels_do_no_harm(folder, capsys):
    evil = "\x1b[31m=cmd\u202e"
    graph = nx.relabel_nodes(nx.cycle_graph(4), {0: evil, 1: "=1+1"})
    grfpp.Graph(graph).save("g.npz")
    out = accepted(capsys, "estimate", "g.npz", "--rows", "=1+1", "--output", "r.csv")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert r"\x1b[31m=cmd\u202e" in out
    cells = [line.split(",")[0] for line in Path("r.csv").read_text().splitlines()]
    assert cells == ["node", evil, "'=1+1", "2", "3"]
    assert "\x1b" not in refused(capsys, "estimate", "g.npz", "--rows", "none")
    shown = accepted(capsys, "estimate", "g.npz", "--rows", evil, "--json")
    assert "\u202e" not in shown
    assert json.loads(shown)["rows"][0]["node"] == evil


def test_damaged_labels_are_one_line_that_names_the_file(folder, capsys):
    ring = grfpp.Graph(nx.cycle_graph(3))
    arrays = {"indptr": ring.indptr, "indices": ring.indices, "weights": ring.weights}
    for labels in (
        np.array(["a", "b"]),
        np.zeros((3, 1), int),
        np.array([0.5, 1.5, 2.5]),
        np.array([b"a", b"b", b"c"]),
    ):
        save_arrays("g.npz", "grfpp-graph-1", {**arrays, "node_ids": labels})
        message = refused(capsys, "estimate", "g.npz")
        assert message.startswith("g.npz: the stored graph is damaged: ")
        assert "label" in message
    codes = np.array([0x110000, 65, 66], np.uint32).view("U1")
    save_arrays("g.npz", "grfpp-graph-1", {**arrays, "node_ids": codes})
    message = refused(capsys, "estimate", "g.npz")
    assert message.startswith("g.npz ")
    assert "'node_ids': text with codes that no character has" in message
