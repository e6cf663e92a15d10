"""Training with and without a mask."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")
import torch

from grfpp.torch import add_mask
from grfpp_lab.experiments.vit import data as vit_data
from grfpp_lab.experiments.vit import experiment as vit
from grfpp_lab.experiments.vit import training as vit_training
from grfpp_lab.experiments.vit.training import train
from grfpp_lab.harness.experiment import Size


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
