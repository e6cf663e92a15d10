"""Power series of a weight matrix."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
from matrix_functions import GRAPHS, KERNELS, by_scipy, geometric

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, InversePower, SquaredDiffusion, TaylorKernel


@pytest.mark.parametrize("tol", [1e-4, 1e-10])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", GRAPHS)
def test_taylor_reaches_its_tolerance(name, kernel, tol):
    graph = GRAPHS[name]
    V = np.random.default_rng(1).normal(size=(graph.n_nodes, 3))
    expected = kernel.exact(graph) @ V
    error = np.abs(kernel.apply(graph, V, tol, method="taylor") - expected).max(axis=0)
    assert (error <= (tol + 1e-12) * np.abs(expected).max(axis=0)).all()


@pytest.mark.parametrize("name", GRAPHS)
def test_expm_multiply(name):
    graph = GRAPHS[name]
    V = np.random.default_rng(3).normal(size=(graph.n_nodes, 2))
    found = Diffusion(2.5).apply(graph, V, method="expm_multiply")
    np.testing.assert_allclose(found, scipy.linalg.expm(2.5 * graph.adjacency.toarray()) @ V)


def test_rows_above_the_radius_of_convergence():
    """A hub with arcs to all: its row sum is 60, the spectral radius 0.5."""
    n = 60
    weights = np.roll(np.eye(n), 1, axis=1) * 0.5
    weights[0, 1:] = 1.0
    weights[-1, 0] = 1e-60
    graph = Graph(weights)
    V = np.random.default_rng(4).normal(size=(n, 2))
    for kernel in (InversePower(2), InversePower(1, of=2), TaylorKernel(geometric)):
        found = kernel.apply(graph, V)
        expected = by_scipy(kernel, weights) @ V
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-10 * np.abs(expected).max())


def test_rows_that_would_overflow_a_power_series():
    graph = Graph([[0, 1000, 0], [0, 0, 0.5], [0, 0, 0.5]])
    V = np.array([1.0, -2.0, 3.0])
    kernel = SquaredDiffusion()
    np.testing.assert_allclose(
        kernel.apply(graph, V), by_scipy(kernel, graph.adjacency.toarray()) @ V
    )


def test_series_whose_values_overflow_are_refused():
    with pytest.raises(InputError, match="values on this graph exceed the range of float64"):
        SquaredDiffusion(5000.0).apply(GRAPHS["directed"], np.ones(19))


def test_cancelling_power_series_are_refused_not_wrong():
    graph = GRAPHS["directed ring"]
    V = np.ones(graph.n_nodes)
    kernel = Diffusion(-60.0)
    with pytest.raises(InputError, match="cancel"):
        kernel.apply(graph, V, method="taylor")
    np.testing.assert_allclose(kernel.apply(graph, V), math.exp(-30) * V, rtol=1e-6)
