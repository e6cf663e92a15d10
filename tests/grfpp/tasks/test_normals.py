"""Normals at vertices: computed, hidden, predicted."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.datasets import triangulated_sphere
from grfpp.tasks.interpolation import cosines, unit_vectors
from grfpp.tasks.normals import hide, hide_normals, predict_normals, vertex_normals

SPHERE = triangulated_sphere(3)
#: A cube of twelve triangles, counter-clockwise from outside.
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SIDES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


def test_the_asked_share_is_hidden_and_the_same_seed_hides_the_same():
    task, again, other = (hide_normals(SPHERE, 0.8, seed) for seed in (0, 0, 1))
    assert len(task.hidden) == round(0.8 * 642)
    assert sorted([*task.hidden, *task.known]) == list(range(642))
    np.testing.assert_array_equal(task.hidden, again.hidden)
    assert set(task.hidden) != set(other.hidden)
    for mask in (0, 1, np.nan, "most", 0.01, 0.99):  # which hide nothing or everything
        with pytest.raises(grfpp.InputError) as error:
            hide_normals(triangulated_sphere(0), mask)
        assert error.value.argument == "mask"


def test_vertices_without_a_normal_take_no_part():
    graph = grfpp.Graph(nx.path_graph(6))
    normals = np.zeros((6, 3))
    normals[[0, 1, 3, 5], 2] = 1.0
    task = hide(graph, normals, 0.5, 0)
    assert sorted([*task.hidden, *task.known]) == [0, 1, 3, 5]
    with pytest.raises(grfpp.InputError, match="1 vertices"):
        hide(graph, normals * (np.arange(6) == 0)[:, None], 0.5)


def test_hidden_vertices_in_parts_without_a_known_one_are_counted_as_zero():
    parts = nx.disjoint_union_all([nx.cycle_graph(4)] * 30)
    normals = np.tile([0.0, 0.0, 1.0], (120, 1))
    task = hide(grfpp.Graph(parts), normals, 0.9, 0)
    with_known = {node // 4 for node in task.known.tolist()}
    lost = [node for node in task.hidden.tolist() if node // 4 not in with_known]
    assert task.n_cut_off == len(lost) > 0
    walks = {"how": "paper", "random_state": 0, "n_walks": 64}
    for options in ({}, {"how": "paper", "estimate": "exact"}, walks):
        found = predict_normals(task, **options)
        assert found.n_unreached == len(lost)
        assert found.cosine == pytest.approx(1 - len(lost) / len(task.hidden))
        assert (found.angles()[lost] == 90).all()
        assert np.isnan(found.angles()[task.known]).all()


def test_a_sphere_has_its_radii_as_normals_whatever_its_size_and_place():
    normals = vertex_normals(SPHERE.vertices, SPHERE.faces)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1)
    assert cosines(normals, SPHERE.vertices).min() > 0.999
    for scale in (1e-150, 1e-3, 1e150):
        moved = vertex_normals(scale * (SPHERE.vertices + np.array([3, -2, 5])), SPHERE.faces)
        np.testing.assert_allclose(moved, normals, atol=1e-9)


def test_angles_do_not_depend_on_how_faces_are_cut():
    out = unit_vectors(CUBE - 0.5)
    np.testing.assert_allclose(vertex_normals(CUBE, SIDES), out, atol=1e-12)


def test_the_same_as_trimesh():
    trimesh = pytest.importorskip("trimesh")
    rng = np.random.default_rng(0)
    bumpy = SPHERE.vertices * (1 + 0.2 * rng.standard_normal((len(SPHERE.vertices), 1)))
    mesh = trimesh.Trimesh(bumpy, SPHERE.faces, process=False)
    np.testing.assert_allclose(vertex_normals(bumpy, SPHERE.faces), mesh.vertex_normals, atol=1e-10)


def test_triangles_shrunk_to_lines_do_not_count_and_vertices_without_a_normal_have_zeros():
    """The second has a wide angle at vertex 1, and no normal but rounding."""
    points = [[0, 0, 0], [0.1, 0.1, 0], [0.3, 0.3, 0], [0, 1, 0]]
    normals = vertex_normals(points, [[0, 1, 3], [0, 1, 2], [1, 1, 2]])
    np.testing.assert_allclose(normals[:2], [[0, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(normals[2], 0)
    points = np.random.default_rng(0).standard_normal((60, 3))  # what cancels leaves rounding
    faces = np.arange(60).reshape(-1, 3)
    both_sides = vertex_normals(points, [*faces, *faces[:, [0, 2, 1]]])
    np.testing.assert_array_equal(both_sides, 0)
    alone = vertex_normals([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5]], [[0, 1, 2]])
    np.testing.assert_array_equal(alone[3], 0)


def test_bad_meshes_are_refused():
    flat, none = CUBE[:, :2] + np.arange(8)[:, None], np.zeros((0, 3), int)
    bad_vertices = ((flat, [[0, 1, 2]]), (CUBE * np.nan, [[0, 1, 2]]))
    for mesh in ((CUBE, none), (CUBE, [[0, 1, 8]]), (CUBE, [[0, 1, 2, 3]]), *bad_vertices):
        with pytest.raises(grfpp.InputError):
            vertex_normals(*mesh)
