"""Softmax attention with a mask, against its formula and in batches of graphs."""

import math
from functools import partial

import networkx as nx
import pytest
import torch
from attention_helpers import DIM, HEADS, MASK, N, OwnAttention, paper, paper_multihead
from refusal_case import bad_values, refused
from torch import nn

from grfpp.errors import InputError
from grfpp.torch import MaskedAttention, add_mask, graph_mask, masked_attention


@pytest.mark.parametrize("lam", [0.5, 0.0, -2.0, 7.0])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-6), (torch.float64, 1e-14)])
def test_attention_is_the_formula_of_the_paper(lam, dtype, tolerance):
    query, key, value = torch.randn(3, 2, HEADS, N, 8, dtype=dtype)
    found = masked_attention(query, key, value, MASK, lam)
    expected = paper(query.double(), key.double(), value.double(), MASK.double(), lam)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=tolerance)


def test_dropout_only_in_training():
    module = MaskedAttention(DIM, HEADS, MASK, dropout=0.5)
    x = torch.randn(1, N, DIM)
    assert not torch.equal(module(x), module(x))
    module.eval()
    torch.testing.assert_close(module(x), paper_multihead(module, x, MASK, 0.5))


def attended(**changes):
    given = dict.fromkeys(("query", "key", "value"), torch.ones(N, 4)) | {"mask": MASK}
    return masked_attention(**given | changes)


BAD = [MASK[:1], MASK[0], torch.zeros(0, 0), torch.tensor(0.3), MASK[1:, 1:], MASK > 0]
BAD += [MASK.long(), MASK * math.nan, MASK.numpy()]
STRENGTHS = [math.nan, torch.tensor(math.nan), torch.ones(N), torch.tensor(True), "0.5"]
test_bad_arguments_are_refused = bad_values(attended, mask=BAD, lam=STRENGTHS, dropout=1.5)


def test_gradients_reach_mask_and_strength():
    query, key, value = torch.randn(3, N, 4, dtype=torch.float64)
    mask = MASK.double().requires_grad_()
    lam = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda m, strength: masked_attention(query, key, value, m, strength), (mask, lam)
    )


# Batches of graphs of different sizes: every graph as it would be alone.

GRAPHS = [nx.path_graph(3), nx.cycle_graph(7), nx.star_graph(4)]
SIZES = [3, 7, 5]
MASKS = graph_mask(GRAPHS, n_walks=8)
ALONE = [(i, n, MASKS[i, :n, :n]) for i, n in enumerate(SIZES)]


def assert_each_as_alone(batch, alone):
    assert torch.isfinite(batch).all()
    for rows, expected, n in zip(batch, alone, SIZES, strict=True):
        torch.testing.assert_close(rows[..., :n, :], expected[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 7, 4), (3, HEADS, 7, 4)])
def test_batches_of_masks(shape):
    q = torch.randn(shape)
    alone = [masked_attention(*[q[i : i + 1, ..., :n, :]] * 3, mask) for i, n, mask in ALONE]
    assert_each_as_alone(masked_attention(q, q, q, MASKS), alone)


@pytest.mark.parametrize("lam", [0.5, 0.0, -1.0])
def test_batches_in_the_module(lam):
    x = torch.randn(3, 7, DIM)
    fixed = MaskedAttention(DIM, HEADS, MASKS, lam, learn=True)
    each = MaskedAttention(DIM, HEADS, None, lam, learn=True)
    each.load_state_dict(fixed.state_dict())
    torch.testing.assert_close(fixed(x), each(x, MASKS))
    assert_each_as_alone(each(x, MASKS), [each(x[i : i + 1, :n], mask) for i, n, mask in ALONE])
    assert "shape=None" in repr(each) and "shape=(3, 7, 7)" in repr(fixed)
    fixed(x).square().sum().backward()
    gradient = fixed.graph_mask.lam.grad
    assert torch.isfinite(gradient) and gradient != 0


def masked_one_by_one(model, added, x):
    for i, n, mask in ALONE:
        added.mask = mask
        yield model(x[i : i + 1, :n])


@pytest.mark.parametrize("batch_first", [True, False])
def test_batches_in_an_encoder(batch_first):
    layer = nn.TransformerEncoderLayer(DIM, HEADS, 16, 0.0, batch_first=batch_first)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    added, x = add_mask(model, MASKS), torch.randn(3, 7, DIM)
    turn = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))

    def call(x, **options):
        return turn(model(turn(x), **options))

    batch, padding = call(x), torch.arange(7) >= torch.tensor(SIZES)[:, None]
    torch.testing.assert_close(call(x, src_key_padding_mask=padding), batch)
    with pytest.raises(InputError, check=lambda error: error.argument == "mask"):
        call(x[:2])
    assert_each_as_alone(batch, masked_one_by_one(call, added, x))


def test_batches_in_fused_calls():
    model, x = OwnAttention(), torch.randn(3, 7, DIM)
    added = add_mask(model, MASKS)
    assert_each_as_alone(model(x), masked_one_by_one(model, added, x))


X = torch.ones(3, 7, DIM)
NONE_FINITE = MASKS[:1, :, 3:].repeat(1, 1, 2)[..., :7]
test_bad_batches_are_refused = refused(
    mask=[
        lambda: attended(query=torch.ones(7, 4)),
        lambda: MaskedAttention(DIM, HEADS, MASKS)(X[:2]),
        lambda: masked_attention(*[X[0]] * 3, MASKS),
        lambda: MaskedAttention(DIM, HEADS, None)(X),
        lambda: add_mask(nn.TransformerEncoderLayer(DIM, HEADS), None),
        *(partial(MaskedAttention, DIM, HEADS, mask) for mask in (MASKS.abs(), MASKS * math.nan)),
        *(partial(MaskedAttention, DIM, HEADS, mask) for mask in (MASKS[0], NONE_FINITE)),
    ]
)
