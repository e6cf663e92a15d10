"""Whole kernels by polynomials are as exact as by dense algebra, or are left to that."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from little_memory import only

import grfpp
from grfpp import Graph, InputError
from grfpp.linalg.functions import blocks
from grfpp.linalg.functions.dense import dense_symmetric

N = 520
KERNELS = {
    "diffusion": grfpp.Diffusion(1.0),
    "slow diffusion": grfpp.Diffusion(20.0),
    "against the weights": grfpp.Diffusion(-3.0),
    "squared diffusion": grfpp.SquaredDiffusion(2.0),
    "regularised Laplacian": grfpp.RegularizedLaplacian(2, 1.0),
    "far regularised Laplacian": grfpp.RegularizedLaplacian(1, 50.0),
    "p-step": grfpp.PStep(3, 2.0),
    "cosine": grfpp.Cosine(0.5),
    "inverse power": grfpp.InversePower(1),
    "inverse power of squares": grfpp.InversePower(0.5, of=2),
    "listed": grfpp.TaylorKernel([1, 0.5, 0.25, -0.1]),
}


@pytest.fixture(scope="module")
def undirected():
    graph = nx.barabasi_albert_graph(N - 3, 3, seed=0)
    graph.add_nodes_from(range(N - 3, N))  # nodes without edges
    return Graph(graph).normalized("sym", 0.8)


@pytest.fixture(scope="module")
def eigenpairs(undirected):
    return np.linalg.eigh(undirected.adjacency.toarray())


def norm_error(found, wanted):
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_undirected_graphs(undirected, eigenpairs, kernel):
    found = blocks.symmetric_by_blocks(undirected, kernel.value)
    assert found is not None
    values, vectors = eigenpairs
    assert norm_error(found, (vectors * kernel.value(values)) @ vectors.T) < 1e-12
    assert np.array_equal(found, found.T)
    assert np.array_equal(kernel.exact(undirected), found)


# But for fractional powers, which dense algebra takes long for.
DIRECTED = {name: kernel for name, kernel in KERNELS.items() if "squares" not in name}


@pytest.mark.parametrize("kernel", DIRECTED.values(), ids=DIRECTED)
def test_directed_graphs(monkeypatch, kernel):
    graph = Graph(nx.gnp_random_graph(N, 0.006, seed=1, directed=True)).normalized("rw", 0.6)
    found = blocks.directed_by_blocks(graph, kernel._scaled, kernel.radius)
    monkeypatch.setattr(blocks, "SMALL", N)
    wanted = kernel.exact(graph)
    if found is None:  # terms that cancel
        assert kernel in (KERNELS["against the weights"], KERNELS["far regularised Laplacian"])
    else:
        assert norm_error(found, wanted) < 1e-12


def test_eigenvalues_that_leave_out_where_the_function_is_large(monkeypatch):
    """The largest value on the interval says nothing of the kernel: 1e-15 of it is too much."""
    cliques = Graph(nx.disjoint_union_all([nx.complete_graph(13)] * 40)).normalized("sym")
    monkeypatch.setattr(blocks, "_pays", lambda graph, n_products: True)
    kernel = grfpp.Diffusion(-30.0)
    assert blocks.symmetric_by_blocks(cliques, kernel.value) is None
    assert blocks.symmetric_by_blocks(cliques, grfpp.Diffusion(30.0).value) is not None
    wanted = dense_symmetric(cliques.adjacency.toarray(), kernel.value)
    assert norm_error(kernel.exact(cliques), wanted) < 1e-12


def test_dense_algebra_is_left_what_it_is_better_at():
    dense = Graph(np.ones((N, N))).normalized("sym", 0.5)
    assert blocks.symmetric_by_blocks(dense, grfpp.Diffusion(1.0).value) is None
    ring = Graph(nx.cycle_graph(N)).normalized("sym", 0.9999999)
    assert blocks.symmetric_by_blocks(ring, grfpp.InversePower(1).value) is None
    small = Graph(nx.cycle_graph(blocks.SMALL)).normalized("sym")
    assert blocks.symmetric_by_blocks(small, grfpp.Diffusion(1.0).value) is None
    empty = Graph(sp.csr_array((N, N)))
    assert np.array_equal(grfpp.PStep(2, 3.0).exact(empty), 9 * np.eye(N))


def test_it_can_be_interrupted_between_blocks(monkeypatch, undirected):
    calls = []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*args)

    original = blocks.chebyshev.combined
    monkeypatch.setattr(blocks.chebyshev, "combined", interrupted)
    with pytest.raises(KeyboardInterrupt):
        grfpp.Diffusion(1.0).exact(undirected)
    assert len(calls) == 2


def test_what_does_not_fit_is_refused(monkeypatch, undirected):
    only(monkeypatch, 10**6)
    with pytest.raises(InputError, match="a dense kernel of 520 nodes needs"):
        grfpp.Diffusion(1.0).exact(undirected)
