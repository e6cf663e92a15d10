"""Functions on meshes to learn."""

import sys

import numpy as np
import pytest

from grfpp_lab.experiments.gp import experiment as gp
from grfpp_lab.experiments.gp.claims import PEER_GENERAL
from grfpp_lab.experiments.gp.data import problem
from grfpp_lab.harness.experiment import Settings, Size


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
