"""The experiment on attention masks: its plan and rows."""

import json

import pytest
from experiment_cases import run_cells_here

pytest.importorskip("torch", reason="torch is not installed")
from grfpp import _imports as optional
from grfpp.cli import run as command
from grfpp_lab.experiments.vit import data as vit_data
from grfpp_lab.experiments.vit import experiment as vit
from grfpp_lab.experiments.vit.data import LEARNED, MASKED, PLAIN
from grfpp_lab.harness.experiment import Settings, Size

TINY = Settings(Size.TINY)


def test_the_command_trains_judges_and_draws(tmp_path, capsys, monkeypatch):
    run_cells_here(monkeypatch)
    assert (
        command(["reproduce", "vit", "--tiny", "--jobs", "1", "--json", "--out", str(tmp_path)])
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    found = told["experiments"]["vit"]
    assert found["errors"] == []
    assert found["n_rows"] == 3 * 3 * 2  # methods, repeats, looks
    assert "(3 seeds)" in found["verdicts"][0]["measured"]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "80.31" in page
    assert "not comparable" in page
    assert (tmp_path / "figures/vit.pdf").exists()


def test_seeds_are_shared_by_methods_and_differ_between_repeats(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "grfpp_lab.experiments.vit.training.train",
        lambda images, epochs, seed, mask, **model: asked.append((seed, mask)) or [],
    )
    for cell in vit.plan(TINY).cells:
        vit.run(cell)
    by_method = [[seed for seed, _ in asked[i : i + 3]] for i in (0, 3, 6)]
    assert by_method[0] == by_method[1] == by_method[2]
    assert len(set(by_method[0])) == 3
    assert [mask is None for _, mask in asked] == [True] * 3 + [False] * 6
    assert all(mask["lam"] == 0.5 and mask["degree"] == 2 for _, mask in asked[3:])
    assert [mask["learn"] for _, mask in asked[3:]] == [False] * 3 + [True] * 3


def test_without_torch_nothing_is_planned(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(optional, "find_spec", lambda name: None if name == "torch" else name)
    assert vit.plan(Settings()).cells == []
    assert command(["reproduce", "vit", "--tiny", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert (
        "left out vit: torch is not installed: pip install '.[torch]' in a clone of grfpp"
        in printed
    )
    assert "With and without the mask: not judged" in printed
    assert "torch is not installed" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_plan_has_every_data_set_at_hand(monkeypatch):
    monkeypatch.setattr(vit_data.datasets, "at_hand", lambda name: True)
    plan = vit.plan(Settings(seed=3, scale=2.0, p_halt=0.2))
    cells = [(cell["dataset"], cell["method"]) for cell in plan.cells]
    assert {name for name, _ in cells} == {"mnist", "cifar10"}
    assert cells.count(("mnist", PLAIN)) == cells.count(("cifar10", MASKED)) >= 3
    assert cells.count(("mnist", LEARNED)) == 3
    masked = next(cell for cell in plan.cells if cell["method"] == MASKED)
    assert (masked["scale"], masked["termination"], masked["seed"]) == (2.0, "geometric:0.2", 3)
    assert "scale" not in plan.cells[0]  # what has no mask does not depend on it


@pytest.mark.parametrize("size", [Size.FULL, Size.QUICK])
def test_without_data_there_are_generated_stripes(size):
    plan = vit.plan(Settings(size))
    assert {cell["dataset"] for cell in plan.cells} == {vit_data.STRIPES}
    assert plan.skipped["MNIST"] == "mnist is not at hand"
    if size is Size.FULL:
        assert "images/imagenet/train" in plan.skipped["ImageNet"]


def test_a_cell_gives_the_same_rows_again():
    cell = vit.plan(TINY).cells[-1]
    assert cell["method"] == LEARNED
    assert vit.run(cell) == vit.run(cell)
