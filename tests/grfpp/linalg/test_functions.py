"""Dense functions and power series of weight matrices, through the kernels that use them."""

import math

import networkx as nx
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from little_memory import only
from matrix_functions import GRAPHS, KERNELS, by_scipy, geometric, power_series

import grfpp
from grfpp import Graph, InputError
from grfpp.kernels import (
    Cosine,
    Diffusion,
    InversePower,
    PStep,
    SquaredDiffusion,
    TaylorKernel,
    base,
)
from grfpp.linalg import functions
from grfpp.linalg.functions import finite

N = 520
LARGE = {
    "diffusion": Diffusion(1.0),
    "slow diffusion": Diffusion(20.0),
    "against the weights": Diffusion(-3.0),
    "squared diffusion": SquaredDiffusion(2.0),
    "far regularised Laplacian": grfpp.RegularizedLaplacian(1, 50.0),
    "p-step": PStep(3, 2.0),
    "cosine": Cosine(0.5),
    "inverse power of squares": InversePower(0.5, of=2),
    "listed": TaylorKernel([1, 0.5, 0.25, -0.1]),
}


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
    with pytest.raises(InputError, match="a dense kernel of 200 nodes"):
        Diffusion().exact(sp.csr_array((200, 200)))


@pytest.mark.parametrize("weights", [[[0, 1], [1, 0]], [[0, 1], [0.5, 0]]])
def test_values_beyond_float64_are_refused(weights):
    for attempt in (Diffusion(5000).exact, lambda W: Diffusion(5000).apply(W, np.ones(2))):
        with pytest.raises(InputError) as caught:
            attempt(Graph(weights))
        assert caught.value.problem == functions.TOO_LARGE
    np.testing.assert_array_equal(finite([1, 2.5]), [1, 2.5])


# --- large kernels by polynomials ----------------------------------------------------------------


@pytest.fixture(scope="module")
def undirected():
    graph = nx.barabasi_albert_graph(N - 3, 3, seed=0)
    graph.add_nodes_from(range(N - 3, N))  # nodes without edges
    return Graph(graph).normalized("sym", 0.8)


def by_eigenvectors(kernel, graph):
    values, vectors = np.linalg.eigh(graph.adjacency.toarray())
    return (vectors * kernel.value(values)) @ vectors.T


def norm_error(found, wanted):
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


@pytest.mark.parametrize("kernel", LARGE.values(), ids=LARGE)
def test_whole_kernels_of_undirected_graphs(undirected, kernel):
    found = kernel._symmetric(undirected)
    assert norm_error(found, by_eigenvectors(kernel, undirected)) < 1e-12
    for same in (found.T, kernel.exact(undirected)):
        np.testing.assert_array_equal(same, found)


# But for fractional powers, which dense algebra takes long for.
DIRECTED = {name: kernel for name, kernel in LARGE.items() if "squares" not in name}


@pytest.mark.parametrize("kernel", DIRECTED.values(), ids=DIRECTED)
def test_whole_kernels_of_directed_graphs(monkeypatch, kernel):
    graph = Graph(nx.gnp_random_graph(N, 0.006, seed=1, directed=True)).normalized("rw", 0.6)
    found = kernel.exact(graph)
    monkeypatch.setattr(base, "_DENSE_NODES", N)
    assert norm_error(found, kernel.exact(graph)) < 1e-12


def test_eigenvalues_that_leave_out_where_the_function_is_large(monkeypatch):
    """The largest value on the interval says nothing of the kernel: 1e-15 of it is too much."""
    cliques = Graph(nx.disjoint_union_all([nx.complete_graph(13)] * 40)).normalized("sym")
    monkeypatch.setattr(base, "_is_polynomial_faster", lambda graph, n_products: True)
    kernel = Diffusion(-30.0)
    assert kernel._symmetric(cliques) is None
    assert Diffusion(30.0)._symmetric(cliques) is not None
    assert norm_error(kernel.exact(cliques), by_eigenvectors(kernel, cliques)) < 1e-12


def test_dense_algebra_where_it_is_faster():
    dense = Graph(np.ones((N, N))).normalized("sym", 0.5)
    assert Diffusion(1.0)._symmetric(dense) is None
    ring = Graph(nx.cycle_graph(N)).normalized("sym", 0.9999999)
    with pytest.raises(InputError):  # `exact` goes on with dense algebra
        InversePower(1)._symmetric(ring)
    empty = Graph(sp.csr_array((N, N)))
    assert np.array_equal(PStep(2, 3.0).exact(empty), 9 * np.eye(N))


def test_interruption_between_blocks_of_columns(monkeypatch, undirected):
    calls = []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*args)

    original = base.chebyshev.series_times
    monkeypatch.setattr(base.chebyshev, "series_times", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Diffusion(1.0).exact(undirected)
    assert len(calls) == 2


# --- power series --------------------------------------------------------------------------------


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
    V = np.random.default_rng(4).normal(size=(n, 2))
    for kernel in (InversePower(2), InversePower(1, of=2), TaylorKernel(geometric)):
        expected = by_scipy(kernel, weights) @ V
        found = kernel.apply(Graph(weights), V)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-10 * np.abs(expected).max())


def test_rows_that_would_overflow_a_power_series():
    graph = Graph([[0, 1000, 0], [0, 0, 0.5], [0, 0, 0.5]])
    V = np.array([1.0, -2.0, 3.0])
    expected = by_scipy(SquaredDiffusion(), graph.adjacency.toarray()) @ V
    np.testing.assert_allclose(SquaredDiffusion().apply(graph, V), expected)
    with pytest.raises(InputError) as caught:
        SquaredDiffusion(5000.0).apply(GRAPHS["directed"], np.ones(19))
    assert caught.value.problem == functions.TOO_LARGE


def test_cancelling_power_series_are_refused_not_wrong():
    graph = GRAPHS["directed ring"]
    V = np.ones(graph.n_nodes)
    kernel = Diffusion(-60.0)
    with pytest.raises(InputError, match="cancel"):
        kernel.apply(graph, V, method="taylor")
    np.testing.assert_allclose(kernel.apply(graph, V), math.exp(-30) * V, rtol=1e-6)
