"""Exact kernels on nodes, against dense algebra."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernel", reason="torch or gpytorch is not installed", exc_type=ImportError
)

import torch
from torch.testing import assert_close

import grfpp
from grfpp import InputError
from grfpp.torch import NodeKernel

import gpytorch  # isort: skip - after grfpp.torch, which keeps its import quiet

W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
EVERY = torch.arange(34)
FAMILIES = {
    "diffusion": lambda gaps, number: np.exp(-number * gaps),
    "regularized-laplacian": lambda gaps, number: (1 + number * gaps) ** -2.0,
}


def dense(family, number):
    values, vectors = np.linalg.eigh(W.adjacency.toarray())
    return torch.tensor((vectors * FAMILIES[family](1 - values, number)) @ vectors.T)


def kernel_of(family="diffusion", **options):
    return NodeKernel(W, family, power=2.0, **options)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("number", [0.2, 5.0, 100.0])
def test_entries_diagonal_and_products(family, number):
    kernel, exact = kernel_of(family, start=number), dense(family, number)
    rows, columns = torch.tensor([3, 3, 9]), torch.tensor([0, 5])
    with torch.no_grad():
        assert_close(kernel(rows, columns).to_dense(), exact[rows][:, columns], atol=1e-9, rtol=0)
        assert_close(kernel(EVERY, diag=True), exact.diagonal(), atol=1e-9, rtol=0)
        pairs = kernel(rows[:2], columns, diag=True)
        assert_close(pairs, exact[rows[:2], columns], atol=1e-9, rtol=0)
        V = torch.ones(34, 2, dtype=torch.float64)
        assert_close(kernel(EVERY) @ V, exact @ V, atol=1e-8, rtol=0)
        assert_close(kernel(EVERY)[2:5, [1, 7]].to_dense(), exact[2:5][:, [1, 7]])


@pytest.mark.parametrize("number", [0.2, 5.0, 31.0, 150.0])
def test_what_is_prepared_holds_every_parameter(number):
    kernel = kernel_of(start=5.0)
    some = torch.tensor([4, 4, 20, 33, 7])
    kernel.prepare(some)
    kernel.set_parameter(number)
    found = kernel(some).to_dense()
    assert_close(found.detach(), dense("diffusion", number)[some][:, some], atol=1e-9, rtol=0)


def test_gradients_of_both_ways_are_those_of_dense_algebra():
    gradients = []
    weights = torch.tensor(np.random.default_rng(0).standard_normal((34, 34)))
    for prepared in (True, False):
        kernel = kernel_of(start=3.0)
        if prepared:
            kernel.prepare(EVERY)
        (kernel(EVERY).to_dense() * weights).sum().backward()
        gradients.append(kernel.raw_log_parameter.grad.item())
    step = 1e-5
    change = (dense("diffusion", 3 + step) - dense("diffusion", 3 - step)) / (2 * step)
    kernel = kernel_of(start=3.0)
    kernel.parameter.backward()
    wanted = (change * weights).sum().item() * kernel.raw_log_parameter.grad.item()
    assert gradients == pytest.approx([wanted, wanted], rel=1e-6)


def test_the_parameter_by_its_name_and_within_bounds():
    kernel = kernel_of(start=3.0, bounds=(1.0, 8.0))
    assert kernel.lam.item() == pytest.approx(3.0)
    with pytest.raises(AttributeError, match="sigma2"):
        _ = kernel.sigma2
    assert kernel_of("regularized-laplacian", start=2.0).sigma2.item() == pytest.approx(2.0)
    kernel.set_parameter(1e9)
    assert 7.9 < kernel.lam.item() < 8.0
    assert kernel_of(bounds=(10.0, 20.0)).lam.item() == pytest.approx(10.0, rel=1e-3)


def test_copies_have_the_kernel():
    kernel = kernel_of(start=3.0)
    kernel.prepare(EVERY)
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert_close(other(EVERY).to_dense(), kernel(EVERY).to_dense())


def test_a_product_with_a_kernel_of_another_column():
    kernel = NodeKernel(W, start=3.0, active_dims=(0,))
    whole = kernel * gpytorch.kernels.RBFKernel(active_dims=(1,)).double()
    x = torch.stack([EVERY.double(), torch.linspace(0, 1, 34, dtype=torch.float64)], dim=1)
    time = gpytorch.kernels.RBFKernel().double()(x[:, 1:]).to_dense()
    assert_close(whole(x).to_dense(), dense("diffusion", 3.0) * time, atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NodeKernel(nx.karate_club_graph()), r"at most 1, found .*normalized\('sym'\)"),
        (lambda: NodeKernel([[0, 1], [0, 0]]), "undirected"),
        (lambda: NodeKernel(W, "heat"), "family must be 'diffusion'"),
        (lambda: NodeKernel(W, start=0), "start must be a positive"),
        (lambda: NodeKernel(W, start=1e6), "within the bounds 0.1 to 10000"),
        (lambda: NodeKernel(W, bounds=(2, 1)), "smaller and a larger"),
        (lambda: NodeKernel(W, bounds=3), "two positive numbers"),
        (lambda: NodeKernel(W, how="best"), "how must be 'auto'"),
        (lambda: NodeKernel(W, tol=0.5), "tol must be from 1e-13"),
        (lambda: NodeKernel(W, n_jobs=0), "n_jobs"),
        (lambda: NodeKernel(W, "regularized-laplacian", power=-1), "power must be a positive"),
        (lambda: NodeKernel(W)(torch.zeros(3, 2)).to_dense(), "one number of a node a row"),
        (lambda: NodeKernel(W)(torch.tensor([34])).to_dense(), "between 0 and 33"),
    ],
)
def test_what_cannot_be_used_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
