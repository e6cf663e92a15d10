"""Peers: what they answer, and what becomes of those that do not."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_helpers import COMMON, run

from grfpp_lab import graphs as families
from grfpp_lab.benchmark import uses
from grfpp_lab.benchmark.suite import TASKS
from grfpp_lab.benchmark.uses import FAST_GRAPH_GP, PECANPY, PEERS, TORCH_CLUSTER, ask_peer

FOLDER = Path(__file__).parents[3] / "benchmarks" / "peers"
needs_peers = pytest.mark.skipif(not FOLDER.is_dir(), reason="peers are not part of the package")


def ask(command, peer=TORCH_CLUSTER, graph="graph.npz"):
    return ask_peer(command, peer, graph, threads=2, budget=0.01, timeout=60)


def answering(answer):
    return [sys.executable, "-c", f"print({json.dumps(json.dumps(answer))})"]


def test_an_answer():
    row = ask(answering({"version": "1.2", "steps": 300, "seconds": 2.0, "note": "raw"}))
    assert row == {
        "method": "torch_cluster",
        "version": "1.2",
        "note": "raw",
        "numbers": {"steps": 300.0, "seconds": 2.0, "steps_per_second": 150.0},
    }


@pytest.mark.parametrize(
    "answer",
    [
        *({}, [1], {"steps": 1}, {"version": "1", "steps": "many", "seconds": 1}),
        {"version": "1", "steps": 10, "seconds": 0},
    ],
)
def test_answers_that_make_no_sense(monkeypatch, answer):
    monkeypatch.setattr(uses, "run_command", lambda *_, **limits: answer)
    row = ask(["a peer"])
    assert row["status"] == "not run"
    assert "makes no sense" in row["note"]


def test_no_peers_at_all():
    row = ask(None)
    assert (row["status"], row["version"]) == ("not run", "")
    assert "make bench" in row["note"]


def test_failure():
    row = ask([sys.executable, "-c", "raise RuntimeError('out of luck')"])
    assert row["note"] == "RuntimeError: out of luck"


@needs_peers
def test_every_peer_has_a_file(monkeypatch):
    source = (FOLDER / "__main__.py").read_text("utf-8")
    for peer in PEERS:
        assert f'"{peer.name}"' in source
    assert FAST_GRAPH_GP.is_slow


@needs_peers
def test_a_missing_package_is_named(tmp_path):
    families.grid(9).save(tmp_path / "graph.npz")
    row = ask([sys.executable, str(FOLDER)], PECANPY, str(tmp_path / "graph.npz"))
    if row.get("status") == "not run":  # it may be installed after all
        assert row["note"] == "numba_progress is not installed in the peers' environment"


@needs_peers
def test_best_rate(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from common import best_rate, read_graph

    walked = []

    def walk(n_starts):
        walked.append(n_starts)
        return 9 * n_starts

    steps, seconds = best_rate(walk, 1000, budget=0.01)
    assert walked[:2] == [20, 20]
    assert steps == 9 * max(walked)
    assert seconds > 0
    assert callable(read_graph)


@pytest.mark.parametrize("patch", [True, False])
def test_local(patch):
    found = run("local", n_nodes=400, n_rows=20, patch=patch)
    ours = found["grfpp"]["numbers"]["error"]
    assert 0 < ours < 0.5
    assert found["Chebyshev, sparse vectors"]["numbers"]["error"] <= ours
    chebyshev = found["Chebyshev"]
    assert chebyshev["status"] == "estimated"
    assert "16 of 20 measured" in chebyshev["note"]


def test_chebyshev_on_sparse_vectors():
    W = families.grid(100).normalized("sym")
    nodes = np.array([3, 50, 51])
    exact = uses.KERNEL.exact(W)[np.ix_(nodes, nodes)]
    assert np.abs(uses._sparse_block(W, nodes, 1e-12) - exact).max() < 1e-11


def test_dense_graph():
    results = TASKS["dense"]({**COMMON, "n_nodes": 60, "degree": 20, "columns": {"a": 2, "b": 5}})
    named = [(result["workload"], result["method"]) for result in results]
    both = ("grfpp", "grfpp, plan made before", "Chebyshev")
    expected = [(workload, method) for workload in "ab" for method in both]
    assert named == [*expected[:3], ("a", "Al-Mohy–Higham"), *expected[3:]]
    assert results[2]["numbers"]["error"] <= results[0]["numbers"]["error"]


def test_sparse_graph():
    found = run("sparse", n_nodes=100, columns={"a": 3})
    assert set(found) == {"grfpp", "Chebyshev", "Al-Mohy–Higham"}
