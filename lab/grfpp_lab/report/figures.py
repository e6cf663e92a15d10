"""Charts and drawings of graphs. Needs matplotlib."""

import base64
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from grfpp.typing import FloatArray, IntArray
from grfpp_lab.report.page import Gallery, Key, Picture
from grfpp_lab.report.panels import Curve, Panel, Surface, legend
from grfpp_lab.report.surfaces import (
    GREY,
    INK,
    bare,
    draw_triangles,
    image_bytes,
    surfaces_figure,
)

#: Colours that colour-blind readers can distinguish (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
FAINT = "#c4c9cf"
#: More labels than this crowd an axis.
_MOST_TICKS = 8
_COLOUR_MAP = "YlGnBu"


def new_figure(width: float, height: float, top: float | None = None) -> Figure:
    """Make an empty figure, sizes in inches.

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
        _ring(axes, positions[mark], 3 * size)
    bare(axes, positions)


def draw_surface(
    axes: Any, vertices: FloatArray, faces: IntArray, shown: Shown, towards: FloatArray
) -> None:
    """Draw a triangle mesh from the side on which the viewer is; grey where nothing was seen."""
    values, limit, mark = shown
    colours = mpl.colormaps[_COLOUR_MAP](Normalize(0, limit)(values[faces].mean(axis=1)))
    colours[(values[faces] == 0).sum(axis=1) >= 2] = GREY
    turned = draw_triangles(axes, vertices, faces, colours, towards)
    if mark is not None:
        _ring(axes, turned[mark, :2], 60)


def _ring(axes: Any, position: FloatArray, size: float) -> None:
    axes.scatter(*position, s=size, facecolors="none", edgecolors=COLOURS[1], lw=1.8, zorder=4)


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
    # Over a short range a logarithmic axis is nearly linear.
    low, high = values.min(), values.max()
    if low == high:
        return np.array([low])
    size = 10.0 ** np.floor(np.log10((high - low) / 2))
    step = size * next(digit for digit in (5, 2, 1) if digit * size <= (high - low) / 2)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return np.asarray(np.arange(first, last + 1) * step)


MARKERS = "os^DvP"
_SIZE = (2.45, 2.1)
#: Room for the labels around a panel, in inches.
_LEFT, _RIGHT, _BOTTOM = 0.6, 0.2, 0.42
#: The width of a letter of a tick, in inches.
_LETTER = 0.06
#: Largest number of values that have a tick each on a linear axis.
_MOST_LINEAR_TICKS = 12
_FONTS = {"font.size": 8.5, "axes.labelsize": 8.5, "xtick.labelsize": 8, "ytick.labelsize": 8}


def colour(style: int) -> str:
    """The colour of a style number."""
    return COLOURS[style % len(COLOURS)]


def panel_figure(panel: Panel) -> Figure:
    """One panel without a legend and without its title, which the page sets in type."""
    with mpl.rc_context(_FONTS):
        figure = _figure(1, 1, _SIZE, 0.05, 0)
        _draw(figure.add_subplot(), panel)
        return figure


def panel_uri(panel: Panel | Surface) -> str:
    """One panel as an address that holds the picture itself, small: letters are left to fonts."""
    if isinstance(panel, Surface):
        return data_uri(surfaces_figure([panel], titled=False), "png", dpi=200)
    with mpl.rc_context({"svg.fonttype": "none"}):
        svg = image_bytes(panel_figure(panel), "svg").decode()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;]*", "font-family: sans-serif", svg)
    svg = re.sub(r"\b([1-9]\d*\.\d\d)\d+", r"\1", svg)  # a hundredth of a point will do
    svg = re.sub(r"\n\s*", "\n", svg)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def gallery(
    panels: Sequence[Panel | Surface], caption: str = "", about: str = "", columns: int = 4
) -> Gallery:
    """Panels as pictures of a page, with one legend; `about` begins their descriptions."""
    pictures = [
        Picture(
            panel_uri(panel),
            ", ".join(filter(None, (about, panel.title))) + f": {panel.shows}",
            panel.title,
            panel.note,
        )
        for panel in panels
    ]
    keys = [Key(curve.name, colour(curve.style), curve.dashed) for curve in legend(panels)]
    return Gallery(pictures, caption, columns, keys)


def panels_figure(panels: Sequence[Panel | Surface], columns: int = 4) -> Figure:
    """All panels side by side above one legend, for paper; surfaces are not mixed with charts."""
    surfaces = [panel for panel in panels if isinstance(panel, Surface)]
    charts = [panel for panel in panels if isinstance(panel, Panel)]
    if surfaces:
        assert not charts
        return surfaces_figure(surfaces)
    columns = max(1, min(columns, len(panels)))
    rows = -(-len(panels) // columns)
    curves = legend(panels)
    per_line = max(1, min(len(curves), round(1.1 * columns)))
    foot = 0.22 * -(-len(curves) // per_line) + 0.08
    with mpl.rc_context(_FONTS):
        figure = _figure(rows, columns, (_SIZE[0], _SIZE[1] + 0.33), 0.38, foot)
        places = np.ravel(figure.subplots(rows, columns, squeeze=False))
        for axes, panel in zip(places, charts, strict=False):
            _draw(axes, panel)
            title = f"{panel.title}\n{panel.note}" if panel.note else panel.title
            axes.set_title(title, fontsize=8.5, color=INK, linespacing=1.15)
        for axes in places[len(panels) :]:
            axes.axis("off")
        figure.legend(
            handles=[Line2D([], [], label=curve.name, **_line_style(curve)) for curve in curves],
            loc="lower center",
            ncols=per_line,
            frameon=False,
            fontsize=8.5,
        )
        return figure


def _figure(rows: int, columns: int, size: tuple[float, float], head: float, foot: float) -> Figure:
    """Places of a known size in inches: laying out by trial takes most of the time of drawing."""
    width, height = columns * size[0], rows * size[1] + foot
    figure = Figure(figsize=(width, height), facecolor="white")
    inner = (size[0] - _LEFT - _RIGHT, size[1] - _BOTTOM - head)
    figure.subplots_adjust(
        left=_LEFT / width,
        right=1 - _RIGHT / width,
        bottom=(_BOTTOM + foot) / height,
        top=1 - head / height,
        wspace=(_LEFT + _RIGHT) / inner[0],
        hspace=(_BOTTOM + head) / inner[1],
    )
    return figure


def _line_style(curve: Curve) -> dict[str, Any]:
    return {
        "color": colour(curve.style),
        "marker": MARKERS[curve.style % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.4,
        "linestyle": "none" if not curve.joined else "--" if curve.dashed else "-",
        "markerfacecolor": "white" if curve.dashed else colour(curve.style),
    }


def _draw(axes: Any, panel: Panel) -> None:
    for curve in panel.curves:
        spread = np.asarray(curve.spread) if len(curve.spread) else None
        axes.errorbar(curve.x, curve.y, yerr=spread, elinewidth=1.1, **_line_style(curve))
    # Bars count too: ticks for the points alone crowd where those are close beside long bars.
    points = [
        (x, end)
        for curve in panel.curves
        for x, y, bar in zip(curve.x, curve.y, _bars(curve), strict=True)
        for end in (y - bar, y, y + bar)
        if end > 0 or not panel.log_y
    ]
    if points:
        xs, ys = np.array(points, dtype=np.float64).T
        if panel.log_x:
            axes.set_xscale("log")
            _set_ticks(axes.xaxis, _few(np.unique(xs.round(6))))
        elif len(np.unique(xs)) <= _MOST_LINEAR_TICKS:
            axes.set_xticks(np.unique(xs))
        if panel.log_y:
            axes.set_yscale("log")
            _set_ticks(axes.yaxis, round_ticks(ys))
        else:
            axes.set_ylim(0, 1.03 * axes.get_ylim()[1])
            axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(panel.x_label, color=INK, labelpad=2)
    axes.set_ylabel(panel.y_label, color=INK, labelpad=2)
    grid_lines(axes, 0.6)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(color=FAINT, labelcolor=INK, length=2.5)


def _bars(curve: Curve) -> Sequence[float]:
    return curve.spread if len(curve.spread) else [0.0] * len(curve.x)


def _few(values: Any) -> Any:
    """Values themselves as ticks where their labels have room, else round numbers, or some."""
    if len(values) < 2:
        return values
    ticks = round_ticks(values)
    extent = np.log(values[-1] / values[0])
    return next((each for each in (values, ticks) if _have_room(each, extent)), ticks[::2])


def _have_room(ticks: Any, extent: float) -> bool:
    """Whether the labels of ticks stand apart on an axis of this logarithmic extent."""
    widths = _LETTER * np.array([len(_tick(value)) + 1 for value in ticks])
    gaps = np.diff(np.log(ticks)) / extent * (_SIZE[0] - _LEFT - _RIGHT)
    return bool((gaps > (widths[1:] + widths[:-1]) / 2).all())


def _set_ticks(axis: Any, ticks: Any) -> None:
    axis.set_ticks(ticks, [_tick(tick) for tick in ticks])
    axis.set_ticks([], minor=True)


def _tick(value: float) -> str:
    if 0 < value < 1e-3:
        return np.format_float_scientific(value, precision=6, trim="-", exp_digits=1)
    return f"{value:,.6g}" if value >= 1 else f"{value:g}"
