"""`grfpp reproduce`: what it takes, refuses, prints; the experiments have tests of their own."""

import json
from pathlib import Path

import pytest
from cli_helpers import accepted, refused
from experiment_cases import squares

from grfpp.cli import run
from grfpp_lab.commands import reproduce
from grfpp_lab.experiments import registry


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("grfpp.warmup.warmup", lambda: None)


@pytest.fixture
def small(monkeypatch):
    """Two experiments of a few cells, one of which has cells that fail."""
    good = squares([{"x": 1}, {"x": 2}], "good")
    bad = squares([{"x": 1}, {"x": 2, "act": "raise"}, {"x": 3, "act": "kill"}], "bad")
    monkeypatch.setattr(registry, "EXPERIMENTS", {"good": good, "bad": bad})
    monkeypatch.setattr(registry, "GROUPS", {"all": (good, bad), "some": (good,)})


def test_text(small, capsys):
    out = accepted(capsys, "reproduce", "good", "--jobs", "1")
    for text in (
        *("good (nowhere): ", "The squares: holds", "paper says x² is x·x"),
        *("measured: 2 squares", "wrote out/reproduce/index.html"),
        "wrote 2 figures in out/reproduce/figures",
    ):
        assert text in out
    assert "2 found finished" in accepted(capsys, "reproduce", "good")


def test_failed_cells_are_told_by_exit_code_page_and_one_line(small, capsys):
    assert run(["reproduce", "all", "--json", "--seed", "3"]) == 1
    out, err = capsys.readouterr()
    good, bad = (json.loads(out)["experiments"][name] for name in ("good", "bad"))
    assert (good["errors"], bad["n_rows"]) == ([], 1)
    errors = [each["error"] for each in bad["errors"]]
    assert errors == ["ValueError: no luck at all", "its process ended by SIGKILL"]
    assert err == "grfpp: 2 cells failed, the first of them with: ValueError: no luck at all\n"
    html = Path("out/reproduce/index.html").read_text("utf-8")
    for text in ("2 cells failed", errors[1], "grfpp reproduce all --seed 3"):
        assert text in html


def test_groups_stand_for_their_experiments_and_others_are_told_which_there_are(small, capsys):
    told = json.loads(accepted(capsys, "reproduce", "some", "good", "--json"))
    assert list(told["experiments"]) == ["good"]
    known = "there are good, bad, and the groups all, some"
    assert f"'other'; {known}" in refused(capsys, "reproduce", "some", "other")


def test_without_matplotlib_the_tables_are_still_written(small, capsys, monkeypatch):
    monkeypatch.setattr(reproduce, "missing_packages", lambda: ["matplotlib"])
    assert run(["reproduce", "good", "--out", "here"]) == 0
    out, err = capsys.readouterr()
    assert "The squares: holds" in out
    assert err.startswith("grfpp: no page was written, because matplotlib is not installed")
    written = sorted(path.name for path in Path("here").iterdir())
    assert written == ["cells", "rows.csv", "rows.json"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("estimations", "there is no experiment 'estimations'; there are estimation, long-range"),
        ("", "NAME"),
        ("theory --scale 0", "--scale must be a positive, finite number"),
        ("theory --p-halt 1", "--p-halt must be a number in (0, 1)"),
        ("theory --jobs 0", "--jobs"),
        ("other-kernels --scale 1.5 --tiny", "scale must be below 1"),
        ("theory --out file", "--out file"),
    ],
)
def test_what_it_refuses(capsys, arguments, reason):
    Path("file").touch()
    assert reason in refused(capsys, "reproduce", *arguments.split())


def test_help_names_every_experiment(capsys):
    out = accepted(capsys, "reproduce", "--help")
    for name in registry.EXPERIMENTS:
        assert f"\n    {name} " in out, name
    assert "--tiny" not in out
