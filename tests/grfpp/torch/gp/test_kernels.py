"""Kernels of gpytorch on nodes: exact ones against dense algebra, and those of walks."""

import copy
import pickle
from functools import partial

import networkx as nx
import numpy as np
import pytest
import torch
from refusal_case import bad_values, refused
from torch.testing import assert_close

import grfpp
from grfpp.torch import GRFKernel, NodeKernel

import gpytorch  # isort: skip - after grfpp.torch, which keeps its import quiet
from gp_helpers import DOUBLE, GRID, TEST, TRAIN, walk_kernel, walk_matrix

W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
EVERY = torch.arange(34)
FAMILIES = {
    "diffusion": lambda gaps, number: np.exp(-number * gaps),
    "regularized-laplacian": lambda gaps, number: (1 + number * gaps) ** -2.0,
}


def dense(family, number):
    values, vectors = np.linalg.eigh(W.adjacency.toarray())
    return torch.tensor((vectors * FAMILIES[family](1 - values, number)) @ vectors.T)


def exact_kernel(family="diffusion", **options):
    return NodeKernel(W, family, power=2.0, **options)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("number", [0.2, 5.0, 100.0])
def test_entries_diagonal_and_products(family, number):
    kernel, exact = exact_kernel(family, start=number), dense(family, number)
    rows, columns = torch.tensor([3, 3, 9]), torch.tensor([0, 5])
    with torch.no_grad():
        assert_close(kernel(rows, columns).to_dense(), exact[rows][:, columns], atol=1e-9, rtol=0)
        assert_close(kernel(EVERY, diag=True), exact.diagonal(), atol=1e-9, rtol=0)
        pairs = kernel(rows[:2], columns, diag=True)
        assert_close(pairs, exact[rows[:2], columns], atol=1e-9, rtol=0)
        V = torch.ones(34, 2, dtype=torch.float64)
        assert_close(kernel(EVERY) @ V, exact @ V, atol=1e-8, rtol=0)
        assert_close(kernel(EVERY)[2:5, [1, 7]].to_dense(), exact[2:5][:, [1, 7]])


def test_the_gradient_is_that_of_dense_algebra():
    weights = torch.tensor(np.random.default_rng(0).standard_normal((34, 34)))
    learned = exact_kernel(start=3.0)
    (learned(EVERY).to_dense() * weights).sum().backward()
    step = 1e-5
    change = (dense("diffusion", 3 + step) - dense("diffusion", 3 - step)) / (2 * step)
    kernel = exact_kernel(start=3.0)
    kernel.parameter.backward()
    wanted = (change * weights).sum().item() * kernel.raw_log_parameter.grad.item()
    assert learned.raw_log_parameter.grad.item() == pytest.approx(wanted, rel=1e-6)


def test_the_parameter_by_its_name_and_within_bounds():
    kernel = exact_kernel(start=3.0, bounds=(1.0, 8.0))
    assert kernel.lam.item() == pytest.approx(3.0)
    with pytest.raises(AttributeError, match="sigma2"):
        _ = kernel.sigma2
    assert exact_kernel("regularized-laplacian", start=2.0).sigma2.item() == pytest.approx(2.0)
    kernel.set_parameter(1e9)
    assert 7.9 < kernel.lam.item() < 8.0
    assert exact_kernel(bounds=(10.0, 20.0)).lam.item() == pytest.approx(10.0, rel=1e-3)


def test_copies_have_the_kernel():
    kernel = exact_kernel(start=3.0)
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert_close(other(EVERY).to_dense(), kernel(EVERY).to_dense())


# `GRFKernel`, from walks.


def test_entries_are_those_of_the_graph_kernel():
    kernel, K = walk_kernel(), walk_matrix(walk_kernel())
    assert_close(kernel(TRAIN).to_dense(), K[TRAIN][:, TRAIN])
    assert_close(kernel(TEST, TRAIN).to_dense(), K[TEST][:, TRAIN])
    assert_close(kernel(TRAIN, diag=True), K.diagonal()[TRAIN])
    assert_close(kernel(TRAIN.double()[:, None]).to_dense(), K[TRAIN][:, TRAIN])
    twice = torch.tensor([3, 3, 7])
    assert_close(kernel(twice).to_dense(), K[twice][:, twice])


@pytest.mark.parametrize("make", [NodeKernel, partial(GRFKernel, seed=0)])
def test_a_product_with_a_kernel_of_another_column(make):
    kernel = make(GRID, active_dims=(0,)).double()
    product = kernel * gpytorch.kernels.RBFKernel(active_dims=(1,)).double()
    x = torch.stack([TRAIN.double(), torch.linspace(0, 1, 50, dtype=DOUBLE)], dim=1)
    time = gpytorch.kernels.RBFKernel().double()(x[:, 1:]).to_dense()
    expected = make(GRID).double()(TRAIN).to_dense() * time
    assert_close(product(x).to_dense(), expected, atol=1e-9, rtol=0)
    assert kernel(torch.tensor([[]]).T.long()).to_dense().shape == (0, 0)


test_bad_options_are_refused = bad_values(
    lambda W=W, **bad: NodeKernel(W, **bad),
    **{"W": [nx.karate_club_graph(), [[0, 1], [0, 0]]], "family": "heat", "start": [0, 1e6]},
    **{"bounds": [(2, 1), 3], "how": "best", "tol": 0.5, "n_jobs": 0},
)
test_bad_arguments_are_refused = refused(
    power=lambda: NodeKernel(W, "regularized-laplacian", power=-1),
    x=[
        lambda make=make: make()(torch.zeros(3, 2)).to_dense()
        for make in (exact_kernel, walk_kernel)
    ],
    nodes=[
        lambda: NodeKernel(W)(torch.tensor([34])).to_dense(),
        lambda: walk_kernel()(torch.tensor([100])).to_dense(),
    ],
    symmetric=lambda: GRFKernel(grfpp.Graph([[0, 1], [0, 0]]), seed=0),
    modulation=lambda: GRFKernel(GRID, 0, seed=0),
    degree=lambda: GRFKernel(GRID, seed=0, degree=3),
)
