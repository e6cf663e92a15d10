"""Drawings show what they are given."""

import base64
import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from grfpp_lab.report import figures

TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
EDGES = np.array([[0, 1], [1, 2]])
# A tetrahedron, counter-clockwise from outside.
CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def network(values):
    figure = figures.new_figure(2, 2)
    axes = figure.add_subplot()
    figures.draw_network(axes, TRIANGLE, EDGES, figures.Shown(np.asarray(values), 1.0, 0))
    return figure, axes


def surface(values, towards):
    figure = figures.new_figure(2, 2)
    axes = figure.add_subplot()
    shown = figures.Shown(np.asarray(values), 1.0)
    figures.draw_surface(axes, CORNERS, FACES, shown, np.asarray(towards))
    (polygons,) = axes.collections
    figure.canvas.draw()
    return polygons


def test_pictures_are_whole_and_repeatable():
    for kind in ("svg", "png"):
        first, second = (figures.data_uri(network([0.0, 0.5, 1.0])[0], kind) for _ in range(2))
        assert first == second
        head, _, data = first.partition(",")
        content = base64.b64decode(data)
        if kind == "svg":
            assert head == "data:image/svg+xml;base64"
            assert ElementTree.fromstring(content).tag.endswith("svg")
        else:
            assert head == "data:image/png;base64"
            assert Image.open(io.BytesIO(content)).size == (400, 400)


def test_a_network_has_its_edges_and_tells_zero_from_small():
    _, axes = network([0.0, 1e-9, 1.0])
    lines, empty, filled, ring = axes.collections
    assert len(lines.get_paths()) == len(EDGES)
    np.testing.assert_array_equal(empty.get_offsets(), TRIANGLE[:1])
    np.testing.assert_array_equal(filled.get_offsets(), TRIANGLE[1:])
    np.testing.assert_array_equal(filled.get_array(), [1e-9, 1.0])
    np.testing.assert_array_equal(ring.get_offsets(), TRIANGLE[:1])


def test_a_surface_shows_its_near_side_only():
    from_below = surface([1.0] * 4, [0.0, 0.0, -1.0])
    assert len(from_below.get_paths()) == 1
    assert len(surface([1.0] * 4, [1.0, 1.0, 1.0]).get_paths()) == 1
    assert len(surface([1.0] * 4, [-1.0, -1.0, -1.0]).get_paths()) == 3


def test_a_surface_is_grey_where_nothing_was_seen():
    below = [0.0, 0.0, -1.0]
    red, green, blue, _ = surface([0.0, 0.0, 0.0, 1.0], below).get_facecolor()[0]
    assert max(red, green, blue) - min(red, green, blue) < 0.03
    red, green, blue, _ = surface([1.0, 1.0, 1.0, 0.0], below).get_facecolor()[0]
    assert blue > 2 * red


def test_curves():
    figure = figures.new_figure(4, 3)
    axes = figure.add_subplot()
    x, y = np.array([288.0, 1152.0]), np.array([0.4, 0.2])
    figures.draw_curves(axes, [("one", x, y, y / 10), ("two", x, y / 2, y / 10)], "steps", "error")
    figure.canvas.draw()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["288", "1152"]
    assert axes.get_xscale() == axes.get_yscale() == "log"


@pytest.mark.parametrize("low, high", [(0.14, 0.35), (1e-6, 0.3), (0.99, 1.6), (3, 5000)])
def test_ticks_are_few_and_within(low, high):
    ticks = figures.round_ticks(np.array([low, high]))
    assert 2 <= len(ticks) <= 8
    assert 0.94 * low < ticks.min()
    assert ticks.max() < 1.06 * high
