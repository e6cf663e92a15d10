"""Posteriors against dense algebra."""

import math

import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernel", reason="torch or gpytorch is not installed", exc_type=ImportError
)

import torch
from gp_helpers import DOUBLE, GRID, TEST, TRAIN, dense, kernel_of, model_of, targets
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
    kernel, y = kernel_of(), targets()
    found = posterior_samples(
        kernel,
        TRAIN,
        y[TRAIN],
        TEST,
        noise=0.05,
        outputscale=3.0,
        mean=0.4,
        n_samples=4000,
        tol=1e-8,
        seed=0,
    )
    mean, covariance = exact_posterior(3.0 * dense(kernel), y, 0.05, 0.4)
    assert_close(found.mean, mean, rtol=1e-6, atol=1e-6)
    # 4000 samples know a standard deviation to 1.1 %, and 50 of them are looked at.
    assert_close(found.std, covariance.diagonal().sqrt(), rtol=0.045, atol=0)
    assert found.samples.shape == (4000, 50)
    assert_close(torch.cov(found.samples.T), covariance, rtol=0, atol=0.06)


def test_gpytorch_predicts_the_same():
    model = model_of()
    model.eval()
    with torch.no_grad():
        wanted = model(TEST) * model.scale + model.offset
    found = model.posterior(TEST, n_samples=2000, seed=0, tol=1e-8)
    assert_close(found.mean, wanted.mean, rtol=1e-5, atol=1e-5)
    assert_close(found.std, wanted.stddev, rtol=0.1, atol=0)


def test_posterior_at_all_nodes_and_its_seed():
    kernel, y = kernel_of(), targets()
    first, again, other = (
        posterior_samples(kernel, TRAIN, y[TRAIN], noise=0.1, seed=seed) for seed in (0, 0, 1)
    )
    assert first.mean.shape == (100,)
    assert torch.equal(first.samples, again.samples)
    assert not torch.equal(first.samples, other.samples)
    part = posterior_samples(kernel, TRAIN, y[TRAIN], TEST, noise=0.1, seed=0)
    assert_close(part.samples, first.samples[:, TEST])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": 0.0}, "noise must be a positive"),
        ({"noise": 0.1, "outputscale": -1.0}, "outputscale must be a positive"),
        ({"noise": 0.1, "n_samples": 1}, "n_samples must be a whole number"),
        ({"noise": 0.1, "targets": torch.ones(3)}, "one for each of the 50"),
        ({"noise": 0.1, "targets": torch.full((50,), math.inf)}, "found inf at position 0"),
        ({"noise": 0.1, "mean": math.nan}, "mean must be a finite number, found nan"),
        ({"noise": 0.1, "mean": torch.zeros(2)}, "mean must be a finite number, found tensor"),
        ({"noise": 0.1, "kernel": None}, "must be a GRFKernel"),
    ],
)
def test_posteriors_that_make_no_sense_are_refused(options, message):
    settings = {"kernel": kernel_of(), "targets": targets()[TRAIN], **options}
    kernel, y = settings.pop("kernel"), settings.pop("targets")
    with pytest.raises(InputError, match=message):
        posterior_samples(kernel, TRAIN, y, **settings)


def test_a_kernel_with_independent_sides_has_no_posterior():
    kernel = LearnableKernel(GRID, DiffusionModulation(8), seed=0)
    with pytest.raises(InputError, match="symmetric=True"):
        posterior_samples(kernel, TRAIN, targets()[TRAIN], noise=0.1)
