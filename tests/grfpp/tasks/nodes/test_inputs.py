"""Graphs at the door of estimators, and choosing parameters where no node can be left out."""

import networkx as nx
import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from small_graphs import irregular

import grfpp
from grfpp.tasks import GraphRandomFeatures, SpectralKernelClustering, WholeGraph


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        ([[0, 1, 0], [1, 0, 1]], "must be the adjacency matrix"),
        ([[0, -1], [-1, 0]], "Negative values in data"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
        ([[0, np.inf], [np.inf, 0]], "infinity"),
        ([["a", "b"], ["c", "d"]], "could not convert"),
        (np.zeros((0, 0)), "minimum of 1 is required"),
        (np.arange(4), r"found 4 numbers or names; .* cv=NodeKFold\(\)"),
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
@pytest.mark.parametrize(
    ("model", "told"),
    [
        (SpectralKernelClustering(2), r"cv=WholeGraph\(\)"),
        (make_pipeline(GraphRandomFeatures(), LogisticRegression()), r"cv=NodeKFold\(\)"),
    ],
)
def test_cutting_the_graph_fails_with_the_reason_and_not_in_nan(club, model, told, n_folds):
    """Halves are the trap: their rows and columns are a square too, and can be fitted."""
    A, parties = club
    with pytest.raises(ValueError, match=f"fits failed[\\s\\S]*InputError: X must be.*{told}"):
        cross_val_score(model, A, parties, cv=n_folds)
    with pytest.raises(ValueError, match=told):
        GridSearchCV(model, {}, cv=n_folds).fit(A, parties)
