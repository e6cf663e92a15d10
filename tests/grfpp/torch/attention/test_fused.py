"""Masks in models that call torch's fused attention themselves."""

import copy

import attention_helpers as models
import pytest
import torch
from attention_helpers import DIM, HEADS, MASK, N, compiles, heads, paper
from torch import nn
from torch.utils.checkpoint import checkpoint

from grfpp.errors import InputError
from grfpp.torch import add_mask


@pytest.mark.parametrize("other", ["none", "causal", "bool", "float"])
def test_a_mask_in_models_with_their_own_attention(other):
    model = models.OwnModel(other == "causal")
    names = list(model.state_dict())
    kept = torch.ones(N, N, dtype=torch.bool).tril()
    numbers = torch.zeros(N, N).masked_fill(~kept, -torch.inf)
    x = torch.randn(2, N, DIM)
    given = {"bool": kept, "float": numbers}.get(other)
    plain = model(x, given)
    added = add_mask(model, MASK)
    assert list(model.state_dict()) == names
    everything = 0.5 * MASK + (0 if other == "none" else numbers)
    expected = x
    for block in model.blocks:
        mixed = paper(*map(heads, block.qkv(expected).chunk(3, -1)), everything, 1.0)
        expected = expected + block.proj(mixed.transpose(1, 2).flatten(2))
    torch.testing.assert_close(model(x, given), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(copy.deepcopy(model)(x, given), expected, rtol=0, atol=1e-5)
    added.remove()
    torch.testing.assert_close(model(x, given), plain)


class Pooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MultiheadAttention(DIM, HEADS, batch_first=True)

    def forward(self, x):
        return self.pool(x[:, :1], x, x)[0]


class Nothing(nn.Module):
    def forward(self, x):
        return x


@pytest.mark.parametrize("model, n", [(models.OwnModel(), 7), (Pooling(), N), (Nothing(), N)])
def test_a_mask_that_meets_no_attention_is_an_error(model, n):
    added, x = add_mask(model, MASK), torch.randn(1, n, DIM)
    with pytest.raises(InputError, check=lambda error: error.argument == "mask"):
        model(x)
    added.remove()
    model(x)


@pytest.mark.parametrize("training", [True, False])
def test_both_kinds_of_attention_in_one_model_are_masked_once(training):
    model, x = models.Mixed().train(training), torch.randn(2, N, DIM)
    plain, expected = model(x), model.explicit(x, 3.0)
    added = add_mask(model, MASK, 3.0)
    torch.testing.assert_close(model(x), expected, rtol=0, atol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(copy.deepcopy(model)(x), expected, rtol=0, atol=1e-5)
    with pytest.raises(InputError, check=lambda error: error.argument == "mask"):
        model(x[:, :7])
    added.remove()
    torch.testing.assert_close(model(x), plain)


class Checkpointed(models.OwnModel):
    reentrant: bool | None = None

    def forward(self, x):
        for block in self.blocks:
            plain = self.reentrant is None
            x = x + (block(x) if plain else checkpoint(block, x, use_reentrant=self.reentrant))
        return x


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradients_under_checkpointing(reentrant):
    """Modules are run again on the way back, when the model has ended."""
    model, x = Checkpointed().double(), torch.randn(2, N, DIM).double().requires_grad_()
    added = add_mask(model, 5 * MASK.double(), learn=True)
    found = []
    for model.reentrant in (None, reentrant):
        model.zero_grad()
        x.grad = None
        model(x).square().sum().backward()
        gradients = {name: each.grad.clone() for name, each in model.named_parameters()}
        found.append({"x": x.grad, "lam": added.bias.lam.grad.clone(), **gradients})
    assert found[0]["lam"] != 0
    torch.testing.assert_close(found[1], found[0], rtol=1e-12, atol=1e-12)


def test_a_masked_model_inside_another_that_does_not_know_it():
    """Not a submodule: its own mask counts there, and only that."""
    inner, x = models.OwnAttention(), torch.randn(2, N, DIM)

    class Outer(models.OwnAttention):
        def forward(self, x):
            return hidden[0](super().forward(x))

    outer, hidden = Outer(), [inner]
    add_mask(inner, MASK, 2.0)
    between = paper(*map(heads, outer.qkv(x).chunk(3, -1)), MASK, 1.0)
    expected = inner(outer.proj(between.transpose(1, 2).flatten(2)))
    add_mask(outer, MASK, 1.0)
    torch.testing.assert_close(outer(x), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interruption_leaves_no_mask_behind(error):
    class Interrupted(models.OwnModel):
        def forward(self, x):
            super().forward(x)
            raise error

    model, plain, x = Interrupted(), models.OwnModel(), torch.randn(2, N, DIM)
    expected = plain(x)
    add_mask(model, 5 * MASK)
    with pytest.raises(error):
        model(x)
    torch.testing.assert_close(plain(x), expected)


def test_forwards_that_another_library_has_replaced_are_kept():
    model, x = models.OwnModel(), torch.randn(2, N, DIM)
    model.forward = lambda x: 2 * models.OwnModel.forward(model, x)
    plain = model(x)
    added = add_mask(model, MASK, 0.0)
    torch.testing.assert_close(model(x), plain)
    added.remove()
    torch.testing.assert_close(model(x), plain)


@compiles
def test_an_error_in_a_compiled_model_leaves_no_mask_behind():
    torch.compiler.reset()
    model, plain, x = models.OwnModel(), models.OwnModel(), torch.randn(2, N, DIM)
    expected = plain(x)
    add_mask(model, 5 * MASK)
    compiled = torch.compile(model, backend="eager")
    with pytest.raises((RuntimeError, torch._dynamo.exc.TorchRuntimeError)):
        compiled(torch.randn(1, N, DIM + 1))
    torch.testing.assert_close(plain(x), expected)
