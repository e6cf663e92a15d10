"""The page of the estimation study."""

import json
import random
import shutil
import signal
import subprocess
import sys

import pytest
from cell_functions import wait_for
from cli_helpers import table
from experiment_cases import reproduced
from laboratory.html_pages import checked

from grfpp.cli import run
from grfpp_lab.commands import reproduce
from grfpp_lab.experiments.registry import EXPERIMENTS, STUDY

NAMES = [each.name for each in STUDY]
CLAIMS = [claim for each in STUDY for claim in each.claims]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder that the command has filled, and what it printed."""
    folder = tmp_path_factory.mktemp("reproduce")
    return folder, reproduced(folder, "estimation-study")


def test_the_page_stands_alone_and_has_every_figure_beside_its_verdict(finished):
    folder, printed = finished
    html = (folder / "index.html").read_text(encoding="utf-8")
    checker = checked(html)
    assert checker.links == set(NAMES)
    assert checker.links <= checker.anchors
    for name, each in printed["experiments"].items():
        section = html.partition(f'<section id="{name}">')[2].partition("</section>")[0]
        for element in ('<div class="judgement', '<div class="gallery"'):
            assert section.count(element) == len(each["verdicts"])
        for verdict in each["verdicts"]:
            assert f'<p class="word">{verdict["holds"].capitalize()}</p>' in section
            assert verdict["measured"][:20].replace("'", "&#39;") in section
    for text in ("grfpp reproduce estimation-study --tiny --seed 0", "σ² = 1", "p_halt = 0.1"):
        assert text in html
    assert "meshes/thingi10k_60246.stl.zip is not at hand" in html
    assert "not of the paper&#39;s sizes: no mesh is at hand" in html.replace("’", "&#39;")
    assert html.count("processes at work on the machine") == len(NAMES)
    figures = {path.name: path for path in (folder / "figures").iterdir()}
    assert set(figures) == {f"{c.name}.{kind}" for c in CLAIMS for kind in ("pdf", "png")}
    assert all(figures[f"{c.name}.pdf"].read_bytes().startswith(b"%PDF") for c in CLAIMS)


def test_every_experiment_has_verdicts_and_its_rows_in_the_tables(finished):
    folder, told = finished
    assert list(told["experiments"]) == NAMES
    assert all(mesh.startswith("mesh ") for mesh in told["experiments"]["scaling"]["skipped"])
    rows, timings = table(folder / "rows.csv"), table(folder / "timings.csv")
    document = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
    for name, each in told["experiments"].items():
        claims = EXPERIMENTS[name].claims
        assert [verdict["claim"] for verdict in each["verdicts"]] == [c.title for c in claims]
        assert all(verdict["paper"] and verdict["measured"] for verdict in each["verdicts"])
        assert each["errors"] == []
        own, timed = ([row for row in t if row["experiment"] == name] for t in (rows, timings))
        assert len(own) == each["n_rows"] == len(document["experiments"][name]["rows"]) > 0
        assert len(timed) == (each["n_rows"] if EXPERIMENTS[name].timings else 0)
    # What no seed determines is not among what a seed determines.
    assert not any("seconds" in column for column in rows[0] if column != "paper_seconds")
    assert {"walk_seconds", "stitch_seconds", "seconds"} <= set(timings[0])
    assert document["seed"] == 0
    assert document["machine"]["cores"] >= 1


@pytest.fixture
def undrawn(monkeypatch):
    """No page, and no code compiled ahead: that takes most of the time."""
    monkeypatch.setattr(reproduce, "missing_packages", lambda: ["matplotlib"])
    monkeypatch.setattr("grfpp.warmup.warmup", lambda: None)


def test_killed_and_started_again_it_ends_with_the_same_rows(no_data, undrawn, tmp_path, capsys):
    """With another number of processes, and with a part of the cells from another run."""
    chance = random.Random(7)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    command = ["reproduce", "estimation", "reuse", "--tiny"]
    assert run([*command, "--jobs", "1", "--out", str(whole)]) == 0
    cells = sorted(whole.glob("cells/*/*.json"))
    for cell in chance.sample(cells, len(cells) * 2 // 3):
        copy = parts / cell.relative_to(whole)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(cell, copy)

    def n_done():
        return len(list(parts.glob("cells/*/*.json")))

    n_wanted = n_done() + 2
    assert n_wanted < len(cells)
    command += ["--jobs", "2", "--out", str(parts)]
    code = "import grfpp.warmup; from grfpp.cli import run; grfpp.warmup.warmup = lambda: None; "
    process = subprocess.Popen([sys.executable, "-c", f"{code}run({command})"])
    wait_for(lambda: n_done() >= n_wanted or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.wait()
    n_found = n_done()
    assert n_found >= n_wanted
    capsys.readouterr()
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_found"] == n_found
    assert (parts / "rows.csv").read_bytes() == (whole / "rows.csv").read_bytes()


def test_run_again_nothing_is_computed_and_all_is_the_same(
    finished, no_data, undrawn, tmp_path, capsys
):
    folder = tmp_path / "copy"
    shutil.copytree(finished[0] / "cells", folder / "cells")
    assert run(["reproduce", "estimation-study", "--tiny", "--json", "--out", str(folder)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_found"] == told["n_cells"]
    for name in ("rows.csv", "timings.csv"):
        assert (folder / name).read_bytes() == (finished[0] / name).read_bytes()
