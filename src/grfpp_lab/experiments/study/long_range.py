"""Fig. long_estimation: the error of kernel values between distant nodes."""

from __future__ import annotations

from grfpp_lab.experiments.experiment import (
    Cell,
    Claim,
    Experiment,
    Plan,
    Rows,
    Settings,
    Size,
    Verdict,
)
from grfpp_lab.experiments.graphs import FAR, at_hand, title_of
from grfpp_lab.experiments.measuring import cost
from grfpp_lab.experiments.study.estimation import degree_comparisons
from grfpp_lab.experiments.study.grid import (
    N_WALKS,
    Grid,
    chosen,
    error_cells,
    geometric,
    parameters,
    run_errors,
)
from grfpp_lab.experiments.verdicts import judged
from grfpp_lab.experiments.views import degree_series, error_panels, error_table, graphs_of
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Panel

PARAMETERS = {
    Size.FULL: Grid(tuple(FAR), (1, 2, 3, 4), N_WALKS, 10),
    Size.QUICK: Grid(tuple(FAR), (1, 2, 4), (4, 16, 64), 4),
    Size.TINY: Grid(("binary-tree",), (1, 2, 4), (2, 8), 2),
}


def plan(settings: Settings) -> Plan:
    """One cell for every graph, degree and number of walks."""
    grid, (sigma2, p_halt) = PARAMETERS[settings.size], chosen(settings)
    graphs, skipped = at_hand(grid.graphs)
    cells = far_cells(grid, graphs, settings, sigma2, [geometric(p_halt)])
    return Plan(cells, parameters(grid, sigma2, p_halt), skipped)


def far_cells(
    grid: Grid, graphs: list[str], settings: Settings, sigma2: float, laws: list[str]
) -> list[Cell]:
    """Cells in which only pairs count that are as far apart as the paper's table says."""
    return [
        cell
        for graph in graphs
        for cell in error_cells(grid, [graph], settings, sigma2, laws, distance=FAR[graph].distance)
    ]


def panels(rows: Rows) -> list[Panel]:
    """A chart a graph, a curve a degree."""
    return error_panels(rows, degree_series(rows))


def judge(rows: Rows) -> Verdict:
    """GRF++ below GRF, and the higher degree below the lower one."""
    return judged(
        "GRF++ is more accurate than GRF for pairs of distant nodes, on all eight graphs",
        degree_comparisons(rows),
        silent(rows),
    )


def silent(rows: Rows) -> str:
    """Where no estimate is of use: errors near or above one, as zero itself would give."""
    most = max((row["n_walks"] for row in rows), default=0)
    poor = [
        title_of(row["graph"])
        for row in rows
        if row["degree"] == 1 and row["n_walks"] == most and row["error"] >= 1
    ]
    if not poor:
        return ""
    return f"GRF with {most} walks is no better than the answer zero on {', '.join(poor)}"


def errors(rows: Rows) -> Table:
    """Errors at one number of walks."""
    return error_table(rows, degree_series(rows))


def graph_table(rows: Rows) -> Table:
    """Our graphs beside those of the paper's table."""
    lines = []
    for graph in graphs_of(rows):
        row, paper = next(r for r in rows if r["graph"] == graph), FAR[graph]
        share = row["n_pairs"] / row["n_nodes"] ** 2
        lines.append(
            [
                title_of(graph),
                *(f"{row['n_nodes']:,}", f"{paper.n_nodes:,}"),
                *(f"{row['diameter']}", f"{paper.diameter}"),
                *(f"{row['distance']}", f"{100 * share:.1f} %"),
            ]
        )
    return Table(
        ["graph", "nodes", "paper", "diameter", "paper", "distance ≥", "of all pairs"],
        [TableGroup("", lines)],
        "The graphs beside the paper's, and the share of the pairs that count.",
    )


EXPERIMENT = Experiment(
    name="long-range",
    title="Distant nodes",
    source="Fig. long_estimation, table of walk thresholds",
    about=[
        "As before, but only pairs of nodes count that are at least as far apart as the paper's "
        "table says (shortest paths; the paper's `k`). All other entries are left out of both "
        "norms of the relative error.",
    ],
    plan=plan,
    run=run_errors,
    claims=[
        Claim(
            "long-range",
            "Error for distant nodes",
            "Relative error of the entries whose nodes are far apart. An estimate that is zero "
            "for all of them would have error 1.",
            panels,
            judge,
            (errors, graph_table),
        )
    ],
    cost=cost,
)
