"""Landmarks: which nodes they are, and what closeness to them is."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import data

from grfpp import Diffusion, Graph
from grfpp.torch import AddLandmarkPE, grf_pe


def encoded(graph, **options):
    matrix = nx.to_numpy_array(graph)
    return grf_pe([data(matrix)], kind="landmark", dtype=torch.float64, **options)[0].numpy()


def test_the_hub_comes_first_and_then_the_farthest():
    """A star with one long ray: the end of the ray is farthest from the hub."""
    graph = nx.star_graph(8)
    nx.add_path(graph, [8, 9, 10, 11, 12, 13])
    pe = encoded(graph, dim=3)
    assert pe[:, 0].argmax() == 0
    assert pe[13, 1] == pytest.approx(1)
    assert (np.diff(pe[[0, 8, 9, 10, 11, 12], 1]) > 0).all()
    assert (np.diff(pe[[0, 8, 9, 10, 11, 12, 13], 0]) < 0).all()


def test_closeness_is_the_logarithm_of_the_kernel():
    graph = nx.relabel_nodes(nx.lollipop_graph(6, 5), {i: 10 - i for i in range(11)})
    graph = nx.Graph(sorted(graph.edges))
    matrix = nx.to_numpy_array(graph, nodelist=range(11))
    pe = grf_pe([data(matrix)], kind="landmark", kernel="heat:2", dim=2, dtype=torch.float64)[
        0
    ].numpy()
    K = Diffusion(2.0).exact(Graph(matrix).normalized("sym"))
    roots = np.sqrt(matrix.sum(axis=1))
    landmark = int((K.sum(axis=1)).argmax())
    mass = K[:, landmark] / roots
    expected = 1 - np.log(np.maximum(mass / mass[landmark], 1e-5)) / np.log(1e-5)
    assert np.abs(pe[:, 0] - expected).max() < 1e-6
    assert pe[:, 1].argmax() == pe[:, 0].argmin()


def test_nodes_that_tie_are_one_landmark():
    ring = encoded(nx.cycle_graph(7), dim=3)
    assert np.allclose(ring, [1, 0, 0])
    path = encoded(nx.path_graph(9), dim=4)
    assert np.allclose(path, path[::-1])


def test_other_components_have_landmarks_of_their_own():
    pe = encoded(nx.disjoint_union(nx.path_graph(6), nx.cycle_graph(4)), dim=2)
    first, second = (set(np.flatnonzero(column > 1e-9)) for column in pe.T)
    assert {frozenset(first), frozenset(second)} == {frozenset(range(6)), frozenset(range(6, 10))}


def test_a_single_node_and_several_alone():
    lonely = AddLandmarkPE(dim=3).transform_all([data(np.zeros((n, n))) for n in (1, 4)])
    assert [each.landmark_pe.unique(dim=0).tolist() for each in lonely] == [[[1, 0, 0]]] * 2
