"""The kernel that estimators share: by walks or exact, from the same parameters."""

import re

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from operator_case import LinearOperatorCase
from small_graphs import directed, irregular, weighted

import grfpp
from grfpp import exact_kernel as exact_operator
from grfpp.exact_kernel import ExactKernel
from grfpp.tasks.kernels import (
    PARAMETERS,
    kernel_operator,
    kernel_parameters,
    operator_of,
    seed_of,
    settled_seed,
    threads_of,
    weights_of,
)


def exact_diffusion(matrix, sigma, kind="sym"):
    return grfpp.Diffusion(1.0).exact(grfpp.Graph(matrix).normalized(kind, sigma**2))


def test_walks_are_those_of_the_library():
    K = kernel_operator(
        irregular(),
        kernel="diffusion:0.5",
        degree=3,
        n_walks=5,
        termination="poisson:3",
        sigma=0.8,
        random_state=7,
        n_jobs=1,
    )
    W = grfpp.Graph(irregular()).normalized("sym", 0.8**2)
    wanted = grfpp.sample(W, grfpp.Diffusion(0.5), 3, 5, grfpp.Poisson(3), 7)
    assert_array_equal(K.toarray(), wanted.toarray())


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "exact"},
        {"estimate": "exact"},
        {"kernel": grfpp.Diffusion(), "estimate": "exact"},
    ],
)
def test_exact_in_every_spelling(options):
    K = kernel_operator(weighted(), sigma=0.6, **options)
    assert isinstance(K, ExactKernel)
    assert_allclose(K.toarray(), exact_diffusion(weighted(), 0.6), rtol=1e-12)


def test_the_mean_of_the_estimate_is_the_exact_kernel():
    exact = kernel_operator(irregular(), kernel="exact", sigma=1.2).toarray()
    draws = np.array(
        [
            kernel_operator(irregular(), sigma=1.2, n_walks=4, random_state=seed).toarray()
            for seed in range(400)
        ]
    )
    z = (draws.mean(axis=0) - exact) / (draws.std(axis=0) / 20)
    assert np.sqrt(np.mean(z**2)) < 1.3


@pytest.mark.parametrize("kind", ["sym", "rw", None])
def test_weights_are_scaled_by_the_square_of_sigma(kind):
    wanted = grfpp.Graph(weighted()).normalized(kind).adjacency.toarray() * 0.25
    assert_allclose(weights_of(weighted(), 0.5, kind).adjacency.toarray(), wanted)


def test_recomputed_walks_are_the_same():
    kept, walked = (
        kernel_operator(weighted(), random_state=1, storage=storage)
        for storage in ("memory", "recompute")
    )
    v = np.arange(9.0)
    assert_array_equal(kept @ v, walked @ v)


class Holder:
    def __init__(self):
        for name in PARAMETERS:
            setattr(self, name, None)
        self.kernel, self.estimate, self.sigma, self.n_jobs = "exact", "walks", 0.5, 1
        self.normalization, self.termination = "rw", "geometric:0.1"


def test_estimators_pass_on_what_they_hold():
    holder = Holder()
    assert set(kernel_parameters(holder)) == set(PARAMETERS)
    found = operator_of(holder, irregular(), sigma=0.9)
    assert_allclose(found.toarray(), exact_diffusion(irregular(), 0.9, "rw"))


def test_seeds():
    assert seed_of(None) is None
    assert seed_of(np.int64(3)) == 3
    assert seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    assert seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    assert settled_seed(5) == 5
    assert settled_seed(None) != settled_seed(None)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kernel": "diffussion"}, "there is no kernel 'diffussion'"),
        ({"kernel": 3}, "kernel must be a Kernel or text"),
        ({"estimate": "guess"}, "estimate must be 'walks' or 'exact'"),
        ({"termination": "forever"}, "unknown termination law"),
        ({"termination": 0.1}, "termination must be a law or text"),
        ({"sigma": 0.0}, "sigma must be a positive"),
        ({"sigma": float("nan")}, "sigma must be a positive"),
        ({"sigma": "wide"}, "sigma must be a positive"),
        ({"sigma": 1e200}, "sigma must have a square"),
        ({"sigma": 1e-200}, "sigma must have a square"),
        ({"kernel": "inverse-power", "normalization": None}, "use normalization='sym' with sigma="),
        ({"normalization": "both"}, "normalization must be 'sym', 'rw' or None"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"random_state": "dice"}, "random_state must be a whole number"),
        ({"degree": 0}, "degree"),
        ({"n_walks": 0}, "n_walks"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"kernel": "exact", "n_jobs": 0}, "n_jobs"),
        ({"kernel": "inverse-power:4"}, "converges for spectral radii below 1"),
        ({"kernel": "inverse-power:4", "estimate": "exact"}, "spectral radii below 1"),
    ],
)
def test_what_cannot_be_used_is_refused(options, told):
    with pytest.raises(grfpp.InputError, match=told):
        kernel_operator(irregular(), **options)


def test_none_is_one_thread():
    assert threads_of(None) == 1
    found = kernel_operator(irregular(), random_state=0, n_jobs=None)
    assert_array_equal(found.toarray(), kernel_operator(irregular(), random_state=0).toarray())


def test_advice_can_be_followed():
    """Errors name what the estimators have, not what the library has."""
    with pytest.raises(grfpp.InputError) as error:
        kernel_operator(irregular(), termination="fixed:3")
    assert "truncate" not in str(error.value)
    with pytest.raises(grfpp.InputError) as error:
        kernel_operator(irregular(), kernel="inverse-power", normalization=None)
    sigma = float(re.search("sigma=([0-9.]+)", str(error.value))[1])
    kernel_operator(irregular(), kernel="inverse-power", estimate="exact", sigma=sigma)


class ExactCase(LinearOperatorCase):
    rtol = 1e-9
    matrix = staticmethod(weighted)
    kernel = grfpp.Diffusion(1.0)

    @pytest.fixture
    def operator(self):
        return ExactKernel(grfpp.Graph(self.matrix()).normalized("sym"), self.kernel)

    @pytest.fixture
    def expected(self):
        return self.kernel.exact(grfpp.Graph(self.matrix()).normalized("sym"))

    def test_parts(self, operator, expected):
        self.assert_close(operator.rows([3, 1]), expected[[3, 1]])
        self.assert_close(operator.diagonal(), np.diag(expected))
        with pytest.raises(grfpp.InputError, match="nodes must lie between"):
            operator.rows([len(expected)])

    def test_features_multiply_to_the_kernel(self, operator, expected):
        X, Y = operator.features()
        self.assert_close(X @ Y.T, expected)

    def test_projected_features_multiply_to_the_kernel_on_average(self, operator, expected):
        pairs = [operator.project(6, seed=seed) for seed in range(600)]
        assert pairs[0][0].shape == (len(expected), 6)
        mean = np.mean([X @ Y.T for X, Y in pairs], axis=0)
        assert np.linalg.norm(mean - expected) < 0.1 * np.linalg.norm(expected)


class TestDense(ExactCase):
    pass


class TestDenseDirected(ExactCase):
    matrix = staticmethod(directed)


class TestNegative(ExactCase):
    """A kernel with a negative first coefficient: one half has the sign."""

    kernel = grfpp.TaylorKernel([-4, -1])


class TestProducts(ExactCase):
    """Beyond the size up to which the kernel is formed."""

    rtol = 1e-8

    @pytest.fixture(autouse=True)
    def nothing_is_small(self, monkeypatch):
        monkeypatch.setattr(exact_operator, "DENSE_NODES", 0)


class TestProductsDirected(TestProducts):
    matrix = staticmethod(directed)


def test_exact_features_are_what_walks_give_on_average():
    graph = nx.karate_club_graph()
    exact, _ = kernel_operator(graph, kernel="exact").features()
    found = sum(
        kernel_operator(graph, n_walks=64, random_state=seed).features()[0] for seed in range(40)
    )
    assert np.linalg.norm(found / 40 - exact) < 0.03 * np.linalg.norm(exact)


def test_exact_features_need_a_root():
    K = kernel_operator(irregular(), kernel="cosine", estimate="exact")
    with pytest.raises(grfpp.DivergentSeriesError, match="modulation of degree 1"):
        K.features()
