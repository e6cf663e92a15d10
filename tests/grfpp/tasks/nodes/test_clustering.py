"""Clusters of nodes: the error, the embedding, the estimator."""

import pickle
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_graphs import QUICK, directed, graphs, irregular

import grfpp
from grfpp.tasks import SpectralKernelClustering
from grfpp.tasks.kernels import kernel_operator
from grfpp.tasks.nodes import spectral
from grfpp.tasks.nodes.clustering import pair_error
from grfpp.tasks.nodes.spectral import spectral_embedding
from grfpp.tasks.nodes.whole_graph import WholeGraph

METHODS = {
    "exact": {"kernel": "exact"},
    "GRF": {"degree": 1, "n_walks": 32},
    "GRF++": {"degree": 2, "n_walks": 32},
}


@parametrize_with_checks(
    [SpectralKernelClustering(n_jobs=1)],
    expected_failed_checks=lambda estimator: {
        "check_clustering": "fits points in the plane, which are not a graph"
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def club():
    graph = nx.karate_club_graph()
    return nx.to_scipy_sparse_array(graph, weight=None), [
        graph.nodes[node]["club"] for node in graph
    ]


def planted(sizes, inside=0.5, outside=0.02, seed=0):
    """Communities that are there to be found, and the nodes in another order."""
    graph = nx.random_partition_graph(sizes, inside, outside, seed=seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    order = np.random.default_rng(seed).permutation(len(truth))
    return nx.to_scipy_sparse_array(graph, dtype=float)[order][:, order], truth[order]


# --- the error --------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=2, max_size=12))
@QUICK
def test_pair_error_counts_pairs(nodes):
    labels, truth = zip(*nodes, strict=True)
    wrong = sum((a == b) != (c == d) for (a, c), (b, d) in combinations(nodes, 2))
    n = len(nodes)
    assert pair_error(labels, truth) == pytest.approx(wrong / (n * (n - 1) / 2))
    assert pair_error(truth, labels) == pair_error(labels, truth)
    assert pair_error(labels, truth) == pytest.approx(1 - rand_score(truth, labels))


def test_pair_error_of_the_paper():
    """Five of 34 nodes in the wrong one of two halves is its 0.2585 on the karate club."""
    truth = [0] * 17 + [1] * 17
    labels = [1] * 5 + [0] * 12 + [1] * 17
    assert pair_error(labels, truth) == 145 / 561
    assert round(pair_error(labels, truth), 4) == 0.2585


def test_pair_error_of_many_nodes():
    n = 200_000  # whose pairs exceed 32 bits
    assert pair_error(np.arange(n) % 2, np.arange(n) % 4) == pytest.approx(0.25, abs=1e-5)


@pytest.mark.parametrize(
    ("labels", "truth", "told"),
    [
        ([0, 1], [0, 1, 1], "found 2 and 3"),
        ([0], [0], "no pairs among 1 nodes"),
        ([], [], "no pairs among 0 nodes"),
        ([[0, 1]], [0, 1], "one entry a node"),
        ([0, np.nan], [0, 1], "NaN"),
    ],
)
def test_pair_error_refuses(labels, truth, told):
    with pytest.raises(grfpp.InputError, match=told):
        pair_error(labels, truth)


# --- the embedding ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("matrix", [irregular(), directed()], ids=["undirected", "directed"])
def test_embedding_is_that_of_ng_jordan_and_weiss(matrix, method):
    K = kernel_operator(matrix, random_state=0, **METHODS[method])
    S = K.toarray() + K.toarray().T
    scaling = 1 / np.sqrt(S.sum(axis=1))
    values, vectors = np.linalg.eigh(S * scaling[:, None] * scaling)
    vectors = vectors[:, ::-1][:, :3]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    embedding, found = spectral_embedding(K, sp.csr_array(matrix), 3)
    assert_allclose(found, values[::-1][:3], rtol=1e-10)
    # Vectors are told up to a rotation among equal eigenvalues; angles between rows are not.
    assert_allclose(embedding @ embedding.T, vectors @ vectors.T, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_lanczos_finds_what_lapack_finds(method, monkeypatch):
    A, _ = planted([40, 30, 20, 15])
    K = kernel_operator(A, random_state=1, **METHODS[method])
    dense, values = spectral_embedding(K, A, 4)
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    monkeypatch.setattr(type(K), "toarray", None)  # nothing is formed
    found, found_values = spectral_embedding(K, A, 4)
    assert_allclose(found_values, values, rtol=1e-7)
    assert_allclose(found, dense, atol=1e-5)


@pytest.mark.parametrize(
    "graph",
    [
        nx.grid_2d_graph(16, 16),
        nx.cycle_graph(300),
        nx.hypercube_graph(8),
        nx.disjoint_union_all([nx.cycle_graph(60)] * 4),
    ],
    ids=["grid", "cycle", "hypercube", "four cycles"],
)
def test_lanczos_finds_all_copies_of_an_eigenvalue(graph, monkeypatch):
    """Symmetries of a graph make eigenvalues equal; one start vector would find each once."""
    A = nx.to_scipy_sparse_array(graph)
    K = kernel_operator(A, kernel="exact")
    _, values = spectral_embedding(K, A, 10)
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    _, found = spectral_embedding(K, A, 10)
    assert_allclose(found, values, atol=1e-9)


def test_narrow_kernels_are_resolved(monkeypatch):
    """All eigenvalues lie within 1e-5 of 1, and are told apart even so."""
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    clustering = SpectralKernelClustering(4, kernel="exact", sigma=0.01, random_state=0)
    labels = clustering.fit_predict(nx.path_graph(300))
    assert np.count_nonzero(np.diff(labels)) == 3  # four pieces


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [3, 4, 5, 8])
def test_clusters_lie_within_components(method, k):
    graph = nx.disjoint_union_all(
        [nx.gnp_random_graph(120, 0.3, seed=0), nx.complete_graph(3), nx.empty_graph(1)]
    )
    labels = SpectralKernelClustering(k, random_state=0, **METHODS[method]).fit_predict(graph)
    component = np.repeat([0, 1, 2], [120, 3, 1])
    assert len(set(labels)) == k
    assert len(set(zip(labels, component, strict=True))) == k


@given(graphs(), st.data())
@QUICK
def test_rows_have_length_one_and_eigenvalues_fall_from_one(graph, data):
    k = data.draw(st.integers(1, graph.n_nodes))
    W = graph.normalized("sym")
    embedding, values = spectral_embedding(kernel_operator(W, kernel="exact"), W.adjacency, k)
    assert embedding.shape == (graph.n_nodes, k)
    assert_allclose(np.linalg.norm(embedding, axis=1), 1, rtol=1e-9)
    assert values[0] == 1
    assert (np.diff(values) <= 1e-9).all()
    assert (values >= -1e-9).all()


def test_kernels_that_do_not_tell_alikeness_are_refused():
    K = kernel_operator(irregular(), kernel=grfpp.TaylorKernel([1, -3]), estimate="exact")
    with pytest.raises(grfpp.InputError, match="row sums of the kernel are not positive"):
        spectral_embedding(K, sp.csr_array(irregular()), 2)


# --- the estimator ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dense_nodes", [0, 500])
def test_finds_what_was_planted(method, dense_nodes, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_NODES", dense_nodes)
    A, truth = planted([40, 30, 20, 10])
    clustering = SpectralKernelClustering(4, random_state=0, **METHODS[method])
    labels = clustering.fit_predict(A)
    assert pair_error(labels, truth) < 0.02
    assert_array_equal(labels, clustering.labels_)
    assert clustering.embedding_.shape == (100, 4)
    assert clustering.score(A, truth) == 1 - pair_error(labels, truth)


@pytest.mark.parametrize("method", METHODS)
def test_karate(club, method):
    A, parties = club
    labels = SpectralKernelClustering(2, random_state=0, **METHODS[method]).fit_predict(A)
    assert pair_error(labels, parties) < 0.12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dense_nodes", [0, 500])
def test_components_are_clusters(method, dense_nodes, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_NODES", dense_nodes)
    parts = [nx.path_graph(9), nx.cycle_graph(20), nx.complete_graph(7), nx.star_graph(30)]
    graph = nx.disjoint_union_all(parts)
    truth = np.repeat(np.arange(4), [len(part) for part in parts])
    order = np.random.default_rng(2).permutation(len(truth))
    A = nx.to_scipy_sparse_array(graph)[order][:, order]
    found = SpectralKernelClustering(4, random_state=0, **METHODS[method]).fit(A)
    assert pair_error(found.labels_, truth[order]) == 0
    assert_allclose(found.eigenvalues_, 1)


@pytest.mark.parametrize("method", METHODS)
def test_more_components_than_clusters(method):
    """Components stay whole; the smallest, isolated nodes among them, share a cluster."""
    graph = nx.disjoint_union_all([nx.path_graph(3), nx.complete_graph(8), nx.cycle_graph(6)])
    graph.add_nodes_from(["alone", "lonely"])
    labels = SpectralKernelClustering(3, random_state=0, **METHODS[method]).fit_predict(graph)
    truth = [2] * 3 + [0] * 8 + [1] * 6 + [2] * 2
    assert pair_error(labels, truth) == 0


def test_fewer_components_than_clusters():
    A, truth = planted([30, 30], outside=0.05, seed=3)
    both = sp.block_diag([A, nx.to_scipy_sparse_array(nx.complete_graph(5))], format="csr")
    labels = SpectralKernelClustering(3, kernel="exact", random_state=0).fit_predict(both)
    assert pair_error(labels, [*truth, *[2] * 5]) < 0.05


@pytest.mark.parametrize("k", [1, 2, 9])
def test_any_number_of_clusters(k):
    labels = SpectralKernelClustering(k, random_state=0).fit_predict(irregular())
    assert len(set(labels)) == k


def test_nodes_that_nothing_tells_apart_stay_together():
    """All four corners of two pairs: k-means has but two places for three clusters."""
    pairs = np.kron(np.eye(2), [[1, 1], [1, 1]])
    labels = SpectralKernelClustering(3, kernel="exact", random_state=0).fit_predict(pairs)
    assert labels[0] != labels[2]


def test_weights_matter():
    A = nx.to_numpy_array(nx.complete_graph(10))
    A[:5, 5:] *= 0.01
    A[5:, :5] *= 0.01
    labels = SpectralKernelClustering(2, random_state=0).fit_predict(A)
    assert pair_error(labels, [0] * 5 + [1] * 5) == 0


def test_directed_graphs():
    A, truth = planted([25, 25], inside=0.6)
    arcs = sp.csr_array(sp.triu(A, format="csr") + 0.5 * sp.tril(A, format="csr"))
    assert grfpp.Graph(arcs).is_directed
    labels = SpectralKernelClustering(2, random_state=0).fit_predict(arcs)
    assert pair_error(labels, truth) < 0.05


def test_other_kernels():
    A, truth = planted([25, 25])
    for options in (
        {"kernel": "inverse-power:2", "sigma": 0.8},
        {"kernel": grfpp.SquaredDiffusion(2.0)},
        {"normalization": "rw"},
        {"reuse_walks": True},
        {"termination": grfpp.Poisson(4)},
    ):
        labels = SpectralKernelClustering(2, random_state=0, **options).fit_predict(A)
        assert pair_error(labels, truth) < 0.1, options


@pytest.mark.parametrize("dense_nodes", [0, 500])
def test_any_number_of_threads_gives_the_same(club, dense_nodes, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_NODES", dense_nodes)
    A, _ = club
    one, many = (
        SpectralKernelClustering(4, random_state=5, n_walks=4, n_jobs=n_jobs).fit(A)
        for n_jobs in (1, 3)
    )
    assert_array_equal(one.labels_, many.labels_)
    assert_array_equal(one.embedding_, many.embedding_)


def test_seeds(club):
    A, _ = club
    free = SpectralKernelClustering(2, n_walks=1)
    assert free.fit(A).seed_ != free.fit(A).seed_
    again = clone(free).set_params(random_state=free.seed_).fit(A)
    assert_array_equal(again.embedding_, free.embedding_)


def test_pickle_and_clone(club):
    A, parties = club
    clustering = SpectralKernelClustering(2, kernel=grfpp.Diffusion(2.0), random_state=0).fit(A)
    restored = pickle.loads(pickle.dumps(clustering))
    assert_array_equal(restored.labels_, clustering.labels_)
    assert restored.score(A, parties) == clustering.score(A, parties)
    assert not hasattr(clone(clustering), "labels_")


def test_grid_search_over_sigma_walks_and_degree(club):
    A, parties = club
    grid = {"sigma": [0.5, 1.0, 2.0], "n_walks": [4, 16], "degree": [1, 2]}
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
        SpectralKernelClustering(2), {"sigma": [1.0]}, cv=n_folds, error_score="raise"
    )
    with pytest.raises(ValueError, match="WholeGraph"):
        search.fit(A, np.array(parties))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_clusters": 10}, "n_clusters=10 is more than the number of nodes, 9"),
        ({"n_clusters": 0}, "n_clusters must be a whole number >= 1"),
        ({"n_clusters": 2.0}, "n_clusters must be a whole number >= 1"),
        ({"n_clusters": 2, "n_init": 0}, "n_init must be a whole number >= 1"),
        ({"n_clusters": 2, "estimate": "no"}, "estimate must be 'walks' or 'exact'"),
    ],
)
def test_bad_parameters_are_told(options, told):
    with pytest.raises(grfpp.InputError, match=told):
        SpectralKernelClustering(**options).fit(irregular())


def test_score_needs_classes_of_the_same_nodes(club):
    A, parties = club
    clustering = SpectralKernelClustering(2, random_state=0).fit(A)
    with pytest.raises(grfpp.InputError, match="true classes"):
        clustering.score(A, None)
    with pytest.raises(grfpp.InputError, match="found 34 and 3"):
        clustering.score(A, parties[:3])
    with pytest.raises(ValueError, match="34"):
        clustering.score(irregular(), parties)
