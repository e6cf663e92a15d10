"""What commands print and write: facts, JSON, tables, and no file that would be lost."""

import csv
import io
import json
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from cli_helpers import accepted, refused
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

import grfpp
from grfpp.cli import results
from grfpp.cli.estimate import split_rows
from grfpp.errors import InputError
from grfpp.termination import LAWS, termination_from_spec


def test_results_are_shown_as_text_or_as_json(capsys, tmp_path):
    result, path = results.Result(), tmp_path / "a.csv"
    path.write_text("12345")
    result.add("name", "one", n=1)
    result.add("longer", "two")
    result.add(where=None, path=path)
    result.add(files=[result.add_file(None), result.add_file(path)])
    result.show(as_json=False)
    lines = ["name    one", "longer  two", f"wrote   {path}, 5 bytes"]
    assert capsys.readouterr().out.splitlines() == lines
    result.show(as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        **{"n": 1, "where": None, "path": str(path)},
        "files": [None, {"path": str(path), "n_bytes": 5}],
    }


def test_formulas_become_text_and_other_cells_stay():
    formulas = "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "-cmd|'x'"
    for text in formulas:
        assert results.csv_cell(text) == f"'{text}"
    for value in ("a=b", "-5", "+3.25", "-1e-7", "", -5, -0.5, True, "a@b.org"):
        assert results.csv_cell(value) == value


@QUICK
@given(st.text(st.characters()))
def test_every_cell_can_be_written_and_read(text):
    stream = io.StringIO()
    csv.writer(stream).writerow([results.csv_cell(text)])
    stream.getvalue().encode()


def test_lists_of_rows():
    assert split_rows(' 0 , 5,"Smith, J.",Anna') == ["0", "5", "Smith, J.", "Anna"]
    for text in ("", ",", "0,", '"open', "0\n1"):
        with pytest.raises(InputError):
            split_rows(text)


def test_the_largest_entries_of_a_row_come_first():
    values = np.array([0.1, -3.0, 2.0, 0.0, 0.3, 0.2, 0.4, 0.5])
    assert results.row_text("abcdefgh", values).startswith("b: -3, c: 2, h: 0.5, g: 0.4")
    assert results.row_text("abcdefgh", values).endswith("(8 in all)")
    assert results.row_text("ab", values[:2], np.array([1.0, 0.5])) == "b: -3 ± 0.5, a: 0.1 ± 1"


SPECS = """geometric:0.1 poisson:4 negative-binomial:2:0.2 first-step:0.25 fixed:3 uniform:5
custom:0.5:0.25:0.25 geometric:0.123456789012"""


@pytest.mark.parametrize("spec", SPECS.split())
def test_laws_are_written_as_they_are_read(spec):
    assert results.law_text(termination_from_spec(spec)) == spec
    assert spec.partition(":")[0] in LAWS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_outputs_are_no_folders_pipes_or_devices(folder):
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    (folder / "null.csv").symlink_to("/dev/null")
    for name in ("folder", "pipe", "null"):
        with pytest.raises(InputError):
            results.check_output(Path(f"{name}.csv"), [".csv"])


def test_no_cell_of_a_table_is_a_formula(folder):
    results.write_csv(Path("t.csv"), ["node", "=1"], [["@me", 0.5], ["\ud800", -1], [3, "-2"]])
    text = "node,'=1\n'@me,0.5\n\\ud800,-1\n3,-2\n"
    assert Path("t.csv").read_text() == text


#: A command that reads and writes each kind of file, the suffixes of these, and how one file can
#: have two names.
LINKS = [
    ("estimate INPUT --output OUTPUT", ".npz", ".npz", "name"),
    ("estimate INPUT --rows 0 --output OUTPUT", ".txt", ".csv", "soft"),
    ("cluster INPUT -k 2 --output OUTPUT", ".csv", ".csv", "name"),
    ("query graph.txt --nodes-from INPUT --output OUTPUT", ".csv", ".csv", "dotted"),
    ("interpolate INPUT --picture OUTPUT", ".off", ".png", "soft"),
    ("classify INPUT --output OUTPUT", ".zip", ".csv", "hard"),
]


@pytest.mark.parametrize(("command", "suffix", "output_suffix", "link"), LINKS)
def test_no_output_overwrites_an_input(folder, capsys, command, suffix, output_suffix, link):
    source, output = folder / f"in{suffix}", folder / f"out{output_suffix}"
    source.write_bytes(b"precious")
    if link in ("name", "dotted"):
        output = folder / "." / ".." / folder.name / source.name if link == "dotted" else source
    else:
        (output.symlink_to if link == "soft" else output.hardlink_to)(source)
    words = {"INPUT": source, "OUTPUT": output}
    message = refused(capsys, *(words.get(word, word) for word in command.split()))
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
