"""What the benchmark measures, at the smallest size: sampling, equal seconds, uses, peers."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_helpers import COMMON, run

from grfpp_lab import graphs as families
from grfpp_lab.benchmark import equal_seconds, uses
from grfpp_lab.benchmark.suite import TASKS
from grfpp_lab.benchmark.uses import FAST_GRAPH_GP, PECANPY, PEERS, TORCH_CLUSTER, ask_peer


@pytest.fixture
def graph(tmp_path):
    families.grid(64).normalized("sym").save(tmp_path / "graph.npz")
    return str(tmp_path / "graph.npz")


def test_sampling_pooled_independent_and_plain(graph):
    found = run("sample", graph=graph)
    double, single = found["grfpp, float64"]["numbers"], found["grfpp, float32"]["numbers"]
    assert double["steps"] == pytest.approx(64 * 144, rel=1e-4)
    assert double["steps_per_second"] == pytest.approx(double["steps"] / double["seconds"])
    assert found["grfpp, pooled, float64"]["numbers"]["steps"] == pytest.approx(64 * 144)
    assert single["bytes_per_node"] < double["bytes_per_node"]
    found = run("plain", graph=graph)
    assert set(found) == {"plain Python, lists", "plain Python, numpy arrays"}
    assert all(row["version"].startswith("Python 3") for row in found.values())


def test_growth_recomputing_and_the_limit_of_the_machine():
    numbers = run("growth", n_nodes=100)["grfpp, float32"]["numbers"]
    assert numbers["n_nodes"] == 100
    assert 100 < numbers["stored_bytes_per_node"] < 600
    assert numbers["microseconds_per_node"] == pytest.approx(1e4 * numbers["seconds"])
    assert run("recompute", n_nodes=100)["grfpp, recompute"]["numbers"]["same_as_stored"] == 1
    assert run("limit", n_bytes=1000)["pointer chases"]["numbers"]["table_bytes"] == 1000


def test_mesh(tmp_path):
    mesh = tmp_path / "mesh.off"
    mesh.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n")
    found = run("mesh", mesh=str(mesh))
    for method, bar in {"grfpp": 1, "Chebyshev": 1e-9, "Al-Mohy–Higham": 1e-12}.items():
        assert found[method]["numbers"]["error"] < bar
    assert found["Al-Mohy–Higham"]["version"].startswith("scipy ")
    whole = run("dense-mesh", mesh=str(mesh), n_nodes=None)["dense brute force"]
    assert "status" not in whole
    part = run("dense-mesh", mesh=str(mesh), n_nodes=2)["dense brute force"]
    assert part["status"] == "estimated"
    assert part["numbers"]["seconds"] == pytest.approx(8 * part["numbers"]["pilot_seconds"])


def test_pooled_walks_beside_independent_ones_that_take_as_long():
    request = {**COMMON, "family": "grid", "n_nodes": 144}
    names = {f"{kernel}, here": kernel for kernel in equal_seconds.DEGREES}
    rows = equal_seconds.equal_seconds({**request, "kernels": names})
    assert [(row["workload"], row["method"]) for row in rows] == [
        (name, method)
        for name in names
        for method in (equal_seconds.POOLED, equal_seconds.INDEPENDENT)
    ]
    for pooled, independent in zip(rows[::2], rows[1::2], strict=True):
        assert pooled["numbers"]["steps"] == 576
        assert pooled["numbers"]["error"] < independent["numbers"]["error"] / 3
        assert 1 <= independent["numbers"]["n_walks"] <= 48
        assert "degree" in pooled["note"]


def test_printed(capsys, monkeypatch):
    monkeypatch.setattr(equal_seconds, "warmup", lambda: None)
    options = ["--nodes", "64", "--threads", "1", "--families", "grid", "--budget", "0.001"]
    equal_seconds.main(options)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("grid, exp(W) ") and "error" in lines[0]


FOLDER = Path(__file__).parents[3] / "benchmarks" / "peers"
needs_peers = pytest.mark.skipif(not FOLDER.is_dir(), reason="peers are not part of the package")


def ask(command, peer=TORCH_CLUSTER, graph="graph.npz"):
    return ask_peer(command, peer, graph, threads=2, budget=0.01, timeout=60)


def test_answers_of_peers_failures_and_none_at_all():
    answer = {"version": "1.2", "steps": 300, "seconds": 2.0, "note": "raw"}
    row = ask([sys.executable, "-c", f"print({json.dumps(json.dumps(answer))})"])
    numbers = {"steps": 300.0, "seconds": 2.0, "steps_per_second": 150.0}
    named = {"method": "torch_cluster", "version": "1.2", "note": "raw"}
    assert row == {**named, "numbers": numbers}
    row = ask([sys.executable, "-c", "raise RuntimeError('out of luck')"])
    assert row["note"] == "RuntimeError: out of luck"
    row = ask(None)
    assert (row["status"], row["version"]) == ("not run", "")
    assert "make bench" in row["note"]


def test_answers_that_make_no_sense(monkeypatch):
    version = {"version": "1"}
    for answer in (
        *({}, [1], {"steps": 1}, {**version, "steps": "many", "seconds": 1}),
        {**version, "steps": 10, "seconds": 0},
    ):
        monkeypatch.setattr(uses, "run_command", lambda *_, answer=answer, **limits: answer)
        row = ask(["a peer"])
        assert row["status"] == "not run" and "makes no sense" in row["note"]


@needs_peers
def test_every_peer_has_a_file_and_a_missing_package_is_named(tmp_path):
    source = (FOLDER / "__main__.py").read_text("utf-8")
    assert all(f'"{peer.name}"' in source for peer in PEERS)
    assert FAST_GRAPH_GP.is_slow
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


def test_dense_and_sparse_graphs():
    results = TASKS["dense"]({**COMMON, "n_nodes": 60, "degree": 20, "columns": {"a": 2, "b": 5}})
    named = [(result["workload"], result["method"]) for result in results]
    both = ("grfpp", "grfpp, plan made before", "Chebyshev")
    expected = [(workload, method) for workload in "ab" for method in both]
    assert named == [*expected[:3], ("a", "Al-Mohy–Higham"), *expected[3:]]
    assert results[2]["numbers"]["error"] <= results[0]["numbers"]["error"]
    sparse = run("sparse", n_nodes=100, columns={"a": 3})
    assert set(sparse) == {"grfpp", "Chebyshev", "Al-Mohy–Higham"}
