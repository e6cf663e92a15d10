import pickle
import warnings
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from gp_case import GraphGPCase
from numpy.testing import assert_allclose

import grfpp
from grfpp.datasets import grid
from grfpp.errors import InputError, InputWarning
from grfpp.gp import GraphGP, plan
from grfpp.gp.posterior import Spectrum
from grfpp.gp.selection import leave_one_out_precisions
from grfpp.graph import Graph
from grfpp.linalg.factorization import SparseFactor


class TestColumns(GraphGPCase):
    options = {"method": "columns"}


class TestPrecision(GraphGPCase):
    options = {"method": "precision"}


class TestConjugateGradients(GraphGPCase):
    options = {"method": "cg", "power": 1.5}


class TestConjugateGradientsOfDiffusion(GraphGPCase):
    options = {"method": "cg", "kernel": "diffusion"}

    def function(self, width):
        return lambda x: np.exp(-width * (1 - x))


class TestPolynomials(GraphGPCase):
    """Columns of a power without a sparse inverse."""

    options = {"method": "columns", "power": 1.5}


class TestOddPower(GraphGPCase):
    options = {"method": "precision", "power": 1}


class TestFourthPower(GraphGPCase):
    """Blocks are Gram matrices of half the power."""

    options = {"method": "columns", "power": 4}


class TestDiffusion(GraphGPCase):
    options = {"kernel": "diffusion"}

    def function(self, width):
        return lambda x: np.exp(-width * (1 - x))


@pytest.fixture(scope="module")
def field():
    """A smooth function on a grid, with noisy observations."""
    rng = np.random.default_rng(0)
    rows, columns = np.divmod(np.arange(900), 30)
    values = 5 + np.sin(rows / 5) + np.cos(columns / 6)
    seen = rng.choice(900, 100, replace=False)
    return grid(30, 30), values, seen, values[seen] + 0.3 * rng.standard_normal(100)


def test_chosen_parameters(field):
    graph, values, seen, y = field
    gp = GraphGP(graph).fit(seen, y)
    mean, std = gp.predict(return_std=True)
    assert np.sqrt(np.mean((mean - values) ** 2)) < 0.3
    assert 0.9 < np.mean(np.abs(mean - values) < 1.96 * std) <= 1
    assert 0.2**2 < gp.noise_ < 0.4**2
    assert sum(part.share for part in gp.components_) == pytest.approx(1)
    assert len(gp.components_) > 1
    noisy = gp.predict(return_std=True, include_noise=True)[1]
    assert (noisy > std).all()


def test_methods_agree(field):
    graph, _, seen, y = field
    one, other = (GraphGP(graph, method=m).fit(seen, y) for m in ("columns", "precision"))
    for found, wanted in zip(
        one.predict(return_std=True), other.predict(return_std=True), strict=True
    ):
        assert_allclose(found, wanted, rtol=1e-6)


def test_families_share_what_does_not_depend_on_roots(field, monkeypatch):
    """Other normalisations and powers change no number, and take no further blocks."""
    graph, _, seen, _ = field
    nodes = np.sort(seen)
    for factorize, width in ((True, 20.0), (False, 20.0), (False, 200.0)):
        first = GraphGP(graph).families(graph)[0]
        for changes in ({}, {"roots": np.ones(900)}, {"power": 3}, {"kernel": "diffusion"}):
            shared = replace(first, **changes)
            alone = replace(shared, _shared=type(first._shared)())
            blocks = [
                f.covariance(width, factorize=factorize).block(nodes) for f in (shared, alone)
            ]
            assert_allclose(*blocks, rtol=1e-8, atol=1e-11)
    columns = first.covariance(20.0, factorize=True).entries(nodes, nodes[:3])
    assert_allclose(columns, first.covariance(20.0, factorize=True).block(nodes)[:, :3], rtol=1e-8)
    wider = replace(first, roots=np.ones(900)).covariance(20.0, factorize=True)
    monkeypatch.setattr(type(wider), "_kernel_block", None)
    assert wider.block(nodes).shape == (100, 100)
    first.forget_blocks()
    with pytest.raises(TypeError):
        wider.block(nodes)


@pytest.mark.parametrize("width", [1e5, 1e7])
def test_very_wide_kernels(field, width):
    """Neither is the rounding of samples refused, nor is a narrow peak missed."""
    family = GraphGP(field[0], kernel="diffusion").families(field[0])[0]
    roots = family.roots[:, None]
    found = family.covariance(width, factorize=False).times(roots**2)
    assert_allclose(found, np.ones((900, 1)), rtol=1e-5)


def test_blocks_are_not_stored(field):
    graph, _, seen, y = field
    gp = GraphGP(graph, normalization="sym", kernel="diffusion").fit(seen, y)
    other = pickle.loads(pickle.dumps(gp))
    assert_allclose(other.predict(seen, return_std=True), gp.predict(seen, return_std=True))


@pytest.mark.parametrize(("name", "power"), [("grid", 1), ("grid", 2), ("scale-free", 1)])
def test_predicted_fill(name, power):
    graph = grid(60, 60) if name == "grid" else Graph(nx.barabasi_albert_graph(4000, 2, seed=0))
    exact = SparseFactor(plan._pattern(graph, power)).n_entries / 2
    assert 0.6 < plan.predicted_fill(graph, power) / exact < 1.7


@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_units(field, unit):
    """Values in another unit give the same in that unit."""
    graph, _, seen, y = field
    mean, std = GraphGP(graph).fit(seen, y).predict(return_std=True)
    other, spread = GraphGP(graph).fit(seen, unit * y - unit).predict(return_std=True)
    assert_allclose(other, unit * mean - unit, rtol=1e-6, atol=1e-6 * unit)
    assert_allclose(spread, unit * std, rtol=1e-6)


def test_smooth_functions_without_noise(monkeypatch):
    """Rounding does not hide what smooth kernels tell: averages are better than power 2 alone."""
    rows, columns = np.divmod(np.arange(900), 30)
    values = np.sin(rows / 6) * np.cos(columns / 7)
    seen = np.random.default_rng(0).choice(900, 180, replace=False)
    found, rough = (GraphGP(grid(30, 30), power=p).fit(seen, values[seen]) for p in ("auto", 2))
    errors = [np.sqrt(np.mean(np.square(gp.predict() - values))) for gp in (found, rough)]
    assert errors[0] < 0.8 * errors[1] < 0.02
    monkeypatch.setattr("grfpp.gp.model._MAX_SOLVES", 0)
    few = GraphGP(grid(30, 30)).fit(seen, values[seen])
    assert_allclose(few.predict(), rough.predict())


def test_normalizations(monkeypatch):
    """Where degrees are uneven and many observations say so, ``"sym"`` overrules its prior."""
    rng = np.random.default_rng(0)
    graph = Graph(nx.barabasi_albert_graph(400, 3, seed=0))
    W = graph.normalized("sym").adjacency.toarray()
    values = np.linalg.cholesky(np.linalg.inv(1.3 * np.eye(400) - W)) @ rng.standard_normal(400)
    for n, expected in ((200, "sym"), (4, "rw")):
        gp = GraphGP(graph).fit(np.arange(400)[:n], values[:n])
        assert gp.normalization_ == expected
    assert GraphGP(grid(9, 9)).fit([0, 40, 80], [0.0, 1.0, 3.0]).normalization_ == "rw"
    monkeypatch.setattr("grfpp.gp.model._MAX_ENTRIES", 0)
    monkeypatch.setattr("grfpp.gp.model._MAX_FILL", 0)
    assert isinstance(GraphGP(graph).fit(np.arange(50), values[:50]).kernel_, grfpp.Diffusion)


def test_leave_one_out_precisions():
    rng = np.random.default_rng(0)
    root, noise = rng.standard_normal((12, 12)), rng.uniform(0.5, 2, 12)
    C, ratios = root @ root.T, np.array([0.1, 2.0])
    spectrum, one = Spectrum(C, noise), np.ones(12)
    for k, ratio in enumerate(ratios):
        inverse = np.linalg.inv(C + ratio * np.diag(noise))
        total = one @ inverse @ one
        centred = inverse - np.outer(inverse @ one, inverse @ one) / total
        for ones, expected in ((np.inf, inverse), (total, centred)):
            found = leave_one_out_precisions(spectrum, ratios, np.full(2, ones))
            assert_allclose(found[:, k], expected.diagonal())


def test_few_observations_prefer_a_fit():
    """Of a wave with noise at a few nodes, most of the prior's widths would make nothing."""
    rows, columns = np.divmod(np.arange(900), 30)
    wave, ratios = np.sin(rows / 6) + np.cos(columns / 7), []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        seen = rng.choice(900, 25, replace=False)
        mean = GraphGP(grid(30, 30)).fit(seen, wave[seen] + rng.standard_normal(25)).predict()
        ratios.append(np.std(mean - wave) / np.std(wave))
    assert np.median(ratios) < 0.5


def test_repeated_nodes_tell_the_noise():
    rng = np.random.default_rng(1)
    nodes = np.repeat(rng.choice(400, 30, replace=False), 10)
    y = np.repeat(rng.standard_normal(30), 10) + 0.1 * rng.standard_normal(300)
    assert GraphGP(grid(20, 20)).fit(nodes, y).noise_ == pytest.approx(0.01, rel=0.3)


def test_given_parameters_are_kept(field):
    graph, _, seen, y = field
    given = {"width": 20.0, "noise": 0.05, "outputscale": 2.0, "mean": 4.0}
    gp = GraphGP(graph, **given).fit(seen, y)
    assert {name: getattr(gp, f"{name}_") for name in given} == given
    for name, value in given.items():
        gp = GraphGP(graph, **{name: value}).fit(seen, y)
        assert getattr(gp, f"{name}_") == pytest.approx(value)


def test_kernels(field):
    graph, _, seen, y = field
    given = GraphGP(graph, kernel=grfpp.RegularizedLaplacian(2, 50.0)).fit(seen, y)
    named = GraphGP(graph, width=50.0).fit(seen, y)
    assert_allclose(given.predict(), named.predict(), rtol=1e-6)
    assert named.kernel_ == grfpp.RegularizedLaplacian(2, 50.0)
    with pytest.raises(InputError, match="negative eigenvalue"):
        GraphGP(graph, kernel="cosine:3").fit(seen, y)


@pytest.mark.parametrize(
    ("nodes", "y"), [([3], [7.0]), ([3, 4, 5], [7.0, 7.0, 7.0]), ([3, 3], [7.0, 7.0])]
)
def test_nothing_to_choose_from(nodes, y):
    with pytest.warns(InputWarning, match="all equal or only one"):
        gp = GraphGP(grid(5, 5)).fit(nodes, y)
    mean, std = gp.predict(return_std=True)
    assert_allclose(mean, 7.0)
    assert np.isfinite(std).all()
    assert std[24] > std[3]


def test_two_observations():
    mean, std = GraphGP(grid(5, 5)).fit([0, 24], [0.0, 1.0]).predict(return_std=True)
    assert ((mean > -0.01) & (mean < 1.01)).all()
    assert np.isfinite(std).all()


def test_components_without_observations():
    """They have the prior's mean and variance."""
    path = np.diag(np.ones(4), 1)
    A = np.block([[path + path.T, np.zeros((5, 5))], [np.zeros((5, 5)), path + path.T]])
    fixed = {"width": 2.0, "noise": 0.1, "outputscale": 1.0, "mean": 3.0}
    mean, std = GraphGP(A, **fixed).fit([0, 2, 4], [1.0, 2.0, 3.0]).predict(return_std=True)
    assert_allclose(mean[5:], 3.0)
    assert std[5:].min() > std[:5].max()


@pytest.mark.parametrize(
    ("nodes", "y", "options", "match"),
    [
        ([0, 1], [1.0, np.nan], {}, "NaN or infinity"),
        ([0, 1], [1.0], {}, r"shape \(2,\)"),
        ([], [], {}, "at least one node"),
        ([0, 99], [1.0, 2.0], {}, "99"),
        ([0, 1], [1.0, 2.0], {"noise": -1.0}, "noise"),
        ([0, 1], [1.0, 2.0], {"method": "magic"}, "method"),
        ([0, 1], [1.0, 2.0], {"power": []}, "power must not be empty"),
    ],
)
def test_refused(nodes, y, options, match):
    with pytest.raises(InputError, match=match) as caught:
        GraphGP(grid(5, 5), **options).fit(nodes, y)
    assert "\n" not in str(caught.value)


def test_directed_graphs():
    A = np.triu(np.ones((5, 5)), 1)
    with pytest.raises(InputError, match="undirected"):
        GraphGP(A).fit([0, 1], [0.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(GraphGP(A @ A.T).fit([0, 1, 2], [0.0, 1.0, 3.0]).predict()) == 5


def test_reproducible(field):
    graph, _, seen, y = field
    gp = GraphGP(graph, random_state=3).fit(seen, y)
    assert (gp.sample([4, 2], 5) == gp.sample([4, 2], 5)).all()
