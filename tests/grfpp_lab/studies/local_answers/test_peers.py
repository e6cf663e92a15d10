"""Peers find what is nearest."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp_lab.studies.local_answers import peers
from grfpp_lab.studies.local_answers.exact import exact_rows, precision

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
    for node, (row,) in zip(NODES, exact_rows(GRAPH, [kernel], np.array(NODES)), strict=True):
        found = peer(node)
        assert len(found) == 10
        assert precision(found, row) >= 0.9


def test_few_values():
    np.testing.assert_array_equal(peers.largest(np.array([3.0, 1.0]), 5), [0, 1])
    assert set(peers.largest(np.array([3.0, 1.0, 2.0]), 2)) == {0, 2}


def test_without_igraph(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    assert peers.igraph(GRAPH, 0.15) is None
