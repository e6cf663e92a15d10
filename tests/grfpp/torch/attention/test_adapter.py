"""Masks put into models and taken out again."""

import copy
import io

import attention_helpers as models
import pytest
import torch
from attention_helpers import DIM, HEADS, MASK, N, compiles, explicit_layer, paper_multihead
from refusal_case import refused
from torch import nn
from torch.nn import functional

from grfpp.errors import InputError
from grfpp.torch import AddedMask, MaskedAttention, add_mask, remove_mask

X = torch.randn(1, N, DIM)


def masked(model):
    add_mask(model, MASK)
    return model


def alone():
    return nn.MultiheadAttention(DIM, HEADS, batch_first=True)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("gradients", [True, False])
def test_a_mask_in_an_encoder(training, gradients):
    """In training, and in evaluation, where torch would take a way round attention."""
    model = models.encoder().train(training)
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


def test_padded_sequences_in_evaluation():
    """Torch would make nested tensors of them, which take no masks."""
    model = models.encoder().eval()
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


def test_layers_share_one_mask_which_is_cast_with_the_model():
    model, x = masked(models.encoder()), torch.randn(1, N, DIM)
    assert model.double()(x.double()).dtype == torch.float64
    assert len({id(layer.self_attn.graph_mask) for layer in copy.deepcopy(model).layers}) == 1


test_bad_arguments_are_refused = refused(
    module=[
        lambda: add_mask(MASK, MASK),
        lambda: remove_mask(MASK),
        lambda: remove_mask(models.encoder()),
        lambda: add_mask(nn.Sequential(nn.Linear(2, 2)), MASK),
        lambda: add_mask(nn.Sequential(MaskedAttention(DIM, HEADS, MASK)), MASK),
        lambda: add_mask(masked(models.encoder()).layers[0], MASK),
        lambda: add_mask(masked(models.OwnModel()).blocks[0], MASK),
    ],
    mask=lambda: masked(models.encoder())(X[:, :4]),
    is_causal=lambda: masked(alone())(X, X, X, is_causal=True),
    key=[lambda: masked(alone())(X, X[:, :5], X[:, :5]), lambda: masked(alone())(X, X.clone(), X)],
    attn_mask=lambda: masked(alone())(X, X, X, attn_mask=torch.ones(N, N).byte()),
)


def test_containers_of_models_with_their_own_attention_take_masks():
    model, x = nn.Sequential(models.OwnModel(), models.OwnModel()), torch.randn(2, N, DIM)
    names = len(model.state_dict())
    alone = copy.deepcopy(model)
    for each in alone:
        add_mask(each, MASK)
    add_mask(model, MASK, learn=True)
    torch.testing.assert_close(model(x), alone(x))
    assert len(model) == 2
    assert len(model.state_dict()) == names + 2
    assert len(list(model.parameters())) == names + 1


@compiles
@pytest.mark.parametrize("kind", [models.Mixed, models.OwnModel, models.encoder])
@pytest.mark.parametrize("mask_first", [True, False])
def test_compiled_models_are_masked_once(kind, mask_first):
    """The compiler that keeps torch's functions is the hard one: they could be masked twice."""
    torch.compiler.reset()
    model, x = kind(), torch.randn(2, N, DIM)
    expected = copy.deepcopy(model)
    add_mask(expected, MASK, 3.0)
    expected = expected(x)
    if mask_first:
        add_mask(model, MASK, 3.0)
    compiled = torch.compile(model, backend="eager")
    if not mask_first:
        compiled(x)
        add_mask(compiled, MASK, 3.0)
    for _ in range(2):
        torch.testing.assert_close(compiled(x), expected, rtol=0, atol=1e-5)
    remove_mask(compiled)
    torch.testing.assert_close(compiled(x), model(x))
    assert not torch.allclose(model(x), expected, atol=1e-4)


@pytest.mark.parametrize("kind", [models.OwnModel, models.Mixed, models.encoder])
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
        with pytest.raises(InputError):
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


@pytest.mark.parametrize("kind", [models.OwnModel, models.encoder])
def test_states_and_learned_strengths(kind):
    model, plain = kind(), kind().state_dict()
    n_parameters = len(list(model.parameters()))
    added = add_mask(model, MASK, lam=0.25, learn=True)
    assert len(list(model.parameters())) == n_parameters + 1
    model(torch.randn(2, N, DIM)).square().sum().backward()
    assert added.bias.lam.grad != 0
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


# `nn.MultiheadAttention`, and the other masks that it is called with.


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batched", [True, False])
def test_a_mask_in_multihead_attention(batch_first, need_weights, batched):
    """Three views of the same tokens are self-attention, too."""
    module = nn.MultiheadAttention(DIM, HEADS, batch_first=batch_first)
    add_mask(module, MASK, lam=0.8)
    x = torch.randn(2, N, DIM) if batched else torch.randn(N, DIM)
    expected, given = paper_multihead(module, x, MASK, 0.8), [x] * 3
    if batched and not batch_first:
        given, expected = [x.transpose(0, 1) for _ in range(3)], expected.transpose(0, 1)
    found, weights = module(*given, need_weights=need_weights)
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
    everything = (0.5 * MASK + other).masked_fill(padding[:, None, None], -torch.inf)
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
