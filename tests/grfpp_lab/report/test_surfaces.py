"""Meshes as pixels: what is near hides what is far, and colours tell values."""

import base64
import io

import numpy as np
import pytest
from matplotlib import colormaps
from PIL import Image

from grfpp.datasets import triangulated_sphere
from grfpp_lab.report import curves, figures, surfaces
from grfpp_lab.report.panels import Curve, Mesh, Panel, Surface, legend
from grfpp_lab.report.render import look_at, turn

ABOVE = np.array([0.0, 0.0, 1.0])
#: Two squares of side 1, the second above a quarter of the first.
SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
HALF = SQUARE * 0.5 + [0.0, 0.0, 0.3]
VERTICES = np.concatenate([SQUARE, HALF])
FACES = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])


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


MESH = Mesh(VERTICES, FACES, (0.0, 0.0, 1.0))


def surface(values, title="title"):
    return Surface(title, MESH, np.asarray(values, dtype=float), 10.0, "error", "note")


def test_colours_tell_values():
    image = surfaces.surface_image(surface([0] * 4 + [10] * 4), 50)
    assert image.shape == (50, 50, 3)
    low, high = image[10, 40], image[40, 10]
    scale = colormaps["YlOrRd"]
    np.testing.assert_allclose(low / low.max(), np.divide(scale(0.0)[:3], scale(0.0)[0]), atol=0.02)
    assert high[0] > 2 * max(high[1:])
    np.testing.assert_array_equal(image[0, 0], 1)


def test_where_there_is_no_value_it_is_grey_and_others_do_not_fade():
    nan = np.nan
    image = surfaces.surface_image(surface([nan] * 4 + [10, nan, nan, nan]), 50)
    assert np.ptp(image[10, 40]) < 0.1
    red, green, blue = image[35, 10]
    assert red > 2 * max(green, blue)


def test_surfaces_stand_side_by_side_above_one_scale():
    panels = [surface([5] * 8, title) for title in ("one", "two", "three")]
    figure = curves.panels_figure(panels)
    *shown, scale = figure.axes
    assert [axes.get_title() for axes in shown] == ["one\nnote", "two\nnote", "three\nnote"]
    assert scale.get_xlabel() == "error"
    for kind, head in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
        first, second = (figures.image_bytes(curves.panels_figure(panels), kind) for _ in "12")
        assert first == second
        assert first.startswith(head)


def test_a_surface_for_a_page():
    head, _, data = curves.panel_uri(surface([5] * 8)).partition(",")
    assert head == "data:image/png;base64"
    assert min(Image.open(io.BytesIO(base64.b64decode(data))).size) > 300


def test_surfaces_have_no_legend_and_say_what_they_show():
    chart = Panel("t", [Curve("c", [1], [1])], "x", "y")
    assert legend([surface([1] * 8)]) == []
    assert chart.shows == "y against x"
    assert surface([1] * 8).shows == "error, as colours on the mesh"


def test_points_without_a_line():
    panel = Panel("t", [Curve("c", [1, 2], [1, 2], joined=False)], "x", "y")
    (axes,) = curves.panel_figure(panel).axes
    assert axes.containers[0].lines[0].get_linestyle() == "None"


def test_many_values_on_a_linear_axis_do_not_have_a_tick_each():
    many = np.linspace(0.4, 1, 30)
    panel = Panel("t", [Curve("c", many, many)], "x", "y", log_x=False, log_y=False)
    (axes,) = curves.panel_figure(panel).axes
    assert len(axes.get_xticks()) < 12
