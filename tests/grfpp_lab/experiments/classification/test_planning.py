"""The cells of graph classification."""

from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.classification import graph_sets, planning
from grfpp_lab.experiments.classification.claims import EXACT, GRFPP, RIVAL, SPECTRUM, WALKS
from grfpp_lab.harness.experiment import Settings, Size


def test_all_methods_share_their_folds(no_data):
    cells = planning.plan(Settings(Size.TINY)).cells
    seeds = {planning.fold_seed(cell["dataset"], 0, cell.get("repeat", 0)) for cell in cells}
    (rival,) = {cell["fold_seed"] for cell in cells if "budget" in cell}
    assert seeds == {rival}
    other = planning.plan(Settings(Size.TINY, seed=1)).cells
    assert next(cell for cell in other if "budget" in cell)["fold_seed"] != rival


def test_walks_by_length_are_run_where_their_rival_is(no_data):
    folder = no_data / "tudataset"
    folder.mkdir()
    for name in planning.TEN:
        (folder / f"{name}.zip").touch()
    cells = planning.plan(Settings(Size.FULL)).cells
    ours = [cell for cell in cells if cell["features"] == WALKS]
    assert [cell["dataset"] for cell in ours] == list(planning.SIX)
    rivals = {c["dataset"]: c["budget"] for c in cells if c["method"] == RIVAL}
    assert set(planning.SIX) <= set(rivals)
    assert set(rivals.values()) == {300.0}


def test_data_that_is_not_at_hand_is_left_out(no_data):
    plan = planning.plan(Settings(Size.FULL))
    assert set(plan.skipped) == {*planning.TEN, *planning.LARGER}
    assert plan.skipped["DD"] == "tudataset/DD.zip is not at hand"
    assert {cell["dataset"] for cell in plan.cells} == {graph_sets.GENERATED}
    folder = no_data / "tudataset"
    folder.mkdir()
    (folder / "REDDIT-MULTI-5K.zip").touch()
    plan = planning.plan(Settings(Size.FULL, scale=0.25, p_halt=0.2))
    assert {cell["dataset"] for cell in plan.cells} == {"REDDIT-MULTI-5K"}
    assert plan.cells[0]["sigmas"] == [0.5]
    assert plan.cells[0]["termination"] == "geometric:0.2"


def test_pooled_walks_have_the_width_of_the_exact_kernel_and_the_default(no_data):
    folder = no_data / "tudataset"
    folder.mkdir()
    for name in ("MUTAG", "COLLAB"):
        (folder / f"{name}.zip").touch()
    cells = planning.plan(Settings(Size.FULL)).cells
    pools = [cell for cell in cells if cell["method"] == POOLED]
    assert {(tuple(c["sigmas"]), c["termination"], c["walks"]) for c in pools} == {
        ((0.9,), "matched:9", "pooled")
    }
    walks = {}
    for cell in cells:
        if cell["features"] == SPECTRUM and cell["repeat"] == 0:
            key = (cell["dataset"], cell["kernel"], cell["method"])
            walks.setdefault(key, []).append(cell["n_walks"])
    assert walks["MUTAG", "diffusion:1", POOLED] == [4, 16, 32, 256]
    assert walks["COLLAB", "diffusion:1", POOLED] == [4, 16, 32]
    assert walks["MUTAG", "squared-diffusion:1", POOLED] == [16, 32]
    assert walks["MUTAG", "diffusion:1", GRFPP] == [4, 32, 256]
    assert walks["MUTAG", "diffusion:1", EXACT] == [0]
    assert not any("walks" in cell for cell in cells if cell["method"] != POOLED)
