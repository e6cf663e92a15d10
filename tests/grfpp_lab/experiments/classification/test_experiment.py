"""Graph classification at its smallest size."""

import json
from contextlib import redirect_stdout
from io import StringIO

import pytest
from experiment_cases import draw_one_file, run_cells_here

from grfpp._imports import missing_packages
from grfpp.cli import run
from grfpp_lab.experiments.classification import experiment as classification
from grfpp_lab.experiments.classification import graph_sets
from grfpp_lab.experiments.classification.claims import GRFPP, WALKS
from grfpp_lab.experiments.registry import EXPERIMENTS
from grfpp_lab.harness.experiment import Settings, Size

COMMAND = ["reproduce", "classification", "--tiny", "--jobs", "1", "--json"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder that the command has filled without any data at hand, and what it printed."""
    folder = tmp_path_factory.mktemp("classification")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.delenv("GRFPP_DATA", raising=False)
        patch.setenv("GRFPP_CACHE", str(folder / "none"))
        run_cells_here(patch)
        draw_one_file(patch)
        assert run([*COMMAND, "--out", str(folder)]) == 0
    return folder, json.loads(out.getvalue())["experiments"]["classification"]


def test_the_smallest_size_runs(no_data, finished):
    plan = classification.plan(Settings(Size.TINY))
    assert {cell["dataset"] for cell in plan.cells} == {graph_sets.GENERATED}
    document = json.loads((finished[0] / "rows.json").read_text(encoding="utf-8"))
    told = document["experiments"]["classification"]["rows"]
    walked = next(cell for cell in plan.cells if cell["method"] == GRFPP)
    rows = classification.run(walked)
    assert all(row in told for row in rows)
    assert [row["fold"] for row in rows] == [0, 1]
    assert all(0 <= row["accuracy"] <= 1 for row in rows)
    by_length = next(cell for cell in plan.cells if cell["features"] == WALKS)
    own = classification.run(by_length)
    assert all(row in told for row in own)
    assert [row["fold"] for row in own] == [0, 1]
    assert all(row["chosen"].startswith(("walk-masses", "signatures")) for row in own)
    assert all(row["accuracy"] > 0.8 for row in own)
    rival = next(cell for cell in plan.cells if "budget" in cell)
    found = [row for row in told if row["method"] == rival["method"]]
    if "why_not" in found[0]:
        assert "./lab[all]" in found[0]["why_not"]
        pytest.skip("GraKeL is not installed")
    assert [row["fold"] for row in found] == [0, 1]
    for claim in classification.EXPERIMENT.claims:
        assert claim.judge([*rows, *own, *found]).measured


def test_the_command_writes_a_page(finished):
    folder, told = finished
    assert told["errors"] == []
    claims = EXPERIMENTS["classification"].claims
    assert [each["claim"] for each in told["verdicts"]] == [claim.title for claim in claims]
    if missing_packages():
        pytest.skip("matplotlib or jinja2 is not installed: no page")
    html = (folder / "index.html").read_text(encoding="utf-8")
    section = html.partition('<section id="classification">')[2].partition("</section>")[0]
    assert section.count('<div class="gallery"') == len(claims)
    figures = {path.stem for path in (folder / "figures").iterdir()}
    assert figures == {claim.name for claim in claims}
