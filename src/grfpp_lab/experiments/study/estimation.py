"""Fig. 2: relative error of exp(W) against the number of walks, GRF and GRF++."""

from __future__ import annotations

from grfpp_lab.experiments.experiment import Claim, Experiment, Plan, Rows, Settings, Size, Verdict
from grfpp_lab.experiments.graphs import EIGHT, at_hand
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
from grfpp_lab.experiments.verdicts import Comparison, compare, judged
from grfpp_lab.experiments.views import (
    degree_name,
    degree_series,
    error_panels,
    error_table,
    values,
)
from grfpp_lab.report.page import Table
from grfpp_lab.report.panels import Panel

PARAMETERS = {
    Size.FULL: Grid(EIGHT, (1, 2, 3, 4), N_WALKS, 10),
    Size.QUICK: Grid(EIGHT, (1, 2, 4), (4, 16, 64), 4),
    Size.TINY: Grid(("er-20", "karate"), (1, 2, 4), (2, 8), 2),
}


def plan(settings: Settings) -> Plan:
    """One cell for every graph, degree and number of walks."""
    grid, (sigma2, p_halt) = PARAMETERS[settings.size], chosen(settings)
    graphs, skipped = at_hand(grid.graphs)
    cells = error_cells(grid, graphs, settings, sigma2, [geometric(p_halt)])
    return Plan(cells, parameters(grid, sigma2, p_halt), skipped)


def panels(rows: Rows) -> list[Panel]:
    """A chart a graph, a curve a degree."""
    return error_panels(rows, degree_series(rows))


def judge(rows: Rows) -> Verdict:
    """GRF++ below GRF, and the higher degree below the lower one."""
    return judged(
        "GRF++ has less error than GRF at every number of walks, on all eight graphs, and less "
        "with a higher degree",
        degree_comparisons(rows),
    )


def degree_comparisons(rows: Rows) -> list[Comparison]:
    """Degree 2 against 1, and 4 against 2, graph by graph at equal walks."""
    measured = values(rows, "degree")
    return [
        compare(
            rows, f"{degree_name(high)} below {degree_name(low)}", {"degree": high}, {"degree": low}
        )
        for low, high in ((1, 2), (2, 4))
        if low in measured and high in measured
    ]


def table(rows: Rows) -> Table:
    """Errors at one number of walks."""
    return error_table(rows, degree_series(rows))


EXPERIMENT = Experiment(
    name="estimation",
    title="Accurate estimation",
    source="Fig. 2",
    about=[
        "The whole matrix `exp(W)` is estimated with regular GRFs (degree 1) and with GRFs++. At "
        "equal numbers of walks a higher degree does more work: `equal-cost` compares at equal "
        "steps.",
    ],
    plan=plan,
    run=run_errors,
    claims=[
        Claim(
            "estimation",
            "Error against walks",
            "Relative error in the Frobenius norm, mean and standard error of the repeats. Both "
            "axes are logarithmic.",
            panels,
            judge,
            (table,),
        )
    ],
    cost=cost,
)
