"""Masks put into models and taken out again."""

import copy
import io

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from attention_helpers import (
    DIM,
    HEADS,
    MASK,
    Mixed,
    N,
    OwnModel,
    encoder,
    explicit_layer,
    without_warnings_of_the_compiler,
)
from torch import nn

from grfpp.errors import InputError
from grfpp.torch import AddedMask, MaskedAttention, add_mask, remove_mask


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


def test_no_part_of_a_masked_model_gets_another_mask():
    model = OwnModel()
    add_mask(model, MASK)
    with pytest.raises(InputError, match=r"part of one that has.*remove_mask\(model\)"):
        add_mask(model.blocks[0], MASK)
    part = OwnModel()
    add_mask(part.blocks[0], MASK)
    with pytest.raises(InputError, match="has a mask already"):
        add_mask(part, MASK)


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
