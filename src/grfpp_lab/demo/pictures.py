"""Pictures of the demo: kernel rows on their graphs, and errors against steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grfpp_lab.demo.graphs import DemoGraph
from grfpp_lab.demo.measure import KernelRow, Measurement
from grfpp_lab.report.figures import (
    COLOURS,
    Shown,
    data_uri,
    draw_curves,
    draw_network,
    draw_surface,
    grid_lines,
    new_figure,
)
from grfpp_lab.report.images import INK, image_bytes
from grfpp_lab.report.page import Picture

#: Nodes whose intervals are drawn.
_N_BANDS = 24


def row_pictures(each: DemoGraph, rows: Sequence[KernelRow]) -> list[Picture]:
    """One picture a row, all with the colours of the exact one."""
    pictures = []
    for row in rows:
        figure = new_figure(2.6, 2.6)
        _draw_row(figure.add_subplot(), each, row, _limit(rows))
        # A surface of many triangles is smaller as pixels.
        source = data_uri(figure, "svg" if each.faces is None else "png")
        alt = f"{each.title}: the {row.title} kernel row of one node, as colours of the nodes"
        pictures.append(Picture(source, alt, row.title, row.note))
    return pictures


def row_strip(each: DemoGraph, rows: Sequence[KernelRow]) -> bytes:
    """The same pictures side by side, as one PNG file."""
    figure = new_figure(2.6 * len(rows), 3.0, top=0.86)
    for axes, row in zip(np.ravel(figure.subplots(1, len(rows))), rows, strict=True):
        _draw_row(axes, each, row, _limit(rows))
        axes.set_title(f"{row.title}\n{row.note or ' '}", fontsize=10, color=INK)
    return image_bytes(figure, "png", dpi=100)


def error_chart(results: Sequence[Measurement]) -> Picture:
    """Errors of one graph against steps, a curve a method."""
    figure = new_figure(4.8, 3.3)
    curves = []
    for method in dict.fromkeys(result.method for result in results):
        own = [result for result in results if result.method == method]
        x, y, spread = np.array(
            [(r.steps_per_node, r.error, r.standard_error) for r in own], dtype=np.float64
        ).T
        curves.append((method, x, y, spread))
    draw_curves(figure.add_subplot(), curves, "walk steps per node", "relative error")
    title = results[0].graph
    return Picture(data_uri(figure), f"{title}: relative error against steps per node", title)


def band_chart(each: DemoGraph, rows: Sequence[KernelRow]) -> Picture:
    """The largest numbers of a row with 95 % intervals: those of a GRF, and of pooled walks."""
    exact, _, grf, _, pooled = rows
    order = np.argsort(-exact.values, kind="stable")[1 : _N_BANDS + 1]
    place = np.arange(1, len(order) + 1)
    figure = new_figure(4.8, 3.0)
    axes = figure.add_subplot()
    for row, colour in ((grf, COLOURS[0]), (pooled, COLOURS[1])):
        values, width = row.values[order], 1.96 * row.std[order]
        axes.fill_between(place, values - width, values + width, color=colour, alpha=0.25, lw=0)
        axes.plot(place, values, color=colour, lw=1.4, label=row.title)
    axes.plot(place, exact.values[order], ".", color=INK, ms=5, label="exact")
    axes.set_xlabel("nodes, the most alike first", color=INK)
    axes.set_ylabel("kernel", color=INK)
    grid_lines(axes)
    axes.legend(frameon=False, fontsize=9)
    alt = f"{each.title}: a kernel row with 95 % intervals of two estimates"
    return Picture(data_uri(figure), alt, each.title)


def _draw_row(axes: Any, each: DemoGraph, row: KernelRow, limit: float) -> None:
    shown = Shown(row.values, limit, each.start)
    if each.faces is None:
        edges = np.argwhere(np.triu(each.graph.adjacency.toarray()))
        draw_network(axes, each.positions, edges, shown)
    else:
        towards = each.positions[each.start] + np.array([0.15, -0.45, 0.0])
        draw_surface(axes, each.positions, each.faces, shown, towards)


def _limit(rows: Sequence[KernelRow]) -> float:
    """The largest exact value but one; the node's own is often far above all others."""
    return float(np.sort(rows[0].values)[-2])
