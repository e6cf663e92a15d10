"""Meshes of the paper's table."""

import json
import sys

import pytest
from bench_helpers import TINY, check

from grfpp_lab.benchmark import run, suite
from grfpp_lab.benchmark import settings as graphs
from grfpp_lab.harness.processes import address, call


def test_mesh_file(monkeypatch, tmp_path):
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path))
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"thingi10k_112546\.stl\.zip is not at hand"):
        graphs.mesh_file(11_700)
    folder = tmp_path / "meshes"
    folder.mkdir()
    for number in (112546, 104969):
        (folder / f"thingi10k_{number}.stl.zip").touch()
    assert graphs.mesh_file(11_700) == (folder / "thingi10k_112546.stl.zip", "")
    assert graphs.mesh_file(15_527)[1] == "stand-in of 15,521"


pytestmark = pytest.mark.usefixtures("quickly")


def test_peers_are_asked(monkeypatch):
    answer = {"version": "9.9", "steps": 100, "seconds": 0.5}
    peers = [sys.executable, "-c", f"print({json.dumps(json.dumps(answer))})"]
    said = []
    rows, document = run.run_set("smoke", threads=2, peers=peers, progress=said.append)
    check(document)
    assert said[0] == "making: grid, 100 nodes"
    assert "grid, 100 nodes: torch_cluster" in said
    found = {row.method: row for row in rows if row.version == "9.9"}
    assert set(found) == {"torch_cluster", "PecanPy", "fast-graph-gp"}
    assert found["PecanPy"].numbers["steps_per_second"] == 200
    assert {ratio["other"] for ratio in document["ratios"]} >= set(found)


def test_a_measurement_that_fails_is_a_row(monkeypatch):
    from grfpp_lab.harness.processes import TaskError

    def fail(function, request, *, timeout, threads):
        raise TaskError("stopped after 60 s, which is its limit")

    monkeypatch.setattr(suite, "call", fail)
    rows, document = run.run_set("smoke", threads=2)
    check(document)
    assert {row.status for row in rows} == {"not run", "quoted"}
    assert {bar["verdict"] for bar in document["bars"]} == {"not measured"}


def test_no_measurement_begins_after_the_limit(monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    late = suite.Suite(TINY, 1, "here", began=-1e9)
    rows = late.run()
    assert {row.status for row in rows} == {"not run", "quoted"}
    assert "no time was left for it" in {row.note for row in rows}


def test_measurements_run_in_processes_of_their_own():
    request = {"task": "limit", "n_bytes": 4096, "budget": 0.01, "threads": 1}
    (result,) = call(address(suite.measure), request, timeout=60)
    assert result["method"] == "pointer chases"
    assert result["numbers"]["steps_per_second"] > 1e6
