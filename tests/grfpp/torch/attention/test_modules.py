"""What all attention modules have in common."""

import copy
import math
from functools import partial

import pytest
import torch
from attention_helpers import DIM, HEADS, MASK, N, compiles, explicit_linear, heads, paper
from refusal_case import bad_values, refused
from torch import nn
from torch.nn import functional

from grfpp.datasets import grid
from grfpp.torch import LinearMaskedAttention, MaskedAttention, factored_mask

FACTORED = factored_mask(grid(3, 3), class_token=True)


def linear(how):
    def make(embed_dim=DIM, num_heads=HEADS, **options):
        return LinearMaskedAttention(embed_dim, num_heads, FACTORED, how=how, **options)

    def attend(query, key, value, lam):
        query, key = functional.elu(query) + 1, functional.elu(key) + 1
        return explicit_linear(query, key, value, FACTORED.dense(), lam, how)

    return make, attend, "lam"


def softmax(embed_dim=DIM, num_heads=HEADS, **options):
    return MaskedAttention(embed_dim, num_heads, MASK, **options)


#: How each is made, what its heads compute, and the name of a learned strength in its state.
MODULES = {
    "softmax": (softmax, lambda q, k, v, lam: paper(q, k, v, MASK, lam), "graph_mask.lam"),
    "multiply": linear("multiply"),
    "add": linear("add"),
}


@pytest.fixture(params=MODULES)
def case(request):
    return MODULES[request.param]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(2, N, DIM), (N, DIM), (2, 3, N, DIM)])
def test_result_is_the_formula(case, bias, shape):
    make, attend, _ = case
    module, x = make(bias=bias, lam=0.8), torch.randn(shape)
    projected = functional.linear(x, module.in_proj_weight, module.in_proj_bias)
    mixed = attend(*map(heads, projected.chunk(3, -1)), 0.8)
    expected = module.out_proj(mixed.transpose(-3, -2).flatten(-2))
    torch.testing.assert_close(module(x), expected, rtol=0, atol=1e-5)


def test_states_are_those_of_multihead_attention(case):
    make, _, strength = case
    plain = nn.MultiheadAttention(DIM, HEADS, batch_first=True)
    module = make(lam=0.25)
    assert {n: p.shape for n, p in plain.state_dict().items()} == {
        n: p.shape for n, p in module.state_dict().items()
    }
    module.load_state_dict(plain.state_dict())
    torch.testing.assert_close(module.in_proj_weight, plain.in_proj_weight)
    assert set(make(learn=True).state_dict()) - set(plain.state_dict()) == {strength}


def test_learned_strength_has_the_gradient_of_finite_differences(case):
    make, _, strength = case
    module = make(lam=0.3, learn=True).double()
    x = torch.randn(2, N, DIM, dtype=torch.float64)
    module(x).square().sum().backward()
    lam = module.get_parameter(strength)
    with torch.no_grad():
        values = []
        for change in (1e-6, -1e-6):
            lam.fill_(0.3 + change)
            values.append(module(x).square().sum())
    slope = (values[0] - values[1]) / 2e-6
    torch.testing.assert_close(lam.grad, slope, rtol=1e-5, atol=1e-7)


def test_half_precision(case):
    """Under autocast, results and gradients are those of single precision, to 3 %.

    With few sequences, terms of both signs in the gradient of λ cancel to less than rounding.
    """
    make, _, strength = case
    module, x = make(learn=True), torch.randn(32, N, DIM)
    results = []
    for half in (False, True):
        module.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            y = module(x)
            y.float().square().sum().backward()
        gradients = module.in_proj_weight.grad.clone(), module.get_parameter(strength).grad.clone()
        results.append([y.float(), *gradients])
    assert y.dtype == torch.bfloat16
    for exact, rough in zip(*results, strict=True):
        assert (rough - exact).norm() < 0.03 * exact.norm()
    assert make().bfloat16()(x.bfloat16()).dtype == torch.bfloat16


@compiles
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("name", ["softmax", "multiply"])
def test_modules_are_copied_and_compiled(name):
    torch.compiler.reset()
    module, x = MODULES[name][0](), torch.randn(1, N, DIM)
    torch.testing.assert_close(copy.deepcopy(module)(x), module(x))
    compiled = torch.compile(module, backend="eager")
    torch.testing.assert_close(compiled(x), module(x))
    compiled(x).sum().backward()
    assert module.in_proj_weight.grad.any()


MAKES = [make for make, *_ in MODULES.values()]
test_bad_options_are_refused = bad_values(MAKES, embed_dim=[0, DIM + 1], lam=math.nan)
test_bad_tokens_are_refused = refused(
    {None: [partial(make, embed_dim=2**31, num_heads=1) for make in MAKES]},  # memory
    x=[lambda make=make: make()(torch.ones(2, N)) for make in MAKES],
    mask=[lambda make=make: make()(torch.ones(9, DIM)) for make in MAKES],
)
