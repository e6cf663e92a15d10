"""Panels drawn with matplotlib."""

import base64
import io
import itertools
from xml.etree import ElementTree

import numpy as np
import pytest
from laboratory.surfaces import surface
from PIL import Image

from grfpp_lab.report import curves, images
from grfpp_lab.report.panels import Curve, Panel


def test_a_surface_for_a_page():
    head, _, data = curves.panel_uri(surface([5] * 8)).partition(",")
    assert head == "data:image/png;base64"
    assert min(Image.open(io.BytesIO(base64.b64decode(data))).size) > 300


def test_points_without_a_line():
    panel = Panel("t", [Curve("c", [1, 2], [1, 2], joined=False)], "x", "y")
    (axes,) = curves.panel_figure(panel).axes
    assert axes.containers[0].lines[0].get_linestyle() == "None"


def test_many_values_on_a_linear_axis_do_not_have_a_tick_each():
    many = np.linspace(0.4, 1, 30)
    panel = Panel("t", [Curve("c", many, many)], "x", "y", log_x=False, log_y=False)
    (axes,) = curves.panel_figure(panel).axes
    assert len(axes.get_xticks()) < 12


ONE = Curve("one", [2, 8, 32], [0.4, 0.2, 0.1], [0.01, 0.01, 0.01], 0)
TWO = Curve("two", [2, 8, 32], [0.3, 0.15, 0.07], (), 1, dashed=True)
PANEL = Panel("title", [ONE, TWO], "walks", "error", "note")


def test_a_panel_shows_its_curves():
    figure = curves.panel_figure(PANEL)
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "8", "32"]
    lines = [container.lines[0] for container in axes.containers]
    np.testing.assert_array_equal(lines[0].get_ydata(), ONE.y)
    assert [line.get_linestyle() for line in lines] == ["-", "--"]
    assert lines[0].get_color() != lines[1].get_color()


def test_linear_axes_begin_at_zero():
    figure = curves.panel_figure(Panel("t", [ONE], "degree", "s", log_x=False, log_y=False))
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] == 0


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8])
def test_panels_stand_side_by_side_above_one_legend(n):
    figure = curves.panels_figure([PANEL] * n)
    shown = [axes for axes in figure.axes if axes.axison]
    assert len(shown) == n
    assert {axes.get_title() for axes in shown} == {"title\nnote"}
    (told,) = figure.legends
    assert [text.get_text() for text in told.get_texts()] == ["one", "two"]
    boxes = [axes.get_position() for axes in shown]
    assert all(0 < box.x0 < box.x1 < 1 and 0 < box.y0 < box.y1 < 1 for box in boxes)


def test_ticks_that_are_too_close_become_round_numbers():
    crowded = Curve("c", [992, 11700, 15521, 24194, 35300], [1, 2, 3, 4, 5])
    (axes,) = curves.panel_figure(Panel("t", [crowded], "nodes", "s")).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [
        "1,000",
        "3,000",
        "10,000",
        "30,000",
    ]


def drawn_apart(labels, side):
    """Whether labels of ticks stand apart on the page, given the side they begin at."""
    boxes = sorted((each.get_window_extent() for each in labels), key=lambda box: box.bounds[side])
    return all(one.max[side] < two.min[side] for one, two in itertools.pairwise(boxes))


def test_points_that_are_close_beside_long_bars_do_not_crowd_the_axis():
    close = Curve("c", [4, 16, 32, 256], [15.8, 15.1, 15.1, 15.1], [1.5] * 4)
    figure = curves.panel_figure(Panel("t", [close], "walks", "error"))
    figure.canvas.draw()
    (axes,) = figure.axes
    assert len(axes.get_yticklabels()) >= 3
    assert drawn_apart(axes.get_yticklabels(), 1)


def test_zeros_have_their_place_on_a_linear_axis():
    graphs = [188, 344, 600, 1000, 1113, 1178, 1500, 2000, 4110, 5000]
    far = Curve("c", graphs, [0, 0, 0.7, 2.2, 0.4, 0.6, 0.2, 3.4, 0, 0.8], joined=False)
    figure = curves.panel_figure(Panel("t", [far], "graphs", "points", log_y=False))
    figure.canvas.draw()
    (axes,) = figure.axes
    assert drawn_apart(axes.get_xticklabels(), 0)


def test_files_are_whole_and_repeatable():
    for kind, head in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        first, second = (images.image_bytes(curves.panels_figure([PANEL]), kind) for _ in "12")
        assert first == second
        assert first.startswith(head)


def test_pictures_for_pages_are_small_and_whole():
    head, _, data = curves.panel_uri(PANEL).partition(",")
    assert head == "data:image/svg+xml;base64"
    drawing = base64.b64decode(data)
    assert curves.panel_uri(PANEL).endswith(data)
    assert len(drawing) < 12_000
    root = ElementTree.fromstring(drawing)
    assert root.tag.endswith("svg")
    told = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"walks", "error", "2", "8", "32", "0.1"} <= set(told)
