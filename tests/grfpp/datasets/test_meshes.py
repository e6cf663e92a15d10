import csv
import os
from pathlib import Path

import numpy as np
import pytest
from datasets_helpers import is_frozen, needs_data, no_data, refusal, write_zip

from grfpp.datasets import dataset_info, load_mesh, mesh_table, triangulated_sphere
from grfpp.errors import MissingDataError

FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex {}\nvertex {}\nendloop\nendfacet\n"
STL = f"solid s\n{FACET.format('1 0 0', '1 1 0')}{FACET.format('1 1 0', '0 1 0')}endsolid s\n"


def test_a_file_whole_and_damaged(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    path = tmp_path / "meshes/thingi10k_101332.stl.zip"
    path.parent.mkdir()
    write_zip(path, {"101332.stl": STL})
    mesh = load_mesh(101332, download=False)
    assert repr(mesh) == "TriangleMesh('101332', 4 vertices, 2 faces)"
    assert (mesh.graph.n_nodes, mesh.graph.n_edges) == (4, 5)
    assert is_frozen(mesh.vertices) and is_frozen(mesh.faces)
    for face in mesh.faces:
        assert mesh.graph.adjacency[face[0], face[1]] == 1
    write_zip(path, {"101332.stl": STL[:150]})
    assert str(path) in refusal(load_mesh, "101332")
    path.write_bytes(b"")
    assert "truncated" in refusal(load_mesh, "101332")


def test_stand_ins_are_given_on_request_only(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    assert "stand_in=True, or load '53048'" in refusal(load_mesh, "1514901")
    with pytest.raises(MissingDataError, match="thingi10k_53048"):
        load_mesh("1514901", stand_in=True, download=False)
    assert "stands in for 1514901" in dataset_info("53048").description


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


def test_the_table_of_meshes():
    table = mesh_table()
    assert len({mesh.name for mesh in table}) == len(table) == 49
    roles = [mesh.role for mesh in table]
    assert [roles.count(role) for role in ("normals", "scaling", "extra")] == [41, 4, 4]
    stand_ins = [mesh for mesh in table if mesh.is_stand_in]
    assert len(stand_ins) == 9
    for mesh in table:
        assert mesh.licence
        if mesh.role == "extra":
            assert mesh.paper_name is mesh.paper_vertices is None
        elif mesh.is_stand_in:
            assert abs(mesh.n_vertices / mesh.paper_vertices - 1) < 0.01
        else:
            assert (mesh.n_vertices, mesh.name) == (mesh.paper_vertices, mesh.paper_name)
    sizes = [mesh.paper_vertices for mesh in table if mesh.paper_vertices]
    assert sizes == sorted(sizes)


def rows(name):
    path = Path(os.environ["GRFPP_DATA"], "meshes", name)
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def test_the_table_says_what_the_real_data_say():
    needs_data()
    sizes = {row["file"]: row for row in rows("manifest.csv")}
    for mesh, row in zip(mesh_table(), rows("paper_table.csv"), strict=True):
        assert row["file"] == f"thingi10k_{mesh.name}.stl.zip"
        assert (row["paper_thingi10k_id"] or None) == mesh.paper_name
        assert (row["paper_vertices"] or "None") == str(mesh.paper_vertices)
        assert ("stand-in" in row["match"]) == mesh.is_stand_in
        found = sizes[row["file"]]
        assert mesh.author in found["licence"]
        assert [mesh.n_vertices, mesh.n_edges, mesh.n_faces] == [
            int(found[key]) for key in ("vertices", "edges", "faces")
        ]
        source = found["source"].partition("@")[2].replace(":", "/")
        assert dataset_info(mesh.name).files[0].address.endswith(source)
