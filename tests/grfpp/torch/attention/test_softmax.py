"""Softmax attention with a mask, against its formula and in batches of graphs."""

import math

import networkx as nx
import pytest
import torch
from attention_helpers import DIM, HEADS, MASK, N, OwnAttention, paper, paper_multihead
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


def test_the_mask_draws_attention_to_neighbours():
    """Uniform queries: weights depend on the mask alone, and are largest at home and next door."""
    weights = masked_attention(torch.zeros(N, 1), torch.zeros(N, 1), torch.eye(N), MASK, 0.5)
    exact = torch.softmax(0.5 * MASK, dim=-1)
    torch.testing.assert_close(weights, exact)
    middle = weights[5, 1:].reshape(3, 3)  # the patch in the middle, after the class token
    assert middle[1, 1] > middle[0, 1] > middle[0, 0]


def test_dropout_only_in_training():
    module = MaskedAttention(DIM, HEADS, MASK, dropout=0.5)
    x = torch.randn(1, N, DIM)
    assert not torch.equal(module(x), module(x))
    module.eval()
    torch.testing.assert_close(module(x), paper_multihead(module, x, MASK, 0.5))


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"mask": MASK[:1]}, "mask"),
        ({"mask": MASK[0]}, "mask"),
        ({"mask": torch.zeros(0, 0)}, "mask"),
        ({"mask": torch.tensor(0.3)}, "mask"),
        ({"mask": MASK[1:, 1:]}, "mask"),
        ({"mask": MASK > 0}, "mask"),
        ({"mask": MASK.long()}, "mask"),
        ({"mask": MASK * math.nan}, "mask"),
        ({"mask": MASK.numpy()}, "mask"),
        ({"lam": math.nan}, "lam"),
        ({"lam": torch.tensor(math.nan)}, "lam"),
        ({"lam": torch.ones(N)}, "lam"),
        ({"lam": torch.tensor(True)}, "lam"),
        ({"lam": "0.5"}, "lam"),
        ({"dropout": 1.5}, "dropout"),
        ({"query": torch.ones(7, 4)}, "mask"),
    ],
)
def test_bad_arguments_are_refused(changes, argument):
    given = dict.fromkeys(("query", "key", "value"), torch.ones(N, 4)) | {"mask": MASK}
    with pytest.raises(InputError, check=lambda error: error.argument == argument):
        masked_attention(**given | changes)


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


@pytest.fixture(scope="module")
def masks():
    return graph_mask(GRAPHS, n_walks=8)


def assert_each_as_alone(batch, alone):
    assert torch.isfinite(batch).all()
    for rows, expected, n in zip(batch, alone, SIZES, strict=True):
        torch.testing.assert_close(rows[..., :n, :], expected[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 7, 4), (3, HEADS, 7, 4)])
def test_batches_of_masks(masks, shape):
    q = torch.randn(shape)
    alone = [
        masked_attention(*[q[i : i + 1, ..., :n, :]] * 3, masks[i, :n, :n])
        for i, n in enumerate(SIZES)
    ]
    assert_each_as_alone(masked_attention(q, q, q, masks), alone)


@pytest.mark.parametrize("lam", [0.5, 0.0, -1.0])
def test_batches_in_the_module(masks, lam):
    x = torch.randn(3, 7, DIM)
    fixed = MaskedAttention(DIM, HEADS, masks, lam, learn=True)
    each = MaskedAttention(DIM, HEADS, None, lam, learn=True)
    each.load_state_dict(fixed.state_dict())
    torch.testing.assert_close(fixed(x), each(x, masks))
    alone = [each(x[i : i + 1, :n], masks[i, :n, :n]) for i, n in enumerate(SIZES)]
    assert_each_as_alone(each(x, masks), alone)
    assert "shape=None" in repr(each) and "shape=(3, 7, 7)" in repr(fixed)
    fixed(x).square().sum().backward()
    gradient = fixed.graph_mask.lam.grad
    assert torch.isfinite(gradient) and gradient != 0


@pytest.mark.parametrize("batch_first", [True, False])
def test_batches_in_an_encoder(masks, batch_first):
    layer = nn.TransformerEncoderLayer(DIM, HEADS, 16, 0.0, batch_first=batch_first)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    added = add_mask(model, masks)
    turn = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
    x = torch.randn(3, 7, DIM)
    batch = turn(model(turn(x)))
    padding = torch.arange(7) >= torch.tensor(SIZES)[:, None]
    torch.testing.assert_close(turn(model(turn(x), src_key_padding_mask=padding)), batch)
    with pytest.raises(InputError, check=lambda error: error.argument == "mask"):
        model(turn(x[:2]))
    alone = []
    for i, n in enumerate(SIZES):
        added.mask = masks[i, :n, :n]
        alone.append(turn(model(turn(x[i : i + 1, :n]))))
    assert_each_as_alone(batch, alone)


def test_batches_in_fused_calls(masks):
    model, x = OwnAttention(), torch.randn(3, 7, DIM)
    added = add_mask(model, masks)
    batch, alone = model(x), []
    for i, n in enumerate(SIZES):
        added.mask = masks[i, :n, :n]
        alone.append(model(x[i : i + 1, :n]))
    assert_each_as_alone(batch, alone)


def test_bad_batches_are_refused(masks):
    attention, x = MaskedAttention(DIM, HEADS, masks), torch.randn(3, 7, DIM)
    calls = [
        lambda: attention(x[:2]),
        lambda: masked_attention(*[x[0]] * 3, masks),
        lambda: MaskedAttention(DIM, HEADS, None)(x),
        lambda: add_mask(nn.TransformerEncoderLayer(DIM, HEADS), None),
        lambda: MaskedAttention(DIM, HEADS, masks.abs()),
        lambda: MaskedAttention(DIM, HEADS, masks * torch.nan),
        lambda: MaskedAttention(DIM, HEADS, masks[0]),
        lambda: MaskedAttention(DIM, HEADS, masks[:1, :, 3:].repeat(1, 1, 2)[..., :7]),
    ]
    for call in calls:
        with pytest.raises(InputError, check=lambda error: error.argument == "mask"):
            call()
