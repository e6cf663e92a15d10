"""Lanczos' method: its bound holds, and it ends where the Krylov space does."""

import numpy as np
import pytest
from matrix_functions import GRAPHS, KERNELS, UNDIRECTED
from numpy.testing import assert_allclose

import grfpp
from grfpp.linalg.lanczos import function_times, lanczos_steps, spectral_measure
from grfpp_lab.graphs import random_regular


def run(graph, kernel, V, tol, max_steps=200):
    radius = (graph.spectral_radius() or 0.4) * (1 + 1e-8)
    return function_times(lambda v: graph.adjacency @ v, kernel.value, radius, V, tol, max_steps)


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
    assert run(W, grfpp.Diffusion(1.0), V, 1e-12, max_steps=1).product is None  # too few


RNG = np.random.default_rng(0)
A = RNG.normal(size=(40, 40))
A = A + A.T


def test_the_recurrence_makes_a_tridiagonal_matrix():
    V = RNG.normal(size=(40, 2))
    steps = [step for _, step in zip(range(6), lanczos_steps(lambda v: A @ v, V), strict=False)]
    for column in range(2):
        Q = np.stack([step.vectors[:, column] * step.scale[column] for step in steps], axis=1)
        T = np.diag([step.diagonal[column] for step in steps])
        side = np.diag([step.off_diagonal[column] for step in steps[:-1]], 1)
        assert_allclose(Q.T @ Q, np.eye(6), atol=1e-10)
        assert_allclose(Q.T @ A @ Q, T + side + side.T, atol=1e-9)


def test_quadrature_is_exact_for_polynomials():
    v = RNG.normal(size=40)
    nodes, weights = spectral_measure(lambda block: A @ block, v, 4)
    for power in range(8):
        exact = v @ np.linalg.matrix_power(A, power) @ v
        assert weights @ nodes**power == pytest.approx(exact, rel=1e-9, abs=1e-6)
    assert spectral_measure(lambda block: A @ block, 0 * v, 4)[1].sum() == 0
    few, _ = spectral_measure(lambda block: 2 * block, v, 4)
    assert_allclose(few, 2.0)
