"""Batches of graphs of different sizes: every graph as it would be alone."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch import nn

import grfpp
from grfpp.errors import InputError
from grfpp.torch import MaskedAttention, add_mask, graph_mask, masked_attention
from grfpp.torch.attention.masks import factored_mask
from grfpp.torch.attention.padding import is_batch
from grfpp.torch.attention.small_vit import SmallViT

GRAPHS = [nx.path_graph(3), nx.cycle_graph(7), nx.star_graph(4)]
SIZES = [3, 7, 5]
DIM, HEADS = 8, 2


@pytest.fixture(scope="module")
def masks():
    return graph_mask(GRAPHS, n_walks=8)


def tokens(extra=0):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(3, 7 + extra, DIM, generator=generator)


def test_each_mask_is_that_of_its_graph(masks):
    assert masks.shape == (3, 7, 7)
    for mask, graph, n in zip(masks, GRAPHS, SIZES, strict=True):
        torch.testing.assert_close(mask[:n, :n], graph_mask(graph, n_walks=8))
        assert torch.isneginf(mask[:, n:]).all()
        assert (mask[n:, :n] == 0).all()


def test_options_go_to_all():
    options = {"class_token": 2, "scaling": "rows", "estimate": "exact", "dtype": torch.float64}
    masks = graph_mask(GRAPHS, kernel="diffusion:2", scale=0.5, **options)
    assert masks.shape == (3, 9, 9) and masks.dtype == torch.float64
    alone = graph_mask(GRAPHS[2], kernel="diffusion:2", scale=0.5, **options)
    torch.testing.assert_close(masks[2, :7, :7], alone)


def test_what_is_a_batch():
    matrix = np.ones((3, 3)) - np.eye(3)
    graph = grfpp.Graph(matrix)
    for batch in ([graph], [matrix, matrix], [torch.ones(2, 2)], ["a.txt"], GRAPHS):
        assert is_batch(batch)
    for one in (matrix.tolist(), graph, matrix, (matrix, None), [], [(0, 1), (1, 2)], list(matrix)):
        assert not is_batch(one)
    assert graph_mask(matrix.tolist()).shape == (3, 3)


def attended(attend):
    """Check that each graph comes out as it does alone, and padding as numbers."""
    whole, alone = attend()
    assert torch.isfinite(whole).all()
    for found, expected, n in zip(whole, alone, SIZES, strict=True):
        torch.testing.assert_close(found[:n], expected[0, :n], rtol=1e-5, atol=1e-6)


def test_masked_attention(masks):
    x = tokens()
    heads = torch.stack([x, 2 * x], dim=1)  # (batch, heads, tokens, d)
    for query in (x, heads):
        attended(
            lambda q=query: (
                rows(masked_attention(q, q, q, masks)),
                [
                    rows(masked_attention(*[q[i : i + 1, ..., :n, :]] * 3, masks[i, :n, :n]))
                    for i, n in enumerate(SIZES)
                ],
            )
        )


def rows(values):
    """Tokens before heads."""
    return values.movedim(1, 2).flatten(2) if values.ndim == 4 else values


@pytest.mark.parametrize("learn", [True, False])
def test_module(masks, learn):
    x = tokens()
    own = MaskedAttention(DIM, HEADS, masks, learn=learn)
    each = MaskedAttention(DIM, HEADS, None, learn=learn)
    each.load_state_dict(own.state_dict())
    torch.testing.assert_close(own(x), each(x, masks))
    attended(
        lambda: (
            each(x, masks),
            [each(x[i : i + 1, :n], masks[i, :n, :n]) for i, n in enumerate(SIZES)],
        )
    )
    assert "no mask" in repr(each) and "batch=3, n_tokens=7" in repr(own)


def test_strength_is_learned_beside_padding(masks):
    for lam in (0.5, 0.0, -1.0):
        attention = MaskedAttention(DIM, HEADS, masks, lam, learn=True)
        attention(tokens()).square().sum().backward()
        gradient = attention.graph_mask.lam.grad
        assert torch.isfinite(gradient) and gradient != 0


@pytest.mark.parametrize("batch_first", [True, False])
def test_added_to_an_encoder(masks, batch_first):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(DIM, HEADS, 16, 0.0, batch_first=batch_first)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    added = add_mask(model, masks)
    turn = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
    x = tokens()
    whole = turn(model(turn(x)))
    padding = torch.arange(7) >= torch.tensor(SIZES)[:, None]
    torch.testing.assert_close(turn(model(turn(x), src_key_padding_mask=padding)), whole)
    alone = []
    for i, n in enumerate(SIZES):
        added.mask = masks[i, :n, :n]  # exchanged for every batch
        alone.append(turn(model(turn(x[i : i + 1, :n]))))
    attended(lambda: (whole, alone))


def test_added_to_fused_calls():
    class Fused(nn.Module):
        def forward(self, x):
            heads = x.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            mixed = nn.functional.scaled_dot_product_attention(heads, heads, heads)
            return mixed.transpose(1, 2).flatten(2)

    masks, x, model = graph_mask(GRAPHS, n_walks=8), tokens(), Fused()
    added = add_mask(model, masks)
    whole = model(x)
    alone = []
    for i, n in enumerate(SIZES):
        added.mask = masks[i, :n, :n]
        alone.append(model(x[i : i + 1, :n]))
    attended(lambda: (whole, alone))


def test_repr_is_short(masks):
    model = SmallViT((8, 8), 1, 3, dim=DIM, heads=HEADS, depth=2)
    added = add_mask(model, graph_mask(nx.path_graph(5)))
    assert repr(added) == "AddedMask(SmallViT, n_tokens=5, lam=0.5, learned=False)"
    added.mask = masks
    assert repr(added) == "AddedMask(SmallViT, batch=3, n_tokens=7, lam=0.5, learned=False)"


def test_refused(masks):
    attention = MaskedAttention(DIM, HEADS, masks)
    with pytest.raises(InputError, match=r"a batch of 3 graphs, in their order, .* a batch of 2"):
        attention(tokens()[:2])
    with pytest.raises(InputError, match="a batch of a single one"):
        masked_attention(*[tokens()[0]] * 3, masks)
    with pytest.raises(InputError, match="made without a mask: pass one to every call"):
        MaskedAttention(DIM, HEADS, None)(tokens())
    with pytest.raises(InputError, match="mask must be a tensor"):
        add_mask(nn.TransformerEncoderLayer(DIM, HEADS), None)
    encoder = nn.TransformerEncoderLayer(DIM, HEADS, batch_first=True).eval()
    add_mask(encoder, masks)
    with pytest.raises(InputError, match="a batch of 3 graphs"):
        encoder(tokens()[:2])
    for wrong in (masks.abs(), masks * torch.nan, masks[0]):
        with pytest.raises(InputError, match="a mask must be finite"):
            MaskedAttention(DIM, HEADS, wrong)
    with pytest.raises(InputError, match="nothing to attend to"):
        MaskedAttention(DIM, HEADS, masks[:1, :, 3:].repeat(1, 1, 2)[..., :7])
    with pytest.raises(InputError, match="nodes is for the mask of one graph"):
        graph_mask(GRAPHS, nodes=[0])
    with pytest.raises(InputError, match="a factored mask is of one graph"):
        factored_mask(GRAPHS)


def test_tokens_by_name():
    graph = nx.les_miserables_graph()
    names = ["Valjean", "Cosette", "Marius"]
    whole, few = graph_mask(graph), graph_mask(graph, nodes=names, class_token=True)
    places = grfpp.Graph(graph).index(names)
    torch.testing.assert_close(few[1:, 1:], whole[places][:, places])
    assert (few[0] == 0).all() and few.shape == (4, 4)
    factored = factored_mask(graph, n_walks=64, nodes=names)
    torch.testing.assert_close(factored.dense(), whole[places][:, places], rtol=1e-4, atol=1e-5)
    with pytest.raises(InputError, match="no node is named 'Cosete'; the closest are 'Cosette'"):
        graph_mask(graph, nodes=["Cosete"])
    with pytest.raises(InputError, match="one node at least"):
        graph_mask(graph, nodes=[])
