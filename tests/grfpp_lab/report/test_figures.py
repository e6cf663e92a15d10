"""Charts, drawings and surfaces show what they are given."""

import base64
import io
import itertools
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import colormaps
from PIL import Image

from grfpp_lab.report import figures, surfaces
from grfpp_lab.report.panels import Curve, Mesh, Panel, Surface, legend

TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
EDGES = np.array([[0, 1], [1, 2]])
# A tetrahedron, counter-clockwise from outside.
CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


# A square of side 1, and another above a quarter of it.
SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
SIDES = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
MESH = Mesh(np.concatenate([SQUARE, SQUARE * 0.5 + [0.0, 0.0, 0.3]]), SIDES, (0.0, 0.0, 1.0))


def surface(values, title="title"):
    return Surface(title, MESH, np.asarray(values, dtype=float), 10.0, "error", "note")


def network(values):
    figure = figures.new_figure(2, 2)
    axes = figure.add_subplot()
    figures.draw_network(axes, TRIANGLE, EDGES, figures.Shown(np.asarray(values), 1.0, 0))
    return figure, axes


def surface_drawn(values, towards):
    figure = figures.new_figure(2, 2)
    axes = figure.add_subplot()
    shown = figures.Shown(np.asarray(values), 1.0)
    figures.draw_surface(axes, CORNERS, FACES, shown, np.asarray(towards))
    (polygons,) = axes.collections
    figure.canvas.draw()
    return polygons


def test_pictures_are_whole_and_repeatable():
    for kind, mime in (("svg", "svg+xml"), ("png", "png")):
        first, second = (figures.data_uri(network([0.0, 0.5, 1.0])[0], kind) for _ in range(2))
        assert first == second
        head, _, data = first.partition(",")
        assert head == f"data:image/{mime};base64"
        content = base64.b64decode(data)
        if kind == "svg":
            assert ElementTree.fromstring(content).tag.endswith("svg")
        else:
            assert Image.open(io.BytesIO(content)).size == (400, 400)


def test_a_network_has_its_edges_and_tells_zero_from_small():
    _, axes = network([0.0, 1e-9, 1.0])
    lines, empty, filled, ring = axes.collections
    assert len(lines.get_paths()) == len(EDGES)
    np.testing.assert_array_equal(empty.get_offsets(), TRIANGLE[:1])
    np.testing.assert_array_equal(filled.get_offsets(), TRIANGLE[1:])
    np.testing.assert_array_equal(filled.get_array(), [1e-9, 1.0])
    np.testing.assert_array_equal(ring.get_offsets(), TRIANGLE[:1])


def test_a_surface_is_grey_where_nothing_was_seen():
    below = [0.0, 0.0, -1.0]
    red, green, blue, _ = surface_drawn([0.0, 0.0, 0.0, 1.0], below).get_facecolor()[-1]
    assert max(red, green, blue) - min(red, green, blue) < 0.03
    red, green, blue, _ = surface_drawn([1.0, 1.0, 1.0, 0.0], below).get_facecolor()[-1]
    assert blue > 2 * red


@pytest.mark.parametrize("low, high", [(0.14, 0.35), (1e-6, 0.3), (0.99, 1.6), (3, 5000)])
def test_ticks_are_few_and_within(low, high):
    ticks = figures.round_ticks(np.array([low, high]))
    assert 2 <= len(ticks) <= 8
    assert 0.94 * low < ticks.min()
    assert ticks.max() < 1.06 * high


ONE = Curve("one", [2, 8, 32], [0.4, 0.2, 0.1], [0.01, 0.01, 0.01], 0)
TWO = Curve("two", [2, 8, 32], [0.3, 0.15, 0.07], (), 1, dashed=True)
PANEL = Panel("title", [ONE, TWO], "walks", "error", "note")


def test_a_panel_shows_its_curves():
    figure = figures.panel_figure(PANEL)
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "8", "32"]
    lines = [container.lines[0] for container in axes.containers]
    np.testing.assert_array_equal(lines[0].get_ydata(), ONE.y)
    assert [line.get_linestyle() for line in lines] == ["-", "--"]
    assert lines[0].get_color() != lines[1].get_color()


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8])
def test_panels_stand_side_by_side_above_one_legend(n):
    figure = figures.panels_figure([PANEL] * n)
    shown = [axes for axes in figure.axes if axes.axison]
    assert len(shown) == n
    assert {axes.get_title() for axes in shown} == {"title\nnote"}
    (told,) = figure.legends
    assert [text.get_text() for text in told.get_texts()] == ["one", "two"]
    boxes = [axes.get_position() for axes in shown]
    assert all(0 < box.x0 < box.x1 < 1 and 0 < box.y0 < box.y1 < 1 for box in boxes)


@pytest.mark.parametrize("values", [np.array(ONE.x), np.linspace(0.4, 1, 30)])
def test_linear_axes_begin_at_zero_and_have_few_ticks(values):
    curve = Curve("c", values, values, joined=False)
    figure = figures.panel_figure(Panel("t", [curve], "x", "y", log_x=False, log_y=False))
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] == 0
    assert len(axes.get_xticks()) < 12
    assert axes.containers[0].lines[0].get_linestyle() == "None"  # points without a line


def test_ticks_that_are_too_close_become_round_numbers():
    crowded = Curve("c", [992, 11700, 15521, 24194, 35300], [1, 2, 3, 4, 5])
    (axes,) = figures.panel_figure(Panel("t", [crowded], "nodes", "s")).axes
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert ticks == ["1,000", "3,000", "10,000", "30,000"]


@pytest.mark.parametrize(
    ("x", "y", "log_y"),
    [
        ([4, 16, 32, 256], [15.8, 15.1, 15.1, 15.1], True),
        (
            [188, 344, 600, 1000, 1113, 1178, 1500, 2000, 4110, 5000],
            [0, 0, 0.7, 2.2, 0.4, 0.6, 0.2, 3.4, 0, 0.8],
            False,
        ),
    ],
)
def test_labels_of_ticks_stand_apart(x, y, log_y):
    """Beside points that are close with long bars, and with zeros on a linear axis."""
    curve = Curve("c", x, y, [1.5] * len(x) if log_y else (), joined=log_y)
    figure = figures.panel_figure(Panel("t", [curve], "graphs", "points", log_y=log_y))
    figure.canvas.draw()
    (axes,) = figure.axes
    assert len(axes.get_yticklabels()) >= 3
    assert log_y or axes.get_ylim()[0] <= 0
    for side, labels in enumerate((axes.get_xticklabels(), axes.get_yticklabels())):
        boxes = sorted((t.get_window_extent() for t in labels), key=lambda box: box.bounds[side])
        assert all(one.max[side] < two.min[side] for one, two in itertools.pairwise(boxes))


def test_pictures_for_pages_are_small_and_whole():
    head, _, data = figures.panel_uri(PANEL).partition(",")
    assert head == "data:image/svg+xml;base64"
    drawing = base64.b64decode(data)
    assert figures.panel_uri(PANEL).endswith(data)
    assert len(drawing) < 12_000
    root = ElementTree.fromstring(drawing)
    assert root.tag.endswith("svg")
    told = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"walks", "error", "2", "8", "32", "0.1"} <= set(told)


def test_a_legend_names_each_curve_once_and_surfaces_have_none():
    one, two, three = (Curve(name, [1], [1]) for name in ("one", "two", "three"))
    panels = [Panel("first", [one, two], "x", "y"), Panel("other", [two, three], "x", "y")]
    assert [curve.name for curve in legend(panels)] == ["one", "two", "three"]
    assert legend([surface([1] * 8)]) == []
    assert panels[0].shows == "y against x"
    assert surface([1] * 8).shows == "error, as colours on the mesh"
    head, _, data = figures.panel_uri(surface([5] * 8)).partition(",")
    assert head == "data:image/png;base64"
    assert min(Image.open(io.BytesIO(base64.b64decode(data))).size) > 300


def test_colours_tell_values_and_where_there_is_none_it_is_grey_and_others_do_not_fade():
    scale, nan = colormaps["YlOrRd"], np.nan
    low, _, high, _ = surfaces.triangle_colours(surface([0] * 4 + [10] * 4))
    np.testing.assert_allclose([low, high], [scale(0.0), scale(1.0)])
    grey, _, red, _ = surfaces.triangle_colours(surface([nan] * 4 + [10, nan, nan, nan]))
    assert np.ptp(grey[:3]) < 0.1
    np.testing.assert_allclose(red, scale(1.0))


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
