"""The paper's table, on a tetrahedron."""

import pytest
from bench_helpers import run


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
