"""Names of grfpp.torch, and its cheap constructors with junk (tests/grfpp/test_public_names.py)."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from junk import FEW, call_with_junk

from grfpp import torch as grfpp_torch

A = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], float)
LAWS = ("Diffusion", "Free", "MLP", "RegularizedLaplacian")
KINDS = ("GRF", "Contrast", "Landmark", "Profile", "Return", "Smooth")
MODULATION = grfpp_torch.DiffusionModulation(4)
CASES = {
    **{f"{law}Modulation": {"n_lengths": 4} for law in LAWS},
    **{f"Add{kind}PE": {} for kind in KINDS},
    **{f"{how}_mask": {"graph": A, "n_walks": 2} for how in ("graph", "factored")},
    "LearnableKernel": {"W": A / 4, "modulation": MODULATION, "n_walks": 2},
    "NodeKernel": {"W": A / 4},
    "patch_grid_mask": {"height": 2, "width": 2},
    "MaskedAttention": {"embed_dim": 4, "num_heads": 2, "mask": torch.eye(3)},
}


@pytest.mark.parametrize("name", CASES)
def test_junk_is_refused_or_works(name):
    @FEW
    @given(st.data())
    def try_it(data):
        made = call_with_junk(data, getattr(grfpp_torch, name), CASES[name])
        if made is not None:
            made() if name.endswith("Modulation") else repr(made)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try_it()


def test_every_public_name_is_there():
    assert sorted(grfpp_torch.__all__) == grfpp_torch.__all__
    assert set(grfpp_torch.__all__) <= set(dir(grfpp_torch))
    for name in grfpp_torch.__all__:
        assert getattr(grfpp_torch, name).__doc__
    with pytest.raises(AttributeError, match="Nothing"):
        _ = grfpp_torch.Nothing
