"""Rows as charts and as tables: a panel a graph, a curve or a column a method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grfpp_lab.experiments.graphs import title_of
from grfpp_lab.experiments.measuring import mean_and_error
from grfpp_lab.experiments.verdicts import matches, plus_minus
from grfpp_lab.harness.experiment import Claim, Row, Rows, Verdict
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

#: The number of walks that tables show, where it was measured.
MAIN_WALKS = 16
#: Walks that stand beside the paper's, whose rows do not name any.
POOLED = "pooled"
PAPER = {"walks": None}
#: What errors stand against.
_AXES = {"n_walks": "walks", "budget": "steps per node"}


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
    """One method a stitching degree, and pooled walks where there are any."""
    paper = [row for row in rows if "walks" not in row]
    return [
        *(Series(degree_name(d), {"degree": d, **PAPER}, d - 1) for d in values(paper, "degree")),
        *pooled_series(rows),
    ]


def pooled_series(rows: Rows) -> list[Series]:
    """Pooled walks, by degree."""
    degrees = values(select(rows, walks=POOLED), "degree")
    return [
        Series(f"{POOLED}, degree {d}", {"degree": d, "walks": POOLED}, 4, dashed=d > degrees[0])
        for d in degrees
    ]


def select(rows: Rows, **wanted: Any) -> list[Row]:
    """The rows that have all these values."""
    return [row for row in rows if matches(row, wanted)]


def values(rows: Rows, name: str) -> list[Any]:
    """The different values of a column, sorted, without those that are missing."""
    return sorted({row[name] for row in rows if row.get(name) is not None})


def distinct(rows: Rows, name: str) -> list[Any]:
    """The different values of a column, in the order of the rows."""
    return list(dict.fromkeys(row[name] for row in rows))


# --- charts ---------------------------------------------------------------------------------------


def curve(
    name: str, rows: Rows, x: str, y: str, style: int = 0, *, spread: str = "", **look: bool
) -> Curve:
    """A point a row, in the order of `x`; bars where a column holds standard errors."""
    own = sorted(rows, key=lambda row: row[x])
    xs, ys = ([row[column] for row in own] for column in (x, y))
    return Curve(name, xs, ys, [row[spread] for row in own] if spread else (), style, **look)


def error_curve(name: str, rows: Rows, x: str, style: int, dashed: bool = False) -> Curve:
    """Mean errors, with bars for their standard errors."""
    return curve(name, rows, x, "error", style, spread="standard_error", dashed=dashed)


def mean_curve(
    name: str, rows: Rows, x: str, y: Callable[[Row], float], style: int, bars: bool = True
) -> Curve:
    """The mean over all rows at each `x`, with its standard error."""
    xs = values(rows, x)
    points = [mean_and_error([y(row) for row in select(rows, **{x: at})]) for at in xs]
    errors = [error for _, error in points] if bars else ()
    return Curve(name, xs, [mean for mean, _ in points], errors, style)


def chart(title: str, curves: Sequence[Curve], x_label: str, y_label: str, **more: Any) -> Panel:
    """A panel with the curves that have any points."""
    return Panel(title, [each for each in curves if len(each.x)], x_label, y_label, **more)


def error_panels(rows: Rows, series: Sequence[Series], x: str = "n_walks") -> list[Panel]:
    """A panel a graph with errors against a column."""
    panels = []
    for graph in distinct(rows, "graph"):
        own = select(rows, graph=graph)
        curves = [
            error_curve(each.name, select(own, **each.where), x, each.style, each.dashed)
            for each in series
        ]
        note = graph_note(own[0])
        panels.append(chart(title_of(graph), curves, _AXES[x], "relative error", note=note))
    return panels


def graph_note(row: Row) -> str:
    """Size of a graph, and which pairs of it count."""
    note = f"{row['n_nodes']:,} nodes"
    if "distance" in row:
        note += f", distance ≥ {row['distance']}"
    return note


# --- tables ---------------------------------------------------------------------------------------


def table(
    columns: Sequence[str], lines: Sequence[Sequence[str]], caption: str, **more: Any
) -> Table:
    """A table whose lines stand in one group."""
    return Table(columns, [TableGroup("", lines)], caption, **more)


def number(value: float | None, form: str = ".4f") -> str:
    """A number in a table; nothing where there is none."""
    return "" if value is None else format(value, form)


def mean_and_deviation(numbers: Sequence[float]) -> str:
    """Mean and standard deviation in a table.

    Examples
    --------
    >>> mean_and_deviation([1.0, 2.0, 3.0]), mean_and_deviation([1.0]), mean_and_deviation([])
    ('2.00 ± 1.00', '1.00', '')
    """
    if not numbers:
        return ""
    spread = f" ± {np.std(numbers, ddof=1):.2f}" if len(numbers) > 1 else ""
    return f"{np.mean(numbers):.2f}{spread}"


def error_table(rows: Rows, series: Sequence[Series], at: str = "n_walks") -> Table:
    """Errors of every method on every graph, at one value of a column."""
    measured = values(rows, at)
    value = MAIN_WALKS if MAIN_WALKS in measured else measured[len(measured) // 2]
    lines = []
    for graph in distinct(rows, "graph"):
        own = select(rows, graph=graph, **{at: value})
        cells = [next((r for r in own if matches(r, each.where)), None) for each in series]
        lines.append([title_of(graph), *("" if r is None else plus_minus(r) for r in cells)])
    caption = f"Relative error at {value:,} {_AXES[at]}, mean and standard error."
    return table(["graph", *(each.name for each in series)], lines, caption)


# --- both -----------------------------------------------------------------------------------------


def error_claim(
    name: str,
    title: str,
    caption: str,
    series: Callable[[Rows], Sequence[Series]],
    judge: Callable[[Rows], Verdict],
    *tables: Callable[[Rows], Table],
    own: Callable[[Rows], Rows] = lambda rows: rows,
    x: str = "n_walks",
    drawn: Callable[[Rows], Sequence[Series]] | None = None,
) -> Claim:
    """A claim on errors: a chart a graph, the errors at one place as a table, a verdict.

    Parameters
    ----------
    name, title, caption, judge, tables
        As for `Claim`; the table of errors stands before the others.
    series
        The methods that are compared.
    own
        The rows that the claim is about.
    x
        The column that errors stand against.
    drawn
        The methods of the charts, if not all.
    """
    return Claim(
        name,
        title,
        caption,
        lambda rows: error_panels(own(rows), (drawn or series)(own(rows)), x),
        lambda rows: judge(own(rows)),
        (lambda rows: error_table(own(rows), series(own(rows)), x), *tables),
    )
