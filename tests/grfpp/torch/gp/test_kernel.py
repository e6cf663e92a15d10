"""The kernel of Gaussian processes on nodes."""

import numpy as np
import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernel", reason="torch or gpytorch is not installed", exc_type=ImportError
)

import torch
from torch.testing import assert_close

import grfpp
from grfpp import InputError
from grfpp.torch import GRFKernel

import gpytorch  # isort: skip - after grfpp.torch, which keeps its import quiet
from gp_helpers import DOUBLE, GRID, TEST, TRAIN, dense, kernel_of


def test_entries_are_those_of_the_graph_kernel():
    kernel, K = kernel_of(), dense(kernel_of())
    assert_close(kernel(TRAIN).to_dense(), K[TRAIN][:, TRAIN])
    assert_close(kernel(TEST, TRAIN).to_dense(), K[TEST][:, TRAIN])
    assert_close(kernel(TRAIN, diag=True), K.diagonal()[TRAIN])
    assert_close(kernel(TRAIN.double()[:, None]).to_dense(), K[TRAIN][:, TRAIN])


def test_a_node_that_is_seen_twice():
    K = kernel_of()(torch.tensor([3, 3, 7])).to_dense()
    assert_close(K[0], K[1])


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (torch.zeros(3, 2), "one number of a node a row"),
        (torch.tensor([0.5]), "whole numbers"),
        (torch.tensor([100]), "between 0 and 99"),
    ],
)
def test_inputs_that_are_no_nodes_are_refused(nodes, message):
    with pytest.raises(InputError, match=message):
        kernel_of()(nodes).to_dense()


def test_a_directed_graph_is_refused():
    with pytest.raises(InputError, match="undirected"):
        GRFKernel(grfpp.Graph([[0, 1], [0, 0]]), seed=0)


@pytest.mark.parametrize("option", ["n_walk", "lam", "degree", "storage", "batch_shape"])
def test_options_that_are_none_are_refused(option):
    with pytest.raises((TypeError, InputError), match=option):
        GRFKernel(GRID, seed=0, **{option: 3})


def test_only_nothing_stands_for_the_default_modulation():
    with pytest.raises(InputError, match="LearnableModulation"):
        GRFKernel(GRID, 0, seed=0)


def test_a_product_with_a_kernel_of_another_column():
    kernel = kernel_of(active_dims=(0,)) * gpytorch.kernels.RBFKernel(active_dims=(1,)).double()
    x = torch.stack([TRAIN.double(), torch.linspace(0, 1, 50, dtype=DOUBLE)], dim=1)
    time = gpytorch.kernels.RBFKernel().double()(x[:, 1:]).to_dense()
    assert_close(kernel(x).to_dense(), dense(kernel_of())[TRAIN][:, TRAIN] * time)


def test_hubs_cost_no_more_than_the_default_budget():
    star = np.zeros((3001, 3001))
    star[0, 1:] = star[1:, 0] = 1
    kernel = GRFKernel(grfpp.Graph(star).normalized("sym"), seed=0).graph_kernel
    # A pool follows so many edges in the mean, and one more in a step at most.
    budget = kernel.n_walks * grfpp.WalkOptions().termination.mean
    for factor in kernel.factors:
        assert int(factor.pattern.crow.diff().max()) <= budget + kernel.modulation.n_lengths


def test_no_nodes_no_entries():
    assert kernel_of()(torch.tensor([], dtype=torch.long)).to_dense().shape == (0, 0)
