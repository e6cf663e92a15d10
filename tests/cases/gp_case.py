"""The one test case that every method of a Gaussian process must pass, beside dense algebra."""

from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from grfpp.gp import GraphGP
from grfpp.graph import Graph

MAX_UNIT_NODES = 256


@dataclass
class DenseGP:
    """The textbook's formulas on all observations, none of them combined."""

    C: np.ndarray
    nodes: np.ndarray
    y: np.ndarray
    variances: np.ndarray
    outputscale: float
    #: ``None`` for a flat prior.
    mean: float | None

    def __post_init__(self):
        self.A = self.outputscale * self.C[np.ix_(self.nodes, self.nodes)] + np.diag(self.variances)
        self.inverse = np.linalg.inv(self.A)
        ones = np.ones(len(self.y))
        self.weight = 0.0 if self.mean is not None else 1 / (ones @ self.inverse @ ones)
        self.centre = self.mean
        if self.mean is None:
            self.centre = self.weight * (ones @ self.inverse @ self.y)

    def predict(self, targets):
        across = self.outputscale * self.C[np.ix_(targets, self.nodes)]
        gain = across @ self.inverse
        left = 1 - gain.sum(axis=1)
        prior = self.outputscale * self.C[np.ix_(targets, targets)]
        covariance = prior - gain @ across.T + self.weight * np.outer(left, left)
        return self.centre + gain @ (self.y - self.centre), covariance

    def log_density(self):
        return multivariate_normal(np.full(len(self.y), self.centre), self.A).logpdf(self.y)

    def without(self, i):
        keep = np.arange(len(self.y)) != i
        some = self.nodes[keep], self.y[keep], self.variances[keep]
        return DenseGP(self.C, *some, self.outputscale, self.mean)


def dense_covariance(graph, normalization, function, observed):
    """``R^-1 g(W) R^-1`` with a mean variance of one at observed nodes, by eigenvectors."""
    A = graph.adjacency.toarray()
    degrees = A.sum(axis=1)
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    W = A if normalization is None else A / np.outer(root, root)
    values, vectors = np.linalg.eigh(W)
    K = (vectors * function(values)) @ vectors.T
    if normalization == "rw":
        R = np.where(degrees > 0, root / np.sqrt(degrees[degrees > 0].mean()), 1.0)
        K /= np.outer(R, R)
    distinct = np.unique(observed)
    assert len(distinct) <= MAX_UNIT_NODES
    return K / K[distinct, distinct].mean()


def random_graph(rng):
    """A small graph: sparse or dense, weighted or not, with isolated nodes and components."""
    n = int(rng.integers(8, 40))
    A = nx.to_numpy_array(
        nx.gnp_random_graph(n, rng.uniform(0.05, 0.5), seed=int(rng.integers(99)))
    )
    if rng.random() < 0.5:
        A *= np.triu(rng.lognormal(size=A.shape), 1)
        A += A.T * (np.triu(A, 1).T == 0) * 1.0
        A = np.triu(A, 1) + np.triu(A, 1).T
    A[0, 1] = A[1, 0] = 1.0
    return Graph(A)


class GraphGPCase:
    """Inherit and override `options`, and the class of tests is complete."""

    #: Of `GraphGP`.
    options: dict[str, Any] = {}
    #: The kernel as a function of the eigenvalues of ``W``, for a width.
    rtol = 1e-6

    def function(self, width):
        power = self.options.get("power", 2)
        return lambda x: (1 + width * (1 - x)) ** -float(power)

    def problem(self, seed, mean=None, **options):
        """A model with given parameters, and the dense one."""
        rng = np.random.default_rng([7, seed])
        graph = random_graph(rng)
        n = int(rng.integers(2, 30))
        nodes = rng.integers(graph.n_nodes, size=n)  # some of them again
        y = 3 + rng.standard_normal(n)
        width, size = float(10 ** rng.uniform(-1, 3)), float(10 ** rng.uniform(-1, 1))
        normalization = ("rw", "sym")[seed % 2]
        variances = 0.01 + rng.random(n)
        gp = GraphGP(
            graph, width=width, outputscale=size, mean=mean, normalization=normalization,
            **{**self.options, **options},
        )  # fmt: skip
        gp.fit(nodes, y, noise_variance=variances)
        C = dense_covariance(graph, normalization, self.function(width), nodes)
        return gp, DenseGP(C, nodes, y, variances, size, mean), graph

    @pytest.mark.parametrize("first", range(0, 200, 25))
    def test_dense_algebra(self, first):
        """Likelihood, mean, variances and joint covariance on 200 random graphs."""
        for seed in range(first, first + 25):
            gp, dense, graph = self.problem(seed, mean=(None, 2.5)[seed % 4 // 2])
            everywhere = np.arange(graph.n_nodes)
            mean, covariance = dense.predict(everywhere)
            tolerance = {"rtol": self.rtol, "atol": self.rtol * np.abs(covariance).max()}
            assert_allclose(gp.log_marginal_likelihood_, dense.log_density(), rtol=self.rtol)
            assert_allclose(gp.mean_, dense.centre, rtol=self.rtol)
            assert_allclose(gp.predict(), mean, rtol=self.rtol)
            targets = np.array([graph.n_nodes - 1, 0, 1, 0])
            found, joint = gp.predict(targets, return_cov=True)
            assert_allclose(found, mean[targets], rtol=self.rtol)
            assert_allclose(joint, covariance[np.ix_(targets, targets)], **tolerance)
            _, std = gp.predict(return_std=True)
            assert_allclose(std**2, covariance.diagonal(), **tolerance)

    def test_leave_one_out(self):
        rng = np.random.default_rng(3)
        graph = random_graph(rng)
        nodes = rng.choice(graph.n_nodes, size=8, replace=False)
        y = rng.standard_normal(8)
        gp = GraphGP(graph, width=5.0, noise=0.1, outputscale=1.0, **self.options).fit(nodes, y)
        order = np.argsort(nodes)
        C = dense_covariance(graph, "rw", self.function(5.0), nodes)
        dense = DenseGP(C, nodes[order], y[order], np.full(8, 0.1), 1.0, None)
        for i in range(8):
            mean, covariance = dense.without(i).predict(dense.nodes[[i]])
            wanted = [dense.y[i] - mean[0], np.sqrt(covariance[0, 0] + 0.1)]
            found = [gp.loo_["error"][i, 0], gp.loo_["std"][i, 0]]
            assert_allclose(found, wanted, rtol=self.rtol)

    def test_draws(self):
        """Their mean and covariance are those of the posterior."""
        gp, dense, graph = self.problem(5)
        n_samples = 20_000
        draws = gp.sample(n_samples=n_samples, random_state=0)
        mean, covariance = dense.predict(np.arange(graph.n_nodes))
        scale = np.sqrt(covariance.diagonal())
        z = (draws.mean(axis=0) - mean) / scale * np.sqrt(n_samples)
        assert np.abs(z).max() < 5
        error = np.cov(draws.T) - covariance
        deviation = np.sqrt((np.outer(scale, scale) ** 2 + covariance**2) / n_samples)
        assert (np.abs(error) / deviation).max() < 5.5

    def test_several_outputs(self):
        """The outputs share width and ratio, and are otherwise alone."""
        rng = np.random.default_rng(0)
        graph = random_graph(rng)
        nodes, Y = rng.integers(graph.n_nodes, size=12), rng.standard_normal((12, 2))
        fixed = {
            "width": 3.0,
            "noise": 0.2,
            "outputscale": 1.0,
            "normalization": "rw",
            **self.options,
        }
        both = GraphGP(graph, **fixed).fit(nodes, Y)
        mean, std = both.predict(return_std=True)
        for k in range(2):
            alone = GraphGP(graph, **fixed).fit(nodes, Y[:, k])
            one_mean, one_std = alone.predict(return_std=True)
            assert_allclose(mean[:, k], one_mean, rtol=self.rtol)
            assert_allclose(std[:, k], one_std, rtol=self.rtol)
        assert both.sample([0, 1, 1], n_samples=4, random_state=0).shape == (4, 3, 2)
