"""Where training begins."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch.distributions import MultivariateNormal

from grfpp.torch.gp.search import grid, profile, search

POINTS = torch.linspace(0, 1, 60, dtype=torch.float64)


def rbf(number):
    return torch.exp(-(number**2) * (POINTS[:, None] - POINTS) ** 2)


def drawn(number, noise, seed):
    A = 4 * rbf(number) + noise * torch.eye(60)
    return torch.linalg.cholesky(A) @ torch.tensor(np.random.default_rng(seed).normal(size=60))


def test_the_likelihood_is_that_of_its_size_noise_and_mean_and_no_other_is_better():
    y, K = 1 + drawn(5.0, 0.1, 0), rbf(5.0)
    found = profile(K, y, 0.05)

    def density(size, noise, mean):
        A = size * K + noise * torch.eye(60)
        return MultivariateNormal(torch.full_like(y, mean), A).log_prob(y).item()

    best = density(found.outputscale, found.noise, found.mean)
    assert found.log_likelihood == pytest.approx(best, abs=1e-6)
    for factor in (0.9, 1.1):
        assert density(factor * found.outputscale, factor * found.noise, found.mean) < best
        assert density(found.outputscale, found.noise, factor * found.mean) < best


def test_the_best_is_near_the_true_one_and_no_point_of_a_fine_grid_is_better():
    y = drawn(6.0, 0.2, 1)
    found = search(rbf, y, (0.1, 1e4))
    assert 3 < found.number < 12
    others = [
        profile(rbf(number), y, ratio).log_likelihood
        for number in np.geomspace(1, 30, 40)
        for ratio in np.geomspace(0.005, 0.5, 20)
    ]
    assert found.log_likelihood > max(others) - 0.1


def test_no_more_is_asked_for_than_helps():
    asked = []

    def kernel(number):
        asked.append(number)
        return rbf(min(number, 50))

    search(kernel, drawn(3.0, 0.1, 0), (0.1, 1e4))
    assert max(asked) < 60


def test_a_told_noise_is_kept():
    found = search(rbf, drawn(3.0, 0.1, 0), (0.1, 100.0), ratios=(0.5,))
    assert found.ratio == 0.5
    assert found.number in list(grid(0.1, 100.0))


def test_the_grid_has_both_ends():
    assert list(grid(1.0, 10.0)) == [1, 2, 4, 8, 10]
    assert list(grid(1.0, 8.0)) == [1, 2, 4, 8]
