"""The likelihood by iterations, against dense algebra."""

import numpy as np
import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernel", reason="torch or gpytorch is not installed", exc_type=ImportError
)

import torch
from torch.testing import assert_close

from grfpp.torch.gp.likelihood import IterativeLikelihood, log_density

import gpytorch  # isort: skip - after grfpp.torch, which keeps its import quiet
from gp_helpers import DOUBLE, TRAIN, model_of
from linear_operator import to_linear_operator

N = 40


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
    zero = torch.zeros(len(deviation), dtype=DOUBLE)
    return torch.distributions.MultivariateNormal(zero, A).log_prob(deviation)


@pytest.mark.parametrize("condition", [10, 1000])
def test_value_and_gradient_are_those_of_dense_algebra(condition):
    A, deviation = law(condition)
    inputs = (A, deviation)
    found = log_density(to_linear_operator(A), deviation, n_probes=4000, tol=1e-8)
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
        found = log_density(to_linear_operator(A), deviation, n_probes=1, tol=1e-10)
        assert_close(found, dense_density(A, deviation))


@pytest.mark.parametrize("tol", [0.1, 0.01])
def test_solves_are_as_accurate_as_asked_for_whatever_the_condition(tol):
    A, deviation = law(1e5)
    found = log_density(to_linear_operator(A), deviation, n_probes=3, tol=tol)
    (minus_u,) = torch.autograd.grad(found, deviation)
    residual = deviation + A @ minus_u
    assert residual.norm() <= 1.01 * tol * deviation.norm()


def test_priors_count_and_small_matrices_are_gpytorchs():
    model = model_of()
    prior = gpytorch.priors.GammaPrior(2.0, 3.0)
    model.likelihood.register_prior("noise_prior", prior, lambda module: module.noise)
    ours = IterativeLikelihood(model.likelihood, model, n_probes=500, tol=1e-6)
    wanted = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)(
        model(TRAIN), model.train_targets
    )
    assert_close(ours(model(TRAIN), model.train_targets), wanted)
    with gpytorch.settings.max_cholesky_size(0):
        assert_close(ours(model(TRAIN), model.train_targets), wanted, rtol=0, atol=0.02)
