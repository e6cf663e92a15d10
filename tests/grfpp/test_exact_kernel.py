"""The kernel itself, with the methods of an estimate."""

import networkx as nx
import numpy as np
import pytest
from operator_case import LinearOperatorCase
from small_graphs import directed, irregular, weighted

import grfpp
from grfpp import exact_kernel
from grfpp.exact_kernel import ExactKernel


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
        monkeypatch.setattr(exact_kernel, "DENSE_NODES", 0)


class TestProductsDirected(TestProducts):
    matrix = staticmethod(directed)


def test_exact_features_are_what_walks_give_on_average():
    W, kernel = grfpp.Graph(nx.karate_club_graph()).normalized("sym"), grfpp.Diffusion(1.0)
    exact, _ = ExactKernel(W, kernel).features()
    sampled = [grfpp.sample(W, kernel, seed=seed, symmetrize=False) for seed in range(40)]
    mean = sum(K.features()[0] for K in sampled) / 40
    assert np.linalg.norm(mean - exact) < 1e-4 * np.linalg.norm(exact)


def test_exact_features_need_a_root():
    K = ExactKernel(grfpp.Graph(irregular()).normalized("sym"), grfpp.Cosine())
    with pytest.raises(grfpp.DivergentSeriesError, match="modulation of degree 1"):
        K.features()
