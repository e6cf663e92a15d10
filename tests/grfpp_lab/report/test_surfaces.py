"""Meshes drawn as surfaces: colours tell values."""

import numpy as np
import pytest
from laboratory.surfaces import surface
from matplotlib import colormaps

from grfpp_lab.report import surfaces
from grfpp_lab.report.panels import Mesh, Surface


def test_colours_tell_values():
    low, _, high, _ = surfaces.triangle_colours(surface([0] * 4 + [10] * 4))
    scale = colormaps["YlOrRd"]
    np.testing.assert_allclose(low, scale(0.0))
    np.testing.assert_allclose(high, scale(1.0))


def test_where_there_is_no_value_it_is_grey_and_others_do_not_fade():
    nan = np.nan
    grey, _, red, _ = surfaces.triangle_colours(surface([nan] * 4 + [10, nan, nan, nan]))
    assert np.ptp(grey[:3]) < 0.1
    np.testing.assert_allclose(red, colormaps["YlOrRd"](1.0))


@pytest.mark.parametrize("towards", [[0, 0, 1], [0, 0, -5], [1, 0, 0], [0.2, -0.5, 0.3]])
def test_the_view_turns_and_does_not_mirror(towards):
    view = surfaces.turn(np.asarray(towards))
    np.testing.assert_allclose(view.T @ view, np.eye(3), atol=1e-12)
    assert np.linalg.det(view) == pytest.approx(1)
    ahead = [0, 0, np.linalg.norm(towards)]
    np.testing.assert_allclose(np.asarray(towards) @ view, ahead, atol=1e-9)


def test_triangles_without_area_are_drawn_too():
    line = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    mesh = Mesh(line, np.array([[0, 1, 2]]), (0.0, 0.0, 1.0))
    flat = Surface("t", mesh, np.zeros(3), 1.0, "error", "")
    (polygons,) = surfaces.surfaces_figure([flat]).axes[0].collections
    assert np.isfinite(polygons.get_facecolor()).all()


def test_triangles_are_lit_from_either_side_and_the_near_ones_are_drawn_last():
    figure = surfaces.surfaces_figure([surface([5] * 8)])
    (polygons,) = figure.axes[0].collections
    sizes = [np.ptp(path.vertices, axis=0).prod() for path in polygons.get_paths()]
    assert sizes[-1] < sizes[0]  # the small square is above
    assert len({tuple(colour) for colour in polygons.get_facecolor().round(6)}) == 1


def test_surfaces_stand_side_by_side_above_one_scale():
    panels = [surface([5] * 8, title) for title in ("one", "two", "three")]
    figure = surfaces.surfaces_figure(panels)
    *shown, scale = figure.axes
    assert [axes.get_title() for axes in shown] == ["one\nnote", "two\nnote", "three\nnote"]
    assert scale.get_xlabel() == "error"
    again = surfaces.surfaces_figure(panels)
    for kind, head in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
        first, second = (surfaces.image_bytes(each, kind, dpi=50) for each in (figure, again))
        assert first == second
        assert first.startswith(head)
