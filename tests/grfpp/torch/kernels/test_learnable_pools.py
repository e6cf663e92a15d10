"""Learnable kernels from pooled walks: the same numbers, the right means, small errors."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from numpy.testing import assert_allclose
from small_graphs import GRAPHS, karate
from statistics_helpers import copies

import grfpp
from grfpp import Graph, TruncationError, WalkOptions
from grfpp.torch import DiffusionModulation, LearnableKernel
from grfpp.walks import sample_factor
from grfpp.walks.by_length.planning import plan_by_length

DOUBLE = torch.float64


def kernel_of(W, n_lengths=12, degree=2, lam=1.0, **options):
    modulation = DiffusionModulation(n_lengths, degree=degree, lam=lam).double()
    return LearnableKernel(W, modulation, **{"n_walks": 4, "seed": 5, "dtype": DOUBLE, **options})


@pytest.mark.parametrize("law", [None, "geometric:0.2", "matched:3"])
@pytest.mark.parametrize("name", ["unweighted, sym", "weighted, rw", "directed, sym"])
def test_numbers_are_those_of_the_engine(name, law):
    W = GRAPHS[name]
    kernel = kernel_of(W, termination=law)
    f = kernel.modulation().detach().numpy()
    options = WalkOptions(n_walks=4, seed=5, termination=law)
    product = np.eye(W.n_nodes)
    for number in (0, 2, 3, 1):
        side = W.reversed() if number % 2 and W.is_directed else W
        plan = plan_by_length(side, len(f), options).with_factor(number)
        factor = sample_factor(type(plan).pooled(side, f, plan.lengths, 4, 5, number)).toarray()
        product = product @ (factor.T if number % 2 else factor)
    assert_allclose(kernel.rows(range(W.n_nodes)).detach().numpy(), product, rtol=1e-12, atol=1e-15)


def test_walks_do_not_depend_on_where_training_begins():
    amounts = [kernel_of(karate(), lam=lam).factors[0].amounts for lam in (0.5, 4.0)]
    assert torch.equal(*amounts)


@pytest.mark.parametrize("n_exact", [0, 2])
@pytest.mark.parametrize("mean", [3, 16])
def test_independent_sides_are_unbiased(mean, n_exact):
    n, n_copies, W = 34, 100, karate()
    many, exact = copies(W.adjacency, n_copies), grfpp.Diffusion(1.0).exact(W)
    options = {"n_walks": 1, "n_exact": n_exact, "termination": f"matched:{mean}"}
    z = []
    # Numbers of one kernel hang together, so many kernels and few copies of each.
    for seed in range(16):
        vectors = np.random.default_rng(seed).normal(size=(n, 4))
        with torch.no_grad():
            kernel = kernel_of(many, 10, seed=seed, **options)
            found = kernel(torch.from_numpy(np.tile(vectors, (n_copies, 1)))).numpy()
        found = found.reshape(n_copies, n, 4)
        error = found.std(axis=0) / np.sqrt(n_copies)
        z.append((found.mean(axis=0) - exact @ vectors) / error)
    assert 0.85 < np.sqrt(np.mean(np.square(z))) < 1.15


def test_a_kernel_of_any_parameter_is_near():
    W = Graph(karate().adjacency)
    kernel = kernel_of(W, 24, degree=2, n_walks=64)
    for lam, bar in ((0.5, 1e-4), (4.0, 0.01), (16.0, 0.02)):
        with torch.no_grad():
            kernel.modulation.raw.fill_(np.log(lam))
            found = kernel.rows(range(34)).numpy()
        exact = grfpp.Diffusion(lam).exact(W)
        assert np.linalg.norm(found - exact) < bar * np.linalg.norm(exact)


def test_less_noise_than_independent_walks_of_as_many_steps():
    exact = torch.from_numpy(grfpp.Diffusion(1.0).exact(karate()))
    errors = [
        (kernel_of(karate(), n_walks=16, walks=walks).rows(range(34)) - exact).norm().item()
        for walks in ("pooled", "independent")
    ]
    assert errors[0] < 0.05 * errors[1]


def test_hubs_have_no_more_entries_than_their_budget():
    star = np.zeros((2001, 2001))
    star[0, 1:] = star[1:, 0] = 1
    kernel = kernel_of(Graph(star).normalized("sym"), n_walks=8)
    for factor in kernel.factors:
        assert int(factor.pattern.crow.diff().max()) < 8 * 9 + 2 * 12


def test_a_law_that_ends_too_early_is_refused():
    with pytest.raises(TruncationError, match=r"end after 7 steps, .* asks for 11: .* n_lengths=8"):
        kernel_of(karate(), termination=grfpp.FixedLength(7))


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_one_length_is_the_identity(walks):
    kernel = kernel_of(karate(), 1, walks=walks, lam=1e-9)
    assert_allclose(kernel.rows(range(34)).detach().numpy(), np.eye(34), atol=1e-12)
