import warnings

import numpy as np
import pytest
from gp_case import GraphGPCase
from numpy.testing import assert_allclose

import grfpp
from grfpp.datasets import grid
from grfpp.errors import InputError, InputWarning
from grfpp.gp import GraphGP


class TestColumns(GraphGPCase):
    options = {"method": "columns"}


class TestPrecision(GraphGPCase):
    options = {"method": "precision"}


class TestConjugateGradients(GraphGPCase):
    options = {"method": "cg", "power": 1.5}


class TestPolynomials(GraphGPCase):
    """Columns of a power without a sparse inverse."""

    options = {"method": "columns", "power": 1.5}


class TestOddPower(GraphGPCase):
    options = {"method": "precision", "power": 1}


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


@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_units(field, unit):
    """Values in another unit give the same in that unit."""
    graph, _, seen, y = field
    mean, std = GraphGP(graph).fit(seen, y).predict(return_std=True)
    other, spread = GraphGP(graph).fit(seen, unit * y - unit).predict(return_std=True)
    assert_allclose(other, unit * mean - unit, rtol=1e-6, atol=1e-6 * unit)
    assert_allclose(spread, unit * std, rtol=1e-6)


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
