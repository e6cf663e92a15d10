"""Gaussian processes on nodes: against dense algebra, and against an exact process."""

import math

import numpy as np
import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernel", reason="torch or gpytorch is not installed", exc_type=ImportError
)

import torch
from torch.testing import assert_close

from grfpp import InputError
from grfpp.errors import InputWarning
from grfpp.torch import NodeGP
from grfpp_lab.experiments.gp.data import problem
from grfpp_lab.experiments.gp.methods import ExactDiffusion

import gpytorch  # isort: skip - after grfpp.torch, which keeps its import quiet
from gp_helpers import DOUBLE, TEST, TRAIN, dense, kernel_of, model_of, targets


def test_likelihood_and_gradient_are_those_of_dense_algebra():
    model = model_of()
    assert model.noise == pytest.approx(0.05)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    loss = -objective(model(TRAIN), model.train_targets) * len(TRAIN)
    loss.backward()
    found = [each.grad.clone() for each in model.parameters()]
    model.zero_grad()
    K = model.kernel.graph_kernel.rows(TRAIN)[:, TRAIN] * model.covar_module.outputscale
    law = torch.distributions.MultivariateNormal(
        model.mean_module.constant.expand(50), K + model.likelihood.noise * torch.eye(50)
    )
    wanted = -law.log_prob(model.train_targets)
    wanted.backward()
    assert_close(loss, wanted, rtol=1e-6, atol=0)
    for gradient, parameter in zip(found, model.parameters(), strict=True):
        assert_close(gradient, parameter.grad, rtol=1e-5, atol=1e-8)


def test_conjugate_gradients_train_towards_the_same_place():
    found = []
    for largest in (800, 0):  # dense Cholesky; conjugate gradients
        model = model_of()
        with gpytorch.settings.max_cholesky_size(largest):
            model.fit(15, lr=0.3, seed=0, n_probes=100, tol=0.01)
        found.append(model)
    times = [model.kernel.modulation.lam.item() for model in found]
    assert times[0] > 15  # from 5
    assert times[0] == pytest.approx(times[1], rel=0.1)
    assert found[0].noise == pytest.approx(found[1].noise, rel=0.1)


def test_fit_repeats_itself_and_leaves_other_random_numbers_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    with gpytorch.settings.max_cholesky_size(0):
        losses = [model_of().fit(3, seed=0) for _ in range(2)]
    assert losses[0] == losses[1]
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NodeGP([0, 1], [1.0], kernel_of()), "one for each of the 2 training nodes"),
        (lambda: NodeGP([[0]], [[1.0]], kernel_of()), r"found array\(\[\[0"),
        (lambda: NodeGP([], [], kernel_of()), "one node at least"),
        (lambda: NodeGP([0, 1], [1.0, math.nan], kernel_of()), "found nan at position 1"),
        (lambda: NodeGP([0], [True], kernel_of()), "targets must be real numbers"),
        (lambda: NodeGP([0], [1j], kernel_of()), "targets must be real numbers"),
        (lambda: NodeGP([0], ["a"], kernel_of()), "targets must be numbers in a list"),
        (lambda: NodeGP([0], None, kernel_of()), "targets must be numbers in a list"),
        (lambda: NodeGP(None, [1.0], kernel_of()), "nodes must be whole numbers"),
        (lambda: NodeGP(["a"], [1.0], kernel_of()), "no node is named 'a'"),
        (lambda: NodeGP([100], [1.0], kernel_of()), "between 0 and 99, found 100"),
        (lambda: NodeGP([0.5], [1.0], kernel_of()), r"found 0\.5"),
        (
            lambda: NodeGP([-1], [1.0], gpytorch.kernels.RBFKernel()),
            "between 0 and 2147483647, found -1",
        ),
        (lambda: NodeGP([0], [1.0], "diffusion"), "kernel must be a GRFKernel"),
        (lambda: NodeGP([0, 1], [1e300, -1e300], kernel_of()), "take other units"),
        (lambda: NodeGP([0], [1.0], kernel_of(), noise=0), "noise must be a positive"),
        (lambda: NodeGP([0, 1], [0.0, 20.0], kernel_of(), noise=1e-6), "above 0.01, found 1e-06"),
        (lambda: model_of().fit(-1), "n_steps"),
        (lambda: model_of().fit(1, lr=-1), "lr must be a positive"),
        (lambda: NodeGP([0], [1.0], gpytorch.kernels.RBFKernel()).posterior(), "needs a GRFKernel"),
    ],
)
def test_what_cannot_be_used_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("factor", "shift"), [(1.0, 10.0), (100.0, 0.0), (1e-3, 0.0), (-1.0, 1e3), (1e9, 1e9)]
)
def test_the_units_of_the_targets_do_not_matter(factor, shift):
    y = targets()
    plain, other = (
        NodeGP(TRAIN, numbers[TRAIN], kernel_of()) for numbers in (y, factor * y + shift)
    )
    losses = [model.fit(20, lr=0.2) for model in (plain, other)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-6)
    assert other.noise == pytest.approx(factor**2 * plain.noise, rel=1e-5)
    assert other.outputscale == pytest.approx(factor**2 * plain.outputscale, rel=1e-5)
    assert other.mean == pytest.approx(factor * plain.mean + shift, rel=1e-5)
    wanted, found = (model.posterior(TEST, seed=0, tol=1e-8) for model in (plain, other))
    assert_close(found.mean, factor * wanted.mean + shift, rtol=1e-6, atol=1e-6 * abs(factor))
    other.eval()
    with torch.no_grad():
        gpytorchs = other(TEST) * other.scale + other.offset
    assert_close(found.mean, gpytorchs.mean, rtol=1e-5, atol=1e-5 * abs(factor))
    assert_close(found.std, gpytorchs.stddev, rtol=0.5, atol=0)  # from 64 samples
    assert_close(found.samples.mean(0), found.mean, rtol=0, atol=float(found.std.max()))
    # It has learned something: the error is far below the spread of what was not seen.
    error = (found.mean - factor * y[TEST] - shift).pow(2).mean().sqrt()
    assert error < 0.3 * abs(factor) * y[TEST].std()


def test_settings_are_in_units_of_the_targets():
    model = NodeGP(TRAIN, 50 + 7 * targets()[TRAIN], kernel_of(), noise=3.0, outputscale=20.0)
    assert (model.noise, model.outputscale) == pytest.approx((3.0, 20.0))
    assert model.likelihood.noise.item() == pytest.approx(3.0 / model.scale**2)
    default = NodeGP(TRAIN, 50 + 7 * targets()[TRAIN], kernel_of())
    variance = (7 * targets()[TRAIN]).var(correction=0).item()
    mean_diagonal = dense(kernel_of()).diagonal()[TRAIN].mean().item()
    begun = (0.1 * variance, variance / mean_diagonal)
    assert (default.noise, default.outputscale) == pytest.approx(begun)


@pytest.mark.parametrize("y", [[3, 3, 3], [0.1 + 0.2, 0.3, 0.3], [7.0]])
def test_targets_that_are_all_the_same(y):
    model = NodeGP(list(range(len(y))), y, kernel_of())
    assert model.scale == 1.0
    with pytest.warns(InputWarning, match="nothing is learned"):
        assert np.isfinite(model.fit(3)).all()
    assert_close(model.posterior([0], seed=0).mean.item(), float(y[0]), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float16, torch.float32])
@pytest.mark.parametrize("of_kernel", [torch.float32, DOUBLE])
def test_targets_take_the_number_type_of_the_kernel(dtype, of_kernel):
    kernel = kernel_of(dtype=of_kernel)
    y = (20 * targets()[TRAIN] + 60).to(dtype)
    model = NodeGP(TRAIN, y, gpytorch.kernels.ScaleKernel(kernel))
    model.fit(2)
    assert kernel.graph_kernel.factors[0].amounts.dtype == of_kernel
    model = NodeGP(TRAIN, y, kernel)
    model.fit(2)
    assert kernel.graph_kernel.factors[0].amounts.dtype == of_kernel
    found = model.posterior(TEST, seed=0)
    assert found.mean.dtype == of_kernel
    assert (found.mean - y.double().mean()).abs().max() < 4 * y.double().std()


def test_targets_in_lists_and_arrays_keep_their_digits():
    y = targets()[TRAIN].numpy() + 1e9
    wanted = NodeGP(TRAIN, torch.tensor(y), kernel_of()).train_targets
    for given in (y.tolist(), y[::-1].copy()[::-1]):
        assert torch.equal(NodeGP(TRAIN.tolist(), given, kernel_of()).train_targets, wanted)


def test_a_warning_points_to_the_line_that_trains():
    model = NodeGP(TRAIN, targets()[TRAIN], kernel_of(n_lengths=3, lam=40.0))
    with pytest.warns(RuntimeWarning, match="lengths leave out") as caught:
        model.fit(1)
    assert [each.filename for each in caught] == [__file__]


def covered(data, mean, variance, noise):
    """Share of the observations in intervals of 95 %."""
    error = (mean - torch.tensor(data.noisy[data.test])).abs()
    return (error < 1.96 * (variance + noise).sqrt()).double().mean().item()


def test_error_is_that_of_the_exact_process_and_intervals_hold():
    data = problem(3, seed=0)  # 642 nodes; a quarter is observed, a half is predicted
    train, y = torch.tensor(data.train[::2]), torch.tensor(data.noisy)
    test, steps = torch.tensor(data.test), {"n_steps": 15, "lr": 0.2}
    exact = NodeGP(train, y[train], ExactDiffusion(data.W), outputscale=10.0)
    exact.fit(**steps)
    exact.eval()
    with torch.no_grad():
        wanted = exact(test) * exact.scale + exact.offset
    kernel = kernel_of(data.W, degree=4, n_lengths=12, n_walks=16, n_exact=2)
    model = NodeGP(train, y[train], kernel, outputscale=10.0)
    model.fit(**steps)
    found = model.posterior(test, n_samples=300, seed=0)
    errors = [(mean - y[test]).pow(2).mean().sqrt() for mean in (found.mean, wanted.mean)]
    assert errors[0].item() == pytest.approx(errors[1].item(), rel=0.01)
    lam = exact.kernel.raw.exp().item()
    assert kernel.modulation.lam.item() == pytest.approx(lam, rel=0.05)
    shares = [
        covered(data, mean, variance, each.noise)
        for each, mean, variance in (
            (model, found.mean, found.std**2),
            (exact, wanted.mean, wanted.variance),
        )
    ]
    assert abs(shares[0] - shares[1]) < 0.02
    assert 0.92 < shares[0] < 0.98  # 95 %, give or take two standard errors
