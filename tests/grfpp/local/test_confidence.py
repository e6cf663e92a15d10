"""Ranks that are certain."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_graphs import karate

import grfpp
from grfpp import Graph, LocalKernel, PersonalizedPageRank
from grfpp.datasets import random_regular


def is_right(exact, nodes, certain):
    """Whether each of the first sets of nodes are the nearest, where that is said to be certain."""
    rows = np.take_along_axis(exact, nodes, axis=1)
    lowest = np.minimum.accumulate(rows, axis=1)
    wanted = np.sort(exact, axis=1)[:, ::-1][:, : nodes.shape[1]]
    return (lowest >= wanted * (1 - 1e-9))[certain]


def network(name):
    if name == "scale-free":
        return nx.barabasi_albert_graph(800, 4, seed=2)
    if name == "directed":
        return nx.gnp_random_graph(600, 0.012, seed=1, directed=True)
    points = np.random.default_rng(0).normal(size=(600, 3))
    return Graph.from_points(points, 8)


@pytest.mark.parametrize("name", ["scale-free", "points", "directed"])
@pytest.mark.parametrize("kernel", [PersonalizedPageRank(0.15), grfpp.HeatKernel(5.0)], ids=repr)
def test_certain_ranks_are_right(name, kernel):
    W = Graph(network(name)).normalized("rw")
    exact = kernel.exact(W)
    n = len(exact)
    for budget in (300, 3000):
        near = LocalKernel(W, kernel, budget=budget, seed=3)
        nodes, values, certain = near.top_k(np.arange(n), 10, confidence=0.99)
        right = is_right(exact, nodes, certain)
        assert right.size and np.mean(right) >= 0.99
        # More is certain with a larger budget, or with less confidence.
        careless = near.top_k(np.arange(n), 10, confidence=0.5)[2]
        assert careless.sum() > certain.sum() and (values > 0).all()
    assert certain[:, 0].any()


def test_exact_rows_are_certain_after_one_pool(monkeypatch):
    near = LocalKernel(karate(), grfpp.Diffusion(1.0), budget=1e6)
    monkeypatch.setitem(near.ranking_plan.__dict__, "stages", (near.ranking_plan,))
    fixed = near.top_k([0, 5], 4)
    *answer, certain = near.top_k([0, 5], 4, confidence=0.99)
    assert certain.all()
    for a, b in zip(answer, fixed, strict=True):
        assert_array_equal(a, b)


def test_ties_are_never_certain():
    W = random_regular(400, 10, seed=0).normalized("sym")
    star = Graph(nx.star_graph(400)).normalized("rw")
    for graph in (W, star):
        near = LocalKernel(
            graph, PersonalizedPageRank(0.1) if graph is star else "diffusion:20", budget=50
        )
        assert not near.top_k(np.arange(20), 10, confidence=0.99)[2][:, -1].any()


def test_filters_and_seeds_hold():
    W = Graph(network("scale-free")).normalized("rw")
    kernel = PersonalizedPageRank(0.15)
    exact = kernel.exact(W)
    exact = 2 * exact[:400] + exact[400:]
    is_even = np.arange(800) % 2 == 0
    exact = np.where(is_even, exact / W.out_degree, 0.0)
    near = LocalKernel(W, kernel, budget=2000, seed=3)
    seeds = [{i: 2.0, i + 400: 1.0} for i in range(400)]
    nodes, _, certain = near.top_k(
        seeds=seeds, k=10, among=is_even, normalize="degree", confidence=0.99
    )
    assert (nodes % 2 == 0).all()
    assert np.mean(is_right(exact, nodes, certain)) >= 0.99 and certain.any()
