"""Training stops by itself."""

import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from grfpp.torch.gp.training import by_adam, by_lbfgs, stands_still


def parameter(value):
    return torch.nn.Parameter(torch.tensor(value, dtype=torch.float64))


def told(step, loss):
    pass


def test_lbfgs_stops_at_the_minimum():
    x = parameter([3.0, -2.0])
    losses = by_lbfgs(
        lambda: ((x - 1) ** 2).sum() + x[0] ** 4,
        [x],
        n_steps=200,
        n_targets=100,
        progress=told,
    )
    assert 3 < len(losses) < 30
    assert losses == sorted(losses, reverse=True)
    assert x[1].item() == pytest.approx(1.0, abs=0.01)


def test_lbfgs_keeps_the_best_where_numbers_end():
    x = parameter([1.0])

    def loss():
        if x.item() < 0.5:
            raise RuntimeError("no covariance")
        return x.sum()

    losses = by_lbfgs(loss, [x], n_steps=50, n_targets=1, progress=told)
    assert x.item() >= 0.5
    assert all(map(math.isfinite, losses))


def test_adam_stops_where_losses_stand_still():
    x = parameter([1.0])

    def loss():
        return (x**2).sum()

    losses = by_adam(loss, [x], n_steps=1000, lr=0.1, n_targets=10, progress=told)
    assert 20 <= len(losses) < 200
    assert losses[-1] < 1e-2


def test_noise_does_not_stop_a_fall_nor_prolong_a_rest():
    noise = 0.01 * np.random.default_rng(1).standard_normal(20)
    assert not stands_still(list(noise - 0.01 * np.arange(20)), 1000)
    assert stands_still(list(noise), 1000)
    assert not stands_still([0.0] * 19, 1000)
