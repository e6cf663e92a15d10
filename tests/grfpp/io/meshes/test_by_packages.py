"""glTF and VTK files, by trimesh and meshio."""

import gzip
import sys

import numpy as np
import pytest
from io_helpers import file_refusal, read_text

from grfpp import Graph, InputError
from grfpp.datasets.surfaces.meshes import icosphere

POINTS, FACES = icosphere(1)
QUADS = [[0, 1, 2, 3], [2, 3, 4, 5]]


@pytest.fixture(scope="module")
def trimesh():
    return pytest.importorskip("trimesh", reason="needs grfpp[mesh]")


@pytest.fixture(scope="module")
def meshio():
    return pytest.importorskip("meshio", reason="needs grfpp[mesh]")


def glb(trimesh):
    ball = trimesh.Trimesh(POINTS, FACES, process=False)
    apart = ball.copy().apply_translation([5, 0, 0])
    return trimesh.Scene([ball, apart]).export(file_type="glb")


def vtk(meshio, tmp_path, cells, kind="vtk", points=POINTS):
    path = tmp_path / f"mesh.{kind}"
    meshio.Mesh(points, cells).write(path)
    return path


def test_glb(trimesh, tmp_path):
    graph = read_text(glb(trimesh), ".glb")
    assert (graph.n_nodes, graph.n_edges) == (84, 240)
    path = tmp_path / "balls.glb.gz"
    path.write_bytes(gzip.compress(glb(trimesh)))
    weighted = Graph(path, mesh_weights="length")
    assert weighted.n_edges == 240 and weighted.weights.max() > 1


def test_damaged_glb(trimesh):
    whole = glb(trimesh)
    for content in (b"", b"glTF", whole[:50], whole[: len(whole) // 2], whole[::-1]):
        assert "not a glTF file that trimesh reads" in file_refusal(content, ".glb")


@pytest.mark.parametrize("kind", ["vtk", "vtu"])
def test_vtk(meshio, tmp_path, kind):
    path = vtk(meshio, tmp_path, [("triangle", FACES)], kind)
    np.testing.assert_array_equal(
        Graph(path).adjacency.toarray(), Graph((POINTS, FACES)).adjacency.toarray()
    )
    mixed = [("line", [[0, 1]]), ("triangle", [[0, 1, 2]]), ("quad", QUADS)]
    path = vtk(meshio, tmp_path, mixed, kind)
    assert Graph(path).n_edges == 7 + 1  # of two quads, and the triangle's third side
    path = vtk(meshio, tmp_path, [("tetra", [[0, 1, 2, 3]])], kind)
    with pytest.raises(InputError, match="holds cells of type tetra"):
        Graph(path)


def test_damaged_vtk(meshio, tmp_path):
    whole = vtk(meshio, tmp_path, [("triangle", FACES)]).read_bytes()
    for content in (b"", b"# vtk DataFile", whole[: len(whole) // 2]):
        assert "not a VTK file that meshio reads" in file_refusal(content, ".vtk")
    assert "not a VTK file that meshio reads" in file_refusal(b"<VTKFile", ".vtu")


def test_meshio_objects(meshio):
    mesh = meshio.Mesh(POINTS, [("quad", QUADS)])
    assert Graph(mesh).n_edges == 7
    assert Graph(mesh, mesh_weights="length").n_edges == 7


@pytest.mark.parametrize(("suffix", "package"), [(".glb", "trimesh"), (".vtk", "meshio")])
def test_without_the_packages(monkeypatch, suffix, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert f"reading {suffix} files needs {package}" in file_refusal(b"x", suffix)
