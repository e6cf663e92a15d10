"""Features of nodes."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from estimator_case import KernelEstimatorCase
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_graphs import directed, irregular, weighted
from square_inputs import SquareFeatures

import grfpp
from grfpp import InputError
from grfpp.tasks import GraphRandomFeatures, NodeKFold

#: Rows are nodes of one graph: they depend on all the others and have an order.
NOT_FOR_GRAPHS = {
    "check_methods_sample_order_invariance": "permutes rows without columns: another graph",
    "check_methods_subset_invariance": "transforms single rows, which are not a graph",
    "check_fit_idempotent": "transforms some rows against all columns, which are not a graph",
}


@parametrize_with_checks(
    [
        SquareFeatures(n_jobs=1),
        SquareFeatures(estimate="exact", n_components=2),
    ],
    expected_failed_checks=lambda estimator: NOT_FOR_GRAPHS,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class TestEstimator(KernelEstimatorCase):
    FITTED = ("n_features_in_",)
    BAD = {"side": "both", "n_components": [0, 2.5]}

    def make(self, **parameters):
        return GraphRandomFeatures(**parameters)

    def fit(self, estimator):
        return estimator.fit(weighted())

    def result(self, fitted):
        return fitted.transform(weighted())


class TestEstimatorOfNodes(TestEstimator):
    FITTED = ("n_features_in_", "features_")

    def make(self, **parameters):
        return GraphRandomFeatures(**{"graph": weighted(), "n_components": 4, **parameters})

    def fit(self, estimator):
        return estimator.fit([1, 2])

    def result(self, fitted):
        return fitted.transform([5, 0, 5])


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("matrix", [weighted(), directed()], ids=["undirected", "directed"])
def test_left_and_right_multiply_to_the_estimate(matrix, degree):
    left = GraphRandomFeatures(degree=degree, scale=0.49, random_state=3)
    right = clone(left).set_params(side="right")
    X, Y = left.fit_transform(matrix), right.fit_transform(matrix)
    assert isinstance(X, sp.csr_array)
    W = grfpp.Graph(matrix).normalized("sym", 0.7**2)
    K = grfpp.sample(W, grfpp.Diffusion(1.0), degree, 16, seed=3, symmetrize=False)
    assert_allclose((X @ Y.T).toarray(), K.toarray(), rtol=1e-12, atol=1e-14)


def test_a_kernel_with_a_negative_sign():
    kernel = grfpp.TaylorKernel([-4, -1])
    X, Y = (
        GraphRandomFeatures(kernel=kernel, side=side, random_state=0).fit_transform(weighted())
        for side in ("left", "right")
    )
    W = grfpp.Graph(weighted()).normalized("sym")
    K = grfpp.sample(W, kernel, seed=0, symmetrize=False)
    assert K.sign == -1
    assert_allclose((X @ Y.T).toarray(), K.toarray(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("side", ["left", "right"])
def test_dense_features_are_those_of_the_estimate(club, side):
    A, _ = club
    found = GraphRandomFeatures(5, side=side, random_state=11).fit_transform(A)
    W = grfpp.Graph(A).normalized("sym")
    K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=11, symmetrize=False)
    assert_array_equal(found, K.project(5, seed=11)[side == "right"])


def test_exact_features():
    X = GraphRandomFeatures(estimate="exact").fit_transform(irregular())
    exact = grfpp.Diffusion(1.0).exact(grfpp.Graph(irregular()).normalized("sym"))
    assert_allclose(X @ X.T, exact, rtol=1e-10)


@pytest.mark.parametrize("n_components", [None, 4])
def test_transform_walks_the_same_walks_again(club, n_components):
    A, _ = club
    transformer = GraphRandomFeatures(n_components, walks="independent")
    first = transformer.fit_transform(A)
    assert abs(first - transformer.transform(A)).sum() == 0
    # Without a seed every fit draws its own.
    assert abs(first - transformer.fit_transform(A)).sum() > 0


def test_takes_whatever_holds_a_graph(club, tmp_path):
    A, _ = club
    path = tmp_path / "club.mtx"
    from scipy.io import mmwrite

    mmwrite(path, A)
    wanted = GraphRandomFeatures(4, random_state=0).fit_transform(A)
    sources = [A.toarray(), A.toarray().tolist(), grfpp.Graph(A), nx.from_scipy_sparse_array(A)]
    for source in [*sources, path, sp.coo_matrix(A)]:
        assert_array_equal(GraphRandomFeatures(4, random_state=0).fit_transform(source), wanted)


def test_feature_names(club):
    A, _ = club
    names = GraphRandomFeatures(3).fit(A).get_feature_names_out()
    assert list(names) == [f"graphrandomfeatures{number}" for number in range(3)]
    assert len(GraphRandomFeatures().fit(A).get_feature_names_out()) == 34


def test_symmetrised_features_hold_both_sides(club):
    A, _ = club
    left, right = (
        GraphRandomFeatures(side=side, symmetrize=True, random_state=4)
        for side in ("left", "right")
    )
    X, Y = left.fit_transform(A), right.fit_transform(A)
    assert X.shape == Y.shape == (34, 68)
    assert len(left.get_feature_names_out()) == 68
    W = grfpp.Graph(A).normalized("sym")
    K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=4, symmetrize=True)
    assert_allclose((X @ Y.T).toarray(), K.toarray(), rtol=1e-12, atol=1e-14)
    assert GraphRandomFeatures(5, symmetrize=True).fit_transform(A).shape == (34, 5)
    with pytest.raises(InputError, match="symmetrize"):
        GraphRandomFeatures(symmetrize=True, normalization="rw").fit(A)


def test_deflated_features_are_dense(club):
    A, _ = club
    X, Y = (
        GraphRandomFeatures(9, side=side, deflate=3, random_state=4).fit_transform(A)
        for side in ("left", "right")
    )
    W = grfpp.Graph(A).normalized("sym")
    K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=4, deflate=3, symmetrize=False)
    for found, wanted in zip((X, Y), K.project(9, seed=4), strict=True):
        assert_array_equal(found, wanted)
    with pytest.raises(InputError, match="deflate"):
        GraphRandomFeatures(deflate=3).fit(A)


def test_set_output(club):
    A, _ = club
    transformer = GraphRandomFeatures(3, random_state=0).set_output(transform="default")
    assert isinstance(transformer.fit_transform(A), np.ndarray)
    pytest.importorskip("pandas", reason="data frames need pandas")
    frame = transformer.set_output(transform="pandas").fit_transform(A)
    assert list(frame.columns) == list(transformer.get_feature_names_out())


def test_grid_search_over_nodes(club):
    A, parties = club
    features = GraphRandomFeatures(graph=A, random_state=0)
    pipeline = make_pipeline(features, LogisticRegression(C=100))
    grid = {"graphrandomfeatures__scale": [0.25, 4.0], "graphrandomfeatures__degree": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=NodeKFold(3)).fit(np.arange(34), parties)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.85
    assert search.predict([0, 33]).tolist() == [parties[0], parties[33]]


@pytest.mark.parametrize("options", [{}, {"n_components": 3}, {"estimate": "exact"}])
def test_features_of_some_nodes_are_rows_of_those_of_the_graph(club, options):
    A, _ = club
    nodes = [5, 0, 33, 5]
    whole = GraphRandomFeatures(random_state=0, **options).fit_transform(A)
    features = GraphRandomFeatures(graph=A, random_state=0, **options)
    for rows in (features.fit_transform(nodes), features.fit([1, 2]).transform(nodes)):
        assert_array_equal(*(x.toarray() if sp.issparse(x) else x for x in (rows, whole[nodes])))
    assert features.n_features_in_ == 1
    assert len(features.get_feature_names_out()) == rows.shape[1]
    # Fitted to a graph again, it has forgotten the nodes.
    assert features.set_params(graph=None).fit(A).transform(A).shape == whole.shape
