"""Gaussian processes: data, the smallest size, and verdicts on rows made by hand."""

import sys

import numpy as np
import pytest
from verdict_case import NO, OPEN, YES, check_claims, verdicts

from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.gp import experiment as gp
from grfpp_lab.experiments.gp.claims import EXACT, GRF, HEAD, PEER_GENERAL, pooled_panels
from grfpp_lab.experiments.gp.data import problem
from grfpp_lab.harness.experiment import Settings, Size


@pytest.fixture(autouse=True)
def _no_peers(monkeypatch):
    """No peers but those that a test names."""
    monkeypatch.delenv(gp.PEERS_VARIABLE, raising=False)


def test_data_are_draws_of_the_process():
    data = problem(3, seed=0)
    assert sorted([*data.train, *data.test]) == list(range(642))
    assert np.var(data.noisy - data.smooth) == pytest.approx(0.09, rel=0.2)
    assert np.array_equal(data.smooth, problem(3, seed=0).smooth)
    assert not np.array_equal(data.smooth, problem(3, seed=1).smooth)


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


def test_the_smallest_size():
    cells = gp.plan(Settings(Size.TINY)).cells
    rows = [row for cell in cells for row in gp.run(cell)]
    assert [row["method"] for row in rows] == [EXACT, GRF, "GRF++", HEAD, POOLED] * 2
    for row in rows:
        assert row["n_nodes"] == 162
        assert 0.2 < row["rmse"] < 0.7
        assert 0.6 < row["coverage"] <= 1
        assert row["lam"] > 5  # it has moved from where it began, towards 12
        assert all(row[name] >= 0 for name in gp.TIMINGS)
    check_claims(gp.EXPERIMENT, rows)
    assert all(claim.judge(rows).holds is OPEN for claim in gp.EXPERIMENT.claims)
    (again,) = gp.run(cells[3])  # what is not timed repeats itself
    assert all(again[name] == rows[3][name] for name in again if name not in gp.TIMINGS)


def test_plans_grow_with_the_size_and_say_what_is_left_out():
    tiny, quick, full = (gp.plan(Settings(size)) for size in (Size.TINY, Size.QUICK, Size.FULL))
    assert len(tiny.cells) <= len(quick.cells) <= len(full.cells)
    assert max(cell["subdivisions"] for cell in full.cells) == 7
    assert "GRFPP_PEERS" in tiny.skipped["fast-graph-gp"]
    # Pooled walks are the kernel's own.
    large = next(c for c in full.cells if (c["method"], c["subdivisions"]) == (POOLED, 5))
    assert not {"n_walks", "n_exact", "termination"} & set(large)
    assert (large["walks"], large["dtype"]) == ("pooled", "float64")
    assert not any("walks" in cell for cell in full.cells if cell["method"] != POOLED)


CLAIMS = {claim.name: claim for claim in gp.EXPERIMENT.claims}


def made_row(method, n_nodes=2562, rmse=1.0, seconds=1.0, coverage=0.95):
    shared = {"repeat": 0, "n_steps": 60, "latent_rmse": 2 * rmse, "coverage": coverage}
    times = dict.fromkeys(gp.TIMINGS, seconds)
    return {"method": method, "n_nodes": n_nodes, "rmse": rmse, **shared, **times}


def pair(method, error=1.0, n_nodes=2562, **more):
    return [made_row(EXACT, n_nodes), made_row(method, n_nodes, error, **more)]


def timed(ours, theirs):
    large = [made_row(HEAD, n_nodes, seconds=ours) for n_nodes in (163_842, 2562)]
    return [*large, made_row(PEER_GENERAL, seconds=theirs)]


accuracy, time, pooled = (CLAIMS[f"gp-{name}"].judge for name in ("accuracy", "time", "pooled"))

test_verdicts = verdicts(
    [
        (accuracy, pair(HEAD, 0.999), YES, "× 0.999 (0.999) at 2,562 nodes"),
        (accuracy, pair(HEAD, 1.009), YES, "× 1.009 (1.009) at 2,562 nodes"),
        (accuracy, pair(HEAD, 1.02), NO, "× 1.020 (1.020) at 2,562 nodes"),
        (accuracy, [made_row(HEAD)], OPEN),
        # Intervals that do not hold what they say are no success.
        *((accuracy, pair(HEAD, coverage=share), NO) for share in (0.3, 0.9, 0.999)),
        (time, timed(100.0, 200.0), YES),
        (time, timed(100.0, 50.0), NO),
        (time, timed(1000.0, 2000.0), NO),
        (time, timed(100.0, 200.0)[:1], OPEN),
        (pooled, pair(POOLED, 0.9981), YES, "× 0.9981 (0.9981) at 2,562 nodes"),
        (pooled, pair(POOLED, 1.0019), YES, "× 1.0019 (1.0019) at 2,562 nodes"),
        (pooled, pair(POOLED, 1.0021), NO, "× 1.0021 (1.0021) at 2,562 nodes"),
        (pooled, pair(POOLED, 0.997), NO, "× 0.9970 (0.9970) at 2,562 nodes"),
        (pooled, [made_row(EXACT)], OPEN),
        (pooled, [made_row(POOLED)], OPEN),
        (pooled, pair(POOLED, n_nodes=642), OPEN, "too small to judge"),
    ]
)


@pytest.mark.parametrize("error", [0.9981, 1.0021])
def test_pooled_walks_are_drawn(error):
    (panel,) = pooled_panels(pair(POOLED, error))
    assert panel.curves[0].y == pytest.approx([100 * abs(error - 1)])
