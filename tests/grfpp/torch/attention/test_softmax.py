"""Masked attention against its formula."""

import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from attention_helpers import DIM, HEADS, MASK, N, heads, paper, paper_multihead
from torch import nn
from torch.nn import functional

from grfpp.errors import InputError
from grfpp.torch import MaskedAttention, masked_attention


@pytest.mark.parametrize("lam", [0.5, 0.0, -2.0, 7.0])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-6), (torch.float64, 1e-14)])
def test_attention_is_the_formula_of_the_paper(lam, dtype, tolerance):
    query, key, value = torch.randn(3, 2, HEADS, N, 8, dtype=dtype)
    found = masked_attention(query, key, value, MASK, lam)
    expected = paper(query.double(), key.double(), value.double(), MASK.double(), lam)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(2, N, DIM), (N, DIM), (2, 3, N, DIM)])
def test_the_module_is_the_formula_too(bias, shape):
    module = MaskedAttention(DIM, HEADS, MASK, bias=bias)
    x = torch.randn(shape)
    torch.testing.assert_close(module(x), paper_multihead(module, x, MASK, 0.5), rtol=0, atol=1e-6)


def test_without_strength_it_is_plain_attention():
    module = MaskedAttention(DIM, HEADS, MASK, lam=0.0)
    plain = nn.MultiheadAttention(DIM, HEADS, batch_first=True)
    plain.load_state_dict(module.state_dict())
    x = torch.randn(2, N, DIM)
    torch.testing.assert_close(module(x), plain(x, x, x)[0])
    assert {n: p.shape for n, p in plain.named_parameters()} == {
        n: p.shape for n, p in module.named_parameters()
    }


def test_the_mask_draws_attention_to_neighbours():
    """Uniform queries: weights depend on the mask alone, and are largest at home and next door."""
    weights = masked_attention(torch.zeros(N, 1), torch.zeros(N, 1), torch.eye(N), MASK, 0.5)
    exact = torch.softmax(0.5 * MASK, dim=-1)
    torch.testing.assert_close(weights, exact)
    middle = weights[5, 1:].reshape(3, 3)  # the patch in the middle, after the class token
    assert middle[1, 1] > middle[0, 1] > middle[0, 0]


def test_a_learned_strength_has_the_gradient_of_the_formula():
    module = MaskedAttention(DIM, HEADS, MASK.double(), lam=0.3, learn=True).double()
    assert [n for n, _ in module.named_parameters()][-1] == "graph_mask.lam"
    x = torch.randn(2, N, DIM, dtype=torch.float64)

    def loss(lam):
        return (
            functional.scaled_dot_product_attention(
                *map(heads, functional.linear(x, module.in_proj_weight).chunk(3, -1)),
                attn_mask=lam * MASK.double(),
            )
            .square()
            .sum()
        )

    lam = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(loss, lam)
    module(x).square().sum().backward()
    step = 1e-6
    with torch.no_grad():
        values = []
        for change in (step, -step):
            module.graph_mask.lam.fill_(0.3 + change)
            values.append(module(x).square().sum())
    slope = (values[0] - values[1]) / (2 * step)
    torch.testing.assert_close(module.graph_mask.lam.grad, slope, rtol=1e-6, atol=1e-8)


def test_dropout_only_in_training():
    module = MaskedAttention(DIM, HEADS, MASK, dropout=0.5)
    x = torch.randn(1, N, DIM)
    assert not torch.equal(module(x), module(x))
    module.eval()
    torch.testing.assert_close(module(x), paper_multihead(module, x, MASK, 0.5))


def test_half_precision_keeps_the_type():
    module = MaskedAttention(DIM, HEADS, MASK).bfloat16()
    assert module(torch.randn(1, N, DIM).bfloat16()).dtype == torch.bfloat16
    with torch.autocast("cpu", dtype=torch.bfloat16):
        MaskedAttention(DIM, HEADS, MASK)(torch.randn(1, N, DIM))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: MaskedAttention(DIM, 3, MASK), "embed_dim must be a multiple of num_heads"),
        (lambda: MaskedAttention(0, 1, MASK), "embed_dim must be a whole number"),
        (lambda: MaskedAttention(2**31, 1, MASK), "an attention module of width 2147483648"),
        (lambda: MaskedAttention(DIM, HEADS, MASK[0]), "one row and one column a token"),
        (lambda: MaskedAttention(DIM, HEADS, torch.zeros(0, 0)), "one row and one column"),
        (lambda: MaskedAttention(DIM, HEADS, MASK.long()), "floating-point numbers"),
        (lambda: MaskedAttention(DIM, HEADS, MASK.numpy()), "mask must be a tensor"),
        (lambda: MaskedAttention(DIM, HEADS, MASK / 0), "a mask must be finite"),
        (lambda: MaskedAttention(DIM, HEADS, MASK, lam=math.nan), "lam must be a finite number"),
        (lambda: MaskedAttention(DIM, HEADS, MASK, dropout=1.0), "dropout must be a number in"),
        (lambda: MaskedAttention(DIM, HEADS, MASK)(torch.ones(2, N)), "expected a tensor of shape"),
        (
            lambda: MaskedAttention(DIM, HEADS, MASK)(torch.ones(9, DIM)),
            "for 10 tokens, but attention was asked for from 9 to 9.*class_token=True",
        ),
    ],
)
def test_what_is_no_masked_attention(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"mask": MASK[:1]}, "one row and one column a token"),
        ({"mask": MASK[0]}, "one row and one column a token"),
        ({"mask": MASK[:, :1]}, "one row and one column a token"),
        ({"mask": torch.tensor(0.3)}, "one row and one column a token"),
        ({"mask": MASK[1:, 1:]}, "this mask is for 9 tokens"),
        ({"mask": MASK > 0}, "floating-point numbers"),
        ({"mask": MASK.long()}, "floating-point numbers"),
        ({"mask": MASK * math.nan}, "a mask must be finite"),
        ({"mask": MASK.numpy()}, "mask must be a tensor"),
        ({"lam": math.nan}, "lam must be a finite number"),
        ({"lam": torch.tensor(math.nan)}, "lam must be a finite number"),
        ({"lam": torch.ones(N)}, "lam must be one real number"),
        ({"lam": torch.tensor(True)}, "lam must be one real number"),
        ({"lam": "0.5"}, "lam must be a finite number"),
        ({"dropout": 1.5}, "dropout must be a number in"),
        ({"query": np.ones((N, 4))}, "query must be a floating-point tensor.*a ndarray"),
        ({"value": torch.ones(N, 4, dtype=torch.long)}, "value must be a floating-point tensor"),
        ({"key": torch.ones(N, 5)}, "queries and keys must be of one length"),
        ({"query": torch.ones(7, 4)}, "this mask is for 10 tokens.*from 7 to 10"),
    ],
)
def test_what_the_function_refuses(changes, message):
    given = dict.fromkeys(("query", "key", "value"), torch.ones(N, 4)) | {"mask": MASK}
    with pytest.raises(InputError, match=message):
        masked_attention(**given | changes)


def test_gradients_go_through_to_mask_and_strength():
    mask, lam = MASK.clone().requires_grad_(), torch.tensor([0.5], requires_grad=True)
    masked_attention(*torch.randn(3, N, 4), mask, lam).square().sum().backward()
    assert mask.grad.any()
    assert lam.grad.any()


def test_states_of_multihead_attention_load_into_one_that_learns_its_strength():
    plain = nn.MultiheadAttention(DIM, HEADS)
    module = MaskedAttention(DIM, HEADS, MASK, lam=0.25, learn=True)
    module.load_state_dict(plain.state_dict())
    assert module.graph_mask.lam == 0.25
    torch.testing.assert_close(module.in_proj_weight, plain.in_proj_weight)
    with pytest.raises(RuntimeError, match="Unexpected key"):
        plain.load_state_dict(module.state_dict())
