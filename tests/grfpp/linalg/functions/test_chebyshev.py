"""Chebyshev polynomials of a weight matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from matrix_functions import GRAPHS, KERNELS, UNDIRECTED

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, InversePower, PStep
from grfpp.linalg.functions import chebyshev


def assert_close_columns(kernel, graph, V, found, tol):
    """Relative to ``max |g| · ‖v‖``, as documented; and no laxer than a generous share of it."""
    expected = kernel.exact(graph) @ V
    radius = graph.spectral_radius()
    peak = np.abs(kernel.value(np.linspace(-radius, radius, 401))).max()
    scale = peak * np.linalg.norm(V, axis=0)
    assert found.shape == V.shape
    assert (np.linalg.norm(found - expected, axis=0) <= (tol + 2e-14) * scale).all()


@pytest.mark.parametrize("tol", [1e-4, 1e-10, 1e-13])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", UNDIRECTED)
def test_chebyshev_reaches_its_tolerance(name, kernel, tol):
    graph = GRAPHS[name]
    V = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    assert_close_columns(kernel, graph, V, kernel.apply(graph, V, tol), tol)


def test_chebyshev_degrees_are_as_low_as_they_can_be():
    assert len(chebyshev.coefficients_of(PStep(3, 2.0).value, 1.0, 1e-13)) == 4
    assert len(chebyshev.coefficients_of(lambda x: np.full_like(x, 2.0), 1.0, 1e-10)) == 1
    # Σ 2 I_j(1) T_j: the first coefficient below 1e-10 is that of T_11.
    assert len(chebyshev.coefficients_of(np.exp, 1.0, 1e-10)) in (11, 12)


@pytest.mark.parametrize("radius", [0.9, 0.999, 0.99999])
def test_chebyshev_near_a_pole(radius):
    kernel = InversePower(4)
    coefficients = chebyshev.coefficients_of(kernel.value, radius, 1e-10)
    x = np.linspace(-radius, radius, 1001)
    found = np.polynomial.chebyshev.chebval(x / radius, coefficients)
    assert np.abs(found - kernel.value(x)).max() <= 2e-10 * kernel.value(radius)


def test_chebyshev_gives_up_in_words():
    with pytest.raises(InputError, match="degree 100000 does not reach tol=1e-10"):
        chebyshev.coefficients_of(np.abs, 1.0, 1e-10)


def test_large_sparse_graphs():
    n = 300
    path = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])
    graph = Graph(sp.kronsum(path, path)).normalized("sym")
    V = np.random.default_rng(5).normal(size=(n * n, 3))
    product = Diffusion().apply(graph, V)
    reference = Diffusion().apply(graph, V, method="expm_multiply")
    assert np.abs(product - reference).max() < 1e-9
