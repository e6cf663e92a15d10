"""Gaussian processes at the smallest size, verdicts, and a peer that answers."""

import sys

import numpy as np
import pytest

from grfpp_lab.experiments.experiment import Holds, Settings, Size
from grfpp_lab.experiments.gp import experiment as gp
from grfpp_lab.experiments.gp.data import problem
from grfpp_lab.experiments.gp.views import EXACT, GRF, HEAD, METHODS, PEER_GENERAL

CLAIMS = {claim.name: claim for claim in gp.EXPERIMENT.claims}

ECHO = """
import json, sys
import numpy as np
request = json.load(sys.stdin)
assert request["peer"] == "fast-graph-gp regression" and request["threads"] == 1
with np.load(request["graph"]) as graph, np.load(request["data"]) as data:
    n = len(graph["indptr"]) - 1
    assert len(data["train"]) == len(data["targets"]) and data["test"].max() < n
    size = len(data["test"])
np.savez(request["answer"], mean=np.zeros(size), variance=np.ones(size))
seconds = {f"{part}_seconds": 1.0 for part in ("walk", "train", "predict")}
print(json.dumps({"noise": 0.5, "lam": None, "outputscale": None, **seconds}))
"""


@pytest.fixture(autouse=True)
def no_peers(monkeypatch):
    monkeypatch.delenv(gp.PEERS_VARIABLE, raising=False)


@pytest.fixture(scope="module")
def rows():
    cells = gp.plan(Settings(Size.TINY)).cells
    return [row for cell in cells for row in gp.run(cell)]


def test_the_smallest_size(rows):
    assert [row["method"] for row in rows] == [EXACT, GRF, "GRF++", HEAD] * 2
    for row in rows:
        assert row["n_nodes"] == 162
        assert 0.2 < row["rmse"] < 0.7
        assert 0.6 < row["coverage"] <= 1
        assert row["lam"] > 5  # it has moved from where it began, towards 12
        assert all(row[name] >= 0 for name in gp.TIMINGS)
    for claim in gp.EXPERIMENT.claims:
        assert claim.judge(rows).holds is Holds.OPEN
        assert all(panel.curves for panel in claim.panels(rows))
        assert all(table(rows).groups for table in claim.tables)


def test_what_is_not_timed_repeats_itself(rows):
    cell = gp.plan(Settings(Size.TINY)).cells[3]
    (again,) = gp.run(cell)
    assert {k: v for k, v in again.items() if k not in gp.TIMINGS} == {
        k: v for k, v in rows[3].items() if k not in gp.TIMINGS
    }


def test_data_are_draws_of_the_process():
    data = problem(3, seed=0)
    assert sorted([*data.train, *data.test]) == list(range(642))
    assert np.var(data.noisy - data.smooth) == pytest.approx(0.09, rel=0.2)
    assert np.array_equal(data.smooth, problem(3, seed=0).smooth)
    assert not np.array_equal(data.smooth, problem(3, seed=1).smooth)


def test_a_peer_is_asked(monkeypatch, tmp_path):
    script = tmp_path / "peer.py"
    script.write_text(ECHO)
    monkeypatch.setenv(gp.PEERS_VARIABLE, f"{sys.executable} {script}")
    plan = gp.plan(Settings(Size.TINY))
    assert plan.skipped == {}
    cell = next(cell for cell in plan.cells if cell["method"] == PEER_GENERAL)
    (row,) = gp.run(cell)
    data_spread = row["rmse"]  # it has answered zero everywhere
    assert 0.5 < data_spread < 1.5
    assert (row["noise"], row["lam"], row["train_seconds"]) == (0.5, None, 1.0)


def test_without_a_peer_the_page_says_so():
    assert "GRFPP_PEERS" in gp.plan(Settings(Size.TINY)).skipped["fast-graph-gp"]


def test_plans_grow_with_the_size():
    sizes = [len(gp.plan(Settings(size)).cells) for size in (Size.TINY, Size.QUICK, Size.FULL)]
    assert sizes == sorted(sizes)
    largest = max(gp.plan(Settings(Size.FULL)).cells, key=gp.cost)
    assert (largest["subdivisions"], largest["method"]) == (7, HEAD)


def made_up(method, n_nodes, rmse, seconds=1.0, coverage=0.95):
    times = dict.fromkeys(gp.TIMINGS, seconds)
    return {
        "method": method,
        "n_nodes": n_nodes,
        "repeat": 0,
        "n_steps": 60,
        "rmse": rmse,
        "latent_rmse": 2 * rmse,
        "coverage": coverage,
        **times,
    }


@pytest.mark.parametrize(
    ("error", "holds"), [(0.999, Holds.YES), (1.009, Holds.YES), (1.02, Holds.NO)]
)
def test_verdict_on_accuracy(error, holds):
    found = CLAIMS["gp-accuracy"].judge([made_up(EXACT, 2562, 1.0), made_up(HEAD, 2562, error)])
    assert found.holds is holds
    assert f"× {error:.3f} ({error:.3f}) at 2,562 nodes" in found.measured


@pytest.mark.parametrize("coverage", [0.3, 0.9, 0.999])
def test_intervals_that_do_not_hold_what_they_say_are_no_success(coverage):
    rows = [made_up(EXACT, 2562, 1.0), made_up(HEAD, 2562, 1.0, coverage=coverage)]
    assert CLAIMS["gp-accuracy"].judge(rows).holds is Holds.NO


def test_verdict_on_accuracy_needs_both():
    judge = CLAIMS["gp-accuracy"].judge
    assert judge([made_up(HEAD, 2562, 1.0)]).holds is Holds.OPEN
    assert judge([]).holds is Holds.OPEN


@pytest.mark.parametrize(
    ("ours", "theirs", "holds"),
    [(100.0, 200.0, Holds.YES), (100.0, 50.0, Holds.NO), (1000.0, 2000.0, Holds.NO)],
)
def test_verdict_on_time(ours, theirs, holds):
    rows = [
        made_up(HEAD, 163_842, 1.0, ours),
        made_up(HEAD, 2562, 1.0, ours),
        made_up(PEER_GENERAL, 2562, 1.0, theirs),
    ]
    assert CLAIMS["gp-time"].judge(rows).holds is holds
    assert CLAIMS["gp-time"].judge(rows[:1]).holds is Holds.OPEN
    assert CLAIMS["gp-time"].judge([]).holds is Holds.OPEN


def test_every_method_has_a_name_of_its_own():
    assert len(set(METHODS)) == len(METHODS)
