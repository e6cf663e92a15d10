"""`NodeGP` with exact kernels: against dense algebra, on draws of the process, and in trouble."""

import math

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
from grfpp.torch import GRFKernel, NodeGP, NodeKernel, posterior_samples

import gpytorch  # isort: skip - after grfpp.torch, which keeps its import quiet

DOUBLE = torch.float64
KARATE = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
SCALE_FREE = grfpp.Graph(nx.barabasi_albert_graph(600, 4, seed=3)).normalized("sym")
GRID = grfpp.Graph(nx.grid_2d_graph(20, 20)).normalized("sym")


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
    across = torch.linalg.solve(A, K[seen])
    mean = model.mean + across.T @ (torch.tensor(y) - model.mean)
    variance = K.diagonal() - (K[seen] * across).sum(0)
    law = torch.distributions.MultivariateNormal(torch.full_like(torch.tensor(y), model.mean), A)
    return mean, variance, law.log_prob(torch.tensor(y))


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


def test_it_begins_where_training_can_succeed():
    _, noisy, seen, _ = drawn(SCALE_FREE, 10.0, 0.1, 150)
    model = NodeGP(seen, noisy[seen], SCALE_FREE)
    diagonal = exactly(SCALE_FREE, 5.0).diagonal()[seen].mean().item()
    assert model.outputscale == pytest.approx(noisy[seen].var() / diagonal, rel=1e-6)
    assert model.kernel.lam.item() == pytest.approx(5.0)


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
        true = NodeGP(
            seen,
            noisy[seen],
            NodeKernel(W, start=10.0),
            noise=0.1,
            outputscale=1 / exactly(W, 10.0).diagonal().mean().item(),
        ).posterior(unseen, seed=0)
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


def test_what_was_told_is_where_it_begins():
    _, noisy, seen, _ = drawn(GRID, 5.0, 0.1, 100)
    model = NodeGP(seen, noisy[seen], NodeKernel(GRID, start=2.0), noise=0.3)
    model.fit(0)
    assert (model.kernel.lam.item(), model.noise) == pytest.approx((2.0, 0.3))
    first = model.fit(3)
    assert model.fit(3)[0] <= first[-1]  # goes on, and does not search again


@pytest.mark.parametrize("y", [[3.0, 3.0, 3.0], [7.0]])
def test_targets_that_are_all_the_same(y):
    model = NodeGP(list(range(len(y))), y, KARATE)
    with pytest.warns(grfpp.errors.InputWarning, match="nothing is learned"):
        assert np.isfinite(model.fit()).all()
    assert model.posterior([0], seed=0).mean.item() == pytest.approx(y[0], abs=0.1)
    # They do not tell that the function is the same everywhere.
    assert model.posterior(seed=0).std.max() > 0.5


def test_nodes_by_name_and_units_of_the_targets():
    W = grfpp.Graph(nx.les_miserables_graph()).normalized("sym")
    people = ["Valjean", "Cosette", "Javert", "Marius", "Fantine", "Enjolras"]
    y = np.array([1.0, 2.0, 0.5, 3.0, 1.5, 4.0])
    plain, other = (NodeGP(people, numbers, W) for numbers in (y, 1e6 * y - 5))
    losses = [model.fit() for model in (plain, other)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    found, same = (model.posterior(["Gavroche"], seed=0) for model in (plain, other))
    assert same.mean.item() == pytest.approx(1e6 * found.mean.item() - 5, rel=1e-6)


def test_deviations_are_exact_where_that_is_cheap(monkeypatch):
    _, noisy, seen, unseen = drawn(GRID, 5.0, 0.1, 100)
    kernel = NodeKernel(GRID, start=5.0)
    y, told = torch.tensor(noisy[seen]), {"noise": 0.1, "outputscale": 20.0, "seed": 0}
    exact, drawn_ones, auto = (
        posterior_samples(kernel, seen, y, unseen, std=std, **told).std
        for std in ("exact", "samples", "auto")
    )
    assert torch.equal(auto, exact) and not torch.equal(exact, drawn_ones)
    assert_close(drawn_ones, exact, rtol=0.3, atol=0)
    monkeypatch.setattr("grfpp.torch.gp.exact_posterior.EXACT_STD_WORK", 1.0)
    assert torch.equal(posterior_samples(kernel, seen, y, unseen, **told).std, drawn_ones)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NodeGP([0], [1.0], nx.karate_club_graph()), r"use graph.normalized\('sym'\)"),
        (lambda: NodeGP([0], [1.0], [[0, 1], [0, 0]]), "undirected"),
        (lambda: NodeGP([0], [1.0], 3), "kernel must be a GRFKernel .* or a weight matrix"),
        (lambda: NodeGP([0], [1.0], None), "kernel must be a GRFKernel .* or a weight matrix"),
        (lambda: NodeGP([34], [1.0], KARATE), "between 0 and 33"),
        (lambda: NodeGP([0], [1.0], KARATE, method="best"), "method must be 'auto', 'columns'"),
        (
            lambda: NodeGP([0], [1.0], NodeKernel(KARATE), method="products"),
            r"method='products' is for weight matrices; .*NodeKernel\(W, how='products'\)",
        ),
        (lambda: NodeGP([0], [1.0], KARATE).posterior(std="both"), "std must be 'auto'"),
        (lambda: NodeGP([0], [1.0], KARATE).posterior(n_samples=1), "n_samples"),
        (
            lambda: NodeGP([0], [1.0], GRFKernel(KARATE, seed=0)).posterior(std="exact"),
            "std='exact' needs a NodeKernel",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("method", ["auto", "columns", "products", "features"])
def test_the_way_asked_for_is_told(method):
    model = NodeGP([0, 5, 9], [1.0, 2.0, 0.0], KARATE, method=method)
    assert model.plan.how == ("columns" if method == "auto" else method)
