"""Dense functions of a weight matrix, against scipy and the definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from little_memory import only
from matrix_functions import GRAPHS, KERNELS, by_scipy, power_series

from grfpp.errors import InputError
from grfpp.kernels import Cosine, Diffusion, InversePower, PStep, TaylorKernel


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", GRAPHS)
def test_exact_against_scipy(name, kernel):
    graph = GRAPHS[name]
    found = kernel.exact(graph)
    expected = by_scipy(kernel, graph.adjacency.toarray())
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())
    if not graph.is_directed:
        np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", ["weighted", "directed", "nilpotent", "self-loops"])
def test_exact_against_the_definition(name, kernel):
    graph = GRAPHS[name]
    expected = power_series(kernel, graph.adjacency.toarray())
    np.testing.assert_allclose(
        kernel.exact(graph), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max()
    )


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize(
    "kernel",
    [Diffusion(2), InversePower(4, of=2), PStep(3, 2.0), Cosine(0.7), TaylorKernel([-1, 0.2])],
    ids=repr,
)
@pytest.mark.parametrize("name", ["weighted", "directed"])
def test_powers_of_the_root_are_the_kernel(name, kernel, degree):
    """``K = sign · F^(2l)`` as matrices: what the estimate rests on."""
    weights = GRAPHS[name].adjacency.toarray()
    F = power_series(TaylorKernel(kernel.modulation(degree, 400)), weights, 400)
    K = kernel.sign * np.linalg.matrix_power(F, 2 * degree)
    expected = kernel.exact(GRAPHS[name])
    np.testing.assert_allclose(K, expected, atol=1e-10 * np.abs(expected).max())


def test_dense_kernels_that_do_not_fit_are_refused(monkeypatch):
    only(monkeypatch, 1_400_000)
    Diffusion().exact(sp.csr_array((150, 150)))
    message = r"a dense kernel of 200 nodes.* needs 1600000 bytes .* only 1050000 "
    with pytest.raises(InputError, match=message):
        Diffusion().exact(sp.csr_array((200, 200)))
    with pytest.raises(InputError, match="a product with"):
        Diffusion().apply(sp.csr_array((200, 200)), np.ones((200, 200)))
