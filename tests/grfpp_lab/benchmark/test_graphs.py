"""Meshes of the paper's table."""

import pytest

from grfpp_lab.benchmark import graphs


def test_mesh_file(monkeypatch, tmp_path):
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path))
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"thingi10k_112546\.stl\.zip is not at hand"):
        graphs.mesh_file(11_700)
    (tmp_path / "meshes").mkdir()
    for number in (112546, 104969):
        (tmp_path / "meshes" / f"thingi10k_{number}.stl.zip").touch()
    path = tmp_path / "meshes" / "thingi10k_112546.stl.zip"
    assert graphs.mesh_file(11_700) == (path, "")
    assert graphs.mesh_file(15_527)[1] == "stand-in of 15,521"
