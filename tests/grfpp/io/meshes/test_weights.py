"""Lengths and cotangents, against the formulas and against geometry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from grfpp import Graph, InputError
from grfpp.datasets.surfaces.meshes import icosphere
from grfpp.errors import InputWarning

TRIANGLE = np.array([[0.0, 0, 0], [2, 0, 0], [0.5, 1.5, 1]]), [[0, 1, 2]]


def by_hand(points, faces):
    W = np.zeros((len(points),) * 2)
    for face in faces:
        for k in range(3):
            a, b, c = np.roll(face, -k)
            u, v = points[b] - points[a], points[c] - points[a]
            cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
            W[b, c] += 0.5 / np.tan(np.arccos(cosine))
            W[c, b] = W[b, c]
    return W


def test_length():
    points, faces = TRIANGLE
    A = Graph((points, faces), mesh_weights="length").adjacency.toarray()
    assert A[0, 1] == 0.5
    assert A[1, 2] == A[2, 1] == 1 / np.linalg.norm(points[1] - points[2])


def test_unit_is_the_default():
    points, faces = icosphere(1)
    unit = Graph((points, faces), mesh_weights="unit")
    np.testing.assert_array_equal(unit.weights, 1)
    np.testing.assert_array_equal(unit.indices, Graph((points, faces)).indices)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_cotangents_of_a_closed_surface(scale):
    points, faces = icosphere(2)
    graph = Graph((points * scale, faces), mesh_weights="cotangent")
    np.testing.assert_allclose(graph.adjacency.toarray(), by_hand(points, faces), atol=1e-9)
    assert not graph.is_directed and graph.n_edges == 480


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_linear_functions_are_harmonic_on_flat_delaunay_meshes(seed):
    """What cotangent weights are for; and Delaunay meshes have no negative ones inside."""
    points = np.random.default_rng(seed).uniform(size=(30, 2))
    mesh = Delaunay(points)
    inside = np.setdiff1d(np.arange(30), mesh.convex_hull)
    faces = mesh.simplices
    W = by_hand(points, faces)
    with np.errstate(all="ignore"):
        graph = quietly((points, faces))
    A = graph.adjacency.toarray()
    np.testing.assert_allclose(A[inside], W[inside], atol=1e-7 * W.max())
    kept = inside[[not (W[i] < -1e-9).any() for i in inside]]
    laplacian = A[kept] @ points - A[kept].sum(axis=1, keepdims=True) * points[kept]
    np.testing.assert_allclose(laplacian, 0, atol=1e-8 * W.max())


def quietly(source):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        return Graph(source, mesh_weights="cotangent")


def test_negative_cotangents_are_left_out_and_told():
    flat = np.array([[0.0, 0, 0], [4, 0, 0], [2, 0.5, 0], [2, -0.5, 0]])
    faces = [[0, 1, 2], [0, 3, 1]]
    with pytest.warns(InputWarning, match="1 of 5 edges have negative cotangent weights") as told:
        graph = Graph((flat, faces), mesh_weights="cotangent")
    assert told[0].filename == __file__
    assert graph.n_edges == 4 and graph.adjacency[0, 1] == 0


def test_right_angles_say_nothing():
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    graph = Graph((square, [[0, 1, 2], [0, 2, 3]]), mesh_weights="cotangent")
    assert graph.n_edges == 4  # the weight of the diagonal is zero
    np.testing.assert_allclose(graph.weights, 0.5)


def test_files(tmp_path):
    path = tmp_path / "t.obj"
    path.write_text("v 0 0 0\nv 2 0 0\nv 2 0 0\nv 0 3 0\nf 1 2 4\nf 1 3 4\n")
    graph = Graph(path, mesh_weights="length")
    assert graph.adjacency[0, 1] == 0.5 and graph.node_ids == [0, 1, 3]
    assert Graph(path).node_ids == [0, 1, 3]


@pytest.mark.parametrize(
    ("source", "weights", "told"),
    [
        (TRIANGLE, "area", "mesh_weights must be 'unit', 'length' or 'cotangent', not 'area'"),
        ((np.eye(4, 3), [[0, 1, 2, 3]]), "cotangent", "needs triangles, found a face of 4 corners"),
        ([[0, 1], [1, 0]], "unit", "mesh_weights='unit' is for meshes, found list"),
        (Graph([[0, 1], [1, 0]]), "length", "cannot be read with"),
        ("a.txt", "length", "there is no file"),
        ((np.eye(3) * 1e-320, [[0, 1, 2]]), "length", "too short or too long"),
    ],
)
def test_refused(source, weights, told):
    with pytest.raises(InputError, match=told):
        Graph(source, mesh_weights=weights)


def test_not_for_other_files(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n")
    with pytest.raises(InputError, match=r"is for meshes, not for \.txt files"):
        Graph(path, mesh_weights="length")


def test_flat_triangles_have_no_say_and_are_told_of_where_edges_are_lost():
    line = np.array([[0.0, 0], [1, 0], [2, 0], [0, 1], [2, 1]])
    faces = [[0, 1, 2], [0, 1, 3]]
    with pytest.warns(InputWarning, match="2 edges are sides of flat triangles alone.*'length'"):
        sides = Graph((line, faces), mesh_weights="cotangent")
    assert np.isfinite(sides.weights).all() and sides.out_degree[2] == 0
    others = [[1, 2, 4], [0, 2, 4], [0, 0, 1]]
    kept = Graph((line, [*faces, *others]), mesh_weights="cotangent")  # and nothing is said
    assert kept.out_degree[2] > 0
