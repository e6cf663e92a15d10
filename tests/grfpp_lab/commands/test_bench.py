"""`grfpp bench`: what it takes, refuses, prints and writes."""

import json

import pytest
from bench_helpers import check
from cli_helpers import refused

from grfpp.cli import run as run_program
from grfpp_lab.commands import bench

pytestmark = pytest.mark.usefixtures("quickly")


def test_program(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    assert run_program(["bench", "--set", "smoke", "--out", "results", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads((tmp_path / "results" / "results.json").read_text("utf-8"))
    assert json.loads(out) == document
    rows = check(document)
    assert {row["section"] for row in rows} == {"sampling", "equal", "growth", "paper", "uses"}
    missing = {row["method"] for row in rows if row["status"] == "not run"}
    assert missing == {"torch_cluster", "PecanPy", "fast-graph-gp", "grfpp"}  # no peers, no meshes
    assert "Walks side by side" in (tmp_path / "results" / "index.html").read_text("utf-8")


def test_without_the_packages_for_pages(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "missing_packages", lambda: ["matplotlib"])
    assert run_program(["bench", "--set", "smoke", "--out", "results", "-j", "1"]) == 0
    out, err = capsys.readouterr()
    assert "no page was written" in err
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["results.json"]
    for text in ("Sampling", "Equal seconds", "Growth", "What was to be shown", "walks", "wrote"):
        assert text in out


def test_refusals(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    for option, value, why in (
        *(("--set", "huge", "huge"), ("--peers", "'", "is not a command")),
        *(("--peers", "", "--peers is empty"), ("--jobs", "0", "--jobs")),
        ("--out", "file/folder", "cannot make this folder"),
    ):
        assert why in refused(capsys, "bench", option, value)
