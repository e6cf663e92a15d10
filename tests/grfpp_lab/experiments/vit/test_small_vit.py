"""The small vision transformer."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from grfpp.errors import InputError
from grfpp.torch import add_mask, patch_grid_mask
from grfpp_lab.experiments.vit.small_vit import SmallViT


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
