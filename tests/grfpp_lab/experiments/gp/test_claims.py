"""Verdicts on Gaussian processes."""

import pytest
from verdict_case import NO, OPEN, YES, verdicts

from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.gp import experiment as gp
from grfpp_lab.experiments.gp.claims import EXACT, HEAD, PEER_GENERAL, pooled_panels

CLAIMS = {claim.name: claim for claim in gp.EXPERIMENT.claims}


def row(method, n_nodes=2562, rmse=1.0, seconds=1.0, coverage=0.95):
    shared = {"repeat": 0, "n_steps": 60, "latent_rmse": 2 * rmse, "coverage": coverage}
    times = dict.fromkeys(gp.TIMINGS, seconds)
    return {"method": method, "n_nodes": n_nodes, "rmse": rmse, **shared, **times}


def pair(method, error=1.0, n_nodes=2562, **more):
    return [row(EXACT, n_nodes), row(method, n_nodes, error, **more)]


def timed(ours, theirs):
    large = [row(HEAD, n_nodes, seconds=ours) for n_nodes in (163_842, 2562)]
    return [*large, row(PEER_GENERAL, seconds=theirs)]


accuracy, time, pooled = (CLAIMS[f"gp-{name}"].judge for name in ("accuracy", "time", "pooled"))

test_verdicts = verdicts(
    [
        (accuracy, pair(HEAD, 0.999), YES, "× 0.999 (0.999) at 2,562 nodes"),
        (accuracy, pair(HEAD, 1.009), YES, "× 1.009 (1.009) at 2,562 nodes"),
        (accuracy, pair(HEAD, 1.02), NO, "× 1.020 (1.020) at 2,562 nodes"),
        (accuracy, [row(HEAD)], OPEN),
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
        (pooled, [row(EXACT)], OPEN),
        (pooled, [row(POOLED)], OPEN),
        (pooled, pair(POOLED, n_nodes=642), OPEN, "too small to judge"),
    ]
)


@pytest.mark.parametrize("error", [0.9981, 1.0021])
def test_pooled_walks_are_drawn(error):
    (panel,) = pooled_panels(pair(POOLED, error))
    assert panel.curves[0].y == pytest.approx([100 * abs(error - 1)])
