"""The experiment on attention masks: its plan, its training, its verdict."""

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from scipy.stats import ttest_rel

from grfpp.cli import run as command
from grfpp.errors import InputError
from grfpp.torch import add_mask
from grfpp_lab.experiments.experiment import Holds, Settings, Size
from grfpp_lab.experiments.vit import data as vit_data
from grfpp_lab.experiments.vit import experiment as vit
from grfpp_lab.experiments.vit import training as vit_training
from grfpp_lab.experiments.vit.paper import LEARNED, MASKED, METHODS, PLAIN
from grfpp_lab.experiments.vit.scores import paired
from grfpp_lab.experiments.vit.training import train

TINY = Settings(Size.TINY)


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path / "no-cache"))


def test_the_command_trains_judges_and_draws(tmp_path, capsys):
    assert command(["reproduce", "vit", "--tiny", "--json", "--out", str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)
    found = told["experiments"]["vit"]
    assert found["errors"] == []
    assert found["n_rows"] == 3 * 3 * 2  # methods, repeats, looks
    assert "(3 seeds)" in found["verdicts"][0]["measured"]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "80.31" in page
    assert "not comparable" in page
    assert (tmp_path / "figures/vit.pdf").exists()


def test_a_cell_gives_the_same_rows_again():
    cell = vit.plan(TINY).cells[-1]
    assert cell["method"] == LEARNED
    assert vit.run(cell) == vit.run(cell)


def test_methods_differ_by_the_mask_alone():
    """Same weights and pictures: without strength, the mask changes nothing."""
    images = vit_data.load_images(vit_data.STRIPES, 200, 100)
    model = vit.PARAMETERS[Size.TINY].model
    plain = train(images, 1, 5, **model)
    mask = {"n_walks": 16, "seed": 5}
    without = train(images, 1, 5, {**mask, "lam": 0.0, "learn": False}, **model)
    strong = train(images, 1, 5, {**mask, "lam": 5.0, "learn": False}, **model)
    learned = train(images, 1, 5, {**mask, "lam": 0.5, "learn": True}, **model)
    assert without[-1]["train_loss"] == pytest.approx(plain[-1]["train_loss"], rel=1e-5)
    assert abs(strong[-1]["train_loss"] - plain[-1]["train_loss"]) > 1e-5
    assert plain[-1]["lam"] is None
    assert strong[-1]["lam"] == 5
    assert learned[-1]["lam"] not in (None, 0.5)
    assert learned[-1]["n_parameters"] == plain[-1]["n_parameters"] + 1


def test_the_strength_of_the_mask_is_not_drawn_towards_zero():
    net = torch.nn.MultiheadAttention(8, 2)
    add_mask(net, torch.eye(3), learn=True)
    weights, strengths = vit_training._groups(net)
    assert [each.numel() for each in strengths["params"]] == [1]
    assert strengths["weight_decay"] == 0
    assert "weight_decay" not in weights
    assert len(weights["params"]) + 1 == len(list(net.parameters()))


def test_it_learns():
    images = vit_data.load_images(vit_data.STRIPES, 600, 200)
    found = train(images, 12, 0, dim=32, depth=2, heads=2, hidden=64)
    assert [row["epoch"] for row in found] == [2, 4, 6, 8, 10, 12]
    assert found[-1]["accuracy"] > 0.8
    assert found[-1]["train_loss"] < found[0]["train_loss"]


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


@pytest.mark.parametrize("size", [Size.FULL, Size.QUICK])
def test_without_data_there_are_stripes_and_a_word_on_what_is_missing(size):
    plan = vit.plan(Settings(size))
    assert {cell["dataset"] for cell in plan.cells} == {vit_data.STRIPES}
    assert plan.skipped["MNIST"] == "mnist is not at hand"
    if size is Size.FULL:
        assert "images/imagenet/train" in plan.skipped["ImageNet"]


def test_without_torch_nothing_is_planned(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(vit, "find_spec", lambda name: None)
    assert vit.plan(Settings()).cells == []
    assert command(["reproduce", "vit", "--tiny", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "left out vit: torch is not installed: pip install 'grfpp[torch]'" in printed
    assert "With and without the mask: not judged" in printed
    assert "torch is not installed" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_registry_needs_no_torch():
    code = "import sys; import grfpp_lab.experiments.registry; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_plan_has_every_data_set_at_hand(monkeypatch):
    monkeypatch.setattr(vit_data.datasets, "at_hand", lambda name: True)
    plan = vit.plan(Settings(seed=3, sigma2=2.0, p_halt=0.2))
    cells = [(cell["dataset"], cell["method"]) for cell in plan.cells]
    assert {name for name, _ in cells} == {"mnist", "cifar10"}
    assert cells.count(("mnist", PLAIN)) == cells.count(("cifar10", MASKED)) >= 3
    assert cells.count(("mnist", LEARNED)) == 3
    masked = next(cell for cell in plan.cells if cell["method"] == MASKED)
    assert (masked["sigma2"], masked["termination"], masked["seed"]) == (2.0, "geometric:0.2", 3)
    assert "sigma2" not in plan.cells[0]  # what has no mask does not depend on it
    assert all(vit.cost(cell) > 0 for cell in plan.cells)


def test_unpacked_folders_are_found(monkeypatch, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    for part in ("train", "val"):
        for label in range(12):
            folder = tmp_path / "images/imagenet" / part / f"n{label:02}"
            folder.mkdir(parents=True)
            for number in range(3):
                image.new("RGB", (70, 80), (20 * label, 0, 0)).save(folder / f"{number}.png")
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path))
    plan = vit.plan(Settings())
    assert {cell["dataset"] for cell in plan.cells} == {"imagenet"}
    images = vit_data.load_images("imagenet", 20, 10)
    assert images.train.shape == (20, 64, 64, 3)
    assert images.n_classes == 10
    assert images.patch == 8
    assert np.bincount(images.test_labels).tolist() == [1] * 10
    assert np.array_equal(images.train[:, 0, 0, 0], 20 * images.train_labels)


def test_pictures_to_test_on_are_none_of_those_to_learn_from(monkeypatch):
    pixels = np.arange(10, dtype=np.uint8)[:, None, None, None] * np.ones((1, 4, 4, 3), np.uint8)
    whole = vit_data.datasets.Images(
        "cifar10", pixels, np.arange(10, dtype=np.uint8) % 3, tuple("abc")
    )
    monkeypatch.setattr(vit_data.datasets, "load_cifar10", lambda download: whole)
    vit_data.load_images.cache_clear()
    images = vit_data.load_images("cifar10", 6, 4)
    assert not set(images.train[:, 0, 0, 0]) & set(images.test[:, 0, 0, 0])
    with pytest.raises(InputError, match="10 pictures are too few for 7 and 4"):
        vit_data.load_images("cifar10", 7, 4)
    vit_data.load_images.cache_clear()
    with pytest.raises(InputError, match="there are no pictures 'dogs'"):
        vit_data.load_images("dogs", 1, 1)


# --- the verdict ----------------------------------------------------------------------------------


def rows(gains, n=5, learned=None):
    """Rows whose mask adds so many points, one list of gains a data set."""
    found = []
    for name, own in gains.items():
        for repeat in range(n):
            base = 70 + repeat
            methods = {PLAIN: base, MASKED: base + own[repeat]}
            if learned is not None:
                methods[LEARNED] = base + learned
            for method, accuracy in methods.items():
                for epoch, score in ((1, 10.0), (2, accuracy)):
                    found.append(
                        {
                            "dataset": name,
                            "method": method,
                            "repeat": repeat,
                            "epoch": epoch,
                            "epochs": 2,
                            "n_train": 100,
                            "n_tokens": 65,
                            "accuracy": score / 100,
                            "lam": 0.4 if method == LEARNED else None,
                        }
                    )
    return found


CLEAR, FAINT = [1.0, 1.2, 0.8, 1.1, 0.9], [1.0, -0.8, 0.9, -0.7, 0.6]
#: p = 0.035: chance, when one of two data sets is as far off.
LIKELY = [1.0, 1.3, 0.2, 0.5, 0.3]


def minus(gains):
    return [-each for each in gains]


@pytest.mark.parametrize(
    "first, second, holds, word",
    [
        (CLEAR, CLEAR, Holds.YES, "+1.00 ± 0.07"),
        (CLEAR, FAINT, Holds.NOISE, "noise on CIFAR-10"),
        (FAINT, FAINT, Holds.NOISE, "none of this can be told from chance"),
        (CLEAR, minus(FAINT), Holds.OPEN, "noise on CIFAR-10"),
        (minus(FAINT), minus(FAINT), Holds.OPEN, "none of this can be told from chance"),
        (CLEAR, minus(LIKELY), Holds.OPEN, "p = 0.035"),
        (CLEAR, minus(CLEAR), Holds.NO, "-1.00 ± 0.07"),
        (FAINT, minus(CLEAR), Holds.NO, "noise on MNIST"),
        (minus(CLEAR), minus(CLEAR), Holds.NO, "-1.00 ± 0.07"),
    ],
)
def test_the_verdict(first, second, holds, word):
    verdict = vit.judge(rows({"mnist": first, "cifar10": second}))
    assert verdict.holds is holds
    assert word in verdict.measured
    assert "80.31" in verdict.paper


def test_few_seeds_are_no_verdict():
    assert vit.judge(rows({"mnist": CLEAR}, n=2)).holds is Holds.OPEN
    assert vit.judge([]).holds is Holds.OPEN


def test_learned_strengths_are_told_but_not_judged():
    verdict = vit.judge(rows({"mnist": CLEAR}, learned=-3.0))
    assert verdict.holds is Holds.YES
    assert "with λ learned: MNIST -3.00" in verdict.measured
    assert "λ ends between 0.40 and 0.40" in verdict.measured


def test_the_paired_test_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for n in (3, 5, 8):
        ours, theirs = rng.normal(80, 1, n), rng.normal(79.5, 1, n)
        found = paired(dict(enumerate(ours)), dict(enumerate(theirs)))
        expected = ttest_rel(ours, theirs)
        assert found.p == pytest.approx(expected.pvalue)
        assert found.mean / found.standard_error == pytest.approx(expected.statistic)
        assert found.n == n


def test_pairs_are_made_by_seed():
    assert paired({0: 1.0, 1: 2.0, 7: 9.0}, {1: 1.0, 0: 0.0, 8: 3.0}).mean == 1.0
    assert paired({0: 1.0}, {0: 2.0}) is None
    assert paired({0: 1.0, 1: 1.0}, {0: 1.0, 1: 1.0}).p == 1.0
    assert paired({0: 2.0, 1: 2.0}, {0: 1.0, 1: 1.0}).p == 0.0


def test_the_table_stands_beside_the_paper():
    made = vit.table(rows({"mnist": CLEAR, "cifar10": FAINT}, learned=0.5))
    assert len(made.columns) == 1 + len(METHODS) + 5
    assert all(len(line) == len(made.columns) for group in made.groups for line in group.rows)
    assert made.groups[0].rows[0][1:3] == ["72.00 ± 1.58", "73.00 ± 1.54"]
    assert made.groups[0].rows[0][4] == "+1.00 ± 0.07"
    assert made.groups[1].rows[1][:3] == ["Places365", "55.78", "56.03"]
    assert "not comparable" in made.groups[1].title


def test_charts_end_with_the_last_epoch():
    panels = vit.panels(rows({"mnist": CLEAR}))
    curve = panels[0].curves[0]
    assert (curve.name, curve.x, curve.y) == (PLAIN, [1, 2], [90.0, 28.0])
