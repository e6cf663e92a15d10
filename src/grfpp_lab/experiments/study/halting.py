"""Figs. new_halt and new_halt_long: Poisson lengths against the Bernoulli scheme, equal means."""

from __future__ import annotations

from grfpp.termination import Geometric, Poisson
from grfpp_lab.experiments.experiment import Claim, Experiment, Plan, Rows, Settings, Size, Verdict
from grfpp_lab.experiments.graphs import EIGHT, FAR, at_hand
from grfpp_lab.experiments.measuring import cost
from grfpp_lab.experiments.study.grid import (
    N_WALKS,
    Grid,
    chosen,
    error_cells,
    geometric,
    parameters,
    run_errors,
)
from grfpp_lab.experiments.study.long_range import far_cells
from grfpp_lab.experiments.verdicts import compare, judged
from grfpp_lab.experiments.views import Series, degree_name, error_panels, error_table, values
from grfpp_lab.report.page import Table
from grfpp_lab.report.panels import Panel

PARAMETERS = {
    Size.FULL: Grid(EIGHT, (1, 2, 4), N_WALKS, 10),
    Size.QUICK: Grid(EIGHT, (1, 2), (4, 16, 64), 4),
    Size.TINY: Grid(("er-20", "karate"), (1, 2), (2, 8), 2),
}
LONG_PARAMETERS = {
    Size.FULL: Grid(tuple(FAR), (1, 2, 4), N_WALKS, 10),
    Size.QUICK: Grid(tuple(FAR), (1, 2), (4, 16, 64), 4),
    Size.TINY: Grid(("binary-tree",), (1, 2), (2, 8), 2),
}


def laws(p_halt: float) -> list[str]:
    """The Bernoulli scheme and the Poisson law of equal mean length."""
    return [geometric(p_halt), f"poisson:{Poisson.matching(Geometric(p_halt)).mean!r}"]


def plan(settings: Settings) -> Plan:
    """One cell for every graph, degree, law and number of walks."""
    grid, (sigma2, p_halt) = PARAMETERS[settings.size], chosen(settings)
    graphs, skipped = at_hand(grid.graphs)
    cells = error_cells(grid, graphs, settings, sigma2, laws(p_halt))
    return Plan(cells, _parameters(grid, sigma2, p_halt), skipped)


def plan_long(settings: Settings) -> Plan:
    """The same for distant nodes."""
    grid, (sigma2, p_halt) = LONG_PARAMETERS[settings.size], chosen(settings)
    graphs, skipped = at_hand(grid.graphs)
    cells = far_cells(grid, graphs, settings, sigma2, laws(p_halt))
    return Plan(cells, _parameters(grid, sigma2, p_halt), skipped)


def _parameters(grid: Grid, sigma2: float, p_halt: float) -> dict[str, str]:
    mean = Geometric(p_halt).mean
    lengths = f"geometric, p_halt = {p_halt:g}, and Poisson; both {mean:g} steps on average"
    return {**parameters(grid, sigma2, p_halt), "walk lengths": lengths}


def series(rows: Rows) -> list[Series]:
    """Two methods a degree: the dashed one has Poisson lengths."""
    found = []
    for degree in values(rows, "degree"):
        for law in values(rows, "termination"):
            name = "Bernoulli" if law.startswith("geometric") else "Poisson"
            found.append(
                Series(
                    f"{degree_name(degree)}, {name}",
                    {"degree": degree, "termination": law},
                    degree - 1,
                    name == "Poisson",
                )
            )
    return found


def panels(rows: Rows) -> list[Panel]:
    """A chart a graph, a curve a degree and law."""
    return error_panels(rows, series(rows))


def table(rows: Rows) -> Table:
    """Errors at one number of walks."""
    return error_table(rows, series(rows))


def judge(rows: Rows) -> Verdict:
    """Poisson below Bernoulli on every graph."""
    return _judge(
        rows, "Poisson lengths of the same mean give less error than Bernoulli, on every graph"
    )


def judge_long(rows: Rows) -> Verdict:
    """The same for distant nodes."""
    return _judge(rows, "Poisson lengths of the same mean are more accurate for distant nodes too")


def _judge(rows: Rows, paper: str) -> Verdict:
    found = values(rows, "termination")
    bernoulli = next((law for law in found if law.startswith("geometric")), None)
    poisson = next((law for law in found if law.startswith("poisson")), None)
    return judged(
        paper,
        [
            compare(
                rows,
                f"{degree_name(degree)}: Poisson below Bernoulli",
                {"degree": degree, "termination": poisson},
                {"degree": degree, "termination": bernoulli},
            )
            for degree in values(rows, "degree")
        ],
    )


EXPERIMENT = Experiment(
    name="halting",
    title="The new halting policy",
    source="Fig. new_halt",
    about=[
        "Walk lengths are drawn from a Poisson law instead of the Bernoulli scheme (geometric "
        "lengths). Both laws have the same mean, so both cost the same.",
    ],
    plan=plan,
    run=run_errors,
    claims=[
        Claim(
            "halting",
            "Poisson against Bernoulli",
            "Relative error in the Frobenius norm. Dashed: Poisson lengths.",
            panels,
            judge,
            (table,),
        )
    ],
    cost=cost,
)

LONG = Experiment(
    name="halting-long",
    title="The new halting policy for distant nodes",
    source="Fig. new_halt_long",
    about=["As before, for pairs of nodes that are as far apart as in `long-range`."],
    plan=plan_long,
    run=run_errors,
    claims=[
        Claim(
            "halting-long",
            "Poisson against Bernoulli, distant nodes",
            "Relative error of the entries whose nodes are far apart. Dashed: Poisson lengths.",
            panels,
            judge_long,
            (table,),
        )
    ],
    cost=cost,
)
