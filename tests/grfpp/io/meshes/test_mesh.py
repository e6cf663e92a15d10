import csv
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK, dense, read_text, real_data, refusal
from scipy.sparse import csgraph

from grfpp.graph import Graph
from grfpp.io.files import load_mesh
from grfpp.io.meshes.mesh import merged

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]])
SQUARE_MATRIX = np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0]])


@pytest.fixture(scope="module")
def trimesh():
    return pytest.importorskip("trimesh", reason="needs grfpp[mesh]")


def test_sides_of_triangles_weigh_one():
    np.testing.assert_array_equal(dense((SQUARE, HALVES)), SQUARE_MATRIX)
    np.testing.assert_array_equal(dense((SQUARE.tolist(), HALVES.tolist())), SQUARE_MATRIX)
    np.testing.assert_array_equal(dense((SQUARE[:, :2], HALVES)), SQUARE_MATRIX)
    assert Graph((SQUARE, HALVES)).node_ids is None


@QUICK
@given(st.permutations(range(6)))
def test_equal_points_are_one(order):
    soup = SQUARE[HALVES.ravel()]
    place = np.argsort(order)
    points, faces = soup[list(order)], place.reshape(2, 3)
    graph, mesh = Graph((points, faces)), merged(points, faces)
    assert (graph.n_nodes, graph.n_edges) == (4, 5)
    # The labels tell which points stayed, the first of each class; 0, 1, 2, 3 need no telling.
    assert (graph.node_ids or [0, 1, 2, 3]) == mesh.origin.tolist() == sorted(mesh.origin)
    assert len(np.unique(points[mesh.origin], axis=0)) == 4
    np.testing.assert_array_equal(mesh.vertices[mesh.faces], points[faces])


def test_merging_keeps_the_first_of_each_and_minus_zero():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [-0.0, 0, 0], [0, 1, 0]])
    mesh = merged(points, [[2, 1, 3]])
    assert mesh.origin.tolist() == [0, 1, 3]
    assert mesh.faces.tolist() == [[0, 1, 2]]
    np.testing.assert_array_equal(mesh.vertices, points[[0, 1, 3]])


def test_triangles_that_shrink_make_no_loops():
    points = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(dense((points, [[0, 1, 2]])), [[0, 1], [1, 0]])


def test_unused_points_are_isolated_nodes():
    graph = Graph((np.vstack([SQUARE, [[9, 9, 9]]]), HALVES))
    assert graph.n_nodes == 5
    assert graph.out_degree[4] == 0


def test_unused_points_are_where_trimesh_has_them(trimesh):
    points = np.insert(SQUARE, 1, [9, 9, 9], axis=0)
    mesh = trimesh.Trimesh(points, [[0, 2, 3], [0, 3, 4]], process=False)
    for graph in (Graph(mesh), read_text(mesh.export(file_type="off"), ".off")):
        assert graph.n_nodes == len(mesh.vertices) == 5 and graph.node_ids is None
        assert graph.out_degree.tolist() == [3, 0, 2, 3, 2]


def test_quads_have_no_diagonal():
    cube = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    for faces in (cube, np.array(cube), np.uint8(cube)):
        graph = Graph((points, faces))
        assert (graph.n_nodes, graph.n_edges) == (8, 12) and (graph.out_degree == 3).all()
    assert Graph(Duck(points, cube)).n_edges == 12
    house = Graph((np.vstack([SQUARE, [[2, 0.5, 0]]]), [[0, 1, 2, 3], [1, 4, 2]]))
    assert house.n_edges == 6
    assert merged(points, cube).faces.shape == (12, 3)
    assert Graph(merged(points, cube).triangulated().adjacency()).n_edges == 18


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        (SQUARE, [[0, 1, 2], [0, 1]], "a face must list three vertices at least, found [0, 1]"),
        (SQUARE, [[0, 1, 2, 3], [0, 1, 4]], "name vertex 4, but there are 4"),
        (SQUARE[:, :1], HALVES, "vertices must have shape"),
        (SQUARE, HALVES + 2, "name vertex 5, but there are 4"),
        (SQUARE, HALVES - 1, "name vertex -1"),
        (SQUARE * np.nan, HALVES, "vertices must be finite"),
        (SQUARE.astype(str), HALVES, "vertices must be real numbers"),
        (SQUARE, HALVES.astype(float), "edge_index"),
    ],
)
def test_refusals(vertices, faces, words):
    assert words in refusal((vertices, faces))


class Duck:
    def __init__(self, vertices, faces):
        self.vertices, self.faces = vertices, faces


def test_anything_with_vertices_and_faces_is_a_mesh():
    np.testing.assert_array_equal(dense(Duck(SQUARE, HALVES)), SQUARE_MATRIX)
    assert "whole numbers" in refusal(Duck(SQUARE, HALVES * 1.0))
    assert "faces must have shape" in refusal(Duck(SQUARE, HALVES[:, :2]))


def test_trimesh_objects(trimesh):
    sphere = trimesh.creation.icosphere(2)
    graph = Graph(sphere)
    expected = {tuple(sorted(edge)) for edge in sphere.edges_unique.tolist()}
    assert graph.n_nodes == len(sphere.vertices)
    assert {(u, v) for u, v in np.argwhere(graph.adjacency.toarray()).tolist() if u < v} == expected
    scene = trimesh.Scene([sphere, sphere.copy().apply_translation([9, 0, 0])])
    assert Graph(scene).n_nodes == 2 * graph.n_nodes


@pytest.mark.parametrize("suffix", [".stl", ".stl_ascii", ".off", ".ply", ".ply_ascii", ".obj"])
def test_files_that_trimesh_wrote(trimesh, suffix):
    sphere = trimesh.creation.icosphere(1)
    options = {"encoding": "ascii"} if suffix == ".ply_ascii" else {}
    kind = suffix[1:].replace("ply_ascii", "ply")
    content = sphere.export(file_type=kind, **options)
    graph = read_text(content, suffix.replace("_ascii", ""))
    assert (graph.n_nodes, graph.n_edges, graph.node_ids) == (42, 120, None)
    if suffix not in (".stl", ".stl_ascii"):  # STL files do not number their points
        np.testing.assert_array_equal(graph.adjacency.toarray(), dense(sphere))


def test_files_need_no_trimesh(monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    assert read_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", ".obj").n_edges == 3


def test_real_meshes_have_the_sizes_of_their_table():
    with real_data("meshes", "manifest.csv").open() as stream:
        rows = sorted(csv.DictReader(stream), key=lambda row: int(row["vertices"]))
    for row in [*rows[:12], *rows[20:40:7]]:  # large ones take a second each
        path = real_data("meshes", row["file"])
        graph, mesh = Graph(path), load_mesh(path)
        components, _ = csgraph.connected_components(graph.adjacency)
        assert graph.n_nodes == len(mesh.vertices) == int(row["vertices"])
        assert len(mesh.faces) == int(row["faces"])
        assert graph.n_edges == int(row["edges"])
        assert components == int(row["components"])
