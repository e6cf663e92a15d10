"""Masked attention against its formula; the linear form against the explicit one; the adapter."""

import copy
import io
import math
import threading
import warnings

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from grfpp.datasets import grid
from grfpp.errors import InputError
from grfpp.torch import (
    AddedMask,
    LinearMaskedAttention,
    MaskedAttention,
    add_mask,
    linear_masked_attention,
    masked_attention,
    remove_mask,
)
from grfpp.torch.attention import linear as linear_attention
from grfpp.torch.attention.masks import factored_mask, patch_grid_mask
from grfpp.torch.attention.small_vit import SmallViT
from grfpp_lab.benchmark.attention_memory import measure

MASK = patch_grid_mask(3, 3, class_token=True)
N = len(MASK)
DIM, HEADS = 16, 4


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)


def paper(query, key, value, mask, lam):
    """softmax(Q K^T / sqrt(d) + lambda M) V, as printed."""
    logits = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + lam * mask
    weights = logits.exp()
    return weights / weights.sum(-1, keepdim=True) @ value


def heads(x):
    return x.unflatten(-1, (HEADS, -1)).transpose(-3, -2)


def paper_multihead(module, x, mask, lam):
    """The same for the weights of an nn.MultiheadAttention."""
    projected = functional.linear(x, module.in_proj_weight, module.in_proj_bias)
    mixed = paper(*map(heads, projected.chunk(3, -1)), mask, lam)
    return module.out_proj(mixed.transpose(-3, -2).flatten(-2))


# --- softmax --------------------------------------------------------------------------------------


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


# --- linear ---------------------------------------------------------------------------------------

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


# --- into models that are there already -----------------------------------------------------------


def encoder(**options):
    layer = nn.TransformerEncoderLayer(
        DIM, HEADS, 32, 0.0, batch_first=True, **{"norm_first": False, **options}
    )
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=not options.get("norm_first"))


def explicit_layer(layer, x, lam):
    """An encoder layer with norms after it, written out."""
    x = layer.norm1(x + paper_multihead(layer.self_attn, x, MASK, lam))
    return layer.norm2(x + layer.linear2(functional.relu(layer.linear1(x))))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("gradients", [True, False])
def test_a_mask_in_an_encoder(training, gradients):
    """In training, and in evaluation, where torch would take a way round attention."""
    model = encoder().train(training)
    plain = copy.deepcopy(model)
    x = torch.randn(2, N, DIM)
    added = add_mask(model, MASK)
    with torch.set_grad_enabled(gradients):
        expected = x
        for layer in model.layers:
            expected = explicit_layer(layer, expected, 0.5)
        torch.testing.assert_close(model(x), expected, rtol=0, atol=2e-6)
        assert not torch.allclose(model(x), plain(x), atol=1e-4)
        added.remove()
        torch.testing.assert_close(model(x), plain(x))
    assert str(model) == str(plain)


def test_names_of_weights_stay():
    model, plain = encoder(), encoder()
    added = add_mask(model, MASK)
    assert list(model.state_dict()) == list(plain.state_dict())
    model.load_state_dict(plain.state_dict())
    plain.load_state_dict(model.state_dict())
    added.remove()
    assert list(model.state_dict()) == list(plain.state_dict())


def test_a_learned_strength_is_one_parameter_for_all_layers():
    model = encoder()
    n_parameters = len(list(model.parameters()))
    added = add_mask(model, MASK, lam=0.25, learn=True)
    assert len(list(model.parameters())) == n_parameters + 1
    more = set(model.state_dict()) - set(encoder().state_dict())
    assert more == {f"layers.{i}.self_attn.graph_mask.lam" for i in range(2)}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (model(torch.randn(2, N, DIM)) * torch.randn(2, N, DIM)).sum().backward()
    optimizer.step()
    assert added.lam != 0.25


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


def test_padded_sequences_in_evaluation():
    """Torch would make nested tensors of them, which take no masks."""
    model = encoder().eval()
    padding = torch.zeros(2, N, dtype=torch.bool)
    padding[:, -2:] = True
    added = add_mask(model, MASK)
    x = torch.randn(2, N, DIM)
    with torch.no_grad():
        found = model(x, src_key_padding_mask=padding)
        changed = model(x + 9 * padding[..., None], src_key_padding_mask=padding)
    torch.testing.assert_close(found[:, :-2], changed[:, :-2])
    assert found.shape == x.shape
    assert not model.use_nested_tensor
    added.remove()
    assert model.use_nested_tensor


def test_models_with_masks_are_copied_saved_and_cast():
    model = encoder()
    add_mask(model, MASK)
    x = torch.randn(1, N, DIM)
    twin = copy.deepcopy(model)
    torch.testing.assert_close(twin(x), model(x))
    stream = io.BytesIO()
    torch.save(model, stream)
    stream.seek(0)
    torch.testing.assert_close(torch.load(stream, weights_only=False)(x), model(x))
    assert model.double()(x.double()).dtype == torch.float64
    masks = {id(layer.self_attn.graph_mask) for layer in twin.layers}
    assert len(masks) == 1


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


@pytest.mark.parametrize("other", ["none", "causal", "bool", "float"])
def test_a_mask_in_models_with_their_own_attention(other):
    model = OwnModel(other == "causal")
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


def test_gradients_and_strength_of_models_with_their_own_attention():
    model = OwnModel()
    added = add_mask(model, MASK, learn=True)
    assert set(model.state_dict()) - set(OwnModel().state_dict()) == {"graph_mask.lam"}
    model(torch.randn(2, N, DIM)).square().sum().backward()
    assert added.bias.lam.grad != 0


def test_a_mask_that_meets_no_attention_is_an_error():
    model = OwnModel()
    add_mask(model, MASK)
    with pytest.raises(InputError, match="only for other numbers of tokens \\(7 to 7\\)"):
        model(torch.randn(1, 7, DIM))
    model(torch.randn(1, N, DIM))  # and nothing is left over from the failure
    nothing = SmallViT((12, 12), 1, 5, dim=DIM, depth=1, heads=HEADS)
    nothing.encoder = nn.Identity()
    added = add_mask(nothing, MASK)
    images = torch.randn(1, 1, 12, 12)
    with pytest.raises(InputError, match="nowhere"):
        nothing(images)
    added.remove()
    nothing(images)


def test_an_error_inside_a_model_leaves_no_mask_behind():
    model = OwnModel()
    add_mask(model, MASK)
    with pytest.raises(RuntimeError):
        model(torch.randn(1, N, DIM + 1))
    q = torch.randn(1, N, 4)
    torch.testing.assert_close(
        functional.scaled_dot_product_attention(q, q, q), paper(q, q, q, 0 * MASK, 0.0)
    )


def test_what_takes_no_mask():
    with pytest.raises(InputError, match="needs a torch module"):
        add_mask(MASK, MASK)
    with pytest.raises(InputError, match="there is no attention in this Sequential"):
        add_mask(nn.Sequential(nn.Linear(2, 2)), MASK)
    with pytest.raises(InputError, match="a mask already, in its MaskedAttention"):
        add_mask(nn.Sequential(MaskedAttention(DIM, HEADS, MASK)), MASK)
    model = encoder()
    add_mask(model, MASK)
    with pytest.raises(InputError, match="has a mask already"):
        add_mask(model.layers[0], MASK)
    with pytest.raises(InputError, match="for 10 tokens, but attention was asked for from 4 to 4"):
        model(torch.randn(1, 4, DIM))
    alone = nn.MultiheadAttention(DIM, HEADS)
    add_mask(alone, MASK)
    x = torch.randn(N, DIM)
    with pytest.raises(InputError, match="is_causal is a hint about attn_mask"):
        alone(x, x, x, is_causal=True)
    with pytest.raises(InputError, match="keys of this call are not its queries"):
        alone(x, x[:5], x[:5])
    with pytest.raises(InputError, match="truth values or floating-point numbers, found"):
        alone(x, x, x, attn_mask=torch.ones(N, N, dtype=torch.uint8))


def test_sequential_models_of_multihead_attention_take_masks():
    layer = nn.TransformerEncoderLayer(DIM, HEADS, 32, 0.0, batch_first=True)
    model, x = nn.Sequential(layer), torch.randn(2, N, DIM)
    add_mask(model, MASK)
    torch.testing.assert_close(model(x), explicit_layer(layer, x, 0.5), rtol=0, atol=2e-6)


def test_the_small_vision_transformer_takes_a_mask():
    torch.manual_seed(1)
    model = SmallViT((12, 12), 1, 5, dim=DIM, depth=2, heads=HEADS, hidden=32)
    images = torch.randn(3, 1, 12, 12)
    plain = model(images)
    add_mask(model, MASK)
    assert plain.shape == (3, 5)
    assert not torch.allclose(model(images), plain, atol=1e-5)
    first, second = (layer.self_attn.in_proj_weight for layer in model.encoder.layers)
    assert not torch.equal(first, second)
    with pytest.raises(InputError, match="cannot be cut into patches"):
        SmallViT((13, 12), 1, 5)


# --- what is masked, and what is left alone -------------------------------------------------------


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


@pytest.mark.parametrize("training", [True, False])
def test_both_kinds_of_attention_in_one_model_are_masked_once(training):
    model, x = Mixed().train(training), torch.randn(2, N, DIM)
    plain, expected = model(x), model.explicit(x, 3.0)
    added = add_mask(model, MASK, 3.0)
    torch.testing.assert_close(model(x), expected, rtol=0, atol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(copy.deepcopy(model)(x), expected, rtol=0, atol=1e-5)
    with pytest.raises(InputError, match="for 10 tokens, but attention was asked for from 7 to 7"):
        model(x[:, :7])
    added.remove()
    torch.testing.assert_close(model(x), plain)


def test_a_model_with_nothing_but_attention_to_others_is_an_error():
    class Pooling(nn.Module):
        def __init__(self):
            super().__init__()
            self.pool = nn.MultiheadAttention(DIM, HEADS, batch_first=True)

        def forward(self, x):
            return self.pool(x[:, :1], x, x)[0]

    model, x = Pooling(), torch.randn(2, N, DIM)
    add_mask(model, MASK)
    with pytest.raises(InputError, match="only with keys that are not its queries"):
        model(x)


def test_containers_of_models_with_their_own_attention_take_masks():
    model, x = nn.Sequential(OwnModel(), OwnModel()), torch.randn(2, N, DIM)
    names = len(model.state_dict())
    alone = copy.deepcopy(model)
    for each in alone:
        add_mask(each, MASK)
    add_mask(model, MASK, learn=True)
    torch.testing.assert_close(model(x), alone(x))
    assert len(model) == 2
    assert len(model.state_dict()) == names + 2
    assert len(list(model.parameters())) == names + 1


class Checkpointed(OwnModel):
    reentrant: bool | None = None

    def forward(self, x):
        for block in self.blocks:
            x = x + (
                block(x)
                if self.reentrant is None
                else checkpoint(block, x, use_reentrant=self.reentrant)
            )
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


def test_no_part_of_a_masked_model_gets_another_mask():
    model = OwnModel()
    add_mask(model, MASK)
    with pytest.raises(InputError, match=r"part of one that has.*remove_mask\(model\)"):
        add_mask(model.blocks[0], MASK)
    part = OwnModel()
    add_mask(part.blocks[0], MASK)
    with pytest.raises(InputError, match="has a mask already"):
        add_mask(part, MASK)


def test_a_masked_model_inside_another_that_does_not_know_it():
    """Not a submodule: its own mask counts there, and only that."""
    inner, x = OwnAttention(), torch.randn(2, N, DIM)

    class Outer(OwnAttention):
        def forward(self, x):
            return hidden[0](super().forward(x))

    outer, hidden = Outer(), [inner]
    add_mask(inner, MASK, 2.0)
    between = paper(*map(heads, outer.qkv(x).chunk(3, -1)), MASK, 1.0)
    expected = inner(outer.proj(between.transpose(1, 2).flatten(2)))
    add_mask(outer, MASK, 1.0)
    torch.testing.assert_close(outer(x), expected, rtol=0, atol=1e-6)


def test_an_interruption_leaves_no_mask_behind():
    class Interrupted(OwnModel):
        def forward(self, x):
            super().forward(x)
            raise KeyboardInterrupt

    model, plain, x = Interrupted(), OwnModel(), torch.randn(2, N, DIM)
    expected = plain(x)
    add_mask(model, 5 * MASK)
    found = []

    def interrupted_session():
        with pytest.raises(KeyboardInterrupt):
            model(x)
        found.append(plain(x))
        add_mask(plain, MASK, 0.0)
        found.append(plain(x))

    # What torch keeps of the interrupted run does nothing, and ends with the thread.
    thread = threading.Thread(target=interrupted_session)
    thread.start()
    thread.join()
    for each in found:
        torch.testing.assert_close(each, expected)
    assert len(found) == 2


def without_warnings_of_the_compiler(test):
    """Of leaving off in the middle of a model. Torch hides the first, but not from us."""
    for message in ("The .grad attribute of a Tensor", "Dynamo does not know how to trace"):
        test = pytest.mark.filterwarnings(f"ignore:{message}")(test)
    return test


@without_warnings_of_the_compiler
@pytest.mark.parametrize(
    "kind, order",
    [
        (OwnModel, "mask first"),
        (Mixed, "mask first"),
        (encoder, "mask first"),
        (OwnModel, "run first"),
        (encoder, "run first"),
    ],
)
def test_compiled_models_are_masked_once(kind, order):
    """The compiler that keeps torch's functions is the hard one: they could be masked twice."""
    torch.compiler.reset()
    model, x = kind(), torch.randn(2, N, DIM)
    expected = copy.deepcopy(model)
    add_mask(expected, MASK, 3.0)
    expected = expected(x)
    if order == "mask first":
        add_mask(model, MASK, 3.0)
    compiled = torch.compile(model, backend="eager")
    if order == "run first":
        compiled(x)
        add_mask(compiled, MASK, 3.0)
    for _ in range(2):
        torch.testing.assert_close(compiled(x), expected, rtol=0, atol=1e-5)
    remove_mask(compiled)
    torch.testing.assert_close(compiled(x), model(x))
    assert not torch.allclose(model(x), expected, atol=1e-4)


@without_warnings_of_the_compiler
def test_an_error_in_a_compiled_model_leaves_no_mask_behind():
    torch.compiler.reset()
    model, plain, x = OwnModel(), OwnModel(), torch.randn(2, N, DIM)
    expected = plain(x)
    add_mask(model, 5 * MASK)
    compiled = torch.compile(model, backend="eager")
    with pytest.raises((RuntimeError, torch._dynamo.exc.TorchRuntimeError)):
        compiled(torch.randn(1, N, DIM + 1))
    torch.testing.assert_close(plain(x), expected)


# --- taking masks out -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [OwnModel, Mixed, encoder])
def test_masks_are_taken_out_of_copies(kind):
    model, x = kind().eval(), torch.randn(2, N, DIM)
    plain, words = model(x), str(model)
    added = add_mask(model, 5 * MASK)
    masked = model(x)
    assert isinstance(added, AddedMask)
    stream = io.BytesIO()
    torch.save(model, stream)
    stream.seek(0)
    for twin in (copy.deepcopy(model), torch.load(stream, weights_only=False)):
        torch.testing.assert_close(twin(x), masked)
        with pytest.raises(InputError, match="remove_mask"):
            add_mask(twin, MASK)
        remove_mask(twin)
        torch.testing.assert_close(twin(x), plain)
        assert str(twin) == words
        torch.testing.assert_close(model(x), masked)
        add_mask(twin, 5 * MASK)
        torch.testing.assert_close(twin(x), masked)
    added.remove()
    added.remove()
    torch.testing.assert_close(model(x), plain)
    again = add_mask(model, 5 * MASK)
    added.remove()  # that one is gone: this is another
    torch.testing.assert_close(model(x), masked)
    again.remove()
    with pytest.raises(InputError, match="has put no mask into this model"):
        remove_mask(model)
    with pytest.raises(InputError, match="remove_mask needs a torch module"):
        remove_mask(MASK)


@pytest.mark.parametrize("kind", [OwnModel, encoder])
def test_states_and_learned_strengths(kind):
    model, plain = kind(), kind().state_dict()
    added = add_mask(model, MASK, lam=0.25, learn=True)
    model.load_state_dict(plain)  # strict: the strength is no missing key
    assert added.lam == 0.25
    with torch.no_grad():
        added.bias.lam.fill_(0.75)
    learned = model.state_dict()
    twin = kind()
    with pytest.raises(RuntimeError, match=r"graph_mask\.lam"):
        twin.load_state_dict(learned)
    twin.load_state_dict(learned, strict=False)
    other = add_mask(twin, MASK, learn=True)
    twin.load_state_dict(learned)
    assert other.lam == 0.75
    with pytest.raises(RuntimeError, match="Missing key"):
        twin.load_state_dict({name: each for name, each in plain.items() if "bias" not in name})


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
