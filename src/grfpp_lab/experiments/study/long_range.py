"""Fig. long_estimation: the error of kernel values between distant nodes."""

from __future__ import annotations

from grfpp_lab.experiments import views
from grfpp_lab.experiments.graphs import FAR, title_of
from grfpp_lab.experiments.measuring import cost
from grfpp_lab.experiments.study.estimation import DEGREE, degree_comparisons, pooled_words
from grfpp_lab.experiments.study.grid import error_plan, grids, run_errors
from grfpp_lab.experiments.verdicts import judged
from grfpp_lab.harness import experiment as lab
from grfpp_lab.report.page import Table


def judge(rows: lab.Rows) -> lab.Verdict:
    """GRF++ below GRF, and the higher degree below the lower one."""
    return judged(
        "GRF++ is more accurate than GRF for pairs of distant nodes, on all eight graphs",
        degree_comparisons(rows),
        "; ".join(filter(None, (silent(rows), pooled_words(rows)))),
    )


def silent(rows: lab.Rows) -> str:
    """Where no estimate is of use: errors near or above one, as zero itself would give."""
    most = max((row["n_walks"] for row in rows), default=0)
    at_most = views.select(rows, degree=1, n_walks=most)
    poor = [title_of(row["graph"]) for row in at_most if row["error"] >= 1]
    if not poor:
        return ""
    return f"GRF with {most} walks is no better than the answer zero on {', '.join(poor)}"


def graph_table(rows: lab.Rows) -> Table:
    """Our graphs beside those of the paper's table."""
    lines = []
    for graph in views.distinct(rows, "graph"):
        row, paper = views.select(rows, graph=graph)[0], FAR[graph]
        share = row["n_pairs"] / row["n_nodes"] ** 2
        lines.append(
            [
                title_of(graph),
                *(f"{row['n_nodes']:,}", f"{paper.n_nodes:,}"),
                *(f"{row['diameter']}", f"{paper.diameter}"),
                *(f"{row['distance']}", f"{100 * share:.1f} %"),
            ]
        )
    return views.table(
        ["graph", "nodes", "paper", "diameter", "paper", "distance ≥", "of all pairs"],
        lines,
        "The graphs beside the paper's, and the share of the pairs that count.",
    )


EXPERIMENT = lab.Experiment(
    name="long-range",
    title="Distant nodes",
    source="Fig. long_estimation, table of walk thresholds",
    about=[
        "As before, but only pairs of nodes count that are at least as far apart as the paper's "
        "table says (shortest paths; the paper's `k`). All other entries are left out of both "
        "norms of the relative error.",
    ],
    plan=error_plan(
        grids(tuple(FAR), ("binary-tree",), (1, 2, 3, 4), (1, 2, 4)), far=True, pooled=DEGREE
    ),
    run=run_errors,
    claims=[
        views.error_claim(
            "long-range",
            "Error for distant nodes",
            "Relative error of the entries whose nodes are far apart. An estimate that is zero "
            "for all of them would have error 1.",
            views.degree_series,
            judge,
            graph_table,
        )
    ],
    cost=cost,
    version=2,
)
