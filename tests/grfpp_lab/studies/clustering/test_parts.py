"""Choosing, judging and timing, at the smallest size."""

import pytest

from grfpp.tasks import SpectralKernelClustering
from grfpp_lab.studies import clustering
from grfpp_lab.studies.clustering import choosing, judging, sureness


def test_the_default_is_what_is_compared():
    """The settings that the study calls the default are those of the estimator."""
    ours = SpectralKernelClustering(3, random_state=choosing.SEED, n_jobs=1)
    graph = choosing.FAMILIES["small"](1000)
    ours.set_params(n_clusters=graph.n_clusters)
    error = choosing.rand_error(ours.fit_predict(graph.adjacency), graph.truth)
    assert choosing.error_of(graph, **choosing.DEFAULT) == error
    assert choosing.named(choosing.DEFAULT) in dict(choosing.settings())


def test_choosing(capsys, monkeypatch):
    monkeypatch.setattr(choosing, "FAMILIES", {"small": choosing.FAMILIES["small"]})
    monkeypatch.setattr(choosing, "REGULARIZATIONS", (0.1,))
    clustering.main(["choose", "--seeds", "1"])
    lines = capsys.readouterr().out.splitlines()
    means = [float(line.split()[-1]) for line in lines[1:]]
    assert len(means) == len(dict(choosing.settings()))
    assert means == sorted(means, reverse=True)


def test_judging(capsys):
    pytest.importorskip("sknetwork")
    means = judging.judge_generated(range(1))
    assert means[judging.DEFAULT] < means[judging.SPECTRAL]
    seven = judging.judge_seven(["karate"])
    assert set(seven) == set(means)
    told = capsys.readouterr().out
    assert "1 generated graphs with hubs and whiskers" in told
    assert "best of scikit-network in the mean: " in told


def test_sureness(capsys, monkeypatch):
    monkeypatch.setattr(sureness, "FAMILIES", {"small": choosing.FAMILIES["small"]})
    given, classes = sureness._given(choosing.FAMILIES["small"](1000))
    assert sureness._tempered(given, 1.0) == pytest.approx(given)
    assert (sureness._tempered(given, 0.5).max(axis=1) <= given.max(axis=1)).all()
    assert (given.argmax(axis=1) == classes).mean() > 0.8
    clustering.main(["sure", "--seeds", "2"])
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 2 * (2 + len(sureness.WIDTHS))
    assert f"{sureness.WIDER:g} is the default" in told[0]
    assert f"{sureness.WIDER:g}" in {line.split()[0] for line in told}


def test_large(capsys):
    clustering.main(["large", "--nodes", "2000"])
    assert "10 clusters: " in capsys.readouterr().out
