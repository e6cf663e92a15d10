"""Clusters of nodes, and the share of pairs that they get wrong."""

import pickle
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from communities import METHODS, planted
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_graphs import QUICK, irregular
from square_inputs import SquareClustering

import grfpp
from grfpp import tasks
from grfpp.tasks import SpectralKernelClustering
from grfpp.tasks.nodes import clustering, spectral
from grfpp.tasks.nodes.clustering import pair_error, rand_error


@parametrize_with_checks(
    [SquareClustering(n_jobs=1)],
    expected_failed_checks=lambda estimator: {
        "check_clustering": "fits points in the plane, which are not a graph",
        **dict.fromkeys(
            ["check_estimator_sparse_array", "check_estimator_sparse_matrix"],
            "asks whoever has predict_proba for the tags of classifiers",
        ),
        **dict.fromkeys(
            [
                "check_methods_sample_order_invariance",
                "check_methods_subset_invariance",
                "check_fit_idempotent",
            ],
            "asks predict_proba about other graphs than the one that was fitted",
        ),
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_narrow_kernels_are_resolved(monkeypatch):
    """All eigenvalues lie within 1e-5 of 1, and are told apart even so."""
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    clustering = SpectralKernelClustering(
        4, how="paper", estimate="exact", scale=0.0001, random_state=0
    )
    labels = clustering.fit_predict(nx.path_graph(300))
    assert np.count_nonzero(np.diff(labels)) == 3  # four pieces


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [3, 4, 5, 8])
def test_clusters_lie_within_components(method, k):
    graph = nx.disjoint_union_all(
        [nx.gnp_random_graph(60, 0.4, seed=0), nx.complete_graph(3), nx.empty_graph(1)]
    )
    paper = SpectralKernelClustering(k, how="paper", random_state=0, **METHODS[method])
    labels = paper.fit_predict(graph)
    component = np.repeat([0, 1, 2], [60, 3, 1])
    assert len(set(labels)) == k
    assert len(set(zip(labels, component, strict=True))) == k


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dense_nodes", [0, 500])
@pytest.mark.parametrize("how", clustering.HOWS)
def test_finds_what_was_planted(method, dense_nodes, how, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_NODES", dense_nodes)
    A, truth = planted([40, 30, 20, 10])
    clustering = SpectralKernelClustering(4, how=how, random_state=0, **METHODS[method])
    labels = clustering.fit_predict(A)
    assert pair_error(labels, truth) < 0.02
    assert_array_equal(labels, clustering.labels_)
    assert clustering.embedding_.shape == (100, 4 if how == "paper" else 5)
    assert clustering.score(A, truth) == 1 - pair_error(labels, truth)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", clustering.HOWS)
def test_karate(club, method, how):
    A, parties = club
    ours = SpectralKernelClustering(2, how=how, random_state=0, **METHODS[method])
    labels = ours.fit_predict(A)
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
    found = SpectralKernelClustering(4, how="paper", random_state=0, **METHODS[method]).fit(A)
    assert pair_error(found.labels_, truth[order]) == 0
    assert_allclose(found.eigenvalues_, 1)


@pytest.mark.parametrize("method", METHODS)
def test_more_components_than_clusters(method):
    """Components stay whole; the smallest, isolated nodes among them, share a cluster."""
    graph = nx.disjoint_union_all([nx.path_graph(3), nx.complete_graph(8), nx.cycle_graph(6)])
    graph.add_nodes_from(["alone", "lonely"])
    paper = SpectralKernelClustering(3, how="paper", random_state=0, **METHODS[method])
    labels = paper.fit_predict(graph)
    truth = [2] * 3 + [0] * 8 + [1] * 6 + [2] * 2
    assert pair_error(labels, truth) == 0


def test_fewer_components_than_clusters():
    A, truth = planted([30, 30], outside=0.05, seed=3)
    both = sp.block_diag([A, nx.to_scipy_sparse_array(nx.complete_graph(5))], format="csr")
    labels = SpectralKernelClustering(3, estimate="exact", random_state=0).fit_predict(both)
    assert pair_error(labels, [*truth, *[2] * 5]) < 0.05


@pytest.mark.parametrize("k", [1, 2, 9])
def test_any_number_of_clusters(k):
    labels = SpectralKernelClustering(k, random_state=0).fit_predict(irregular())
    assert len(set(labels)) == k


def test_nodes_that_nothing_tells_apart_stay_together():
    """All four corners of two pairs: k-means has but two places for three clusters."""
    pairs = np.kron(np.eye(2), [[1, 1], [1, 1]])
    labels = SpectralKernelClustering(3, estimate="exact", random_state=0).fit_predict(pairs)
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
        {"kernel": "inverse-power:2", "scale": 0.64},
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
    free = SpectralKernelClustering(2, how="paper", n_walks=1)
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


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=2, max_size=12))
@QUICK
def test_rand_error_counts_pairs(nodes):
    labels, truth = zip(*nodes, strict=True)
    wrong = sum((a == b) != (c == d) for (a, c), (b, d) in combinations(nodes, 2))
    n = len(nodes)
    assert rand_error(labels, truth) == pytest.approx(wrong / (n * (n - 1) / 2))
    assert rand_error(truth, labels) == rand_error(labels, truth)
    assert rand_error(labels, truth) == pytest.approx(1 - rand_score(truth, labels))


def test_rand_error_of_the_paper():
    """Five of 34 nodes in the wrong one of two halves is its 0.2585 on the karate club."""
    truth = [0] * 17 + [1] * 17
    labels = [1] * 5 + [0] * 12 + [1] * 17
    assert rand_error(labels, truth) == 145 / 561
    assert round(rand_error(labels, truth), 4) == 0.2585


def test_rand_error_of_many_nodes():
    n = 200_000  # whose pairs exceed 32 bits
    assert rand_error(np.arange(n) % 2, np.arange(n) % 4) == pytest.approx(0.25, abs=1e-5)


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
def test_rand_error_refuses(labels, truth, told):
    with pytest.raises(grfpp.InputError, match=told):
        rand_error(labels, truth)


def test_it_is_called_pair_error_outside():
    assert tasks.pair_error is clustering.pair_error is rand_error


def test_labels_of_any_kind():
    truth = np.array([None, "a", None, 3], dtype=object)
    assert rand_error(["x", "y", "x", "z"], truth) == 0
    assert rand_error([0.5, 1.5, 0.5, 2.5], truth) == 0


@pytest.mark.parametrize("n_nodes", [60, 900])
def test_the_planner_finds_the_clusters_of_the_exact_kernel(n_nodes):
    graph = nx.planted_partition_graph(3, n_nodes // 3, 60 / n_nodes, 3 / n_nodes, seed=0)
    A = nx.to_scipy_sparse_array(graph)
    exact, planned = (
        SpectralKernelClustering(3, how="paper", random_state=0, **each).fit(A)
        for each in ({"estimate": "exact"}, {"method": "auto"})
    )
    assert rand_error(planned.labels_, exact.labels_) == 0
    assert exact.method_ == "exact"
    assert planned.method_


def test_methods_are_searched_like_any_parameter():
    from sklearn.model_selection import GridSearchCV

    club = nx.karate_club_graph()
    parties = [club.nodes[node]["club"] for node in club]
    search = GridSearchCV(
        SpectralKernelClustering(2, random_state=0),
        {"method": [None, "paper", "auto", "chebyshev"]},
        cv=tasks.WholeGraph(),
    )
    search.fit(nx.to_scipy_sparse_array(club, weight=None), parties)
    assert len(search.cv_results_["params"]) == 4


@pytest.mark.parametrize("how", ["regularized", "paper"])
@pytest.mark.parametrize("n_nodes", [34, 610])
def test_a_method_that_is_for_other_kernels_is_refused_on_graphs_of_any_size(how, n_nodes):
    graph = nx.barabasi_albert_graph(n_nodes, 2, seed=0)
    with pytest.raises(grfpp.InputError, match="the kernel is no inverse power"):
        SpectralKernelClustering(2, how=how, method="solve").fit(graph)


@pytest.mark.parametrize("method", ["auto", "chebyshev"])
def test_small_graphs_say_that_they_take_the_whole_matrix(method):
    found = SpectralKernelClustering(2, how="paper", method=method, random_state=0)
    assert found.fit(nx.karate_club_graph()).method_ == "dense: the whole matrix at once"
