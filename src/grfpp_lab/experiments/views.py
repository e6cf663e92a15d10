"""Rows as charts and as tables: a panel a graph, a curve or a column a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grfpp_lab.experiments.experiment import Row, Rows
from grfpp_lab.experiments.graphs import title_of
from grfpp_lab.experiments.verdicts import matches, plus_minus
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

#: The number of walks that tables show, where it was measured.
MAIN_WALKS = 16


@dataclass(frozen=True)
class Series:
    """A method: its name, the rows that belong to it, and how its curve looks."""

    name: str
    where: Mapping[str, Any]
    style: int
    dashed: bool = False


def degree_name(degree: int) -> str:
    """What people call a stitching degree; 1 is the method of before."""
    return "GRF" if degree == 1 else f"GRF++ degree {degree}"


def degree_series(rows: Rows) -> list[Series]:
    """One method a stitching degree."""
    return [Series(degree_name(d), {"degree": d}, d - 1) for d in values(rows, "degree")]


def values(rows: Rows, name: str) -> list[Any]:
    """The different values of a column, sorted."""
    return sorted({row[name] for row in rows if name in row})


def graphs_of(rows: Rows) -> list[str]:
    """The graphs, in the order of the rows."""
    return list(dict.fromkeys(row["graph"] for row in rows))


def error_panels(
    rows: Rows, series: Sequence[Series], x: str = "n_walks", x_label: str = "walks"
) -> list[Panel]:
    """A panel a graph with errors against a column."""
    panels = []
    for graph in graphs_of(rows):
        own = [row for row in rows if row["graph"] == graph]
        curves = [_curve(each, own, x) for each in series]
        panels.append(
            Panel(
                title_of(graph),
                [curve for curve in curves if len(curve.x)],
                x_label,
                "relative error",
                note=graph_note(own[0]),
            )
        )
    return panels


def graph_note(row: Row) -> str:
    """Size of a graph, and which pairs of it count."""
    note = f"{row['n_nodes']:,} nodes"
    if "distance" in row:
        note += f", distance ≥ {row['distance']}"
    return note


def _curve(series: Series, rows: Rows, x: str) -> Curve:
    own = sorted((row for row in rows if matches(row, series.where)), key=lambda row: row[x])
    return Curve(
        series.name,
        [row[x] for row in own],
        [row["error"] for row in own],
        [row["standard_error"] for row in own],
        series.style,
        series.dashed,
    )


def error_table(rows: Rows, series: Sequence[Series], at: str = "n_walks") -> Table:
    """Errors of every method on every graph, at one value of a column."""
    measured = values(rows, at)
    value = MAIN_WALKS if MAIN_WALKS in measured else measured[len(measured) // 2]
    lines = []
    for graph in graphs_of(rows):
        own = [row for row in rows if row["graph"] == graph and row[at] == value]
        cells = [next((r for r in own if matches(r, each.where)), None) for each in series]
        lines.append([title_of(graph), *("" if r is None else plus_minus(r) for r in cells)])
    what = {"n_walks": "walks", "budget": "steps per node"}.get(at, at)
    return Table(
        ["graph", *(each.name for each in series)],
        [TableGroup("", lines)],
        f"Relative error at {value:,} {what}, mean and standard error.",
    )
