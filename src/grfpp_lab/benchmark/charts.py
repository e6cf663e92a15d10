"""Pictures of the rows: bars for speeds and seconds, curves for growth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator

from grfpp_lab.benchmark import paper_table, sampling
from grfpp_lab.benchmark.ratios import grown
from grfpp_lab.benchmark.rows import Row, of_section, workloads
from grfpp_lab.benchmark.tables import short
from grfpp_lab.meshes import PAPER_MESHES
from grfpp_lab.report.figures import COLOURS, FAINT, data_uri, grid_lines, new_figure
from grfpp_lab.report.images import INK
from grfpp_lab.report.page import Picture

_MARKERS = "os^Dv*"


def speed_charts(rows: Sequence[Row]) -> list[Picture]:
    """Million steps a second, a picture for each graph."""
    return _bar_charts(rows, "sampling", "steps_per_second", 1e-6, "million steps/s")


def uses_charts(rows: Sequence[Row]) -> list[Picture]:
    """Seconds, a picture for each use."""
    return _bar_charts(rows, "uses", "seconds", 1.0, "seconds")


def _bar_charts(
    rows: Sequence[Row], section: str, number: str, unit: float, label: str
) -> list[Picture]:
    pictures = []
    for name in workloads(rows, section):
        bars = [
            (row.method, unit * row.numbers[number], row.status)
            for row in of_section(rows, section)
            if row.workload == name and row.get(number)
        ]
        if bars:
            pictures.append(Picture(_bar_chart(bars, label), f"{name}: {label} by method", name))
    return pictures


def _bar_chart(bars: Sequence[tuple[str, float, str]], label: str) -> str:
    """Horizontal bars on a logarithmic axis, each with its number."""
    figure = new_figure(5.2, 0.75 + 0.33 * len(bars))
    axes = figure.add_subplot()
    values = [value for _, value, _ in bars]
    low = 10.0 ** np.floor(np.log10(min(values)) - 0.3)
    for line, (method, value, status) in enumerate(bars):
        axes.barh(
            line,
            value - low,
            left=low,
            color=_colour(method),
            hatch="///" if status == "estimated" else None,
            edgecolor="white",
            height=0.7,
        )
        axes.text(value * 1.15, line, short(value), va="center", fontsize=9, color=INK)
    axes.set_xscale("log")
    axes.set_xlim(low, 6 * max(values))
    axes.set_yticks(range(len(bars)), [method for method, _, _ in bars], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel(label, color=INK, fontsize=9)
    grid_lines(axes)
    return data_uri(figure)


def _colour(method: str) -> str:
    if method.startswith("grfpp"):
        return COLOURS[0]
    return FAINT if method == sampling.LIMIT else COLOURS[4]


def growth_charts(rows: Sequence[Row]) -> list[Picture]:
    """Time and memory per node against the number of nodes."""
    own = [row for row in grown(rows) if row.numbers]
    if len(own) < 2:
        return []
    nodes = np.array([row.numbers["n_nodes"] for row in own])

    def curve(number: str) -> tuple[Any, Any]:
        values = np.array([row.numbers[number] for row in own])
        return nodes[values > 0], values[values > 0]  # tiny graphs may need no new memory

    time = _curves({"plan and factor": curve("microseconds_per_node")}, "µs per node")
    memory = _curves(
        {
            "peak, while sampling": curve("peak_bytes_per_node"),
            "stored factor": curve("stored_bytes_per_node"),
        },
        "bytes per node",
    )
    return [
        Picture(time, "microseconds per node against nodes", "Time", "one float32 factor"),
        Picture(memory, "bytes per node against nodes", "Memory", "one float32 factor"),
    ]


def paper_chart(rows: Sequence[Row]) -> list[Picture]:
    """Seconds against mesh size, a curve a method."""
    curves: dict[str, Any] = {}
    for method in paper_table.METHODS:
        quoted = [row for row in of_section(rows, "paper") if row.method == method]
        own = [row for row in quoted if row.get("seconds")]
        points = [(row.numbers["n_nodes"], row.numbers["seconds"]) for row in own]
        estimated = any(row.status == "estimated" for row in own)
        if points:
            name = f"{method} (estimated)" if estimated else method
            curves[name] = tuple(np.array(points).T)
    if not curves:
        return []
    sizes = [mesh.n_nodes for mesh in PAPER_MESHES]
    source = _curves(curves, "seconds", size=(7.0, 4.2), ticks=sizes)
    return [Picture(source, "seconds of every method against the size of the mesh")]


def _curves(
    curves: dict[str, tuple[Any, Any]],
    label: str,
    size: tuple[float, float] = (4.8, 3.3),
    ticks: Sequence[float] = (),
) -> str:
    figure = new_figure(*size)
    axes = figure.add_subplot()
    for number, (name, (x, y)) in enumerate(curves.items()):
        axes.plot(
            x,
            y,
            label=name,
            color=COLOURS[number],
            marker=_MARKERS[number],
            markersize=5,
            linewidth=1.6,
            linestyle="--" if "estimated" in name or name.startswith("paper") else "-",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    everything = np.concatenate([y for _, y in curves.values()])
    axes.set_ylim(everything.min() / 3, 3 * everything.max())
    many = everything.max() > 100 * everything.min()
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if many else (1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(lambda value, place: f"{value:,g}")
    axes.yaxis.set_minor_formatter(lambda value, place: "")
    if ticks:
        axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
        axes.set_xticks([], minor=True)
    axes.set_xlabel("nodes", color=INK)
    axes.set_ylabel(label, color=INK)
    grid_lines(axes)
    axes.legend(frameon=False, fontsize=8)
    return data_uri(figure)
