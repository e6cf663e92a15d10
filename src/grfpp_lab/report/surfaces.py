"""Surfaces drawn with matplotlib: numbers at the vertices of meshes, as colours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from grfpp.typing import FloatArray
from grfpp_lab.report.images import INK
from grfpp_lab.report.meshes import Mesh, Surface
from grfpp_lab.report.render import View, look_at

_COLOUR_MAP = "YlOrRd"
_NOTHING = (0.80, 0.82, 0.84)
#: Pixels of a picture's side; each is the mean of four, so that edges are smooth.
_PIXELS = 480
_WIDTH, _BAR = 2.3, 0.5


def surfaces_figure(surfaces: Sequence[Surface], titled: bool = True) -> Figure:
    """Surfaces side by side above one scale of colours, that of the first."""
    head = 0.42 if titled else 0.04
    width, height = _WIDTH * len(surfaces), head + _WIDTH + _BAR
    figure = Figure(figsize=(width, height), facecolor="white")
    for number, surface in enumerate(surfaces):
        place = (number / len(surfaces), _BAR / height, 1 / len(surfaces), _WIDTH / height)
        axes = figure.add_axes(place)
        axes.imshow(surface_image(surface), interpolation="antialiased")
        axes.axis("off")
        if titled:
            words = f"{surface.title}\n{surface.note}" if surface.note else surface.title
            axes.set_title(words, fontsize=8.5, color=INK, linespacing=1.15, pad=3)
    _scale(figure, surfaces[0], min(1.9, 0.8 * width) / width, height)
    return figure


def _scale(figure: Figure, surface: Surface, share: float, height: float) -> None:
    """What the colours mean, below the surfaces."""
    axes = figure.add_axes(((1 - share) / 2, 0.36 / height, share, 0.08 / height))
    colours: Any = ScalarMappable(Normalize(0, surface.limit), mpl.colormaps[_COLOUR_MAP])
    bar = figure.colorbar(colours, cax=axes, orientation="horizontal", extend="max")
    bar.set_label(surface.label, fontsize=7.5, color=INK, labelpad=1)
    bar.ax.tick_params(labelsize=7, color=INK, labelcolor=INK, length=2, pad=1.5)
    bar.outline.set_visible(False)


def surface_image(surface: Surface, n_pixels: int = _PIXELS) -> FloatArray:
    """Red, green and blue of every pixel, 0 to 1; white where there is no mesh.

    Numbers are blended between the corners that have one; a triangle without any is grey.
    """
    view = _seen(surface.mesh, 2 * n_pixels)
    seen = view.is_seen
    at_corners = surface.values[surface.mesh.faces[view.face[seen]]]
    counts = np.where(np.isnan(at_corners), 0.0, view.shares[seen])
    total = counts.sum(axis=1)
    means = np.nansum(counts * at_corners, axis=1) / np.where(total > 0, total, 1.0)
    colours = mpl.colormaps[_COLOUR_MAP](Normalize(0, surface.limit)(means))[:, :3]
    colours[total == 0] = _NOTHING
    image = np.ones((2 * n_pixels, 2 * n_pixels, 3))
    image[seen] = colours * view.shade[seen][:, None]
    # Four pixels become one.
    return np.asarray(image.reshape(n_pixels, 2, n_pixels, 2, 3).mean(axis=(1, 3)))


@lru_cache(maxsize=2)
def _seen(mesh: Mesh, n_pixels: int) -> View:
    """What is seen of a mesh, kept for the next panel."""
    return look_at(mesh.vertices, mesh.faces, np.array(mesh.towards), n_pixels)
