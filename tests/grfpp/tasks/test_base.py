"""Parameters and input that estimators share."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from numpy.testing import assert_array_equal
from refusal_case import bad_values
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from small_graphs import irregular

import grfpp
from grfpp.tasks import GraphRandomFeatures, SpectralKernelClustering, WholeGraph
from grfpp.tasks.base import NodeKernelParameters, read_nodes, seed_of


@dataclass(eq=False, repr=False)
class Estimator(NodeKernelParameters, BaseEstimator):
    width: int = 3


def test_parameters_of_an_estimator():
    made = Estimator(4, degree=1)
    assert (made.width, made.degree, made.get_params()["n_walks"]) == (4, 1, 16)
    choice = made._choose(scale=0.5)
    assert made.seed_ == choice.options.seed
    assert (choice.options.degree, choice.scale) == (1, 0.5)
    assert Estimator()._choose().options.seed != Estimator()._choose().options.seed
    assert Estimator(method="chebyshev")._choose().is_exact
    assert not Estimator(method="walks", estimate="exact")._choose().is_exact


def test_seeds():
    assert (seed_of(None), seed_of(np.int64(3))) == (None, 3)
    for make in (np.random.RandomState, np.random.default_rng):
        assert seed_of(make(0)) == seed_of(make(0)) != seed_of(make(1))
    for wrong in (-1, "dice", 1.5):
        with pytest.raises(grfpp.InputError, match="random_state"):
            seed_of(wrong)


def test_what_is_no_graph_and_another_graph_are_refused(club):
    square = ([[0, -1], [-1, 0]], [[0, np.nan], [np.nan, 0]], [["a", "b"], ["c", "d"]])
    for matrix in (*square, [[0, 1, 0], [1, 0, 1]], np.zeros((0, 0)), np.arange(4)):
        with pytest.raises(ValueError):
            GraphRandomFeatures().fit(matrix)
    A, _ = club
    transformer = GraphRandomFeatures(2).fit(A)
    for other in (irregular(), grfpp.Graph(irregular()), A * 2):
        with pytest.raises(ValueError, match="34"):
            transformer.transform(other)
    assert transformer.transform(nx.from_scipy_sparse_array(A)).shape == (34, 2)


def test_frames_of_edges_are_graphs_and_square_ones_matrices():
    club = nx.karate_club_graph()
    edges = pd.DataFrame({"who": list("abcab"), "whom": list("bcade")})
    for frame in (edges, edges[:2], nx.to_pandas_edgelist(club), nx.to_pandas_edgelist(club)[:4]):
        K = GraphRandomFeatures(estimate="exact").fit_transform(frame)
        assert_array_equal(
            K, GraphRandomFeatures(estimate="exact").fit_transform(grfpp.Graph(frame))
        )
    matrix = nx.to_pandas_adjacency(club).astype("Int64").reset_index(drop=True)
    assert GraphRandomFeatures(2).fit_transform(matrix).shape == (34, 2)


NO_NODES = [[34], [-1], [0.5], ["a"], [], [[0, 1], [1]]]
NO_NODES += [np.zeros((34, 34)), sp.eye_array(34).tocsr()]
FEATURES = GraphRandomFeatures(graph=nx.karate_club_graph())
test_what_is_no_node_is_refused = bad_values(FEATURES.fit, X=NO_NODES)


def test_nodes_by_name_and_once():
    names = grfpp.Graph(nx.les_miserables_graph()).names
    for given in (["Valjean", 0], [[10], [0]], np.array(["Valjean", "Napoleon"], object)):
        assert read_nodes(given, names).tolist() == [10, 0]
    with pytest.raises(grfpp.InputError, match="node 4"):
        read_nodes([4, 2, 4], names, distinct=True)


def test_grid_search_over_scale_and_degree(club):
    A, parties = club
    grid = {"scale": [0.25, 4.0], "degree": [1, 2], "estimate": ["walks"]}
    clustering = SpectralKernelClustering(2, random_state=0, n_jobs=1)
    search = GridSearchCV(clustering, grid, cv=WholeGraph()).fit(A, parties)
    scores = search.cv_results_["mean_test_score"]
    expected = [
        clone(clustering).set_params(**params).fit(A).score(A, parties)
        for params in search.cv_results_["params"]
    ]
    assert_array_equal(scores, expected)
    assert search.best_score_ == search.score(A, parties) == max(expected)
    with parallel_config("threading", n_jobs=2):
        together = clone(search).fit(A, parties)
    assert_array_equal(together.cv_results_["mean_test_score"], expected)


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        (SpectralKernelClustering(2), r"cv=WholeGraph\(\)"),
        (make_pipeline(GraphRandomFeatures(), LogisticRegression()), r"cv=NodeKFold\(\)"),
    ],
)
def test_cutting_the_graph_fails_with_the_reason_and_not_in_nan(club, model, advice):
    """Halves are the trap: their rows and columns are a square too, and can be fitted."""
    A, parties = club
    with pytest.raises(ValueError, match=f"fits failed[\\s\\S]*InputError: X must be.*{advice}"):
        cross_val_score(model, A, parties, cv=2)
