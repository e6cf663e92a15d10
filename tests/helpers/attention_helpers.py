"""Attention as the paper prints it, and models to put masks into."""

import math

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch import nn
from torch.nn import functional

from grfpp.torch import patch_grid_mask

MASK = patch_grid_mask(3, 3, class_token=True)
N = len(MASK)
DIM, HEADS = 16, 4


def paper(query, key, value, mask, lam):
    """softmax(Q K^T / sqrt(d) + lambda M) V, as printed."""
    logits = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + lam * mask
    weights = logits.exp()
    return weights / weights.sum(-1, keepdim=True) @ value


def explicit_linear(query, key, value, mask, lam, how):
    weights = query @ key.transpose(-1, -2)
    weights = weights * (1 + lam * mask) if how == "multiply" else weights + lam * mask
    return weights / weights.sum(-1, keepdim=True) @ value


def heads(x):
    return x.unflatten(-1, (HEADS, -1)).transpose(-3, -2)


def paper_multihead(module, x, mask, lam):
    """The same for the weights of an nn.MultiheadAttention."""
    projected = functional.linear(x, module.in_proj_weight, module.in_proj_bias)
    mixed = paper(*map(heads, projected.chunk(3, -1)), mask, lam)
    return module.out_proj(mixed.transpose(-3, -2).flatten(-2))


def encoder():
    layer = nn.TransformerEncoderLayer(DIM, HEADS, 32, 0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2)


def explicit_layer(layer, x, lam):
    """An encoder layer with norms after it, written out."""
    x = layer.norm1(x + paper_multihead(layer.self_attn, x, MASK, lam))
    return layer.norm2(x + layer.linear2(functional.relu(layer.linear1(x))))


class OwnAttention(nn.Module):
    """As timm and others write it: their own weights, torch's fused attention."""

    def __init__(self, causal=False):
        super().__init__()
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.causal = causal

    def forward(self, x, attn_mask=None):
        q, k, v = map(heads, self.qkv(x).chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask, is_causal=self.causal)
        return self.proj(mixed.transpose(1, 2).flatten(2))


class OwnModel(nn.Module):
    def __init__(self, causal=False):
        super().__init__()
        self.blocks = nn.ModuleList([OwnAttention(causal), OwnAttention(causal)])

    def forward(self, x, attn_mask=None):
        for block in self.blocks:
            x = x + block(x, attn_mask)
        return x


class Mixed(nn.Module):
    """Attention of its own, torch's, and a pooling head with one query."""

    def __init__(self):
        super().__init__()
        self.own = OwnAttention()
        self.attention = nn.MultiheadAttention(DIM, HEADS, batch_first=True)
        self.pool = nn.MultiheadAttention(DIM, HEADS, batch_first=True)
        self.query = nn.Parameter(torch.randn(1, 1, DIM))

    def forward(self, x):
        x = self.own(x)
        x = self.attention(x, x, x, need_weights=False)[0]
        return self.pool(self.query.expand(len(x), 1, DIM), x, x, need_weights=False)[0]

    def explicit(self, x, lam):
        mixed = paper(*map(heads, self.own.qkv(x).chunk(3, -1)), MASK, lam)
        x = self.own.proj(mixed.transpose(1, 2).flatten(2))
        x = paper_multihead(self.attention, x, MASK, lam)
        return self.pool(self.query.expand(len(x), 1, DIM), x, x)[0]


def compiles(test):
    """Mark a test that compiles. Torch hides the first of these warnings, but not from us."""
    for message in ("The .grad attribute of a Tensor", "Dynamo does not know how to trace"):
        test = pytest.mark.filterwarnings(f"ignore:{message}")(test)
    return test
