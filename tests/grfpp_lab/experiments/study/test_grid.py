"""Errors over a grid: plans."""

import pytest

import grfpp
from grfpp_lab.experiments import graphs
from grfpp_lab.experiments.registry import EXPERIMENTS
from grfpp_lab.experiments.study import grid
from grfpp_lab.harness.experiment import Settings, Size


@pytest.mark.parametrize("name", ["estimation", "long-range", "halting", "halting-long", "reuse"])
def test_the_full_grid_is_that_of_the_paper(name, monkeypatch):
    monkeypatch.setattr(graphs, "load", lambda name: None)
    cells = EXPERIMENTS[name].plan(Settings()).cells
    assert {cell["n_walks"] for cell in cells} == set(grid.N_WALKS) == {2, 4, 8, 16, 32, 64}
    assert {cell["repeats"] for cell in cells} == {10}
    assert len({cell["graph"] for cell in cells}) == 8
    assert {cell["degree"] for cell in cells} in ({1, 2, 3, 4}, {1, 2, 4})


def test_settings_are_options():
    plain = EXPERIMENTS["estimation"].plan(Settings(Size.TINY))
    other = EXPERIMENTS["estimation"].plan(Settings(Size.TINY, 3, scale=0.7, p_halt=0.2))
    assert {cell["scale"] for cell in plain.cells} == {1.0}
    assert {(c["scale"], c["termination"], c.get("walks"), c["seed"]) for c in other.cells} == {
        (0.7, "geometric:0.2", None, 3),
        (0.7, "matched:4", "pooled", 3),
    }
    with pytest.raises(grfpp.InputError, match=r"other-kernels: with scale 0\.96 and p_halt 0\.1"):
        EXPERIMENTS["other-kernels"].plan(Settings(Size.TINY, scale=0.96))
