"""`grfpp bench`: what it takes, refuses, prints and writes."""

import json

import pytest
from bench_helpers import check
from cli_helpers import refused

from grfpp.cli import run as run_program

pytestmark = pytest.mark.usefixtures("quickly")


def test_program(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    assert run_program(["bench", "--set", "smoke", "--out", "results", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads((tmp_path / "results" / "results.json").read_text("utf-8"))
    assert json.loads(out) == document
    rows = check(document)
    assert {row["section"] for row in rows} == {*("sampling", "equal", "growth", "paper", "uses")}
    missing = [row for row in rows if row["status"] == "not run"]
    assert {row["method"] for row in missing} == {
        *("torch_cluster", "PecanPy", "fast-graph-gp"),  # no peers
        "grfpp",  # no meshes
    }
    assert "Walks side by side" in (tmp_path / "results" / "index.html").read_text("utf-8")


def test_text(capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    from grfpp_lab.benchmark import page

    monkeypatch.setattr(page, "write_bench_page", lambda *_: None)
    assert run_program(["bench", "--set", "smoke", "-j", "1"]) == 0
    out, _ = capsys.readouterr()
    for text in ("Sampling", "Equal seconds", "Growth", "What was to be shown", "walks", "wrote"):
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
    assert why in refused(capsys, "bench", *arguments)
