"""Meshes drawn as surfaces: colours tell values."""

import numpy as np
from laboratory.surfaces import surface
from matplotlib import colormaps

from grfpp_lab.report import images, surfaces


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
    figure = surfaces.surfaces_figure(panels)
    *shown, scale = figure.axes
    assert [axes.get_title() for axes in shown] == ["one\nnote", "two\nnote", "three\nnote"]
    assert scale.get_xlabel() == "error"
    again = surfaces.surfaces_figure(panels)
    for kind, head in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
        first, second = (images.image_bytes(each, kind, dpi=50) for each in (figure, again))
        assert first == second
        assert first.startswith(head)
