"""Graphs at the door of estimators."""

import networkx as nx
import numpy as np
import pytest
from small_graphs import irregular

import grfpp
from grfpp.tasks import GraphRandomFeatures


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        ([[0, 1, 0], [1, 0, 1]], "must be the adjacency matrix"),
        ([[0, -1], [-1, 0]], "Negative values in data"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
        ([[0, np.inf], [np.inf, 0]], "infinity"),
        ([["a", "b"], ["c", "d"]], "could not convert"),
        (np.zeros((0, 0)), "minimum of 1 is required"),
    ],
)
def test_what_is_no_graph_is_refused(matrix, told):
    with pytest.raises(ValueError, match=told):
        GraphRandomFeatures().fit(matrix)


def test_another_graph_is_refused(club):
    A, _ = club
    transformer = GraphRandomFeatures(2).fit(A)
    with pytest.raises(ValueError, match="34"):
        transformer.transform(irregular())
    with pytest.raises(grfpp.InputError, match="X, with 9 nodes, is not the graph"):
        transformer.transform(grfpp.Graph(irregular()))
    with pytest.raises(grfpp.InputError, match="is not the graph"):
        transformer.transform(A * 2)
    assert transformer.transform(nx.from_scipy_sparse_array(A)).shape == (34, 2)
