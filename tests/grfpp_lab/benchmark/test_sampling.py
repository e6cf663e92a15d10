"""Walk steps a second, at the smallest size."""

import pytest
from bench_helpers import run

from grfpp_lab import graphs as families


@pytest.fixture
def graph(tmp_path):
    families.grid(64).normalized("sym").save(tmp_path / "graph.npz")
    return str(tmp_path / "graph.npz")


def test_sample(graph):
    found = run("sample", graph=graph)
    double, single = found["grfpp, float64"]["numbers"], found["grfpp, float32"]["numbers"]
    assert double["steps"] == pytest.approx(64 * 144, rel=1e-4)
    assert double["steps_per_second"] == pytest.approx(double["steps"] / double["seconds"])
    pooled = found["grfpp, pooled, float64"]["numbers"]
    assert pooled["steps"] == pytest.approx(64 * 144)
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
