"""Attention masks: data, training, the plan, and verdicts on rows made by hand."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
import torch
from cli_helpers import accepted
from experiment_cases import reproduced
from verdict_case import NO, NOISE, OPEN, YES, verdicts

from grfpp import _imports as optional
from grfpp.errors import InputError
from grfpp.torch import add_mask, patch_grid_mask
from grfpp_lab.experiments.vit import claims
from grfpp_lab.experiments.vit import data as vit_data
from grfpp_lab.experiments.vit import experiment as vit
from grfpp_lab.experiments.vit import training as vit_training
from grfpp_lab.experiments.vit.data import LEARNED, MASKED, METHODS, PLAIN
from grfpp_lab.experiments.vit.small_vit import SmallViT
from grfpp_lab.experiments.vit.training import train
from grfpp_lab.harness.experiment import Settings, Size

pytestmark = pytest.mark.usefixtures("no_data")


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
    whole = vit_data.Images("cifar10", pixels, np.arange(10, dtype=np.uint8) % 3, tuple("abc"))
    monkeypatch.setattr(vit_data, "load_cifar10", lambda download: whole)
    vit_data.load_images.cache_clear()
    images = vit_data.load_images("cifar10", 6, 4)
    assert not set(images.train[:, 0, 0, 0]) & set(images.test[:, 0, 0, 0])
    for asked, reason in (
        (("cifar10", 7, 4), "10 pictures are too few for 7 and 4"),
        (("dogs", 1, 1), "there are no pictures 'dogs'"),
    ):
        with pytest.raises(InputError, match=reason):
            vit_data.load_images(*asked)
    vit_data.load_images.cache_clear()


def test_methods_differ_by_the_mask_alone():
    """Same weights and pictures: without strength, the mask changes nothing."""
    images = vit_data.load_images(vit_data.STRIPES, 200, 100)

    def trained(lam=None, learn=False):
        mask = None if lam is None else {"n_walks": 16, "seed": 5, "lam": lam, "learn": learn}
        return train(images, 1, 5, mask, **vit.PARAMETERS[Size.TINY].model)[-1]

    plain, without, strong = trained(), trained(0.0), trained(5.0)
    learned, again = (trained(0.5, learn=True) for _ in range(2))
    assert without["train_loss"] == pytest.approx(plain["train_loss"], rel=1e-5)
    assert abs(strong["train_loss"] - plain["train_loss"]) > 1e-5
    assert (plain["lam"], strong["lam"]) == (None, 5)
    assert learned["lam"] not in (None, 0.5)
    assert learned["n_parameters"] == plain["n_parameters"] + 1
    assert learned == again


def test_the_strength_of_the_mask_is_not_drawn_towards_zero():
    net = torch.nn.MultiheadAttention(8, 2)
    add_mask(net, torch.eye(3), learn=True)
    weights, strengths = vit_training._groups(net)
    assert [each.numel() for each in strengths["params"]] == [1]
    assert strengths["weight_decay"] == 0 and "weight_decay" not in weights
    assert len(weights["params"]) + 1 == len(list(net.parameters()))


def test_it_learns():
    images = vit_data.load_images(vit_data.STRIPES, 600, 200)
    found = train(images, 12, 0, dim=32, depth=2, heads=2, hidden=64)
    assert [row["epoch"] for row in found] == [2, 4, 6, 8, 10, 12]
    assert found[-1]["accuracy"] > 0.8
    assert found[-1]["train_loss"] < found[0]["train_loss"]


def test_the_small_vision_transformer_takes_a_mask():
    torch.manual_seed(1)
    model = SmallViT((12, 12), 1, 5, dim=16, depth=2, heads=4, hidden=32)
    images = torch.randn(3, 1, 12, 12)
    plain = model(images)
    add_mask(model, patch_grid_mask(*model.grid, class_token=True))
    assert plain.shape == (3, 5)
    assert not torch.allclose(model(images), plain, atol=1e-5)
    first, second = (layer.self_attn.in_proj_weight for layer in model.encoder.layers)
    assert not torch.equal(first, second)
    with pytest.raises(InputError, match="image_size"):
        SmallViT((13, 12), 1, 5)


TINY = Settings(Size.TINY)


def test_the_command_trains_judges_and_draws(tmp_path):
    found = reproduced(tmp_path, "vit")["experiments"]["vit"]
    assert found["errors"] == []
    assert found["n_rows"] == 3 * 3 * 2  # methods, repeats, looks
    assert "(3 seeds)" in found["verdicts"][0]["measured"]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "80.31" in page and "not comparable" in page
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
    printed = accepted(capsys, "reproduce", "vit", "--tiny", "--out", tmp_path)
    why = "torch is not installed: pip install '.[torch]' in a clone of grfpp"
    assert f"left out vit: {why}" in printed
    assert "With and without the mask: not judged" in printed
    assert "torch is not installed" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_plan_has_every_data_set_at_hand(monkeypatch):
    monkeypatch.setattr(vit_data.datasets, "at_hand", lambda name: True)
    plan = vit.plan(Settings())
    cells = [(cell["dataset"], cell["method"]) for cell in plan.cells]
    assert {name for name, _ in cells} == {"mnist", "cifar10"}
    assert cells.count(("mnist", PLAIN)) == cells.count(("cifar10", MASKED)) >= 3
    assert cells.count(("mnist", LEARNED)) == 3
    assert "scale" not in plan.cells[0]  # what has no mask does not depend on it


@pytest.mark.parametrize("size", [Size.FULL, Size.QUICK])
def test_without_data_there_are_generated_stripes(size):
    plan = vit.plan(Settings(size))
    assert {cell["dataset"] for cell in plan.cells} == {vit_data.STRIPES}
    assert plan.skipped["MNIST"] == "mnist is not at hand"
    if size is Size.FULL:
        assert "images/imagenet/train" in plan.skipped["ImageNet"]


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
                row = {"dataset": name, "method": method, "repeat": repeat, "epochs": 2}
                row |= {"n_train": 100, "n_tokens": 65, "lam": 0.4 if method == LEARNED else None}
                found += [{**row, "epoch": 1, "accuracy": 0.1}]
                found += [{**row, "epoch": 2, "accuracy": accuracy / 100}]
    return found


CLEAR, FAINT = [1.0, 1.2, 0.8, 1.1, 0.9], [1.0, -0.8, 0.9, -0.7, 0.6]


#: p = 0.035: chance, when one of two data sets is as far off.
LIKELY = [1.0, 1.3, 0.2, 0.5, 0.3]
LESS_CLEAR, LESS_FAINT, LESS_LIKELY = ([-v for v in each] for each in (CLEAR, FAINT, LIKELY))


def both(first, second):
    return rows({"mnist": first, "cifar10": second})


WITH_LEARNED = rows({"mnist": CLEAR}, learned=-3.0)
LEARNED_TEXTS = ("with λ learned: MNIST -3.00", "λ ends between 0.40 and 0.40")
CHANCE = "none of this can be told from chance"

test_verdicts = verdicts(
    [
        (claims.judge, both(CLEAR, CLEAR), YES, "+1.00 ± 0.07"),
        (claims.judge, both(CLEAR, FAINT), NOISE, "noise on CIFAR-10"),
        (claims.judge, both(FAINT, FAINT), NOISE, CHANCE),
        (claims.judge, both(CLEAR, LESS_FAINT), OPEN, "noise on CIFAR-10"),
        (claims.judge, both(LESS_FAINT, LESS_FAINT), OPEN, CHANCE),
        (claims.judge, both(CLEAR, LESS_LIKELY), OPEN, "p = 0.035"),
        (claims.judge, both(CLEAR, LESS_CLEAR), NO, "-1.00 ± 0.07"),
        (claims.judge, both(FAINT, LESS_CLEAR), NO, "noise on MNIST"),
        (claims.judge, both(LESS_CLEAR, LESS_CLEAR), NO, "-1.00 ± 0.07"),
        (claims.judge, rows({"mnist": CLEAR}, n=2), OPEN),
        (claims.judge, WITH_LEARNED, YES, *LEARNED_TEXTS),  # learned strengths are not judged
    ]
)


def test_the_table_stands_beside_the_paper_and_charts_end_with_the_last_epoch():
    curve = claims.panels(rows({"mnist": CLEAR}))[0].curves[0]
    assert (curve.name, curve.x, curve.y) == (PLAIN, [1, 2], [90.0, 28.0])
    assert "80.31" in claims.judge(both(CLEAR, CLEAR)).paper
    made = claims.table(rows({"mnist": CLEAR, "cifar10": FAINT}, learned=0.5))
    assert len(made.columns) == 1 + len(METHODS) + 5
    assert all(len(line) == len(made.columns) for group in made.groups for line in group.rows)
    assert made.groups[0].rows[0][1:3] == ["72.00 ± 0.71", "73.00 ± 0.69"]
    assert made.groups[0].rows[0][4] == "+1.00 ± 0.07"
    assert made.groups[1].rows[1][:3] == ["Places365", "55.78", "56.03"]
    assert "not comparable" in made.groups[1].title
