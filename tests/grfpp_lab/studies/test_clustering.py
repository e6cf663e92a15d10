"""Generated graphs: connected, the same every time, with what they are named after."""

import pytest

from grfpp_lab.studies import clustering
from grfpp_lab.studies.clustering import CHOOSING_SEEDS, JUDGING_SEEDS


def test_nothing_is_judged_on_what_it_was_chosen_on():
    assert not set(CHOOSING_SEEDS) & set(JUDGING_SEEDS)
    assert len(JUDGING_SEEDS) == 30


def test_choosing(capsys, monkeypatch):
    monkeypatch.setattr(clustering, "FAMILIES", {"small": clustering.FAMILIES["small"]})
    monkeypatch.setattr(clustering, "REGULARIZATIONS", (0.1,))
    clustering.main(["choose", "--seeds", "1"])
    lines = capsys.readouterr().out.splitlines()
    means = [float(line.split()[-1]) for line in lines[1:]]
    assert len(means) == len(dict(clustering.settings()))
    assert means == sorted(means, reverse=True)


def test_judging(capsys):
    pytest.importorskip("sknetwork")
    means = clustering.judge_generated(range(1))
    assert means[clustering.JUDGING_DEFAULT] < means[clustering.SPECTRAL]
    seven = clustering.judge_seven(["karate"])
    assert set(seven) == set(means)
    told = capsys.readouterr().out
    assert "1 generated graphs with hubs and whiskers" in told
    assert "best of scikit-network in the mean: " in told


def test_sureness(capsys, monkeypatch):
    monkeypatch.setattr(clustering, "FAMILIES", {"small": clustering.FAMILIES["small"]})
    given, classes = clustering._given(clustering.FAMILIES["small"](1000))
    assert clustering._tempered(given, 1.0) == pytest.approx(given)
    assert (clustering._tempered(given, 0.5).max(axis=1) <= given.max(axis=1)).all()
    assert (given.argmax(axis=1) == classes).mean() > 0.8
    clustering.main(["sure", "--seeds", "2"])
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 2 * (2 + len(clustering.WIDTHS))
    assert f"{clustering.TEMPERATURE:g} is the default" in told[0]
    assert f"{clustering.TEMPERATURE:g}" in {line.split()[0] for line in told}


def test_large(capsys):
    clustering.main(["large", "--nodes", "2000"])
    assert "10 clusters: " in capsys.readouterr().out
