"""Verdicts on Gaussian processes."""

import pytest

from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.gp import experiment as gp
from grfpp_lab.experiments.gp.claims import EXACT, HEAD, PEER_GENERAL, pooled_panels
from grfpp_lab.harness.experiment import Holds

CLAIMS = {claim.name: claim for claim in gp.EXPERIMENT.claims}


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
    alone = [made_up(HEAD, 2562, 1.0)]
    assert CLAIMS["gp-accuracy"].judge(alone).holds is Holds.OPEN


@pytest.mark.parametrize("coverage", [0.3, 0.9, 0.999])
def test_intervals_that_do_not_hold_what_they_say_are_no_success(coverage):
    rows = [made_up(EXACT, 2562, 1.0), made_up(HEAD, 2562, 1.0, coverage=coverage)]
    assert CLAIMS["gp-accuracy"].judge(rows).holds is Holds.NO


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


@pytest.mark.parametrize(
    ("error", "holds"),
    [(0.9981, Holds.YES), (1.0019, Holds.YES), (1.0021, Holds.NO), (0.997, Holds.NO)],
)
def test_verdict_on_pooled_walks(error, holds):
    judge = CLAIMS["gp-pooled"].judge
    rows = [made_up(EXACT, 2562, 1.0), made_up(POOLED, 2562, error)]
    assert judge(rows).holds is holds
    assert f"× {error:.4f} ({error:.4f}) at 2,562 nodes" in judge(rows).measured
    assert judge(rows[:1]).holds is judge(rows[1:]).holds is judge([]).holds is Holds.OPEN
    small = judge([made_up(EXACT, 642, 1.0), made_up(POOLED, 642, error)])
    assert (small.holds, "too small to judge" in small.measured) == (Holds.OPEN, True)
    (panel,) = pooled_panels(rows)
    assert panel.curves[0].y == pytest.approx([100 * abs(error - 1)])
