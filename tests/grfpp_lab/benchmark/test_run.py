"""A whole run at the smallest sizes: rows, JSON, page; `grfpp bench`."""

import json
import sys

import pytest
from bench_helpers import TINY

from grfpp.cli import run as run_program
from grfpp_lab.benchmark import child, run, suite
from grfpp_lab.benchmark.settings import SETS

ROW = {
    "section": str,
    "workload": str,
    "method": str,
    "version": str,
    "status": str,
    "note": str,
    "numbers": dict,
    "threads": int,
    "hardware": str,
}


@pytest.fixture(autouse=True)
def quickly(monkeypatch, tmp_path):
    """Measure next to nothing, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    monkeypatch.setitem(SETS, "smoke", TINY)

    def run_here(name, request, *, timeout, threads):
        # Through JSON, as between processes.
        request = json.loads(json.dumps({**request, "threads": threads}))
        return json.loads(json.dumps(child.TASKS[name](request)))

    monkeypatch.setattr(suite, "run_task", run_here)


def check(document):
    assert document["format"] == "grfpp-bench-1"
    assert {"machine", "settings", "began", "seconds", "threads", "grfpp"} <= set(document)
    assert {"ratios", "slopes", "bars"} <= set(document)
    for row in document["rows"]:
        assert {name: type(value) for name, value in row.items()} == ROW
        assert all(isinstance(value, float | int) for value in row["numbers"].values())
        assert row["status"] in ("measured", "estimated", "quoted", "not run")
        assert row["note"] or row["status"] == "measured"
        assert row["hardware"] or row["status"] == "quoted"
    return document["rows"]


def test_program(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    assert run_program(["bench", "--set", "smoke", "--out", "results", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads((tmp_path / "results" / "results.json").read_text("utf-8"))
    assert json.loads(out) == document
    rows = check(document)
    assert {row["section"] for row in rows} == {"sampling", "growth", "paper", "uses"}
    missing = [row for row in rows if row["status"] == "not run"]
    assert {row["method"] for row in missing} == {
        *("torch_cluster", "PecanPy", "fast-graph-gp"),  # no peers
        "grfpp",  # no meshes
    }
    assert "Walks side by side" in (tmp_path / "results" / "index.html").read_text("utf-8")


def test_text(capsys):
    assert run_program(["bench", "--set", "smoke", "-j", "1"]) == 0
    out, _ = capsys.readouterr()
    for text in ("Sampling", "Growth", "What was to be shown", "walks", "wrote"):
        assert text in out


def test_without_the_packages_for_pages(capsys, monkeypatch, tmp_path):
    from grfpp_lab.commands import bench

    monkeypatch.setattr(bench, "missing_packages", lambda: ["matplotlib"])
    assert run_program(["bench", "--set", "smoke", "--out", "results"]) == 0
    assert "no page was written" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["results.json"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--set", "huge"], "huge"),
        (["--peers", "'"], "is not a command"),
        (["--peers", ""], "--peers is empty"),
        (["--jobs", "0"], "--jobs"),
        (["--out", "file/folder"], "cannot make this folder"),
    ],
)
def test_refusals(capsys, tmp_path, arguments, why):
    (tmp_path / "file").write_text("")
    assert run_program(["bench", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("grfpp: ")
    assert err.count("\n") == 1
    assert why in err


def test_peers_are_asked(monkeypatch):
    answer = {"version": "9.9", "steps": 100, "seconds": 0.5}
    peers = [sys.executable, "-c", f"print({json.dumps(json.dumps(answer))})"]
    rows, document = run.run_set("smoke", threads=2, peers=peers)
    check(document)
    found = {row.method: row for row in rows if row.version == "9.9"}
    assert set(found) == {"torch_cluster", "PecanPy", "fast-graph-gp"}
    assert found["PecanPy"].numbers["steps_per_second"] == 200
    assert {ratio["other"] for ratio in document["ratios"]} >= set(found)


def test_a_measurement_that_fails_is_a_row(monkeypatch):
    from grfpp_lab.harness.isolated import TaskError

    def fail(name, request, *, timeout, threads):
        raise TaskError("stopped after 60 s, which is its limit")

    monkeypatch.setattr(suite, "run_task", fail)
    rows, document = run.run_set("smoke", threads=2)
    check(document)
    assert {row.status for row in rows} == {"not run", "quoted"}
    assert {bar["verdict"] for bar in document["bars"]} == {"not measured"}


def test_no_measurement_begins_after_the_limit(monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    late = suite.Suite(TINY, 1, "here", began=-1e9)
    rows = late.run()
    assert {row.status for row in rows} == {"not run", "quoted"}
    assert "no time was left for it" in {row.note for row in rows}


def test_progress():
    said = []
    run.run_set("smoke", threads=1, progress=said.append)
    assert said[0] == "making: grid, 100 nodes"
    assert "grid, 100 nodes: torch_cluster" in said


def test_rows_come_back_from_json():
    rows, document = run.run_set("smoke", threads=1)
    assert run.read_rows(json.loads(json.dumps(document))) == rows
