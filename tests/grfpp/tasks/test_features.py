"""Features of nodes."""

import itertools
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from estimator_case import KernelEstimatorCase
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_graphs import directed, irregular, weighted
from square_inputs import SquareFeatures

import grfpp
from grfpp import InputError
from grfpp.errors import InputWarning
from grfpp.tasks import GraphRandomFeatures
from grfpp_lab.graphs import block_model

#: Rows are nodes of one graph: they depend on all the others and have an order.
NOT_FOR_GRAPHS = {
    "check_methods_sample_order_invariance": "permutes rows without columns: another graph",
    "check_methods_subset_invariance": "transforms single rows, which are not a graph",
    "check_fit_idempotent": "transforms some rows against all columns, which are not a graph",
}


@parametrize_with_checks(
    [SquareFeatures(n_jobs=1), SquareFeatures(estimate="exact", n_components=2)],
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


@pytest.mark.parametrize("matrix", [weighted(), directed()], ids=["undirected", "directed"])
@pytest.mark.parametrize(
    "options",
    [
        {"degree": 1},
        {"degree": 3},
        {"kernel": grfpp.TaylorKernel([-4, -1])},  # whose sign is in the left features
        {"symmetrize": True},
    ],
    ids=str,
)
def test_left_and_right_multiply_to_the_estimate(matrix, options):
    is_symmetrized = "symmetrize" in options
    if is_symmetrized:
        matrix = matrix + matrix.T
    left = GraphRandomFeatures(scale=0.49, random_state=3, **options)
    right = clone(left).set_params(side="right")
    X, Y = left.fit_transform(matrix), right.fit_transform(matrix)
    assert isinstance(X, sp.csr_array)
    assert X.shape[1] == len(left.get_feature_names_out()) == (1 + is_symmetrized) * len(matrix)
    W = grfpp.Graph(matrix).normalized("sym", 0.7**2)
    options = {"symmetrize": False, "kernel": grfpp.Diffusion(1.0), **options}
    K = grfpp.sample(W, seed=3, **options)
    assert_allclose((X @ Y.T).toarray(), K.toarray(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_components", [None, 4])
def test_transform_walks_the_same_walks_again(club, n_components):
    A, _ = club
    transformer = GraphRandomFeatures(n_components, walks="independent")
    first = transformer.fit_transform(A)
    assert abs(first - transformer.transform(A)).sum() == 0
    # Without a seed every fit draws its own.
    assert abs(first - transformer.fit_transform(A)).sum() > 0


def test_takes_whatever_holds_a_graph_and_exact_features(club):
    X = GraphRandomFeatures(estimate="exact").fit_transform(irregular())
    exact = grfpp.Diffusion(1.0).exact(grfpp.Graph(irregular()).normalized("sym"))
    assert_allclose(X @ X.T, exact, rtol=1e-10)
    A, _ = club
    wanted = GraphRandomFeatures(4, random_state=0).fit_transform(A)
    for source in (A.toarray().tolist(), nx.from_scipy_sparse_array(A), sp.coo_matrix(A)):
        assert_array_equal(GraphRandomFeatures(4, random_state=0).fit_transform(source), wanted)


@pytest.mark.parametrize("options", [{}, {"deflate": 3}, {"symmetrize": True}], ids=str)
def test_dense_features_are_projections_of_the_estimate(club, options):
    A, _ = club
    W = grfpp.Graph(A).normalized("sym")
    K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=4, **{"symmetrize": False, **options})
    for side, wanted in zip(("left", "right"), K.project(9, seed=4), strict=True):
        features = GraphRandomFeatures(9, kernel="diffusion", side=side, random_state=4, **options)
        assert_array_equal(features.fit_transform(A), wanted)
        names = [f"graphrandomfeatures{number}" for number in range(9)]
        assert features.get_feature_names_out().tolist() == names
    for name, wrong in (("deflate", {"deflate": 3}), ("symmetrize", {"normalization": "rw"})):
        with pytest.raises(InputError, match=name):
            GraphRandomFeatures(**{"symmetrize": name == "symmetrize", **wrong}).fit(A)


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


def blocks(seed=1):
    return block_model(600, 4, 10.0, 0.8, n_parts=1, seed=seed)


def test_dense_features_by_default_tell_communities_apart():
    made = blocks()
    features = GraphRandomFeatures(64, random_state=0)
    assert accuracy(features.fit_transform(made.graph), made.labels) > 0.9
    assert (features.kernel_, features.deflate_) == (grfpp.Diffusion(10.0), 64)
    narrow = GraphRandomFeatures(random_state=0).fit(made.graph)
    assert (narrow.kernel_, narrow.deflate_) == (grfpp.Diffusion(1.0), 0)


@pytest.mark.parametrize("graph", ["rw", "directed"])
def test_weights_without_orthogonal_eigenvectors_have_none_taken_exactly(graph):
    matrix = directed() if graph == "directed" else weighted()
    normalization = "rw" if graph == "rw" else "sym"
    features = GraphRandomFeatures(4, normalization=normalization, random_state=0)
    assert features.fit_transform(matrix).shape == (len(matrix), 4)
    assert features.deflate_ == 0


def test_columns_without_signal_are_told():
    graph = blocks().graph
    with pytest.warns(InputWarning, match="no signal beyond noise"):
        GraphRandomFeatures(64, kernel="diffusion:0.2", random_state=0).fit_transform(graph)
    with warnings.catch_warnings():  # eigenvalues of a path are close, its eigenvectors smooth
        warnings.simplefilter("error")
        GraphRandomFeatures(16, random_state=0).fit_transform(nx.path_graph(1000))


def accuracy(X, labels):
    """Of logistic regression at every other node, after learning from the rest."""
    learned = np.arange(len(labels)) % 2 == 0
    model = LogisticRegression(max_iter=300).fit(X[learned], labels[learned])
    return model.score(X[~learned], labels[~learned])


@pytest.mark.parametrize("more", ["chains", "cliques"])
def test_dense_features_by_default_spread_over_sparse_graphs(more):
    made, n, m = block_model(3000, 10, 8.0, 0.75, n_parts=1, seed=1), 3000, 40
    edges, hosts = made.graph.adjacency.tocoo(), np.random.default_rng(0).integers(n, size=m)
    graph = nx.empty_graph(n)
    graph.add_edges_from(zip(*edges.coords, strict=True))
    for i, host in enumerate(hosts):
        if more == "chains":  # of three nodes, each attached to a node
            nx.add_path(graph, [host, *range(n + 3 * i, n + 3 * i + 3)])
        else:  # five times as many, on their own
            for first in range(n + 20 * i, n + 20 * i + 20, 4):
                graph.add_edges_from(itertools.combinations(range(first, first + 4), 2))
    X = GraphRandomFeatures(64, random_state=0).fit_transform(graph)
    plain = GraphRandomFeatures(64, random_state=0).fit_transform(made.graph)
    assert accuracy(X[:n], made.labels) > accuracy(plain, made.labels) - 0.02
    participation = (X**2).sum(axis=0) ** 2 / (X**4).sum(axis=0)
    assert participation.min() > 100  # nodes
    assert_array_equal(X[n:], np.repeat(X[hosts], 3, axis=0) if more == "chains" else 0)


@pytest.mark.parametrize("normalization", ["sym", None])
def test_dense_features_by_default_are_eigenvectors_of_the_kernel(club, normalization):
    A, _ = club
    options = {"scale": 0.1} if normalization is None else {}
    features = GraphRandomFeatures(40, normalization=normalization, random_state=0, **options)
    X, W = features.fit_transform(A), 0.1 * A.toarray()
    if normalization == "sym":
        degrees = A.sum(axis=1)
        root = np.sqrt(degrees + 0.25 * degrees.mean())
        W = A.toarray() / np.outer(root, root)
    assert_allclose(X @ X.T, grfpp.Diffusion(10.0).exact(grfpp.Graph(W)), rtol=1e-8)
    assert features.deflate_ == 34
    assert not X[:, 34:].any()
    few = clone(features).set_params(n_components=10).fit_transform(A)
    assert_allclose(few @ few.T, X[:, :10] @ X[:, :10].T, atol=1e-3 * (X**2).max())


def test_dense_features_by_default_of_a_graph_without_edges():
    X = GraphRandomFeatures(4, random_state=0).fit_transform(np.zeros((9, 9)))
    assert_allclose(X.T @ X, np.eye(4), atol=1e-12)


def test_sparse_features_that_do_not_fit_are_refused_before_walking(monkeypatch):
    graph = nx.barabasi_albert_graph(6000, 8, seed=0)
    features = GraphRandomFeatures(random_state=0)
    monkeypatch.setattr("grfpp._memory.MAX_UNCHECKED_BYTES", 0)
    monkeypatch.setattr("grfpp._memory.available_bytes", lambda: 30 * 10**6)
    monkeypatch.setattr("grfpp.operators.kernel_choice.sample_estimate", None)
    with pytest.raises(InputError, match="n_components=64") as error:
        features.fit_transform(graph)
    assert "6000 nodes" in str(error.value)
