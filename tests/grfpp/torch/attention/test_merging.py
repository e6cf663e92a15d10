"""Masks of `nn.MultiheadAttention`, beside the others that it is called with."""

import warnings

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from attention_helpers import DIM, HEADS, MASK, N, paper_multihead
from torch import nn
from torch.nn import functional

from grfpp.errors import InputError
from grfpp.torch import add_mask


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batched", [True, False])
def test_a_mask_in_multihead_attention(batch_first, need_weights, batched):
    module = nn.MultiheadAttention(DIM, HEADS, batch_first=batch_first)
    add_mask(module, MASK, lam=0.8)
    x = torch.randn(2, N, DIM) if batched else torch.randn(N, DIM)
    expected = paper_multihead(module, x, MASK, 0.8)
    if batched and not batch_first:
        x, expected = x.transpose(0, 1), expected.transpose(0, 1)
    found, weights = module(x, x, x, need_weights=need_weights)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    assert (weights is not None) == need_weights


@pytest.mark.parametrize("kind", ["bool", "float", "heads"])
@pytest.mark.parametrize("padded", [True, False])
def test_other_masks_still_count(kind, padded):
    module = nn.MultiheadAttention(DIM, HEADS, batch_first=True)
    forbidden = torch.ones(N, N, dtype=torch.bool).triu(1)
    other = torch.zeros(N, N).masked_fill(forbidden, -torch.inf)
    padding = torch.zeros(2, N, dtype=torch.bool)
    padding[1, -3:] = padded
    x = torch.randn(2, N, DIM)
    masks = {"bool": forbidden, "float": other, "heads": other.expand(2 * HEADS, N, N)}
    everything = 0.5 * MASK + other
    if padded:
        everything = everything + torch.zeros(2, 1, 1, N).masked_fill(
            padding[:, None, None], -torch.inf
        )
    expected = paper_multihead(module, x, everything, 1.0)
    add_mask(module, MASK)
    found, _ = module(
        *(x, x, x),
        key_padding_mask=padding if padded else None,
        attn_mask=masks[kind],
        is_causal=kind != "heads",
        need_weights=False,
    )
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("n_memory", [N, 7])
def test_a_decoder_masks_its_own_tokens_and_not_its_memory(n_memory):
    layer = nn.TransformerDecoderLayer(DIM, HEADS, 32, 0.0, batch_first=True)
    x, memory = torch.randn(2, N, DIM), torch.randn(2, n_memory, DIM)
    y = layer.norm1(x + paper_multihead(layer.self_attn, x, MASK, 0.5))
    y = layer.norm2(y + layer.multihead_attn(y, memory, memory)[0])
    expected = layer.norm3(y + layer.linear2(functional.relu(layer.linear1(y))))
    add_mask(layer, MASK)
    torch.testing.assert_close(layer(x, memory), expected, rtol=0, atol=1e-6)


def test_two_views_of_the_same_tokens_are_self_attention():
    module, x = nn.MultiheadAttention(DIM, HEADS), torch.randn(2, N, DIM)
    expected = paper_multihead(module, x, MASK, 0.5).transpose(0, 1)
    add_mask(module, MASK)
    found, _ = module(*(x.transpose(0, 1) for _ in range(3)))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    with pytest.raises(InputError, match="not its queries"):
        module(x.transpose(0, 1), x.transpose(0, 1).clone(), x.transpose(0, 1))


def test_padding_of_another_type_raises_no_warning():
    module = nn.MultiheadAttention(DIM, HEADS, batch_first=True)
    x, padding = torch.randn(2, N, DIM), torch.zeros(2, N, dtype=torch.float64)
    padding[:, -2:] = -torch.inf
    expected = paper_multihead(module, x, 0.5 * MASK + padding[0].float(), 1.0)
    add_mask(module, MASK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, _ = module(x, x, x, key_padding_mask=padding)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
