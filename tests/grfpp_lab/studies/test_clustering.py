"""Generated graphs: connected, the same every time, with what they are named after."""

import networkx as nx
import numpy as np
import pytest

from grfpp.tasks import SpectralKernelClustering, pair_error
from grfpp_lab.studies import clustering
from grfpp_lab.studies.clustering import CHOOSING_SEEDS, JUDGING_SEEDS


@pytest.mark.parametrize("family", clustering.FAMILIES)
def test_graphs_are_connected_and_a_function_of_the_seed(family):
    one, again = (clustering.FAMILIES[family](3) for _ in range(2))
    assert one.family == family
    assert (one.adjacency != again.adjacency).nnz == 0
    np.testing.assert_array_equal(one.truth, again.truth)
    graph = nx.from_scipy_sparse_array(one.adjacency)
    assert nx.is_connected(graph) and nx.number_of_selfloops(graph) == 0
    assert len(one.truth) == len(graph) and one.n_clusters >= 2
    assert (one.adjacency != one.adjacency.T).nnz == 0


def test_hubs_whiskers_and_mixing_are_what_they_are_called():
    made = clustering.hubs_and_whiskers(0)
    degree = np.diff(made.adjacency.indptr)
    assert degree.max() > 5 * np.median(degree)
    assert sum(1 for _ in nx.bridges(nx.from_scipy_sparse_array(made.adjacency))) > 10
    rng = np.random.default_rng(0)
    edges, truth = clustering.block_model(np.full(4, 500), 20.0, 0.4, 0.7, rng)
    between = np.mean(truth[edges[0]] != truth[edges[1]])
    assert between == pytest.approx(0.4 * 0.75, abs=0.02)


def test_the_default_of_the_study_is_that_of_the_estimator(small):
    graph = small(1000)
    ours = SpectralKernelClustering(graph.n_clusters, random_state=clustering.SEED, n_jobs=1)
    error = pair_error(ours.fit_predict(graph.adjacency), graph.truth)
    assert clustering.error_of(graph, **clustering.DEFAULT) == error
    assert clustering.named(clustering.DEFAULT) in dict(clustering.settings())


@pytest.fixture
def small(monkeypatch):
    """One family of generated graphs."""
    monkeypatch.setattr(clustering, "FAMILIES", {"small": clustering.FAMILIES["small"]})
    return clustering.FAMILIES["small"]


def test_choosing(small, capsys, monkeypatch):
    monkeypatch.setattr(clustering, "REGULARIZATIONS", (0.1,))
    clustering.main(["choose", "--seeds", "1"])
    means = [float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert len(means) == len(dict(clustering.settings()))
    assert means == sorted(means, reverse=True)
    assert not set(CHOOSING_SEEDS) & set(JUDGING_SEEDS)
    assert len(JUDGING_SEEDS) == 30


def test_judging(capsys, monkeypatch):
    pytest.importorskip("sknetwork")
    monkeypatch.setattr(clustering, "SEEDS", range(2))
    means = clustering.judge_generated(range(1))
    assert means[clustering.JUDGING_DEFAULT] < means[clustering.SPECTRAL]
    seven = clustering.judge_seven(["karate"])
    assert set(seven) == set(means)
    told = capsys.readouterr().out
    assert "1 generated graphs with hubs and whiskers" in told
    assert "best of scikit-network in the mean: " in told


def test_judging_where_one_class_dominates(capsys):
    pytest.importorskip("sknetwork")
    assert nx.number_connected_components(nx.Graph(clustering.dominated(1).adjacency)) > 3
    means = clustering.judge_dominated(range(1, 2))
    assert 0 < means[clustering.JUDGING_DEFAULT] < 1
    assert "adjusted Rand index 0.0000" in capsys.readouterr().out  # of one cluster


def test_sureness(small, capsys):
    given, classes = clustering._given(small(1000))
    assert clustering._tempered(given, 1.0) == pytest.approx(given)
    assert (clustering._tempered(given, 0.5).max(axis=1) <= given.max(axis=1)).all()
    assert (given.argmax(axis=1) == classes).mean() > 0.8
    clustering.main(["sure", "--seeds", "2"])
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 2 * (2 + len(clustering.WIDTHS))
    assert f"{clustering.TEMPERATURE:g} is the default" in told[0]
    assert f"{clustering.TEMPERATURE:g}" in {line.split()[0] for line in told}
    for part in ("large", "auto"):
        clustering.main([part, "--nodes", "2000"])
        assert "10 clusters: " in capsys.readouterr().out
