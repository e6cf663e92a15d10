"""`NodeGP` and `NodeGPRegressor`: against dense algebra, on draws of the process, in trouble."""

import math
from functools import partial

import networkx as nx
import numpy as np
import pytest
import torch
from refusal_case import refused
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from torch.distributions import MultivariateNormal
from torch.testing import assert_close

import grfpp
from grfpp.errors import InputWarning
from grfpp.torch import GRFKernel, NodeGP, NodeGPRegressor, NodeKernel, posterior_samples
from grfpp_lab.experiments.gp.data import problem
from grfpp_lab.experiments.gp.methods import ExactDiffusion

import gpytorch  # isort: skip - after grfpp.torch, which keeps its import quiet
from gp_helpers import DOUBLE, TEST, TRAIN, model_of, targets, walk_kernel, walk_matrix

KARATE = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
SCALE_FREE = grfpp.Graph(nx.barabasi_albert_graph(600, 4, seed=3)).normalized("sym")
GRID = grfpp.Graph(nx.grid_2d_graph(20, 20)).normalized("sym")
NODES = np.arange(100)
Y = np.sin(NODES // 10 / 2) + np.cos(NODES % 10 / 3)


def exactly(W, lam):
    values, vectors = np.linalg.eigh(W.adjacency.toarray())
    return torch.tensor((vectors * np.exp(-lam * (1 - values))) @ vectors.T)


def drawn(W, lam, noise, n_seen, seed=0):
    """A function with a spread of 1, what is observed of it, and where."""
    rng = np.random.default_rng(seed)
    function = grfpp.Diffusion(lam / 2).apply(W, rng.standard_normal(W.n_nodes))
    function /= function.std()
    noisy = function + math.sqrt(noise) * rng.standard_normal(W.n_nodes)
    order = rng.permutation(W.n_nodes)
    return function, noisy, np.sort(order[:n_seen]), np.sort(order[n_seen:])


def dense_process(model, W, y):
    """Mean and deviation at all nodes and the likelihood, by textbook formulas."""
    (x,) = model.train_inputs
    seen = x[:, 0]
    K = model.outputscale * exactly(W, model.kernel.lam.item())
    A = K[seen][:, seen] + model.noise * torch.eye(len(seen), dtype=DOUBLE)
    across, deviation = torch.linalg.solve(A, K[seen]), torch.tensor(y) - model.mean
    variance = K.diagonal() - (K[seen] * across).sum(0)
    law = MultivariateNormal(torch.zeros_like(deviation), A)
    return model.mean + across.T @ deviation, variance, law.log_prob(deviation)


@pytest.mark.parametrize("how", ["columns", "products"])
def test_mean_deviation_and_likelihood_are_those_of_dense_algebra(how):
    y = np.random.default_rng(0).standard_normal(20) + 3
    seen = [*range(0, 34, 2), 4, 6, 6]  # some twice
    model = NodeGP(seen, y, NodeKernel(KARATE, how=how, start=3.0), noise=0.2, outputscale=4.0)
    mean, variance, density = dense_process(model, KARATE, y)
    found = model.posterior(std="exact", seed=0, tol=1e-12, n_samples=4000)
    assert_close(found.mean, mean, atol=1e-8, rtol=0)
    assert_close(found.std**2, variance, atol=1e-8, rtol=0)
    assert_close(found.samples.var(0), variance, atol=0, rtol=0.15)
    assert_close(found.samples.mean(0), mean, atol=0.1, rtol=0)
    losses = model.fit(1, n_probes=3000, tol=1e-8, seed=0)
    units = math.log(model.scale)  # of the density of standardised targets
    accuracy = 1e-8 if how == "columns" else 0.05
    assert losses[0] == pytest.approx(-density.item() / 20 - units, abs=accuracy)


def test_gpytorchs_own_way_gives_the_same():
    _, noisy, seen, unseen = drawn(KARATE, 5.0, 0.1, 20)
    model = NodeGP(seen, noisy[seen], KARATE)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    objective(model(*model.train_inputs), model.train_targets).backward()
    assert model.kernel.raw_log_parameter.grad.abs() > 0
    found = model.posterior(unseen, seed=0)
    model.eval()
    with torch.no_grad():
        same = model(torch.tensor(unseen)) * model.scale + model.offset
    assert_close(found.mean, same.mean, atol=1e-8, rtol=0)
    assert_close(found.std, same.stddev, atol=1e-7, rtol=0)


@pytest.mark.parametrize("W", [GRID, SCALE_FREE], ids=["grid", "scale-free"])
def test_defaults_are_as_good_as_the_true_parameters(W):
    ratios, inside = [], []
    for seed in range(3):
        function, noisy, seen, unseen = drawn(W, 10.0, 0.1, W.n_nodes // 4, seed)
        model = NodeGP(seen, noisy[seen], W)
        losses = model.fit()
        assert len(losses) < 50  # it stops by itself
        found = model.posterior(unseen, seed=0)
        # The true process: λ is known, its size and the noise too.
        known = {"noise": 0.1, "outputscale": 1 / exactly(W, 10.0).diagonal().mean().item()}
        process = NodeGP(seen, noisy[seen], NodeKernel(W, start=10.0), **known)
        true = process.posterior(unseen, seed=0)
        errors = [np.std(each.mean.numpy() - function[unseen]) for each in (found, true)]
        ratios.append(errors[0] / errors[1])
        width = 1.96 * (found.std.numpy() ** 2 + model.noise) ** 0.5
        inside.append(np.mean(np.abs(found.mean.numpy() - noisy[unseen]) < width))
    assert np.mean(ratios) < 1.06  # what three unknown numbers cost
    assert 0.92 < np.mean(inside) < 0.98  # two standard errors


def test_products_find_what_columns_find():
    _, noisy, seen, unseen = drawn(GRID, 10.0, 0.1, 200)
    found = []
    for how in ("columns", "products"):
        model = NodeGP(seen, noisy[seen], NodeKernel(GRID, how=how))
        assert model.plan.how == how and model.plan.reason == "as asked for"
        with gpytorch.settings.max_cholesky_size(0):
            losses = model.fit(30, seed=0)
        assert losses[-1] < losses[0] + 0.02
        assert NodeGP(seen, noisy[seen], GRID, method=how).plan.how == how
        found.append((model, model.posterior(unseen, seed=0)))
    (exact, wanted), (other, same) = found
    assert other.kernel.lam.item() == pytest.approx(exact.kernel.lam.item(), rel=0.3)
    assert other.noise == pytest.approx(exact.noise, rel=0.2)
    assert (same.mean - wanted.mean).square().mean().sqrt() < 0.1


def test_features_are_those_of_walks():
    _, noisy, seen, unseen = drawn(GRID, 5.0, 0.1, 100)
    for family in ("diffusion", "regularized-laplacian"):
        model = NodeGP(seen, noisy[seen], NodeKernel(GRID, family, how="features"))
        assert isinstance(model.kernel, GRFKernel) and model.plan.how == "features"
        assert NodeGP(seen, noisy[seen], GRID, method="features").plan.how == "features"
        model.fit(2)
        assert model.posterior(unseen, seed=0).mean.dtype == DOUBLE


def test_far_reaching_functions_make_the_kernel_reach_further():
    i, j = np.divmod(np.arange(400), 20)
    y = np.sin(i / 6) + np.cos(j / 6) + 0.01 * np.random.default_rng(0).standard_normal(400)
    model = NodeGP(np.arange(0, 400, 3), y[::3], GRID)
    model.fit()
    assert model.kernel.lam > 32
    error = model.posterior(seed=0).mean.numpy() - y
    assert np.sqrt(np.mean(error**2)) < 0.2 * y.std()


def test_given_parameters_are_the_start():
    _, noisy, seen, _ = drawn(GRID, 5.0, 0.1, 100)
    model = NodeGP(seen, noisy[seen], NodeKernel(GRID, start=2.0), noise=0.3)
    model.fit(0)
    assert (model.kernel.lam.item(), model.noise) == pytest.approx((2.0, 0.3))
    first = model.fit(3)
    assert model.fit(3)[0] <= first[-1]  # goes on, and does not search again


def test_deviations_are_exact_where_that_is_cheap(monkeypatch):
    _, noisy, seen, unseen = drawn(GRID, 5.0, 0.1, 100)
    kernel = NodeKernel(GRID, start=5.0)
    y, given = torch.tensor(noisy[seen]), {"noise": 0.1, "outputscale": 20.0, "seed": 0}
    exact, drawn_ones, auto = (
        posterior_samples(kernel, seen, y, unseen, std=std, **given).std
        for std in ("exact", "samples", "auto")
    )
    assert torch.equal(auto, exact) and not torch.equal(exact, drawn_ones)
    assert_close(drawn_ones, exact, rtol=0.3, atol=0)
    monkeypatch.setattr("grfpp.torch.gp.posterior._MAX_EXACT_STD", 1)
    assert torch.equal(posterior_samples(kernel, seen, y, unseen, **given).std, drawn_ones)


# With kernels of walks.


def test_likelihood_and_gradient_are_those_of_dense_algebra():
    model = model_of()
    assert model.noise == pytest.approx(0.05)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    loss = -objective(model(TRAIN), model.train_targets) * len(TRAIN)
    loss.backward()
    found = [each.grad.clone() for each in model.parameters()]
    model.zero_grad()
    K = model.kernel.graph_kernel.rows(TRAIN)[:, TRAIN] * model.covar_module.outputscale
    mean, A = model.mean_module.constant.expand(50), K + model.likelihood.noise * torch.eye(50)
    wanted = -MultivariateNormal(mean, A).log_prob(model.train_targets)
    wanted.backward()
    assert_close(loss, wanted, rtol=1e-6, atol=0)
    for gradient, parameter in zip(found, model.parameters(), strict=True):
        assert_close(gradient, parameter.grad, rtol=1e-5, atol=1e-8)


def test_fit_repeats_itself_and_leaves_other_random_numbers_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    with gpytorch.settings.max_cholesky_size(0):
        losses = [model_of().fit(3, seed=0) for _ in range(2)]
    assert losses[0] == losses[1]
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("factor", "shift"), [(1.0, 10.0), (1e-3, 0.0), (-1e9, 1e9)])
def test_the_units_of_the_targets_do_not_matter(factor, shift):
    y = targets()
    plain, other = (
        NodeGP(TRAIN, numbers[TRAIN], walk_kernel()) for numbers in (y, factor * y + shift)
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
    model = NodeGP(TRAIN, 50 + 7 * targets()[TRAIN], walk_kernel(), noise=3.0, outputscale=20.0)
    assert (model.noise, model.outputscale) == pytest.approx((3.0, 20.0))
    assert model.likelihood.noise.item() == pytest.approx(3.0 / model.scale**2)
    default = NodeGP(TRAIN, 50 + 7 * targets()[TRAIN], walk_kernel())
    variance = (7 * targets()[TRAIN]).var(correction=0).item()
    mean_diagonal = walk_matrix(walk_kernel()).diagonal()[TRAIN].mean().item()
    begun = (0.1 * variance, variance / mean_diagonal)
    assert (default.noise, default.outputscale) == pytest.approx(begun)


@pytest.mark.parametrize("y", [[3, 3, 3], [0.1 + 0.2, 0.3, 0.3], [7.0]])
@pytest.mark.parametrize("kernel", [KARATE, GRFKernel(KARATE, seed=0, dtype=DOUBLE)])
def test_targets_that_are_all_the_same(y, kernel):
    model = NodeGP(list(range(len(y))), y, kernel)
    assert model.scale == 1.0
    with pytest.warns(InputWarning):
        assert np.isfinite(model.fit(3)).all()
    assert_close(model.posterior([0], seed=0).mean.item(), float(y[0]), rtol=0.1, atol=0.1)
    # They do not say that the function is the same everywhere.
    assert model.posterior(seed=0).std.max() > 0.5


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float16, torch.float32])
@pytest.mark.parametrize("of_kernel", [torch.float32, DOUBLE])
def test_targets_take_the_number_type_of_the_kernel(dtype, of_kernel):
    kernel = walk_kernel(dtype=of_kernel)
    y = (20 * targets()[TRAIN] + 60).to(dtype)
    for each in (gpytorch.kernels.ScaleKernel(kernel), kernel):
        model = NodeGP(TRAIN, y, each)
        model.fit(2)
        assert kernel.graph_kernel.factors[0].amounts.dtype == of_kernel
    found = model.posterior(TEST, seed=0)
    assert found.mean.dtype == of_kernel
    assert (found.mean - y.double().mean()).abs().max() < 4 * y.double().std()


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
    kernel = walk_kernel(data.W, degree=4, n_lengths=12, n_walks=16, n_exact=2)
    model = NodeGP(train, y[train], kernel, outputscale=10.0)
    model.fit(**steps)
    found = model.posterior(test, n_samples=300, seed=0)
    errors = [(mean - y[test]).pow(2).mean().sqrt() for mean in (found.mean, wanted.mean)]
    assert errors[0].item() == pytest.approx(errors[1].item(), rel=0.01)
    lam = exact.kernel.raw.exp().item()
    assert kernel.modulation.lam.item() == pytest.approx(lam, rel=0.05)
    share = covered(data, found.mean, found.std**2, model.noise)
    assert abs(share - covered(data, wanted.mean, wanted.variance, exact.noise)) < 0.02
    assert 0.92 < share < 0.98  # 95 %, give or take two standard errors


# The estimator of scikit-learn.

SMALL_GRID = grfpp.Graph(nx.grid_2d_graph(10, 10))


def test_it_is_the_process():
    gp = clone(NodeGPRegressor(SMALL_GRID))
    with pytest.raises(NotFittedError):
        gp.predict([0])
    gp.fit(NODES[::2, None], Y[::2])
    model = NodeGP(NODES[::2], Y[::2], SMALL_GRID.normalized("sym"))
    model.fit()
    wanted = model.posterior(NODES[1::2], seed=0)
    mean, std = gp.predict(NODES[1::2, None], return_std=True)
    np.testing.assert_allclose(mean, wanted.mean, rtol=1e-8)
    np.testing.assert_allclose(std, wanted.std, rtol=1e-6)
    np.testing.assert_array_equal(gp.predict(NODES[1::2]), mean)
    assert gp.model_.plan.how == "columns"
    order = np.random.default_rng(0).permutation(100)  # splits hide nodes
    assert cross_val_score(NodeGPRegressor(SMALL_GRID), order, Y[order], cv=3).mean() > 0.8


def process(nodes=(0,), targets=(1.0,), kernel=KARATE, **options):
    return NodeGP(nodes, targets, kernel, **options)


BAD_TARGETS = [[1.0], [1.0, math.nan], [1e300, -1e300]]
test_bad_arguments_are_refused = refused(
    {None: [partial(process, kernel=each) for each in (3, None, "diffusion")]},
    W=[partial(process, kernel=each) for each in (nx.karate_club_graph(), [[0, 1], [0, 0]])],
    nodes=[
        lambda: process([34]),
        lambda: process([], [], walk_kernel()),
        lambda: process([-1], kernel=gpytorch.kernels.RBFKernel()),
    ],
    method=[
        lambda: process(method="best"),
        lambda: process(kernel=NodeKernel(KARATE), method="products"),
    ],
    std=lambda: process().posterior(std="both"),
    n_samples=lambda: process().posterior(n_samples=1),
    targets=[
        *(partial(process, [0, 1], bad, walk_kernel()) for bad in BAD_TARGETS),
        *(partial(process, [0], bad, walk_kernel()) for bad in ([True], [1j], ["a"], None)),
    ],
    noise=[
        lambda: process(kernel=walk_kernel(), noise=0),
        lambda: process([0, 1], [0.0, 20.0], walk_kernel(), noise=1e-6),
    ],
    n_steps=lambda: model_of().fit(-1),
    lr=lambda: model_of().fit(1, lr=-1),
    kernel=lambda: process(kernel=gpytorch.kernels.RBFKernel()).posterior(),
    family=lambda: NodeGPRegressor(SMALL_GRID, family="heat").fit([0, 1], [1.0, 2.0]),
)
