"""Clusters of nodes, and the share of pairs that they get wrong."""

import pickle
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from communities import METHODS, planted
from estimator_case import KernelEstimatorCase
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_graphs import QUICK, irregular
from square_inputs import SquareClustering

import grfpp
from grfpp.linalg import spectra
from grfpp.tasks import SpectralKernelClustering, pair_error, spectral
from grfpp_lab.studies.clustering import small

CLUB = nx.karate_club_graph()
HOWS = ("regularized", "paper")
#: Ways to the eigenvectors: from the weights, by walks, by the planner's products.
WAYS = [{}, {"estimate": "walks"}, {"method": "chebyshev"}]


def clustered(graph, k, **options):
    return SpectralKernelClustering(k, random_state=0, **options).fit(graph)


class TestEstimator(KernelEstimatorCase):
    FITTED = ("labels_", "n_clusters_", "embedding_", "eigenvalues_", "method_", "n_features_in_")
    BAD = {"n_clusters": [35, 0, 2.0, "many"], "n_init": 0, "how": "magic", "n_components": 0}
    BAD |= {"regularization": [-1, "much"], "trim": "yes", "method": "magic"}
    BAD["normalization"] = [None, "max"]
    OTHER = {"n_clusters": 3}

    def make(self, **parameters):
        return SpectralKernelClustering(**{"n_clusters": 2, **parameters})

    def fit(self, estimator):
        return estimator.fit(CLUB)

    def result(self, fitted):
        return fitted.predict_proba(CLUB)


class TestPaperEstimator(TestEstimator):
    BAD = {"n_clusters": ["auto", 35], "how": "magic", "method": "magic"}

    def make(self, **parameters):
        return SpectralKernelClustering(**{"n_clusters": 2, "how": "paper", **parameters})

    def result(self, fitted):
        fitted.predict_proba(CLUB)
        return fitted.embedding_


OTHERS = ("methods_sample_order_invariance", "methods_subset_invariance", "fit_idempotent")
FAILED = {
    "check_clustering": "fits points in the plane, which are not a graph",
    "check_estimator_sparse_array": "asks whoever has predict_proba for classifier tags",
    "check_estimator_sparse_matrix": "asks whoever has predict_proba for classifier tags",
    **{f"check_{each}": "asks about other graphs than the fitted one" for each in OTHERS},
}


@parametrize_with_checks([SquareClustering(n_jobs=1)], expected_failed_checks=lambda _: FAILED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dense_nodes", [0, 500])
@pytest.mark.parametrize("how", HOWS)
def test_finds_what_was_planted(method, dense_nodes, how, monkeypatch):
    monkeypatch.setattr(spectra, "DENSE_NODES", dense_nodes)
    A, truth = planted([40, 30, 20, 10])
    clustering = clustered(A, 4, how=how, **METHODS[method])
    assert pair_error(clustering.labels_, truth) < 0.02
    assert clustering.embedding_.shape == (100, 4 if how == "paper" else 5)
    assert clustering.score(A, truth) == 1 - pair_error(clustering.labels_, truth)


def test_short_rows_stay_short_where_that_has_the_larger_modularity():
    graph = small(1011)  # 0.44 on the sphere
    clustering = clustered(graph.adjacency, graph.n_clusters)
    lengths = np.linalg.norm(clustering.embedding_, axis=1)
    assert lengths.min() < 0.5 < np.median(lengths) < 1
    assert pair_error(clustering.labels_, graph.truth) < 0.35
    # On some graphs the sphere has it.
    assert_allclose(np.linalg.norm(clustered(CLUB, 2).embedding_, axis=1), 1)


@pytest.mark.parametrize("options", [{"how": "paper", **each} for each in METHODS.values()] + WAYS)
@pytest.mark.parametrize("dense_nodes", [0, 500])
def test_components_are_clusters(options, dense_nodes, monkeypatch):
    monkeypatch.setattr(spectra, "DENSE_NODES", dense_nodes)
    parts = [nx.cycle_graph(9), nx.cycle_graph(20), nx.complete_graph(7), nx.star_graph(30)]
    truth = np.repeat(np.arange(4), [len(part) for part in parts])
    order = np.random.default_rng(2).permutation(len(truth))
    A = nx.to_scipy_sparse_array(nx.disjoint_union_all(parts))[order][:, order]
    truth = truth[order]
    found = clustered(A, 4, **options)
    assert pair_error(found.labels_, truth) == 0
    assert_allclose(found.eigenvalues_[:4], 1)
    more = clustered(A, 6, **options).labels_
    assert len(set(more)) == len(set(zip(more, truth, strict=True))) == 6
    # Components stay whole; the smallest share a cluster.
    assert pair_error(clustered(A, 2, **options).labels_, truth == 3) == 0


def test_equal_nodes_trees_and_narrow_kernels(monkeypatch):
    """Two pairs are two points, for three clusters; paths are cut into four pieces."""
    labels = clustered(np.kron(np.eye(2), [[1, 1], [1, 1]]), 3).labels_
    assert labels[0] != labels[2]
    assert np.count_nonzero(np.diff(clustered(nx.path_graph(40), 4).labels_)) == 3
    # All eigenvalues lie within 1e-5 of 1, and are told apart even so.
    monkeypatch.setattr(spectra, "DENSE_NODES", 0)
    labels = clustered(nx.path_graph(300), 4, how="paper", estimate="exact", scale=0.0001).labels_
    assert np.count_nonzero(np.diff(labels)) == 3


def test_weights_matter_and_directions_do_not():
    A = nx.to_numpy_array(nx.complete_graph(10))
    A[:5, 5:] *= 0.01
    A[5:, :5] *= 0.01
    assert pair_error(clustered(A, 2).labels_, [0] * 5 + [1] * 5) == 0
    A, truth = planted([25, 25], inside=0.6)
    arcs = sp.csr_array(sp.triu(A, format="csr") + 0.5 * sp.tril(A, format="csr"))
    assert grfpp.Graph(arcs).is_directed
    for how in HOWS:
        assert pair_error(clustered(arcs, 2, how=how).labels_, truth) < 0.05


def test_other_kernels():
    A, truth = planted([25, 25])
    for options in (
        {"kernel": "inverse-power:2", "scale": 0.64},
        {"kernel": grfpp.SquaredDiffusion(2.0)},
        {"normalization": "rw"},
        {"reuse_walks": True, "how": "paper"},
        {"termination": grfpp.Poisson(4), "how": "paper"},
    ):
        assert pair_error(clustered(A, 2, **options).labels_, truth) < 0.1, options


def hung_about(sizes=(60, 50, 40), seed=0):
    """Communities with a hub and with trees and cliques that hang on single nodes."""
    A, truth = planted(sizes, 0.3, 0.03, seed)
    graph, truth = nx.from_scipy_sparse_array(A), list(truth)
    rng = np.random.default_rng(seed)
    n = len(truth)
    graph.add_edges_from((0, int(node)) for node in rng.choice(n, n // 3) if node)
    for anchor in rng.choice(n, 12, replace=False).tolist():
        path = range(len(truth), len(truth) + int(rng.integers(1, 8)))
        nx.add_path(graph, [anchor, *path])
        truth += [truth[anchor]] * len(path)
    for anchor in rng.choice(n, 4, replace=False).tolist():
        clique = range(len(truth), len(truth) + 5)
        graph.add_edges_from([*combinations(clique, 2), (anchor, clique[0])])
        truth += [truth[anchor]] * 5
    return nx.to_scipy_sparse_array(graph, nodelist=range(len(truth)), weight=None), truth


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_whiskers_and_hubs_do_not_mislead(way, tmp_path):
    A, truth = hung_about()
    labels = clustered(A, 3, **way).labels_
    assert pair_error(labels, truth) < 0.06
    paper, other = (clustered(A, 3, **each) for each in ({"how": "paper"}, {"method": "paper"}))
    assert pair_error(paper.labels_, truth) > 0.15
    assert_array_equal(paper.labels_, other.labels_)
    assert paper.method_ == other.method_ == "walks"
    grfpp.Graph(A).save(tmp_path / "graph.grf")
    opened = grfpp.Graph.open(tmp_path / "graph.grf")
    assert_array_equal(clustered(opened, 3, **way).labels_, labels)


@pytest.mark.parametrize("n_alone", [1, 40])
def test_outliers_come_to_the_largest_cluster(n_alone):
    A, truth = planted([60, 40], 0.3, 0.02)
    graph = nx.from_scipy_sparse_array(A)
    graph.add_nodes_from(range(100, 100 + n_alone))
    clustering = clustered(graph, 2)
    labels, sizes = clustering.labels_, np.bincount(clustering.labels_[:100])
    assert pair_error(labels[:100], truth) < 0.05
    assert (labels[100:] == sizes.argmax()).all()
    assert_allclose(clustering.predict_proba(graph)[100:], [sizes / 100] * n_alone)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_number_of_clusters_is_found(seed):
    A, truth = planted([50, 40, 30, 30], 0.4, 0.02, seed)
    found = clustered(A, "auto", n_init=3)
    assert found.n_clusters_ == 4
    assert pair_error(found.labels_, truth) < 0.05
    assert clustered(nx.complete_graph(12), "auto").n_clusters_ == 1


def test_the_number_of_clusters_among_many_nodes_takes_little_work(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.arange(21_000) % 4)
    n_edges, by_class = 120_000, np.argsort(truth, kind="stable").reshape(4, -1)
    one, other = rng.integers(0, len(truth), (2, n_edges))
    inside = rng.random(n_edges) < 0.8
    other[inside] = by_class[truth[one], rng.integers(0, by_class.shape[1], n_edges)][inside]
    A = sp.csr_array((np.ones(n_edges), (one, other)), (len(truth), len(truth)))
    products, points, fit, solve = [], [], KMeans.fit, spectral.largest_eigenpairs

    def counted(multiply, *args, **options):
        return solve(lambda column: products.append(1) or multiply(column), *args, **options)

    def recorded(self, X):
        points.append(len(X) * self.n_init)
        return fit(self, X)

    monkeypatch.setattr(spectral, "largest_eigenpairs", counted)
    monkeypatch.setattr(KMeans, "fit", recorded)
    found = clustered(A + A.T, "auto", n_init=2)
    assert found.n_clusters_ == 4
    assert pair_error(found.labels_, truth) < 0.02
    assert len(products) < 500
    assert sum(points) < 21 * 21_000  # twice as many on all nodes
    again = clustered(A + A.T, "auto", n_init=2)
    assert_array_equal(found.predict_proba(A + A.T), again.predict_proba(A + A.T))
    known = clustered(A + A.T, 4, n_init=2)
    assert pair_error(known.labels_, truth) < 0.02


def test_probabilities():
    A, truth = planted([60, 50, 40], 0.25, 0.08)
    clustering = clustered(A, 3)
    probabilities = clustering.predict_proba(A)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(probabilities.argmax(axis=1), clustering.labels_)
    confidence = probabilities.max(axis=1)
    usual = [np.bincount(clustering.labels_[truth == label]).argmax() for label in range(3)]
    wrong = clustering.labels_ != np.array(usual)[truth]
    assert 0 < np.count_nonzero(wrong) < 30
    assert confidence[wrong].mean() < confidence[~wrong].mean() - 0.1
    with pytest.raises(grfpp.InputError):
        clustering.predict_proba(nx.path_graph(5))
    paper = clustered(A, 3, how="paper").predict_proba(A)
    assert set(paper.ravel()) == {0.0, 1.0}


def test_nearly_all_in_one_cluster_is_warned_of():
    graph = nx.gnp_random_graph(200, 0.1, seed=0)
    graph.add_edges_from([(0, 200), (200, 201), (201, 202), (200, 202)])
    with pytest.warns(RuntimeWarning, match="nearly all nodes are in one") as caught:
        clustered(graph, 2, how="paper", estimate="exact")
    assert caught[0].message.details["n_nodes"] == 203
    clustered(graph, 2)


@pytest.mark.parametrize("n_nodes", [60, 600])
def test_the_planner_finds_the_clusters_of_the_exact_kernel(n_nodes):
    graph = nx.planted_partition_graph(3, n_nodes // 3, 60 / n_nodes, 3 / n_nodes, seed=0)
    exact = clustered(graph, 3, how="paper", estimate="exact")
    planned = clustered(graph, 3, how="paper", method="auto")
    assert pair_error(planned.labels_, exact.labels_) == 0
    assert planned.method_


@pytest.mark.parametrize("how", HOWS)
def test_methods_for_other_kernels_and_classes_of_other_nodes_are_refused(club, how):
    for n_nodes in (34, 610):
        with pytest.raises(grfpp.InputError):
            clustered(nx.barabasi_albert_graph(n_nodes, 2, seed=0), 2, how=how, method="solve")
    A, parties = club
    clustering = clustered(A, 2, how=how)
    for X, y in ((A, None), (A, parties[:3]), (irregular(), parties)):
        with pytest.raises(ValueError):
            clustering.score(X, y)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=2, max_size=12))
@QUICK
def test_pair_error_counts_pairs(nodes):
    labels, truth = zip(*nodes, strict=True)
    wrong = [(a == b) != (c == d) for (a, c), (b, d) in combinations(nodes, 2)]
    assert pair_error(labels, truth) == pytest.approx(np.mean(wrong))
    assert pair_error(truth, labels) == pair_error(labels, truth)


def test_pair_error_of_the_paper_of_many_nodes_and_of_any_labels():
    """Five of 34 nodes in the wrong one of two halves is its 0.2585 on the karate club."""
    assert pair_error([1] * 5 + [0] * 12 + [1] * 17, [0] * 17 + [1] * 17) == 145 / 561
    n = 200_000  # whose pairs exceed 32 bits
    assert pair_error(np.arange(n) % 2, np.arange(n) % 4) == pytest.approx(0.25, abs=1e-5)
    truth = np.array([None, "a", None, 3], dtype=object)
    assert pair_error(["x", "y", "x", "z"], truth) == 0
    assert pair_error([0.5, 1.5, 0.5, 2.5], truth) == 0
    wrong = ([0, 1], [0, 1, 1]), ([0], [0]), ([], []), ([[0, 1]], [0, 1]), ([0, np.nan], [0, 1])
    for labels, truth in wrong:
        with pytest.raises(grfpp.InputError) as error:
            pair_error(labels, truth)
        assert error.value.argument == "labels"


@pytest.mark.parametrize("k", [1, 9, 20, 25])
def test_nodes_and_eigenvalues_are_drawn(k, tmp_path):
    figure_class = pytest.importorskip("matplotlib.figure").Figure
    clustering = clustered(CLUB, k)
    figure = clustering.plot()
    nodes, eigenvalues = figure.axes
    assert len(nodes.collections[0].get_offsets()) == 34
    colours = nodes.collections[0].get_facecolors()
    assert len(np.unique(colours, axis=0)) == k  # a palette of distinct colours
    assert (nodes.get_legend() is not None) == (k <= 20)
    if k <= 20:
        handles = nodes.get_legend().legend_handles
        assert len(np.unique([handle.get_facecolor()[0] for handle in handles], axis=0)) == k
    assert nodes.get_title() == f"34 nodes, {k} clusters"
    assert len(eigenvalues.lines[0].get_xdata()) == len(clustering.eigenvalues_)
    figure.savefig(tmp_path / "clusters.png")
    assert figure._repr_png_().startswith(b"\x89PNG")  # notebooks show it, without pyplot
    assert pickle.loads(pickle.dumps(figure)).axes
    axes = figure_class().subplots()
    assert clustering.plot(axes) is axes.figure
    assert axes.get_xlabel().startswith("first direction")
