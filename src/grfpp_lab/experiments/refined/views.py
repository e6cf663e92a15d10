"""Charts and tables of pooled walks beside the paper's, and beside methods without walks."""

from __future__ import annotations

from collections.abc import Sequence

from grfpp_lab.experiments import views
from grfpp_lab.experiments.refined import graphs
from grfpp_lab.experiments.refined.graphs import title_of
from grfpp_lab.experiments.refined.kernels import FAST, MIDDLE, SLOW, SLOW_INVERSE
from grfpp_lab.experiments.refined.methods import (
    AVERAGED,
    CHEBYSHEV,
    DEFLATED,
    INDEPENDENT,
    LARGEST,
    POOLED,
    WALKED,
    series,
)
from grfpp_lab.experiments.refined.verdicts import STEPS, WEIGHTED_BARS
from grfpp_lab.experiments.views import Series, chart, distinct, select
from grfpp_lab.harness.experiment import Row, Rows
from grfpp_lab.report.page import Table
from grfpp_lab.report.panels import Panel

_AXES = {"budget": "steps per node", "seconds": "seconds", "entries": "stored entries per node"}
_ERRORS = {"error": "relative error", "off_error": "error off the diagonal"}
_FEW = (INDEPENDENT, 2), (POOLED, 2), (AVERAGED, 2), (POOLED, 8)
_MESHES, _LARGE = (graphs.MESH, graphs.SPHERE), (graphs.LARGE_SCALE_FREE, graphs.LARGE_REGULAR)


def panel(
    rows: Rows, graph: str, kernel: str, methods: Sequence[Series], x: str, error: str = "error"
) -> Panel | None:
    """The errors of some methods on one graph; nothing where none was measured."""
    own = [row for row in select(rows, graph=graph, kernel=kernel) if row.get(x)]
    spread = error.replace("error", "standard_error")
    curves = [
        views.curve(
            *(each.name, select(own, **each.where), x, error, each.style),
            spread=spread,
            dashed=each.dashed,
        )
        for each in methods
    ]
    if not any(len(each.x) for each in curves):
        return None
    note = f"{kernel}, {own[0]['n_nodes']:,} nodes"
    return chart(title_of(graph), curves, _AXES[x], _ERRORS[error], note=note)


def _some(rows: Rows, *names: str) -> list[str]:
    """Of these graphs those that were measured, or else all."""
    measured = distinct(rows, "graph")
    return [name for name in names if name in measured] or measured


def _drawn(panels: Sequence[Panel | None]) -> list[Panel]:
    return [each for each in panels if each is not None]


def step_panels(rows: Rows) -> list[Panel]:
    """exp(W) against steps on every graph."""
    methods = series(*_FEW)
    return _drawn([panel(rows, g, FAST, methods, "budget") for g in distinct(rows, "graph")])


def off_panels(rows: Rows) -> list[Panel]:
    """Errors without the diagonal, all kernels on some graphs."""
    methods = series(*_FEW)
    return _drawn(
        [
            panel(rows, graph, kernel, methods, "budget", "off_error")
            for kernel in distinct(rows, "kernel")
            for graph in _some(rows, graphs.CORA, *_MESHES, *_LARGE)
        ]
    )


def entry_panels(rows: Rows) -> list[Panel]:
    """Errors against stored entries, beside the best sparse matrix."""
    methods = series((INDEPENDENT, 2), (POOLED, 2), (AVERAGED, 2), (LARGEST, None))
    return _drawn(
        [
            panel(rows, graph, kernel, methods, "entries")
            for kernel in (FAST, MIDDLE)
            for graph in _some(rows, graphs.GRID, *_MESHES, graphs.CORA, *_LARGE)
        ]
    )


def slow_panels(rows: Rows) -> list[Panel]:
    """Slow kernels against steps, with eigenvectors."""
    methods = series(*WALKED, (DEFLATED, 4), (AVERAGED, 8))
    return _drawn(
        [
            panel(rows, graph, kernel, methods, "budget")
            for kernel in (SLOW, SLOW_INVERSE)
            for graph in _some(rows, graphs.CORA, graphs.SCALE_FREE, *_MESHES, *_LARGE)
        ]
    )


def weighted_panels(rows: Rows) -> list[Panel]:
    """Weighted graphs, with and without the diagonal."""
    methods = series(*_FEW)
    weighted = dict.fromkeys(graph for graph, _ in WEIGHTED_BARS)
    return _drawn(
        [
            panel(rows, graph, kernel, methods, "budget", error)
            for graph in _some(rows, *weighted)
            for kernel in (FAST, MIDDLE)
            for error in ("error", "off_error")
        ]
    )


def stitching_panels(rows: Rows) -> list[Panel]:
    """exp(20 W) by degree."""
    methods = series((INDEPENDENT, 2), (POOLED, 2), (POOLED, 4), (POOLED, 8))
    return _drawn([panel(rows, g, SLOW, methods, "budget") for g in distinct(rows, "graph")])


def second_panels(rows: Rows) -> list[Panel]:
    """Errors against seconds, beside polynomials."""
    methods = series((INDEPENDENT, 2), (AVERAGED, 2), (DEFLATED, 8), (CHEBYSHEV, None))
    names = (graphs.CORA, graphs.DENSE, graphs.GRID, *_MESHES, *_LARGE)
    return _drawn(
        [
            panel(rows, graph, kernel, methods, "seconds")
            for kernel in (FAST, SLOW)
            for graph in _some(rows, *names)
        ]
    )


# --- tables ---------------------------------------------------------------------------------------

_COLUMNS: tuple[tuple[str, int], ...] = (
    *((INDEPENDENT, 2), (POOLED, 2), (AVERAGED, 2)),
    *((AVERAGED, 4), (AVERAGED, 8), (DEFLATED, 4), (DEFLATED, 8)),
)


def error_table(rows: Rows) -> Table:
    """All errors at the steps of the claims: of the whole matrix, and without the diagonal."""
    return _table(rows, "error", "Relative error")


def off_table(rows: Rows) -> Table:
    """The same without the diagonal."""
    return _table(rows, "off_error", "Relative error without the diagonal")


def _table(rows: Rows, error: str, title: str) -> Table:
    lines = []
    own = select(rows, budget=STEPS)
    for graph in distinct(own, "graph"):
        for kernel in distinct(own, "kernel"):
            here = {(r["method"], r["degree"]): r for r in select(own, graph=graph, kernel=kernel)}
            if here:
                cells = (_number(here.get(column), error) for column in _COLUMNS)
                lines.append([title_of(graph), kernel, *cells])
    columns = [f"{method}, {degree}" for method, degree in _COLUMNS]
    return views.table(
        ["graph", "kernel", *columns],
        lines,
        f"{title} at {STEPS} steps per node, all factors counted; after the comma the degree.",
        words=(0, 1),
    )


def _number(row: Row | None, column: str) -> str:
    return "" if row is None else f"{row[column]:.2g}"
