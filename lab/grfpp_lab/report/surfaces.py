"""Triangle meshes drawn in colours, and figures as bytes. Needs matplotlib."""

import io
from collections.abc import Sequence
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from PIL import Image

from grfpp.typing import FloatArray, IntArray
from grfpp_lab.report.panels import Surface

#: The colour of letters and lines.
INK = "#24292f"


def image_bytes(figure: Figure, kind: Literal["svg", "png", "pdf"], dpi: int = 200) -> bytes:
    """Save a figure; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    undated = {"svg": "Date", "png": "Software", "pdf": "CreationDate"}
    with mpl.rc_context({"svg.hashsalt": "grfpp"}):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata={undated[kind]: None})
    if kind != "png":
        return buffer.getvalue()
    # Drawings have few colours; saying so makes the file a third as large.
    small = io.BytesIO()
    drawing = Image.open(buffer).convert("RGB").quantize(255, dither=Image.Dither.NONE)
    drawing.save(small, "png", optimize=True)
    return small.getvalue()


#: Where the light comes from: right, up, towards the viewer.
_LIGHT = np.array([-0.35, 0.55, 0.75]) / np.linalg.norm([-0.35, 0.55, 0.75])
#: Triangles without a value.
GREY = (0.86, 0.87, 0.88, 1.0)
_COLOUR_MAP = "YlOrRd"
_WIDTH, _BAR = 2.3, 0.5


def turn(towards: FloatArray) -> FloatArray:
    """Columns: right, up, and towards the viewer."""
    ahead = np.asarray(towards, dtype=np.float64) / np.linalg.norm(towards)
    helper = np.array([0.0, 0.0, 1.0]) if abs(ahead[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    right = np.cross(helper, ahead)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(ahead, right), ahead], axis=1)


def draw_triangles(
    axes: Any, vertices: FloatArray, faces: IntArray, colours: FloatArray, towards: FloatArray
) -> FloatArray:
    """Draw a mesh, the far triangles first, lit from either side; return the turned vertices."""
    turned = vertices @ turn(towards)
    corners = turned[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals *= np.sign(normals[:, [2]])  # the side that is seen
    lengths = np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
    shaded = colours.copy()
    shaded[:, :3] *= (0.5 + 0.5 * np.clip(normals @ _LIGHT / lengths, 0, 1))[:, None]
    order = np.argsort(corners[:, :, 2].mean(axis=1), kind="stable")
    axes.add_collection(
        PolyCollection(
            list(corners[order, :, :2]), facecolors=shaded[order], edgecolors="face", linewidths=0.3
        )
    )
    bare(axes, turned[:, :2])
    return np.asarray(turned)


def bare(axes: Any, positions: FloatArray) -> None:
    """Only the drawing: no axes, equal scales, a little room around."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    middle, half = (low + high) / 2, 0.54 * (high - low).max()
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_aspect("equal")
    axes.axis("off")


def surfaces_figure(surfaces: Sequence[Surface], titled: bool = True) -> Figure:
    """Surfaces side by side above one scale of colours, that of the first."""
    head = 0.42 if titled else 0.04
    width, height = _WIDTH * len(surfaces), head + _WIDTH + _BAR
    figure = Figure(figsize=(width, height), facecolor="white")
    for number, surface in enumerate(surfaces):
        place = (number / len(surfaces), _BAR / height, 1 / len(surfaces), _WIDTH / height)
        axes = figure.add_axes(place)
        mesh, colours = surface.mesh, triangle_colours(surface)
        draw_triangles(axes, mesh.vertices, mesh.faces, colours, np.array(mesh.towards))
        axes.set_rasterized(True)
        if titled:
            words = f"{surface.title}\n{surface.note}" if surface.note else surface.title
            axes.set_title(words, fontsize=8.5, color=INK, linespacing=1.15, pad=3)
    _scale(figure, surfaces[0], min(1.9, 0.8 * width) / width, height)
    return figure


def triangle_colours(surface: Surface) -> FloatArray:
    """Colours of the triangles, by the mean of their corners' numbers; grey without any."""
    corners = np.ma.masked_invalid(surface.values[surface.mesh.faces])
    means = corners.mean(axis=1)
    colours = mpl.colormaps[_COLOUR_MAP](
        Normalize(surface.least or 0.0, surface.limit)(means.filled(0.0))
    )
    colours[np.ma.getmaskarray(means)] = GREY
    return np.asarray(colours)


def _scale(figure: Figure, surface: Surface, share: float, height: float) -> None:
    """What the colours mean, below the surfaces."""
    axes = figure.add_axes(((1 - share) / 2, 0.36 / height, share, 0.08 / height))
    scale = Normalize(surface.least or 0.0, surface.limit)
    colours: Any = ScalarMappable(scale, mpl.colormaps[_COLOUR_MAP])
    extend = "max" if surface.least is None else "neither"
    bar = figure.colorbar(colours, cax=axes, orientation="horizontal", extend=extend)
    bar.set_label(surface.label, fontsize=7.5, color=INK, labelpad=1)
    bar.ax.tick_params(labelsize=7, color=INK, labelcolor=INK, length=2, pad=1.5)
    bar.outline.set_visible(False)
