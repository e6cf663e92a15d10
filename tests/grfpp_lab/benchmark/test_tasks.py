"""Every measurement, at its smallest, in this process."""

import numpy as np
import pytest

from grfpp_lab.benchmark import graphs, uses
from grfpp_lab.benchmark.child import TASKS

COMMON = {"threads": 2, "budget": 0.001}


def run(task, **request):
    results = TASKS[task]({**COMMON, **request})
    for result in results:
        assert all(np.isfinite(value) for value in result["numbers"].values())
    return {result["method"]: result for result in results}


@pytest.fixture
def graph(tmp_path):
    graphs.grid(64).normalized("sym").save(tmp_path / "graph.npz")
    return str(tmp_path / "graph.npz")


def test_sample(graph):
    found = run("sample", graph=graph)
    double, single = found["grfpp, float64"]["numbers"], found["grfpp, float32"]["numbers"]
    assert double["steps"] == pytest.approx(64 * 144, rel=1e-4)
    assert double["steps_per_second"] == pytest.approx(double["steps"] / double["seconds"])
    assert single["bytes_per_node"] < double["bytes_per_node"]


def test_limit():
    assert run("limit", n_bytes=1000)["pointer chases"]["numbers"]["table_bytes"] == 1000


def test_plain(graph):
    found = run("plain", graph=graph)
    assert set(found) == {"plain Python, lists", "plain Python, numpy arrays"}
    assert all(row["version"].startswith("Python 3") for row in found.values())


def test_growth():
    numbers = run("growth", n_nodes=100)["grfpp, float32"]["numbers"]
    assert numbers["n_nodes"] == 100
    assert 100 < numbers["stored_bytes_per_node"] < 600
    assert numbers["microseconds_per_node"] == pytest.approx(1e4 * numbers["seconds"])


def test_recompute():
    assert run("recompute", n_nodes=100)["grfpp, recompute"]["numbers"]["same_as_stored"] == 1


@pytest.fixture
def mesh(tmp_path):
    path = tmp_path / "mesh.off"
    path.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n")
    return str(path)


def test_mesh(mesh):
    found = run("mesh", mesh=mesh)
    assert found["grfpp"]["numbers"]["error"] < 1
    assert found["Chebyshev"]["numbers"]["error"] < 1e-9
    assert found["Al-Mohy–Higham"]["numbers"]["error"] < 1e-12
    assert found["Al-Mohy–Higham"]["version"].startswith("scipy ")


def test_dense_mesh(mesh):
    whole = run("dense-mesh", mesh=mesh, n_nodes=None)["dense brute force"]
    assert "status" not in whole
    part = run("dense-mesh", mesh=mesh, n_nodes=2)["dense brute force"]
    assert part["status"] == "estimated"
    assert part["numbers"]["seconds"] == pytest.approx(8 * part["numbers"]["pilot_seconds"])


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
    W = graphs.grid(100).normalized("sym")
    nodes = np.array([3, 50, 51])
    exact = uses.KERNEL.exact(W)[np.ix_(nodes, nodes)]
    assert np.abs(uses._sparse_block(W, nodes, 1e-12) - exact).max() < 1e-11


def test_patch_and_spread():
    W = graphs.grid(100)
    assert uses._patch(W, 4).tolist() == [44, 45, 54, 55]
    assert len(uses._patch(W, 5)) == 5
    spread = uses._spread(W, 20)
    assert len(np.unique(spread)) == 20


def test_dense_graph():
    results = TASKS["dense"]({**COMMON, "n_nodes": 60, "degree": 20, "columns": {"a": 2, "b": 5}})
    named = [(result["workload"], result["method"]) for result in results]
    assert named == [
        ("a", "grfpp"),
        ("a", "grfpp, plan made before"),
        ("a", "Chebyshev"),
        ("a", "Al-Mohy–Higham"),
        ("b", "grfpp"),
        ("b", "grfpp, plan made before"),
        ("b", "Chebyshev"),
    ]
    assert results[2]["numbers"]["error"] <= results[0]["numbers"]["error"]


def test_sparse_graph():
    found = run("sparse", n_nodes=100, columns={"a": 3})
    assert set(found) == {"grfpp", "Chebyshev", "Al-Mohy–Higham"}
