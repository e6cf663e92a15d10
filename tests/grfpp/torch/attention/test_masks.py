"""Masks: what they estimate, how they are scaled, and the same mask as factors."""

import copy
import math
from functools import partial

import networkx as nx
import numpy as np
import pytest
import torch
from refusal_case import bad_values, refused

import grfpp
from grfpp.datasets import grid
from grfpp.errors import InputError
from grfpp.torch import FactoredMask, factored_mask, graph_mask, patch_grid_mask
from grfpp.torch.attention.masks import is_batch

DOUBLE = {"dtype": torch.float64}


def exact_diffusion(graph, lam=1.0):
    return torch.from_numpy(grfpp.Diffusion(lam).exact(graph.normalized("sym")))


def cosine(K):
    root = K.diagonal().sqrt()
    return K / root[:, None] / root


def test_the_patch_lattice_has_edges_between_neighbours_only():
    """To first order in the width, the kernel is its weights: patches that touch, and no others."""
    mask = patch_grid_mask(3, 4, estimate="exact", scale=1e-6, scaling=None, **DOUBLE)
    near = (mask - torch.eye(12)) > 1e-7
    lattice = nx.to_numpy_array(nx.grid_2d_graph(3, 4)) > 0
    assert np.array_equal(near.numpy(), lattice)


@pytest.mark.parametrize("estimate", ["exact", "walks"])
def test_the_scaled_diffusion_kernel(estimate):
    """Exact: the formula. By walks: the formula for the estimate that `sample` gives."""
    graph = grid(4, 5)
    K = exact_diffusion(graph)
    if estimate == "walks":
        sampled = grfpp.sample(graph.normalized("sym"), grfpp.Diffusion(1.0), 2, 64, seed=3)
        K = torch.from_numpy(sampled.toarray())
    found = {
        scaling: patch_grid_mask(4, 5, estimate=estimate, scaling=scaling, seed=3, **DOUBLE)
        for scaling in ("cosine", "rows", None)
    }
    torch.testing.assert_close(found["cosine"], cosine(K))
    torch.testing.assert_close(found["rows"], K / K.sum(1, keepdim=True))
    torch.testing.assert_close(found[None], K)


@pytest.mark.parametrize("class_token, n_prefix", [(False, 0), (True, 1), (0, 0), (3, 3)])
def test_tokens_before_the_patches_are_neutral(class_token, n_prefix):
    mask = patch_grid_mask(3, 2, class_token=class_token)
    assert mask.shape == (6 + n_prefix, 6 + n_prefix)
    assert not mask[:n_prefix].any()
    assert not mask[:, :n_prefix].any()
    assert torch.equal(mask[n_prefix:, n_prefix:], patch_grid_mask(3, 2))


def test_every_option_about_walks_is_passed_on():
    graph, options = grid(3, 3), {"reuse_walks": True, "n_jobs": 1, "storage": "recompute"}
    W = graph.normalized("sym")
    K = grfpp.sample(W, grfpp.Diffusion(1.0), 1, 4, seed=0, **options).toarray()
    options |= {"degree": 1, "n_walks": 4, "scaling": None}
    for found in (graph_mask(graph, **options), factored_mask(graph, **options).dense()):
        torch.testing.assert_close(found, torch.from_numpy(K).float())
    with pytest.raises(TypeError, match="n_walk"):
        graph_mask(graph, n_walk=3)


def test_types_follow_torch():
    assert patch_grid_mask(2, 2).dtype == torch.float32
    assert patch_grid_mask(2, 2, dtype=torch.bfloat16).dtype == torch.bfloat16
    assert factored_mask(grid(2, 2), dtype=torch.float64).dense().dtype == torch.float64
    assert patch_grid_mask(2, 2, device="meta").device.type == "meta"


GRAPHS = {
    "karate": lambda: grfpp.Graph(nx.karate_club_graph()),
    "directed": lambda: grfpp.Graph(nx.gnp_random_graph(20, 0.15, seed=1, directed=True)),
    "with isolated nodes": lambda: grfpp.Graph(nx.empty_graph(4)),
    "one node": lambda: grfpp.Graph([[0.0]]),
    "two components": lambda: grfpp.Graph(nx.disjoint_union(nx.path_graph(3), nx.cycle_graph(4))),
}


@pytest.mark.parametrize("scaling", ["cosine", "rows", None])
@pytest.mark.parametrize("name", GRAPHS)
def test_factors_are_the_same_mask(name, scaling):
    """On any graph, and directed ones too; with tokens before the nodes."""
    graph = GRAPHS[name]()
    options = {"n_walks": 8, "scaling": scaling, "class_token": 2, "seed": 5, **DOUBLE}
    dense, factored = graph_mask(graph, **options), factored_mask(graph, **options)
    torch.testing.assert_close(factored.dense(), dense, rtol=1e-12, atol=1e-12)
    x = torch.randn(2, 3, dense.shape[0], 4, **DOUBLE)
    torch.testing.assert_close(factored(x), dense @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "walks", [{"degree": 1}, {"degree": 3}, {"deflate": 3, "walks": "independent"}]
)
def test_factors_of_symmetrised_and_deflated_masks(walks):
    options = {"n_walks": 8, "seed": 5, "symmetrize": True, **walks, **DOUBLE}
    dense, factored = (make(grid(4, 3), **options) for make in (graph_mask, factored_mask))
    torch.testing.assert_close(dense, dense.T, rtol=1e-14, atol=0.0)
    torch.testing.assert_close(factored.dense(), dense, rtol=1e-10, atol=1e-12)


def test_gradients_go_through_the_factors():
    mask = factored_mask(
        nx.gnp_random_graph(6, 0.5, seed=2, directed=True), class_token=1, **DOUBLE
    )
    x = torch.randn(2, 7, 3, requires_grad=True, **DOUBLE)
    assert torch.autograd.gradcheck(mask, x)
    assert torch.autograd.gradgradcheck(mask, x)
    weights = torch.randn(7, 3, **DOUBLE)
    (gradient,) = torch.autograd.grad((mask(x) * weights).sum(), x)
    torch.testing.assert_close(gradient, (mask.dense().T @ weights).expand(2, 7, 3))


def test_stored_entries_grow_with_the_nodes_not_with_their_square():
    few, many = (factored_mask(grid(side, side), n_walks=4).n_entries for side in (16, 64))
    assert 12 < many / few < 20  # 16 times the nodes


def test_factors_move_and_are_copied_but_not_saved():
    mask = factored_mask(grid(3, 3))
    assert mask.state_dict() == {}
    twin = copy.deepcopy(mask).double()
    assert twin.dense().dtype == torch.float64
    assert mask.dense().dtype == torch.float32
    torch.testing.assert_close(twin.dense().float(), mask.dense())
    assert mask.to("meta").values_0.device.type == "meta"


def test_a_kernel_without_positive_diagonal_can_be_left_unscaled():
    assert graph_mask(nx.path_graph(4), kernel=KERNEL, estimate="exact", scaling=None)[0, 0] == -1


def test_half_precision_multiplies_in_single():
    mask, x = factored_mask(grid(4, 4)), torch.rand(16, 3, requires_grad=True)
    for dtype in (torch.float16, torch.bfloat16):
        half = x.to(dtype)
        assert torch.equal(mask(half), mask(half.float()).to(dtype))
    (expected,) = torch.autograd.grad(mask(x).square().sum(), x)
    with torch.autocast("cpu", torch.bfloat16):
        found = mask(x)
        (gradient,) = torch.autograd.grad(found.square().sum(), x)
    assert torch.equal(found, mask(x))
    assert torch.equal(gradient, expected)


test_bad_options_are_refused = bad_values(
    [partial(graph_mask, grid(3, 3)), partial(factored_mask, grid(3, 3))],
    **{"scaling": "max", "class_token": [-1, 1.5], "degree": 0, "n_walks": 2.5, "scale": math.nan},
    **{"seed": [-1, None], "dtype": torch.int64, "device": "no device"},
)


SMALL, KERNEL = grid(2, 2), grfpp.TaylorKernel([-1, 1])  # `W - I`: -1 on the diagonal
test_bad_arguments_are_refused = refused(
    height=lambda: patch_grid_mask(0, 3),
    width=lambda: patch_grid_mask(3, 2.5),
    nodes=[lambda: graph_mask(SMALL, nodes=[]), lambda: graph_mask([SMALL], nodes=[0])],
    graph=lambda: factored_mask([SMALL]),
    estimate=lambda: factored_mask(SMALL, estimate="exact"),
    steps=[
        partial(FactoredMask, [each.adjacency for each in s]) for s in ((), (SMALL, grid(2, 3)))
    ],
    dtype=lambda: FactoredMask([SMALL.adjacency], dtype=torch.int32),
    x=[
        lambda: factored_mask(SMALL)(torch.ones(5, 2)),
        lambda: factored_mask(SMALL)(torch.ones(4, 2, dtype=torch.long)),
    ],
    scaling=lambda: graph_mask(nx.path_graph(4), kernel=KERNEL, estimate="exact"),
)


def test_lists_of_graphs():
    graphs, sizes = [nx.path_graph(3), nx.cycle_graph(7), nx.star_graph(4)], [3, 7, 5]
    options = {"class_token": 2, "scaling": "rows", "kernel": "diffusion:2", "scale": 0.5, **DOUBLE}
    masks = graph_mask(graphs, **options)
    assert masks.shape == (3, 9, 9) and masks.dtype == torch.float64
    for mask, graph, n in zip(masks, graphs, sizes, strict=True):
        torch.testing.assert_close(mask[: n + 2, : n + 2], graph_mask(graph, **options))
        assert torch.isneginf(mask[:, n + 2 :]).all()
        assert (mask[n + 2 :, : n + 2] == 0).all()


def test_what_is_a_list_of_graphs():
    matrix = np.ones((3, 3)) - np.eye(3)
    graph = grfpp.Graph(matrix)
    for batch in ([graph], [matrix, matrix], [torch.ones(2, 2)], ["a.txt"], [nx.path_graph(3)]):
        assert is_batch(batch)
    for one in (matrix.tolist(), graph, matrix, (matrix, None), [], [(0, 1), (1, 2)], list(matrix)):
        assert not is_batch(one)
    assert graph_mask(matrix.tolist()).shape == (3, 3)


def test_tokens_by_name():
    graph = nx.les_miserables_graph()
    names = ["Valjean", "Cosette", "Marius"]
    everyone, few = graph_mask(graph), graph_mask(graph, nodes=names, class_token=True)
    index = grfpp.Graph(graph).index(names)
    torch.testing.assert_close(few[1:, 1:], everyone[index][:, index])
    assert (few[0] == 0).all() and few.shape == (4, 4)
    factored = factored_mask(graph, n_walks=64, nodes=names)
    torch.testing.assert_close(factored.dense(), everyone[index][:, index], rtol=1e-4, atol=1e-5)
    with pytest.raises(InputError, match="Cosette"):
        graph_mask(graph, nodes=["Cosete"])
