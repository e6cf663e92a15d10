"""Node regression that learns λ: the true one is found within its standard error."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch.distributions import MultivariateNormal

import grfpp
from grfpp.torch import DiffusionModulation, LearnableKernel

DOUBLE = torch.float64
TRUE = 4.0


def data(W, n_signals=5, seed=0):
    K = 10 * np.exp(-TRUE) * grfpp.Diffusion(TRUE).exact(W) + 0.01 * np.eye(W.n_nodes)
    draws = np.random.default_rng(seed).standard_normal((W.n_nodes, n_signals))
    return torch.tensor((np.linalg.cholesky(K) @ draws).T)


def fitted(kernel_matrix, log_lam, y):
    """Maximise the likelihood in log λ, log size, log noise; the first, and its standard error."""
    n = y.shape[1]
    size, noise = (torch.tensor(start, dtype=DOUBLE, requires_grad=True) for start in (2.0, -4.0))
    parameters = [log_lam, size, noise]
    eye = torch.eye(n, dtype=DOUBLE)

    def loss():
        S = size.exp() * kernel_matrix() + noise.exp() * eye
        return -MultivariateNormal(torch.zeros(n, dtype=DOUBLE), S).log_prob(y).sum()

    optimiser = torch.optim.LBFGS(parameters, lr=1.0, max_iter=40, line_search_fn="strong_wolfe")

    def evaluate():
        optimiser.zero_grad()
        value = loss()
        value.backward()
        return value

    optimiser.step(evaluate)
    # Second derivatives go through the kernel like first ones.
    gradient = torch.autograd.grad(loss(), parameters, create_graph=True)
    assert torch.stack(gradient).abs().max() < 0.1  # over a curvature of hundreds: nothing
    curvature = torch.stack(
        [torch.stack(torch.autograd.grad(g, parameters, retain_graph=True)) for g in gradient]
    )
    return log_lam.item(), torch.linalg.inv(curvature)[0, 0].sqrt().item()


def test_the_true_time_is_found():
    W = grfpp.Graph(nx.grid_2d_graph(12, 12)).normalized("sym")
    y = data(W)
    modulation = DiffusionModulation(12, degree=4, lam=3.0, laplacian=True).double()
    kernel = LearnableKernel(
        W, modulation, n_walks=64, n_exact=2, seed=0, symmetric=True, dtype=DOUBLE
    )
    eye = torch.eye(W.n_nodes, dtype=DOUBLE)
    found, error = fitted(lambda: kernel(eye), modulation.raw, y)
    assert abs(found - np.log(TRUE)) < 2 * error
    assert error < 0.06
    # The walks add next to nothing to that error: the exact kernel finds the same.
    values, vectors = (torch.tensor(part) for part in np.linalg.eigh(W.adjacency.toarray()))
    log_lam = torch.tensor(np.log(3.0), dtype=DOUBLE, requires_grad=True)
    exactly, _ = fitted(
        lambda: vectors * torch.exp(-log_lam.exp() * (1 - values)) @ vectors.T, log_lam, y
    )
    assert abs(found - exactly) < 0.1 * error
