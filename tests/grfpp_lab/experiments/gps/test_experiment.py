"""The graph-transformer experiment: its plan and cells."""

import json

import pytest

from grfpp import _imports as optional
from grfpp_lab.experiments.gps import data as gps_data
from grfpp_lab.experiments.gps import experiment as gps
from grfpp_lab.experiments.gps.encodings import ENCODINGS, GRF
from grfpp_lab.harness.experiment import Holds, Settings, Size
from grfpp_lab.harness.processes import answer

TINY = Settings(Size.TINY)


def test_the_small_plan_needs_no_data(no_data):
    plan = gps.plan(TINY)
    assert len(plan.cells) == 8
    assert {cell["dataset"] for cell in plan.cells} == {"pattern"}
    assert plan.skipped == {}
    assert json.loads(json.dumps([dict(cell) for cell in plan.cells])) == plan.cells


@pytest.mark.parametrize("size", [Size.QUICK, Size.FULL])
def test_every_data_set_and_encoding_has_at_least_three_seeds(size, monkeypatch):
    monkeypatch.setattr(gps, "why_absent", lambda name: None)
    plan = gps.plan(Settings(size, seed=7))
    places = {(cell["dataset"], cell["encoding"]) for cell in plan.cells}
    assert len(places) == 6 * len(ENCODINGS)
    assert len(plan.cells) >= 3 * len(places)
    assert len({json.dumps(dict(cell), sort_keys=True) for cell in plan.cells}) == len(plan.cells)
    assert all(cell["seed"] == 7 for cell in plan.cells)


def test_settings_reach_the_cells():
    plan = gps.plan(Settings(Size.TINY, scale=0.5, p_halt=0.2))
    assert {(cell["scale"], cell["termination"]) for cell in plan.cells} == {(0.5, "geometric:0.2")}
    assert "σ² = 0.5" in plan.parameters["walks"]


def test_without_torch_it_is_left_out_and_says_why(monkeypatch):
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    plan = gps.plan(Settings(Size.FULL))
    assert plan.cells == []
    why = "torch and torch-geometric are not installed: pip install '.[torch]' in a clone of grfpp"
    assert plan.skipped == {"graph transformers": why}
    assert all(claim.judge([]).holds is Holds.OPEN for claim in gps.EXPERIMENT.claims)


def test_data_and_packages_that_are_absent_are_named(monkeypatch, no_data):
    plan = gps.plan(Settings(Size.QUICK))
    assert {cell["dataset"] for cell in plan.cells} == {"pattern", "cluster"}
    assert plan.skipped["MNIST"] == "mnist is not at hand"
    assert plan.skipped["Peptides-func"] == "peptides, peptide-splits is not at hand"
    assert plan.skipped["Peptides-struct (our targets)"] == plan.skipped["Peptides-func"]
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    assert gps_data.why_absent("cifar10") == (
        "scikit-image is not installed: pip install './lab[all]' in a clone of grfpp"
    )
    assert gps_data.why_absent("pattern") is None


def test_a_cell_gives_the_same_row_again_and_in_any_order():
    cells = gps.plan(TINY).cells
    rows = [gps.run(cell) for cell in (cells[2], cells[4], cells[2])]
    assert rows[0] == rows[2]
    assert rows[0] != rows[1]
    told = answer({"run": "grfpp_lab.experiments.gps.experiment:run", "argument": dict(cells[2])})
    (row,) = told["result"]
    assert row["encoding"] == GRF
    assert row["n_parameters"] > 1000
    assert 0 <= row["test"] <= 1
