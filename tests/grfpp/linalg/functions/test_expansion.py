import numpy as np
import pytest
from matrix_functions import GRAPHS, KERNELS, UNDIRECTED

import grfpp
from grfpp.errors import InputError
from grfpp.linalg.functions.expansion import Expansion
from grfpp.planner.weights import Weights


@pytest.mark.parametrize("tol", [1e-2, 1e-7])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", UNDIRECTED)
def test_products_are_right_relative_to_themselves(name, kernel, tol):
    graph = GRAPHS[name]
    if name == "without edges" and kernel.value(0.0) == 0:
        pytest.skip("the product is zero, to which nothing is relative")
    V = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    before = V.copy()
    found = Expansion.of(kernel.value, (graph.spectral_radius() or 0.4) * (1 + 1e-8))
    product, error, norm, _ = found.times(Weights(graph), V, tol)
    expected = kernel.exact(graph) @ V
    assert error <= tol * norm
    assert np.linalg.norm(found.peak * product - expected) <= tol * np.linalg.norm(expected)
    np.testing.assert_array_equal(V, before)


def test_terms_are_added_where_the_product_is_small():
    """Orthogonal to the leading eigenvector of exp(20 W), which the usual bound is about."""
    W = grfpp.Graph(np.ones((30, 30)) - np.eye(30)).normalized("sym")
    v = np.linspace(-1, 1, 30).reshape(-1, 1)
    kernel = grfpp.Diffusion(10.0)
    found = Expansion.of(kernel.value, 1 + 1e-8)
    product, _, _, n_terms = found.times(Weights(W), v, 1e-3)
    expected = kernel.exact(W) @ v
    assert np.linalg.norm(found.peak * product - expected) <= 1e-3 * np.linalg.norm(expected)
    assert n_terms > found.n_terms(1e-3)


def test_what_leaves_the_range_is_refused():
    with pytest.raises(InputError, match="float64"):
        Expansion.of(np.exp, 800.0)


def test_near_a_singularity_fewer_digits_are_had():
    found = Expansion.of(lambda x: 1 / (1 - (1 - 1e-7) * x), 1.0)
    assert 1e-9 <= found.tails[-1] <= 1e-6
