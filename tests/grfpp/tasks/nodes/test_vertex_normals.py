"""Normals at vertices."""

import numpy as np
import pytest

import grfpp
from grfpp.datasets import triangulated_sphere
from grfpp.tasks.nodes.directions import cosines, unit_vectors
from grfpp.tasks.nodes.vertex_normals import vertex_normals

SPHERE = triangulated_sphere(3)


#: A cube of twelve triangles, counter-clockwise from outside.
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)


SIDES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


@pytest.mark.parametrize("weighting", ["angle", "area", "equal"])
def test_a_sphere_has_its_radii_as_normals(weighting):
    normals = vertex_normals(SPHERE.vertices, SPHERE.faces, weighting)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1)
    assert cosines(normals, SPHERE.vertices).min() > 0.999


def test_angles_do_not_depend_on_how_faces_are_cut():
    """Each corner of a cube is alike; areas and counts depend on the diagonals."""
    out = unit_vectors(CUBE - 0.5)
    np.testing.assert_allclose(vertex_normals(CUBE, SIDES), out, atol=1e-12)
    assert np.abs(vertex_normals(CUBE, SIDES, "area") - out).max() > 0.1
    assert np.abs(vertex_normals(CUBE, SIDES, "equal") - out).max() > 0.1


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e150])
def test_size_and_place_do_not_matter(scale):
    expected = vertex_normals(SPHERE.vertices, SPHERE.faces)
    moved = vertex_normals(scale * (SPHERE.vertices + np.array([3, -2, 5])), SPHERE.faces)
    np.testing.assert_allclose(moved, expected, atol=1e-9)


def test_the_same_as_trimesh():
    trimesh = pytest.importorskip("trimesh")
    rng = np.random.default_rng(0)
    bumpy = SPHERE.vertices * (1 + 0.2 * rng.standard_normal((len(SPHERE.vertices), 1)))
    mesh = trimesh.Trimesh(bumpy, SPHERE.faces, process=False)
    np.testing.assert_allclose(vertex_normals(bumpy, SPHERE.faces), mesh.vertex_normals, atol=1e-10)


def test_turning_triangles_round_turns_normals_round():
    turned = vertex_normals(SPHERE.vertices, SPHERE.faces[:, ::-1])
    np.testing.assert_allclose(turned, -vertex_normals(SPHERE.vertices, SPHERE.faces), atol=1e-12)


@pytest.mark.parametrize("weighting", ["angle", "area", "equal"])
def test_triangles_shrunk_to_lines_do_not_count(weighting):
    """The second has a wide angle at vertex 1, and no normal but rounding."""
    points = [[0, 0, 0], [0.1, 0.1, 0], [0.3, 0.3, 0], [0, 1, 0]]
    normals = vertex_normals(points, [[0, 1, 3], [0, 1, 2], [1, 1, 2]], weighting)
    np.testing.assert_allclose(normals[:2], [[0, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(normals[2], 0)


def test_a_vertex_without_a_normal_has_zeros():
    points = np.random.default_rng(0).standard_normal((60, 3))  # what cancels leaves rounding
    faces = np.arange(60).reshape(-1, 3)
    for weighting in ("angle", "area", "equal"):
        both_sides = vertex_normals(points, [*faces, *faces[:, [0, 2, 1]]], weighting)
        np.testing.assert_array_equal(both_sides, 0)
    alone = vertex_normals([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5]], [[0, 1, 2]])
    np.testing.assert_array_equal(alone[3], 0)


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        (CUBE, np.zeros((0, 3), dtype=int), "no faces"),
        (CUBE[:, :2] + np.arange(8)[:, None], [[0, 1, 2]], "shape \\(n, 3\\)"),
        (CUBE, [[0, 1, 8]], "vertex 8"),
        (CUBE, [[0, 1, 2, 3]], "faces must have shape"),
        (CUBE * np.nan, [[0, 1, 2]], "finite"),
    ],
)
def test_bad_meshes_are_refused(vertices, faces, message):
    with pytest.raises(grfpp.InputError, match=message):
        vertex_normals(vertices, faces)
    with pytest.raises(grfpp.InputError, match="weighting must be"):
        vertex_normals(CUBE, SIDES, "size")
