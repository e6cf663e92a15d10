"""Meshes as pixels: what is near hides what is far."""

import numpy as np
import pytest
from laboratory.surfaces import FACES, VERTICES

from grfpp.datasets import triangulated_sphere
from grfpp_lab.report.render import look_at, turn

ABOVE = np.array([0.0, 0.0, 1.0])


def test_what_is_near_hides_what_is_far():
    view = look_at(VERTICES, FACES, ABOVE, 200)
    n = view.is_seen.sum()
    assert n == pytest.approx((200 / 1.06) ** 2, rel=0.02)
    assert np.isin(view.face, [2, 3]).sum() == pytest.approx(n / 4, rel=0.02)
    below = look_at(VERTICES, FACES, -ABOVE, 200)
    assert not np.isin(below.face, [2, 3]).any()
    # The order of the triangles does not matter.
    turned = look_at(VERTICES, FACES[::-1], ABOVE, 200)
    np.testing.assert_array_equal(turned.face >= 2, (view.face >= 0) & (view.face < 2))


def test_right_is_right_and_up_is_up():
    """The nearer square lies at the lower left of the other."""
    view = look_at(VERTICES, FACES, ABOVE, 100)
    rows, columns = np.nonzero(view.face >= 2)
    assert rows.min() > 48
    assert columns.max() < 52


def test_shares_blend_the_corners():
    view = look_at(VERTICES, FACES, ABOVE, 100)
    seen = view.is_seen
    np.testing.assert_allclose(view.shares[seen].sum(axis=1), 1)
    assert (view.shares[seen] >= 0).all()
    place = np.einsum("nk,nkd->nd", view.shares[seen], VERTICES[FACES[view.face[seen]]])
    rows, columns = np.nonzero(seen)
    np.testing.assert_allclose(place[:, 0], 0.5 + ((columns + 0.5) / 100 - 0.5) * 1.06, atol=1e-9)
    np.testing.assert_allclose(place[:, 1], 0.5 - ((rows + 0.5) / 100 - 0.5) * 1.06, atol=1e-9)


def test_neighbours_leave_no_gaps():
    sphere = triangulated_sphere(3)
    view = look_at(sphere.vertices, sphere.faces, np.array([0.3, -1.0, 0.4]), 300)
    y, x = np.mgrid[:300, :300] + 0.5
    radius = np.hypot(x - 150, y - 150) / (300 / 2.12)
    assert view.is_seen[radius < 0.985].all()
    assert not view.is_seen[radius > 1.01].any()


def test_many_triangles_are_cut_into_parts(monkeypatch):
    sphere = triangulated_sphere(2)
    whole = look_at(sphere.vertices, sphere.faces, ABOVE, 80)
    monkeypatch.setattr("grfpp_lab.report.render._AT_ONCE", 50)
    parts = look_at(sphere.vertices, sphere.faces, ABOVE, 80)
    np.testing.assert_array_equal(whole.face, parts.face)


def test_flat_and_tiny_meshes_are_no_problem():
    line = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    assert not look_at(line, np.array([[0, 1, 2]]), ABOVE, 20).is_seen.any()
    point = np.zeros((3, 3))
    assert not look_at(point, np.array([[0, 1, 2]]), ABOVE, 20).is_seen.any()


@pytest.mark.parametrize("towards", [[0, 0, 1], [0, 0, -5], [1, 0, 0], [0.2, -0.5, 0.3]])
def test_the_view_turns_and_does_not_mirror(towards):
    view = turn(np.asarray(towards))
    np.testing.assert_allclose(view.T @ view, np.eye(3), atol=1e-12)
    assert np.linalg.det(view) == pytest.approx(1)
    ahead = [0, 0, np.linalg.norm(towards)]
    np.testing.assert_allclose(np.asarray(towards) @ view, ahead, atol=1e-9)
