"""The linear form against the explicit one."""

import copy
import math

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from attention_helpers import DIM, HEADS, MASK, heads, without_warnings_of_the_compiler
from torch import nn
from torch.nn import functional

from grfpp.datasets import grid
from grfpp.errors import InputError
from grfpp.torch import LinearMaskedAttention, linear_masked_attention
from grfpp.torch.attention import linear as linear_attention
from grfpp.torch.attention.masks import factored_mask
from grfpp_lab.benchmark.attention_memory import measure

FACTORED = factored_mask(grid(4, 5), class_token=True)


def explicit_linear(query, key, value, mask, lam, how):
    weights = query @ key.transpose(-1, -2)
    weights = weights * (1 + lam * mask) if how == "multiply" else weights + lam * mask
    return weights / weights.sum(-1, keepdim=True) @ value


@pytest.mark.parametrize("how", ["multiply", "add"])
@pytest.mark.parametrize("block_bytes", [1 << 26, 1])
@pytest.mark.parametrize("lam", [0.5, 0.0, 20.0])
def test_the_linear_form_is_the_explicit_form(how, block_bytes, lam, monkeypatch):
    """In one block or feature by feature."""
    monkeypatch.setattr(linear_attention, "_BLOCK_BYTES", block_bytes)
    query, key = torch.rand(2, 2, HEADS, 21, 6)
    value = torch.randn(2, HEADS, 21, 5)
    found = linear_masked_attention(query, key, value, FACTORED, lam, how)
    dense = FACTORED.dense()
    expected = explicit_linear(query, key, value, dense, lam, how)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("how", ["multiply", "add"])
def test_it_is_attention_with_features_folded_into_queries_and_keys(how):
    """The same numbers from plain linear attention between longer queries and keys."""
    mask, lam = factored_mask(grid(3, 4), dtype=torch.float64), 0.7
    query, key = torch.rand(2, 12, 3, dtype=torch.float64)
    value = torch.randn(12, 2, dtype=torch.float64)
    X, Y = mask.dense(), torch.eye(12, dtype=torch.float64)
    if how == "multiply":
        one = torch.ones(12, 1, dtype=torch.float64)
        X, Y = torch.cat([one, lam * X], 1), torch.cat([one, Y], 1)
        longer = [torch.einsum("na,nb->nab", a, b).flatten(1) for a, b in ((query, X), (key, Y))]
    else:
        longer = [torch.cat([query, lam * X], 1), torch.cat([key, Y], 1)]
    sums = longer[1].T @ value, longer[1].sum(0)
    expected = (longer[0] @ sums[0]) / (longer[0] @ sums[1])[:, None]
    found = linear_masked_attention(query, key, value, mask, lam, how)
    torch.testing.assert_close(found, expected)


def test_for_small_strengths_it_is_the_factor_of_softmax():
    """exp(λ M) = 1 + λ M + ...: the difference falls with the square of λ."""
    query, key, value = torch.rand(3, 21, 4, dtype=torch.float64)
    mask, dense = copy.deepcopy(FACTORED).double(), FACTORED.dense().double()
    errors = []
    for lam in (0.2, 0.1, 0.05):
        weights = (query @ key.T) * (lam * dense).exp()
        softmax = weights / weights.sum(1, keepdim=True) @ value
        found = linear_masked_attention(query, key, value, mask, lam)
        errors.append(float((found - softmax).norm()))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.15)


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


@pytest.mark.parametrize("how", ["multiply", "add"])
def test_the_linear_module(how):
    module = LinearMaskedAttention(DIM, HEADS, FACTORED, how=how)
    names = set(nn.MultiheadAttention(DIM, HEADS).state_dict())
    assert set(module.state_dict()) == names
    x = torch.randn(2, 21, DIM)
    query, key, value = map(
        heads, functional.linear(x, module.in_proj_weight, module.in_proj_bias).chunk(3, -1)
    )
    features = [functional.elu(each) + 1 for each in (query, key)]
    mixed = explicit_linear(*features, value, FACTORED.dense(), 0.5, how)
    expected = module.out_proj(mixed.transpose(-3, -2).flatten(-2))
    torch.testing.assert_close(module(x), expected, rtol=0, atol=1e-5)


def test_the_linear_module_learns_its_strength():
    module = LinearMaskedAttention(DIM, HEADS, FACTORED, learn=True)
    module(torch.randn(1, 21, DIM)).square().sum().backward()
    assert module.lam.grad != 0
    assert "lam" in module.state_dict()


@pytest.mark.parametrize("how", ["multiply", "add"])
def test_the_linear_module_under_autocast(how):
    """Results and gradients are those of single precision, as well as half precision can tell."""
    module = LinearMaskedAttention(DIM, HEADS, FACTORED, how=how, learn=True)
    x = torch.randn(2, 21, DIM)
    found = []
    for half in (False, True):
        module.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            y = module(x)
            y.float().square().sum().backward()
        found.append([y.float(), module.in_proj_weight.grad.clone(), module.lam.grad.clone()])
    assert y.dtype == torch.bfloat16
    for exact, rough in zip(*found, strict=True):
        assert (rough - exact).norm() < 0.03 * exact.norm()


@without_warnings_of_the_compiler
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_the_linear_module_can_be_compiled():
    torch.compiler.reset()
    module, x = LinearMaskedAttention(DIM, HEADS, FACTORED), torch.randn(1, 21, DIM)
    compiled = torch.compile(module, backend="eager")
    torch.testing.assert_close(compiled(x), module(x))
    compiled(x).sum().backward()
    assert module.in_proj_weight.grad.any()


def test_weights_that_are_all_zero_give_no_nan():
    module = LinearMaskedAttention(DIM, HEADS, FACTORED, feature_map=torch.zeros_like)
    assert module(torch.randn(1, 21, DIM)).isfinite().all()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: LinearMaskedAttention(DIM, HEADS, MASK), "must be a FactoredMask"),
        (lambda: LinearMaskedAttention(DIM, HEADS, FACTORED, lam=-1), "must not be negative"),
        (lambda: LinearMaskedAttention(DIM, HEADS, FACTORED, how="max"), "'multiply' or 'add'"),
        (
            lambda: linear_masked_attention(*torch.ones(3, 21, 2), FACTORED, how="max"),
            "'multiply' or 'add'",
        ),
        (
            lambda: LinearMaskedAttention(
                DIM, HEADS, factored_mask(grid(3, 3), kernel="cosine:0.3", scaling=None)
            ),
            "must not have negative entries",
        ),
        (
            lambda: LinearMaskedAttention(DIM, HEADS, FACTORED)(torch.ones(20, DIM)),
            "this mask is for 21 tokens",
        ),
        (lambda: LinearMaskedAttention(DIM, HEADS, FACTORED, feature_map=3), "feature_map must be"),
        (
            lambda: LinearMaskedAttention(DIM, HEADS, FACTORED, feature_map=torch.neg)(
                torch.randn(21, DIM)
            ),
            "features of queries must not be negative",
        ),
        (lambda: linear_masked_attention(*torch.ones(3, 21, 2), MASK), "must be a FactoredMask"),
        (
            lambda: linear_masked_attention(*torch.ones(3, 21, 2), FACTORED, -1.0),
            "lam must not be negative in linear attention, found -1",
        ),
        (
            lambda: linear_masked_attention(
                *torch.ones(3, 21, 2), FACTORED, torch.tensor(-1.0, requires_grad=True)
            ),
            "lam must not be negative in linear attention, found -1",
        ),
        (
            lambda: linear_masked_attention(*torch.ones(3, 21, 2), FACTORED, math.nan),
            "lam must be a finite number",
        ),
        (
            lambda: linear_masked_attention(
                *(torch.ones(21, 2), -torch.ones(21, 2), torch.ones(21, 2)), FACTORED
            ),
            "features of keys must not be negative.*found -1",
        ),
        (
            lambda: linear_masked_attention(*torch.ones(3, 20, 2), FACTORED),
            "this mask is for 21 tokens",
        ),
        (
            lambda: linear_masked_attention(
                *torch.ones(3, 9, 2), factored_mask(grid(3, 3), kernel="cosine:0.3", scaling=None)
            ),
            "must not have negative entries",
        ),
    ],
)
def test_what_is_no_linear_attention(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_memory_grows_linearly():
    """Each number of tokens in a process of its own; four times the tokens, four times the bytes.

    A dense mask would take 16 times as many: 64 MiB for 4,096 tokens in float32, then 1 GiB.
    """
    few, many = (measure(n, "multiply", gradients=True) for n in (4096, 16384))
    assert many["peak_bytes"] / few["peak_bytes"] < 6
    assert many["peak_bytes"] < 4 * 16384**2 / 2
