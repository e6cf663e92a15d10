"""Training: likelihoods against dense algebra, where it starts, and when it stops."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch.distributions import MultivariateNormal
from torch.testing import assert_close

import grfpp
from grfpp.torch import DiffusionModulation, LearnableKernel
from grfpp.torch.gp import training

import gpytorch  # isort: skip - after grfpp.torch, which keeps its import quiet
from gp_helpers import DOUBLE, TRAIN, model_of
from linear_operator import to_linear_operator

N = 40
POINTS = torch.linspace(0, 1, 60, dtype=torch.float64)
TRUE = 4.0


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def law(condition):
    """A dense matrix of that condition number, and a vector."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(N, N)))[0]
    A = torch.tensor((Q * np.geomspace(0.1, 0.1 * condition, N)) @ Q.T)
    return A.requires_grad_(), torch.tensor(rng.normal(size=N)).requires_grad_()


def dense_density(A, deviation):
    return MultivariateNormal(torch.zeros(len(A), dtype=DOUBLE), A).log_prob(deviation)


@pytest.mark.parametrize("condition", [10, 1000])
def test_value_and_gradient_are_those_of_dense_algebra(condition):
    A, deviation = law(condition)
    inputs = (A, deviation)
    found = training.log_density(to_linear_operator(A), deviation, n_probes=4000, tol=1e-8)
    wanted = dense_density(A, deviation)
    assert_close(found, wanted, rtol=0.01, atol=0)
    gradients, exact = (torch.autograd.grad(each, inputs) for each in (found, wanted))
    symmetric = (gradients[0] + gradients[0].T) / 2
    assert_close(symmetric, exact[0], rtol=0, atol=0.05 * exact[0].abs().max().item())
    assert_close(gradients[1], exact[1], rtol=1e-6, atol=1e-8)


def test_of_diagonal_matrices_any_signs_tell_the_determinant():
    # The last column is solved at once, others after one or two iterations.
    A = torch.diag(torch.tensor([2.0, 2.0, 2.0, 0.5, 0.5], dtype=DOUBLE))
    for deviation in torch.tensor([[1.0, 1, 1, 0, 0], [0, 0, 0, 0, 0], [1, 2, 3, 4, 5]]).to(DOUBLE):
        found = training.log_density(to_linear_operator(A), deviation, n_probes=1, tol=1e-10)
        assert_close(found, dense_density(A, deviation))


@pytest.mark.parametrize("tol", [0.1, 0.01])
def test_solves_are_as_accurate_as_asked_for_whatever_the_condition(tol):
    A, deviation = law(1e5)
    found = training.log_density(to_linear_operator(A), deviation, n_probes=3, tol=tol)
    (minus_u,) = torch.autograd.grad(found, deviation)
    residual = deviation + A @ minus_u
    assert residual.norm() <= 1.01 * tol * deviation.norm()


def test_priors_count_and_small_matrices_are_gpytorchs():
    model = model_of()
    prior = gpytorch.priors.GammaPrior(2.0, 3.0)
    model.likelihood.register_prior("noise_prior", prior, lambda module: module.noise)
    ours = training.NodeLikelihood(model.likelihood, model, n_probes=500, tol=1e-6)
    wanted = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)(
        model(TRAIN), model.train_targets
    )
    assert_close(ours(model(TRAIN), model.train_targets), wanted)
    with gpytorch.settings.max_cholesky_size(0):
        assert_close(ours(model(TRAIN), model.train_targets), wanted, rtol=0, atol=0.02)


# Optimisers.


def parameter(value):
    return torch.nn.Parameter(torch.tensor(value, dtype=torch.float64))


def ignore(step, loss):
    pass


def test_adam_stops_where_losses_stand_still():
    x = parameter([1.0])
    losses = training.by_adam(lambda: torch.sum(x**2), [x], 1000, 10, ignore, 0.1)
    assert 20 <= len(losses) < 200
    assert losses[-1] < 1e-2


def test_noise_does_not_stop_a_fall_nor_prolong_a_rest():
    noise = 0.01 * np.random.default_rng(1).standard_normal(20)
    assert not training.is_stationary(list(noise - 0.01 * np.arange(20)), 1000)
    assert training.is_stationary(list(noise), 1000)
    assert not training.is_stationary([0.0] * 19, 1000)


# The true λ is found within its standard error.


def signals(W, n_signals=5, seed=0):
    K = 10 * np.exp(-TRUE) * grfpp.Diffusion(TRUE).exact(W) + 0.01 * np.eye(W.n_nodes)
    draws = np.random.default_rng(seed).standard_normal((W.n_nodes, n_signals))
    return torch.tensor((np.linalg.cholesky(K) @ draws).T)


def fitted(kernel_matrix, log_lam, y):
    """Maximise the likelihood in log λ, log size, log noise; the first, and its standard error."""
    size, noise = (torch.tensor(start, dtype=DOUBLE, requires_grad=True) for start in (2.0, -4.0))
    parameters, eye = [log_lam, size, noise], torch.eye(y.shape[1], dtype=DOUBLE)

    def loss():
        return -dense_density(size.exp() * kernel_matrix() + noise.exp() * eye, y).sum()

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
    rows = [torch.autograd.grad(each, parameters, retain_graph=True) for each in gradient]
    curvature = torch.stack([torch.stack(row) for row in rows])
    return log_lam.item(), torch.linalg.inv(curvature)[0, 0].sqrt().item()


def test_the_true_time_is_found():
    W = grfpp.Graph(nx.grid_2d_graph(12, 12)).normalized("sym")
    y = signals(W)
    modulation = DiffusionModulation(12, degree=4, lam=3.0, laplacian=True).double()
    options = {"n_walks": 64, "n_exact": 2, "seed": 0, "symmetric": True, "dtype": DOUBLE}
    kernel = LearnableKernel(W, modulation, **options)
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
