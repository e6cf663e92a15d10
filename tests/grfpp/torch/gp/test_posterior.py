"""Posteriors against dense algebra."""

import math

import pytest
import torch
from gp_helpers import DOUBLE, GRID, TEST, TRAIN, targets, walk_kernel, walk_matrix
from refusal_case import bad_values
from torch.testing import assert_close

from grfpp import InputError
from grfpp.torch import DiffusionModulation, LearnableKernel, posterior_samples


def exact_posterior(K, y, noise, mean=0.0):
    S = K[TRAIN][:, TRAIN] + noise * torch.eye(len(TRAIN), dtype=DOUBLE)
    cross = K[TEST][:, TRAIN]
    middle = mean + cross @ torch.linalg.solve(S, y[TRAIN] - mean)
    covariance = K[TEST][:, TEST] - cross @ torch.linalg.solve(S, cross.T)
    return middle, covariance


def test_posterior_is_that_of_dense_algebra():
    kernel, y = walk_kernel(), targets()
    settings = {"noise": 0.05, "outputscale": 3.0, "mean": 0.4, "tol": 1e-8, "seed": 0}
    found = posterior_samples(kernel, TRAIN, y[TRAIN], TEST, n_samples=4000, **settings)
    mean, covariance = exact_posterior(3.0 * walk_matrix(kernel), y, 0.05, 0.4)
    assert_close(found.mean, mean, rtol=1e-6, atol=1e-6)
    # 4000 samples know a standard deviation to 1.1 %, and 50 of them are looked at.
    assert_close(found.std, covariance.diagonal().sqrt(), rtol=0.045, atol=0)
    assert found.samples.shape == (4000, 50)
    assert_close(torch.cov(found.samples.T), covariance, rtol=0, atol=0.06)


def test_posterior_at_all_nodes_and_its_seed():
    kernel, y = walk_kernel(), targets()
    first, again, other = (
        posterior_samples(kernel, TRAIN, y[TRAIN], noise=0.1, seed=seed) for seed in (0, 0, 1)
    )
    assert first.mean.shape == (100,)
    assert torch.equal(first.samples, again.samples)
    assert not torch.equal(first.samples, other.samples)
    part = posterior_samples(kernel, TRAIN, y[TRAIN], TEST, noise=0.1, seed=0)
    assert_close(part.samples, first.samples[:, TEST])


def posterior(**options):
    settings = {"kernel": walk_kernel(), "targets": targets()[TRAIN], "noise": 0.1, **options}
    return posterior_samples(train_nodes=TRAIN, **settings)


test_bad_arguments_are_refused = bad_values(
    posterior,
    **{"noise": 0.0, "outputscale": -1.0, "n_samples": 1, "std": ["both", "exact"]},
    **{"mean": [math.nan, torch.zeros(2)], "targets": [torch.ones(3), torch.ones(50) / 0]},
    kernel=[None, LearnableKernel(GRID, DiffusionModulation(8), seed=0)],
)


def test_solves_that_do_not_converge_are_refused(monkeypatch):
    monkeypatch.setattr("grfpp.torch.gp.posterior._MAX_STEPS", 3)
    with pytest.raises(InputError, match="not converged"):
        posterior_samples(walk_kernel(), TRAIN, targets()[TRAIN], noise=1e-3, tol=1e-9)
