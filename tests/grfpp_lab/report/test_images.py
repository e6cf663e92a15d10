"""Figures as bytes."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from grfpp_lab.report.images import image_bytes


def drawn(photograph=False):
    figure = Figure(figsize=(1, 1))
    axes = figure.add_subplot()
    axes.plot([1, 2], [1, 3])
    if photograph:
        axes.imshow(np.random.default_rng(0).random((20, 20, 3)))
    return figure


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_figure_gives_the_same_bytes(kind):
    assert image_bytes(drawn(), kind) == image_bytes(drawn(), kind)


def test_drawings_have_few_colours_and_photographs_all_of_theirs():
    modes = [
        Image.open(io.BytesIO(image_bytes(drawn(photograph), "png"))).mode
        for photograph in (False, True)
    ]
    assert modes == ["P", "RGBA"]
