"""The linear form against the explicit one."""

import math

import pytest
import torch
from attention_helpers import DIM, HEADS, MASK, explicit_linear
from refusal_case import bad_values, refused
from torch.utils._python_dispatch import TorchDispatchMode

from grfpp.datasets import grid
from grfpp.torch import LinearMaskedAttention, factored_mask, linear_masked_attention
from grfpp.torch.attention import linear as linear_attention

FACTORED = factored_mask(grid(4, 5), class_token=True)


@pytest.mark.parametrize("how", ["multiply", "add"])
@pytest.mark.parametrize("block_bytes", [1 << 26, 1])
@pytest.mark.parametrize("lam", [0.5, 20.0])
def test_the_linear_form_is_the_explicit_form(how, block_bytes, lam, monkeypatch):
    """In one block or feature by feature."""
    monkeypatch.setattr(linear_attention, "_BLOCK_BYTES", block_bytes)
    query, key = torch.rand(2, 2, HEADS, 21, 6)
    value = torch.randn(2, HEADS, 21, 5)
    found = linear_masked_attention(query, key, value, FACTORED, lam, how)
    expected = explicit_linear(query, key, value, FACTORED.dense(), lam, how)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("how", ["multiply", "add"])
@pytest.mark.parametrize("block_bytes", [1 << 26, 1])
def test_gradients_of_the_linear_form(how, block_bytes, monkeypatch):
    monkeypatch.setattr(linear_attention, "_BLOCK_BYTES", block_bytes)
    mask = factored_mask(grid(2, 2), n_walks=4, dtype=torch.float64)
    query, key = (torch.rand(4, 2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    value = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    lam = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda *inputs: linear_masked_attention(*inputs[:3], mask, inputs[3], how),
        (query, key, value, lam),
    )


def test_weights_that_are_all_zero_give_no_nan():
    module = LinearMaskedAttention(DIM, HEADS, FACTORED, feature_map=torch.zeros_like)
    assert module(torch.randn(1, 21, DIM)).isfinite().all()


def attended(**changes):
    given = dict.fromkeys(("query", "key", "value"), torch.ones(21, 2)) | {"mask": FACTORED}
    return linear_masked_attention(**given | changes)


def module(**changes):
    options = {"mask": FACTORED, **changes}
    return LinearMaskedAttention(DIM, HEADS, **options)(torch.randn(21, DIM))


MASKS = [MASK, factored_mask(grid(3, 3), kernel="cosine:0.3", scaling=None)]  # negative
STRENGTHS = [-1.0, torch.tensor(-1.0, requires_grad=True), math.nan]
KEY = -torch.ones(21, 2)
test_bad_arguments_are_refused = bad_values(attended, mask=MASKS, how="max", lam=STRENGTHS, key=KEY)
test_bad_options_are_refused = bad_values(
    module, mask=MASKS, lam=-1, how="max", learn="yes", feature_map=3
)
test_bad_queries_are_refused = refused(
    mask=lambda: attended(query=torch.ones(20, 2)), query=lambda: module(feature_map=torch.tanh)
)


class LargestTensor(TorchDispatchMode):
    """The largest dense tensor that any operation returns."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.layout == torch.strided:
            self.numel = max(self.numel, result.numel())
        return result


def test_memory_grows_linearly():
    """No tensor of the forward and the backward pass is as large as a dense mask."""
    sizes = []
    for side in (16, 32):
        module = LinearMaskedAttention(8, 2, factored_mask(grid(side, side), n_walks=2))
        with LargestTensor() as largest:
            module(torch.randn(1, side**2, 8)).square().sum().backward()
        sizes.append(largest.numel)
    assert sizes[1] < 5 * sizes[0]  # four times the tokens
    assert sizes[1] < 32**4 / 4
