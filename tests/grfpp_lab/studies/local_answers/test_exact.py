"""Exact rows, and what counts as right."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp_lab.studies.local_answers.exact import exact_rows, precision

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
    found = list(exact_rows(graph, KERNELS, nodes))
    assert len(found) == 3
    for node, rows in zip(nodes, found, strict=True):
        for row, whole in zip(rows, dense, strict=True):
            np.testing.assert_allclose(row, whole[node], atol=1e-14)


def test_any_of_equal_nodes_is_right():
    row = np.array([1.0, 0.5, 0.25, 0.25 * (1 + 1e-15), 0.25, 0.1])
    for third in (2, 3, 4):
        assert precision([0, 1, third], row, k=3) == 1
    assert precision([0, 1, 5], row, k=3) == pytest.approx(2 / 3)
    assert precision([2, 3, 4], row, k=3) == 1  # each is as good as the third


def test_nodes_count_once_and_missing_ones_do_not():
    row = np.array([1.0, 0.5, 0.25, 0.2])
    assert precision([0, 0, 0], row, k=3) == pytest.approx(1 / 3)
    assert precision([0, -1, -1], row, k=3) == pytest.approx(1 / 3)
    assert precision([0, 1, -1, -1], np.array([1.0, 0.5, 0, 0]), k=4) == 1
    assert precision([0, -1], np.array([1.0, 0.5, 0, 0]), k=4) == 0.5
    assert precision([-1], np.zeros(3)) == 1
