"""Exact rows, and what counts as right."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.linalg import chebyshev
from grfpp_lab.studies.local_answers import rivals as peers

KERNELS = [grfpp.Diffusion(1.0), grfpp.PersonalizedPageRank(0.15), grfpp.HeatKernel(4.0)]
GRAPHS = {
    "weighted": grfpp.Graph(nx.karate_club_graph()),
    "unweighted": grfpp.Graph(nx.balanced_tree(3, 3)),
    "a lonely node": grfpp.Graph(nx.disjoint_union(nx.cycle_graph(5), nx.empty_graph(1))),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_rows_are_those_of_the_dense_kernels(name):
    graph = GRAPHS[name]
    nodes = np.array([graph.n_nodes - 1, 0, 3])
    dense = [kernel.exact(graph.normalized(kernel.normalization)) for kernel in KERNELS]
    found = list(peers.exact_rows(graph, KERNELS, nodes))
    assert len(found) == 3
    for node, rows in zip(nodes, found, strict=True):
        for row, whole in zip(rows, dense, strict=True):
            np.testing.assert_allclose(row, whole[node], atol=1e-14)


def test_nodes_count_once_and_missing_ones_do_not():
    row, few = np.array([1.0, 0.5, 0.25, 0.2]), np.array([1.0, 0.5, 0, 0])
    for nodes, values, k, share in (
        *(([0, 0, 0], row, 3, 1 / 3), ([0, -1, -1], row, 3, 1 / 3)),
        *(([0, 1, -1, -1], few, 4, 1), ([0, -1], few, 4, 0.5), ([-1], np.zeros(3), 10, 1)),
    ):
        assert peers.precision(nodes, values, k=k) == pytest.approx(share)


def test_any_of_equal_nodes_is_right():
    row = np.array([1.0, 0.5, 0.25, 0.25 * (1 + 1e-15), 0.25, 0.1])
    for third in (2, 3, 4):
        assert peers.precision([0, 1, third], row, k=3) == 1
    assert peers.precision([0, 1, 5], row, k=3) == pytest.approx(2 / 3)
    assert peers.precision([2, 3, 4], row, k=3) == 1  # each is as good as the third
    np.testing.assert_array_equal(peers.largest(np.array([3.0, 1.0]), 5), [0, 1])
    assert set(peers.largest(np.array([3.0, 1.0, 2.0]), 2)) == {0, 2}


GRAPH = grfpp.Graph(nx.barabasi_albert_graph(200, 3, seed=4))
NODES = [0, 7, 150]
DIFFUSION, PAGERANK = grfpp.Diffusion(1.0), grfpp.PersonalizedPageRank(0.15)
S = GRAPH.normalized("sym")
WAYS = {
    "taylor": (DIFFUSION, lambda: peers.sparse_taylor(S, n_terms=12)),
    "apply": (DIFFUSION, lambda: peers.applied(S, DIFFUSION)),
    "scikit-network": (PAGERANK, lambda: peers.scikit_network(GRAPH, 0.15)),
    "products": (PAGERANK, lambda: peers.bare_steps(GRAPH, 0.15, n_steps=150)),
    "networkx": (PAGERANK, lambda: peers.networkx(GRAPH, 0.15)),
    "igraph": (PAGERANK, lambda: peers.igraph(GRAPH, 0.15)),
}


@pytest.mark.parametrize("name", WAYS)
def test_each_finds_the_nearest(name):
    kernel, make = WAYS[name]
    peer = make()
    if peer is None:
        pytest.skip("igraph is not installed")
    for node, (row,) in zip(NODES, peers.exact_rows(GRAPH, [kernel], np.array(NODES)), strict=True):
        found = peer(node)
        assert len(found) == 10
        assert peers.precision(found, row) >= 0.9


NORMALIZED = {
    "grid": grfpp.Graph(nx.grid_2d_graph(9, 9)).normalized("sym"),
    "weighted": grfpp.Graph(nx.karate_club_graph()).normalized("sym"),
    "other radius": grfpp.Graph(nx.barabasi_albert_graph(60, 2, seed=0)),
}


@pytest.mark.parametrize("degree", range(7))
@pytest.mark.parametrize("form", peers.FORMS)
@pytest.mark.parametrize("name", NORMALIZED)
def test_the_block_of_a_polynomial(name, form, degree):
    W, kernel = NORMALIZED[name], grfpp.Diffusion(1.0)
    nodes = np.array([5, 0, 17, 30, 2])
    c = peers.coefficients(W, kernel, degree)
    terms = chebyshev.ChebyshevTerms(W, radius=W.spectral_radius())
    whole = terms.product(c, np.eye(W.n_nodes))
    found = peers.FORMS[form](W, c, nodes)
    np.testing.assert_allclose(found, whole[np.ix_(nodes, nodes)], atol=1e-12 * np.abs(whole).max())


def test_entries_that_sparse_vectors_hold_and_a_rival_that_is_missing(monkeypatch):
    W = NORMALIZED["grid"]
    assert peers.held_entries(W, np.array([40]), 2) == 4  # T_1: the neighbours
    assert peers.held_entries(W, np.array([40, 41]), 4) == 2 * 9  # T_2: two steps, or none
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    assert peers.igraph(GRAPH, 0.15) is None
