"""Drawings with matplotlib: values on networks and on surfaces, error curves.

Figures are made without pyplot: no global state, no display, safe in threads.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from grfpp.typing import FloatArray, IntArray
from grfpp_lab.report.images import INK, image_bytes
from grfpp_lab.report.render import turn

#: Told apart by colour-blind readers too (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
FAINT = "#c4c9cf"
#: More labels than this crowd an axis.
_MOST_TICKS = 8
_COLOUR_MAP = "YlGnBu"
_LIGHT = np.array([0.35, 0.45, 0.82])


def new_figure(width: float, height: float, top: float | None = None) -> Figure:
    """Make an empty figure of so many inches.

    With `top`, its drawings fill the width and this share of the height, and what stands above
    them has the rest; otherwise there is just as much room around them as they need.
    """
    if top is None:
        return Figure(figsize=(width, height), layout="constrained", facecolor="white")
    figure = Figure(figsize=(width, height), facecolor="white")
    figure.subplots_adjust(left=0, right=1, bottom=0, top=top, wspace=0.02)
    return figure


def data_uri(figure: Figure, kind: Literal["svg", "png"] = "svg", dpi: int = 200) -> str:
    """Turn a figure into an address that holds the picture itself, for ``<img src>``."""
    image = "svg+xml" if kind == "svg" else "png"
    return f"data:image/{image};base64,{base64.b64encode(image_bytes(figure, kind, dpi)).decode()}"


class Shown(NamedTuple):
    """Numbers at nodes, as colours from pale (0) to dark."""

    values: FloatArray
    #: The value that gets the darkest colour; larger ones get it too.
    limit: float
    #: A node to put a ring around.
    mark: int | None = None


def draw_network(axes: Any, positions: FloatArray, edges: IntArray, shown: Shown) -> None:
    """Draw nodes, two coordinates each, and edges, two nodes each.

    Nodes of exactly zero are drawn as small empty circles: nothing was seen there.
    """
    values, limit, mark = shown
    axes.add_collection(
        LineCollection(list(positions[edges]), colors=FAINT, linewidths=0.7, zorder=1)
    )
    size = 3600 / (len(positions) + 30)
    zero = values == 0
    axes.scatter(
        *positions[zero].T, s=size / 2, facecolors="white", edgecolors=FAINT, lw=0.7, zorder=2
    )
    axes.scatter(
        *positions[~zero].T,
        s=size,
        c=values[~zero],
        cmap=_COLOUR_MAP,
        norm=Normalize(0, limit),
        edgecolors=INK,
        linewidths=0.4,
        zorder=3,
    )
    if mark is not None:
        axes.scatter(
            *positions[mark],
            s=3 * size,
            facecolors="none",
            edgecolors=COLOURS[1],
            lw=1.8,
            zorder=4,
        )
    _bare(axes, positions)


def draw_surface(
    axes: Any, vertices: FloatArray, faces: IntArray, shown: Shown, towards: FloatArray
) -> None:
    """Draw a triangle mesh from the side on which the viewer is, lit from above.

    Triangles are counter-clockwise from outside; parts where nothing was seen are grey.
    """
    values, limit, mark = shown
    rotated = vertices @ turn(towards)
    corners = rotated[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    # The far ones first, so that the near ones cover them.
    order = np.argsort(corners[:, :, 2].mean(axis=1))
    order = order[normals[order, 2] > 0]
    shade = 0.45 + 0.55 * np.clip(normals @ (_LIGHT / np.linalg.norm(_LIGHT)), 0, 1)
    means = values[faces].mean(axis=1)
    colours = mpl.colormaps[_COLOUR_MAP](Normalize(0, limit)(means))
    colours[(values[faces] == 0).sum(axis=1) >= 2] = (0.86, 0.87, 0.88, 1.0)
    colours[:, :3] *= shade[:, None]
    axes.add_collection(
        PolyCollection(
            list(corners[order, :, :2]),
            facecolors=colours[order],
            edgecolors=np.clip(colours[order] * [0.9, 0.9, 0.9, 1], 0, 1),
            linewidths=0.3,
        )
    )
    if mark is not None:
        axes.scatter(
            *rotated[mark, :2], s=60, facecolors="none", edgecolors=COLOURS[1], lw=1.8, zorder=4
        )
    _bare(axes, rotated[:, :2])


def _bare(axes: Any, positions: FloatArray) -> None:
    """Only the drawing: no axes, equal scales, a little room around."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    middle, half = (low + high) / 2, 0.54 * (high - low).max()
    axes.set(
        xlim=(middle[0] - half, middle[0] + half),
        ylim=(middle[1] - half, middle[1] + half),
        aspect="equal",
    )
    axes.axis("off")


def draw_curves(
    axes: Any,
    curves: Sequence[tuple[str, FloatArray, FloatArray, FloatArray]],
    x_label: str,
    y_label: str,
) -> None:
    """Draw curves ``(name, x, y, standard error of y)`` on logarithmic axes."""
    for number, (name, x, y, spread) in enumerate(curves):
        axes.errorbar(
            x,
            y,
            yerr=spread,
            label=name,
            color=COLOURS[number],
            marker="os^Dv"[number % 5],
            markersize=5,
            linewidth=1.6,
            capsize=2,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    x, y = (np.concatenate([curve[part] for curve in curves]) for part in (1, 2))
    for axis, ticks in ((axes.xaxis, np.unique(x.round())), (axes.yaxis, round_ticks(y))):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_ticks([], minor=True)
    axes.set_xlabel(x_label, color=INK)
    axes.set_ylabel(y_label, color=INK)
    grid_lines(axes)
    axes.legend(frameon=False, fontsize=9)


def grid_lines(axes: Any, width: float = 0.7) -> None:
    """Pale lines behind what is drawn, and no frame above and to the right of it."""
    axes.grid(True, color="#e5e8eb", linewidth=width)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def round_ticks(values: FloatArray) -> FloatArray:
    """Round numbers within the range of some values, evenly spread on a logarithmic axis.

    Examples
    --------
    >>> round_ticks(np.array([1.0, 2500.0])).tolist()
    [1.0, 10.0, 100.0, 1000.0]
    >>> round_ticks(np.array([1.0, 1e12])).tolist()
    [1.0, 100.0, 10000.0, 1000000.0, 100000000.0, 10000000000.0, 1000000000000.0]
    >>> round_ticks(np.array([13.9, 16.6])).tolist()
    [14.0, 15.0, 16.0]
    """
    exponents = np.arange(np.floor(np.log10(values.min())), np.log10(values.max()) + 1)
    for digits in ([1.0], [1.0, 3.0], [1.0, 2.0, 5.0], [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]):
        ticks = (10.0 ** exponents[:, None] * digits).ravel()
        ticks = ticks[(ticks >= 0.95 * values.min()) & (ticks <= 1.05 * values.max())]
        if len(ticks) >= 3:
            return np.asarray(ticks[:: -(-len(ticks) // _MOST_TICKS)])
    # A short way, on which a logarithmic axis is nearly a linear one.
    low, high = values.min(), values.max()
    if low == high:
        return np.array([low])
    size = 10.0 ** np.floor(np.log10((high - low) / 2))
    step = size * next(digit for digit in (5, 2, 1) if digit * size <= (high - low) / 2)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return np.asarray(np.arange(first, last + 1) * step)
