"""Clusters beside whiskers, hubs and outliers."""

import networkx as nx
import numpy as np
import pytest
from communities import planted
from numpy.testing import assert_allclose, assert_array_equal

import grfpp
from grfpp.tasks import SpectralKernelClustering, pair_error

WAYS = [{}, {"estimate": "walks"}, {"method": "chebyshev"}]


def hung_about(sizes=(60, 50, 40), seed=0):
    """Communities with a hub and with trees and cliques that hang on single nodes."""
    A, truth = planted(sizes, 0.3, 0.03, seed)
    graph, truth = nx.from_scipy_sparse_array(A), list(truth)
    rng = np.random.default_rng(seed)
    n = len(truth)
    graph.add_edges_from((0, int(node)) for node in rng.choice(n, n // 3) if node)
    for anchor in rng.choice(n, 12, replace=False):
        last = int(anchor)
        for _ in range(int(rng.integers(1, 8))):
            graph.add_edge(last, len(truth))
            last = len(truth)
            truth.append(truth[anchor])
    for anchor in rng.choice(n, 4, replace=False):
        clique = [len(truth) + i for i in range(5)]
        graph.add_edges_from((i, j) for i in clique for j in clique if i < j)
        graph.add_edge(int(anchor), clique[0])
        truth += [truth[anchor]] * 5
    return nx.to_scipy_sparse_array(graph, nodelist=range(len(truth)), weight=None), truth


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_whiskers_and_hubs_do_not_lead_astray(way):
    A, truth = hung_about()
    ours = SpectralKernelClustering(3, random_state=0, **way).fit_predict(A)
    paper = SpectralKernelClustering(3, how="paper", estimate="exact", random_state=0)
    assert pair_error(ours, truth) < 0.06
    assert pair_error(paper.fit_predict(A), truth) > 0.15


@pytest.mark.parametrize("n_alone", [1, 40])
def test_outliers_come_to_the_largest_cluster(n_alone):
    A, truth = planted([60, 40], 0.3, 0.02)
    graph = nx.from_scipy_sparse_array(A)
    graph.add_nodes_from(range(100, 100 + n_alone))
    clustering = SpectralKernelClustering(2, random_state=0).fit(graph)
    assert pair_error(clustering.labels_[:100], truth) < 0.05
    largest = np.bincount(clustering.labels_[:100]).argmax()
    assert (clustering.labels_[100:] == largest).all()
    chances = clustering.predict_proba(graph)[100:]
    assert_allclose(chances, [np.bincount(clustering.labels_[:100]) / 100] * n_alone)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_components_are_clusters(way):
    parts = [nx.cycle_graph(9), nx.cycle_graph(20), nx.complete_graph(7), nx.star_graph(30)]
    graph = nx.disjoint_union_all(parts)
    truth = np.repeat(np.arange(4), [len(part) for part in parts])
    found = SpectralKernelClustering(4, random_state=0, **way).fit(graph)
    assert pair_error(found.labels_, truth) == 0
    more = SpectralKernelClustering(6, random_state=0, **way).fit(graph)
    assert len(set(more.labels_)) == 6
    assert len(set(zip(more.labels_, truth, strict=True))) == 6
    fewer = SpectralKernelClustering(2, random_state=0, **way).fit(graph)
    assert pair_error(fewer.labels_, truth == 3) == 0


def test_trees_can_be_clustered():
    labels = SpectralKernelClustering(4, random_state=0).fit_predict(nx.path_graph(40))
    assert np.count_nonzero(np.diff(labels)) == 3


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_number_of_clusters_is_found(seed):
    A, truth = planted([50, 40, 30, 30], 0.4, 0.02, seed)
    found = SpectralKernelClustering("auto", random_state=0).fit(A)
    assert found.n_clusters_ == 4
    assert pair_error(found.labels_, truth) < 0.05


def test_the_number_of_clusters_of_a_clique_is_one():
    found = SpectralKernelClustering("auto", random_state=0).fit(nx.complete_graph(12))
    assert found.n_clusters_ == 1


def test_probabilities():
    A, truth = planted([60, 50, 40], 0.25, 0.08)
    clustering = SpectralKernelClustering(3, random_state=0).fit(A)
    chances = clustering.predict_proba(A)
    assert chances.shape == (A.shape[0], 3)
    assert_allclose(chances.sum(axis=1), 1)
    assert_array_equal(chances.argmax(axis=1), clustering.labels_)
    sure = chances.max(axis=1)
    most = [np.bincount(clustering.labels_[truth == each]).argmax() for each in range(3)]
    wrong = clustering.labels_ != np.array(most)[truth]
    assert 0 < np.count_nonzero(wrong) < 30
    assert sure[wrong].mean() < sure[~wrong].mean() - 0.1
    with pytest.raises(grfpp.InputError, match="is not the graph"):
        clustering.predict_proba(nx.path_graph(5))
    # Of the paper's way, yes or no.
    paper = SpectralKernelClustering(3, how="paper", random_state=0).fit(A)
    assert set(paper.predict_proba(A).ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_any_number_of_threads_gives_the_same(way):
    A, _ = hung_about()
    one, many = (
        SpectralKernelClustering(3, random_state=5, n_jobs=n_jobs, **way).fit(A)
        for n_jobs in (1, 3)
    )
    assert_array_equal(one.labels_, many.labels_)
    assert_array_equal(one.embedding_, many.embedding_)


def test_graphs_on_disk(tmp_path):
    A, _ = hung_about()
    grfpp.Graph(A).save(tmp_path / "graph.grf")
    opened = grfpp.Graph.open(tmp_path / "graph.grf")
    expected = SpectralKernelClustering(3, random_state=0).fit_predict(A)
    assert_array_equal(SpectralKernelClustering(3, random_state=0).fit_predict(opened), expected)


def test_the_paper_by_either_name():
    A, _ = hung_about()
    one, other = (
        SpectralKernelClustering(3, random_state=0, **each).fit(A)
        for each in ({"how": "paper"}, {"method": "paper"})
    )
    assert_array_equal(one.labels_, other.labels_)
    assert one.method_ == other.method_ == "walks"


def test_nearly_all_in_one_cluster_is_told():
    graph = nx.gnp_random_graph(200, 0.1, seed=0)
    graph.add_edges_from([(0, 200), (200, 201), (201, 202), (200, 202)])
    with pytest.warns(RuntimeWarning, match="of 203 nodes are in one of the 2 clusters"):
        SpectralKernelClustering(2, how="paper", estimate="exact", random_state=0).fit(graph)
    SpectralKernelClustering(2, random_state=0).fit(graph)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"how": "magic"}, "how must be 'regularized' or 'paper'"),
        ({"n_clusters": "many"}, "n_clusters must be a whole number >= 1 or 'auto'"),
        ({"n_clusters": "auto", "how": "paper"}, "n_clusters='auto' is of how='regularized'"),
        ({"regularization": -1}, "regularization must be from 0"),
        ({"regularization": "much"}, "regularization must be a finite number"),
        ({"n_components": 0}, "n_components must be a whole number >= 1"),
        ({"trim": "yes"}, "trim must be True or False"),
        ({"normalization": None}, "use 'sym', or how='paper'"),
        ({"method": "magic"}, "method must be"),
        ({"kernel": "inverse-power:4"}, "use scale=0.9"),
    ],
)
def test_bad_parameters_are_told(options, told):
    with pytest.raises(grfpp.InputError, match=told):
        SpectralKernelClustering(**{"n_clusters": 2, **options}).fit(nx.karate_club_graph())
