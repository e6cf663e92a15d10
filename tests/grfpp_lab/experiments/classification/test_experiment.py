"""Graph classification at its smallest size."""

import json

import pytest

from grfpp.cli import run
from grfpp.imports.optional import missing_packages
from grfpp_lab.experiments.classification import experiment as classification
from grfpp_lab.experiments.classification import graph_sets
from grfpp_lab.experiments.classification.scores import GRFPP, WALKS
from grfpp_lab.harness.experiment import Settings, Size


def test_the_smallest_size_runs(no_data):
    plan = classification.plan(Settings(Size.TINY))
    assert {cell["dataset"] for cell in plan.cells} == {graph_sets.GENERATED}
    assert all(classification.cost(cell) > 0 for cell in plan.cells)
    walked = next(cell for cell in plan.cells if cell["method"] == GRFPP)
    rows = classification.run(walked)
    assert rows == classification.run(walked)
    assert [row["fold"] for row in rows] == [0, 1]
    assert all(0 <= row["accuracy"] <= 1 for row in rows)
    by_length = next(cell for cell in plan.cells if cell["features"] == WALKS)
    own = classification.run(by_length)
    assert own == classification.run(by_length)
    assert [row["fold"] for row in own] == [0, 1]
    assert all(row["chosen"].startswith(("walk-masses", "signatures")) for row in own)
    assert all(row["accuracy"] > 0.8 for row in own)
    rival = next(cell for cell in plan.cells if "budget" in cell)
    found = classification.run(rival)
    if "why_not" in found[0]:
        assert "grfpp[baselines]" in found[0]["why_not"]
        pytest.skip("GraKeL is not installed")
    assert [row["fold"] for row in found] == [0, 1]
    for claim in classification.EXPERIMENT.claims:
        assert claim.judge([*rows, *own, *found]).measured


def test_the_command_writes_a_page(no_data, tmp_path, capsys):
    folder = tmp_path / "out"
    assert run(["reproduce", "classification", "--tiny", "--json", "--out", str(folder)]) == 0
    told = json.loads(capsys.readouterr().out)["experiments"]["classification"]
    assert told["errors"] == []
    claims = classification.EXPERIMENT.claims
    assert [each["claim"] for each in told["verdicts"]] == [claim.title for claim in claims]
    if missing_packages():
        pytest.skip("matplotlib or jinja2 is not installed: no page")
    html = (folder / "index.html").read_text(encoding="utf-8")
    section = html.partition('<section id="classification">')[2].partition("</section>")[0]
    assert section.count('<div class="gallery"') == len(claims)
    figures = {path.stem for path in (folder / "figures").iterdir()}
    assert figures == {claim.name for claim in claims}
