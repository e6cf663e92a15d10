import numpy as np
import pytest
from datasets_helpers import is_frozen, needs_data, no_data, refusal, write_zip

from grfpp.datasets import dataset_info, load_mesh, mesh_table, triangulated_sphere
from grfpp.errors import MissingDataError

STL = """solid square
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 1 1 0
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 1 0
vertex 0 1 0
endloop
endfacet
endsolid square
"""


def test_a_file(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    (tmp_path / "meshes").mkdir()
    write_zip(tmp_path / "meshes/thingi10k_101332.stl.zip", {"101332.stl": STL})
    mesh = load_mesh(101332, download=False)
    assert repr(mesh) == "TriangleMesh('101332', 4 vertices, 2 faces)"
    assert (mesh.graph.n_nodes, mesh.graph.n_edges) == (4, 5)
    assert is_frozen(mesh.vertices)
    assert is_frozen(mesh.faces)
    for face in mesh.faces:
        assert mesh.graph.adjacency[face[0], face[1]] == 1


def test_missing_and_damaged_files(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    with pytest.raises(MissingDataError, match="thingi10k_101332"):
        load_mesh("101332", download=False)
    (tmp_path / "meshes").mkdir()
    path = write_zip(tmp_path / "meshes/thingi10k_101332.stl.zip", {"101332.stl": STL[:150]})
    assert str(path) in refusal(load_mesh, "101332")
    path.write_bytes(b"")
    assert "truncated" in refusal(load_mesh, "101332")


def test_stand_ins_are_given_on_request_only(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    message = refusal(load_mesh, "1514901")
    assert "mesh 1514901 of the paper (2,599 vertices) is not to be had" in message
    assert "stand_in=True, or load '53048'" in message
    with pytest.raises(MissingDataError, match="thingi10k_53048"):
        load_mesh("1514901", stand_in=True, download=False)
    assert "stands in for 1514901" in dataset_info("53048").description


def test_unknown_meshes():
    assert "there is no data set '12'" in refusal(load_mesh, 12)


def test_real_meshes():
    needs_data()
    for info in mesh_table():
        if info.n_vertices > 40_000 and info.role == "extra":
            continue
        mesh = load_mesh(info.name)
        found = (mesh.graph.n_nodes, mesh.graph.n_edges, len(mesh.faces))
        assert found == (info.n_vertices, info.n_edges, info.n_faces), info.name
        assert np.isfinite(mesh.vertices).all()


def test_sphere():
    sphere = triangulated_sphere(2)
    assert (sphere.graph.n_nodes, sphere.graph.n_edges, len(sphere.faces)) == (162, 480, 320)
    np.testing.assert_allclose(np.linalg.norm(sphere.vertices, axis=1), 1)
