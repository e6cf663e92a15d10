"""Lanczos' method: its bound holds, and it ends where the space does."""

import numpy as np
import pytest
from matrix_functions import GRAPHS, KERNELS, UNDIRECTED

import grfpp
from grfpp.linalg.functions.krylov import PlainSteps, function_times
from grfpp_lab.families import random_regular


def run(graph, kernel, V, tol, **options):
    radius = graph.spectral_radius() or 0.4
    steps = PlainSteps(lambda v: graph.adjacency @ v)
    return function_times(steps, kernel.value, radius * (1 + 1e-8), V, tol, 200, **options)


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", UNDIRECTED)
def test_the_error_is_below_the_bound(name, kernel, tol):
    graph = GRAPHS[name]
    V = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    V[:, 1] = np.eye(graph.n_nodes)[0]
    V[:, 2] = 0.0
    found = run(graph, kernel, V, tol)
    expected = kernel.exact(graph) @ V
    error = np.linalg.norm(found.product - expected)
    assert error <= found.error + 1e-12 * np.linalg.norm(expected)
    assert error <= (tol + 1e-10) * np.linalg.norm(expected)


def test_few_steps_where_eigenvalues_lie_well():
    W = random_regular(5000, seed=3).normalized("sym", 0.95)
    V = np.random.default_rng(1).normal(size=(5000, 2))
    found = run(W, grfpp.InversePower(1), V, 1e-3)
    expected = grfpp.InversePower(1).apply(W, V)
    assert np.linalg.norm(found.product - expected) < 1e-3 * np.linalg.norm(expected)
    assert found.n_steps < 16


def test_too_few_steps_give_nothing():
    graph = GRAPHS[UNDIRECTED[0]]
    V = np.random.default_rng(1).normal(size=(graph.n_nodes, 1))
    steps = PlainSteps(lambda v: graph.adjacency @ v)
    radius = graph.spectral_radius()
    assert function_times(steps, np.exp, radius, V, 1e-12, 1).product is None
