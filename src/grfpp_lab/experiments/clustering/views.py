"""Clustering errors as charts and as tables, ours beside the paper's."""

from __future__ import annotations

from grfpp_lab.experiments.clustering.paper import GRF, GRF_PP, PAPER
from grfpp_lab.experiments.clustering.rivals import RIVALS
from grfpp_lab.experiments.views import (
    POOLED,
    chart,
    distinct,
    error_curve,
    number,
    select,
    table,
    values,
)
from grfpp_lab.harness.experiment import Row, Rows
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

EXACT = "exact diffusion"
#: The paper's methods that walk.
DEGREES = {GRF: 1, GRF_PP: 2}
#: Ours, beside them.
POOLED_PP = f"{POOLED}, degree 2"
REGULARIZED = "regularised"
MAIN_WALKS = 16
EQUAL = "no difference"
#: Errors below are drawn here: the axes are logarithmic.
LEAST = 0.005
_STYLES = {GRF: 0, GRF_PP: 1, POOLED_PP: 4}


def main_rows(rows: Rows) -> Rows:
    """The rows of the tables: walks as the paper has them, and methods without walks."""
    return [row for row in rows if row["n_walks"] in (None, MAIN_WALKS)]


def by_graph(rows: Rows, method: str) -> dict[str, Row]:
    """The row of a method on each graph."""
    return {row["graph"]: row for row in select(rows, method=method)}


def title_of(graph: str) -> str:
    """What people call a graph."""
    return graph.capitalize()


def walk_panels(rows: Rows) -> list[Panel]:
    """Pair error against walks, one chart a graph; the exact kernel has none."""
    panels = []
    for graph in distinct(rows, "graph"):
        own = select(rows, graph=graph)
        curves = [
            error_curve(method, select(own, method=method), "n_walks", style)
            for method, style in _STYLES.items()
        ]
        walks, exact = values(own, "n_walks"), select(own, method=EXACT)
        if exact and walks:
            error = exact[0]["error"]
            curves.append(Curve(EXACT, [walks[0], walks[-1]], [error, error], (), 2, True))
        note = f"{own[0]['n_nodes']:,} nodes, {own[0]['n_clusters']} clusters"
        panels.append(chart(title_of(graph), curves, "walks", "pair error", note=note, log_y=False))
    return panels


def pooled_panels(rows: Rows) -> list[Panel]:
    """How far from the exact kernel's the errors are, a point a graph."""
    main = main_rows(rows)
    exact = by_graph(main, EXACT)
    curves = []
    for method, style in _STYLES.items():
        own = [row for graph, row in by_graph(main, method).items() if graph in exact]
        gaps = [abs(row["error"] - exact[row["graph"]]["error"]) for row in own]
        nodes = [row["n_nodes"] for row in own]
        curves.append(Curve(method, nodes, gaps, (), style, joined=False))
    return [chart("Beside the exact kernel", curves, "nodes", "difference", log_y=False)]


def best_rival(rows: Rows) -> str | None:
    """The method of scikit-network with the least mean error over the graphs that all have."""
    errors = {
        method: [row["error"] for row in select(rows, method=method)]
        for method in RIVALS
        if select(rows, method=method)
    }
    return min(errors, key=lambda method: sum(errors[method]), default=None)


def regularized_panels(rows: Rows) -> list[Panel]:
    """Errors of the default, of the paper's way and of the best other method, a point a graph."""
    best = best_rival(rows)
    curves = []
    for style, method in enumerate([REGULARIZED, EXACT, *([best] if best else [])]):
        own = by_graph(rows, method).values()
        nodes, errors = ([row[key] for row in own] for key in ("n_nodes", "error"))
        curves.append(Curve(method, nodes, errors, (), style, joined=False))
    return [chart("The default", curves, "nodes", "pair error", log_y=False)]


def rival_panels(rows: Rows) -> list[Panel]:
    """Pair errors measured here against those of the paper, one chart a graph."""
    main = main_rows(rows)
    panels = []
    for graph in distinct(main, "graph"):
        if graph not in PAPER:
            continue
        own = {row["method"]: row for row in select(main, graph=graph)}
        points = [
            Curve(method, [PAPER[graph][method]], [max(row["error"], LEAST)], (), style)
            for style, method in enumerate((*DEGREES, *RIVALS))
            if (row := own.get(method)) is not None
        ]
        drawn = [value for point in points for value in (*point.x, *point.y)]
        ends = [min(drawn), max(drawn)]
        equal = Curve(EQUAL, ends, ends, (), len(DEGREES) + len(RIVALS), True)
        panels.append(
            Panel(title_of(graph), [*points, equal], "pair error in the paper", "measured here")
        )
    return panels


def degree_table(rows: Rows) -> Table:
    """Our errors beside those of the paper's first table."""
    main = main_rows(rows)
    lines = []
    for graph in distinct(main, "graph"):
        own = {row["method"]: row for row in select(main, graph=graph)}
        paper = PAPER.get(graph, {})
        any_row = next(iter(own.values()))
        lines.append(
            [
                title_of(graph),
                f"{any_row['n_nodes']:,}",
                str(any_row["n_clusters"]),
                *(_measured(own.get(method)) for method in (GRF, GRF_PP, POOLED_PP, EXACT)),
                *(number(paper.get(method)) for method in (GRF, GRF_PP)),
            ]
        )
    measured = [GRF, GRF_PP, POOLED_PP, EXACT]
    return table(
        ["graph", "nodes", "clusters", *measured, f"paper, {GRF}", f"paper, {GRF_PP}"],
        lines,
        f"Pair error at {MAIN_WALKS} walks, mean and standard deviation over the repeats. Cora is "
        "not in the paper.",
    )


def rival_table(rows: Rows) -> Table:
    """All methods, ours measured here, and what the paper says about the same."""
    main = main_rows(rows)
    ours = (*_STYLES, EXACT, REGULARIZED)
    methods = [method for method in (*ours, *RIVALS) if by_graph(main, method)]
    measured, quoted = [], []
    for graph in distinct(main, "graph"):
        own = {row["method"]: row for row in select(main, graph=graph)}
        measured.append([title_of(graph), *(_measured(own.get(method)) for method in methods)])
        if graph in PAPER:
            paper = PAPER[graph]
            quoted.append([title_of(graph), *(number(paper.get(method)) for method in methods)])
    return Table(
        ["graph", *methods],
        [TableGroup("measured here", measured), TableGroup("quoted from the paper", quoted)],
        "Pair error, mean and standard deviation over the repeats; Louvain and Propagation choose "
        "the number of clusters themselves and have no seed.",
    )


def _measured(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row['error']:.4f}" + (f" ± {row['deviation']:.4f}" if row["repeats"] > 1 else "")
