"""All experiments and their groups."""

import json

import pytest
from fresh_python import imported_by

from grfpp_lab.experiments import measuring as graphs
from grfpp_lab.experiments.registry import EXPERIMENTS, GROUPS, chosen_experiments
from grfpp_lab.harness.experiment import Holds, Settings, Size


def test_names_and_groups():
    def chosen(*names):
        return [each.name for each in chosen_experiments(names)]

    claims = [claim.name for each in EXPERIMENTS.values() for claim in each.claims]
    assert len(set(claims)) == len(claims)
    assert chosen("theory", "estimation", "theory") == ["estimation", "theory"]
    assert chosen("all") == list(EXPERIMENTS)
    assert chosen("estimation-study")[:2] == ["estimation", "long-range"]
    parts = [each for name in ("estimation-study", "tasks", "models") for each in GROUPS[name]]
    assert parts == chosen_experiments(["all"])


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("size", [Size.FULL, Size.QUICK, Size.TINY])
def test_plans_hold_plain_values_and_no_cell_twice(name, size, monkeypatch):
    monkeypatch.setattr(graphs, "load", lambda name: None)
    plan = EXPERIMENTS[name].plan(Settings(size))
    texts = [json.dumps(cell, sort_keys=True, allow_nan=False) for cell in plan.cells]
    if name == "labels" and not texts:
        pytest.skip("the citation graphs are not at hand (GRFPP_DATA)")
    assert texts
    assert len(set(texts)) == len(texts)
    assert all(cell.get("seed", cell.get("fold_seed")) is not None for cell in plan.cells)
    assert {cell["seed"] for cell in plan.cells if "seed" in cell} == {0}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_settings_reach_the_cells(name, no_data):
    """Pooled walks are as long on average; other laws are a part of what is compared."""
    cells = EXPERIMENTS[name].plan(Settings(Size.TINY, seed=3, scale=0.25, p_halt=0.2)).cells
    assert {cell["seed"] for cell in cells if "seed" in cell} == {3}
    laws = {(cell.get("walks"), cell["termination"]) for cell in cells if "termination" in cell}
    assert name == "labels" or (None, "geometric:0.2") in laws
    assert {law for walks, law in laws if walks == "pooled"} <= {"matched:4"}
    widths = [cell[key] for cell in cells for key in ("sigma", "sigmas") if key in cell]
    assert all(width in (0.5, [0.5], [None]) for width in widths)
    scales = {cell["scale"] for cell in cells if "scale" in cell}
    assert scales == {0.25} or (not scales and ([0.5] in widths or name in ("labels", "gp")))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_without_rows_nothing_is_judged_and_nothing_drawn(name):
    for claim in EXPERIMENTS[name].claims:
        assert claim.judge([]).holds is Holds.OPEN


def test_neither_the_registry_nor_plans_of_models_import_what_models_need():
    code = (
        "from grfpp_lab.experiments.registry import EXPERIMENTS; "
        "from grfpp_lab.harness.experiment import Settings, Size; "
        "[EXPERIMENTS[name].plan(Settings(Size.FULL)) for name in ('gps', 'vit')]"
    )
    heavy = {"torch", "torch_geometric", "skimage", "rdkit", "sklearn", "matplotlib"}
    assert imported_by(code, heavy) == []
