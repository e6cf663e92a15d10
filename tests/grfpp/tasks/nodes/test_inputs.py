"""Graphs at the door of estimators, and choosing parameters where no node can be left out."""

import networkx as nx
import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from small_graphs import irregular

import grfpp
from grfpp.tasks import GraphRandomFeatures, SpectralKernelClustering
from grfpp.tasks.nodes.inputs import WholeGraph


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


def test_grid_search_over_scale_walks_and_degree(club):
    A, parties = club
    grid = {"scale": [0.25, 1.0, 4.0], "n_walks": [4, 16], "degree": [1, 2]}
    clustering = SpectralKernelClustering(2, random_state=0, n_jobs=1)
    search = GridSearchCV(clustering, grid, cv=WholeGraph()).fit(A, parties)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 12
    wanted = [
        clone(clustering).set_params(**params).fit(A).score(A, parties)
        for params in search.cv_results_["params"]
    ]
    assert_array_equal(scores, wanted)
    assert search.best_score_ == search.score(A, parties) == max(wanted)
    with parallel_config("threading", n_jobs=2):
        together = clone(search).fit(A, parties)
    assert_array_equal(together.cv_results_["mean_test_score"], wanted)


@pytest.mark.parametrize("n_folds", [2, 3])
def test_leaving_nodes_out_is_refused(club, n_folds):
    """Halves are the trap: their rows and columns are a square too."""
    A, parties = club
    search = GridSearchCV(
        SpectralKernelClustering(2), {"scale": [1.0]}, cv=n_folds, error_score="raise"
    )
    with pytest.raises(ValueError, match="WholeGraph"):
        search.fit(A, np.array(parties))
