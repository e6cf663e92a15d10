"""Figs. estimation-2, -3, -4: kernels beyond diffusion, GRF against GRF++ of degree 2."""

from __future__ import annotations

from collections.abc import Callable

from grfpp.errors import InputError
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
from grfpp_lab.experiments.verdicts import compare, judged
from grfpp_lab.experiments.views import degree_name, degree_series, error_panels, error_table
from grfpp_lab.report.page import Table
from grfpp_lab.report.panels import Panel

#: Inverse powers need a spectral radius below 1; the paper does not say which it had.
OTHER_SIGMA2 = 0.5
KERNELS = {
    "inverse-power:4:1": "(I − W)^-4",
    "inverse-power:4:2": "(I − W²)^-4",
    "squared-diffusion:1": "exp(W²)",
}
PARAMETERS = {
    Size.FULL: Grid(EIGHT, (1, 2), N_WALKS, 10),
    Size.QUICK: Grid(EIGHT, (1, 2), (4, 16, 64), 4),
    Size.TINY: Grid(("er-20", "karate"), (1, 2), (2, 8), 2),
}


def plan(settings: Settings) -> Plan:
    """One cell for every kernel, graph, degree and number of walks."""
    grid, (sigma2, p_halt) = PARAMETERS[settings.size], chosen(settings, OTHER_SIGMA2)
    if sigma2**2 >= 1 - p_halt:
        raise InputError(
            f"other-kernels: with sigma2 {sigma2:g} and p_halt {p_halt:g} the series diverges or "
            "the variance is infinite; sigma2 must be below 1 and its square below 1 - p_halt"
        )
    graphs, skipped = at_hand(grid.graphs)
    cells = error_cells(grid, graphs, settings, sigma2, [geometric(p_halt)], list(KERNELS))
    return Plan(cells, parameters(grid, sigma2, p_halt, ", ".join(KERNELS.values())), skipped)


def _of(rows: Rows, kernel: str) -> Rows:
    return [row for row in rows if row["kernel"] == kernel]


def panels(kernel: str) -> Callable[[Rows], list[Panel]]:
    """Charts of one kernel, one a graph."""

    def draw(rows: Rows) -> list[Panel]:
        own = _of(rows, kernel)
        return error_panels(own, degree_series(own))

    return draw


def table(kernel: str) -> Callable[[Rows], Table]:
    """Errors of one kernel at one number of walks."""

    def make(rows: Rows) -> Table:
        own = _of(rows, kernel)
        return error_table(own, degree_series(own))

    return make


def judge(kernel: str) -> Callable[[Rows], Verdict]:
    """Whether degree 2 is below degree 1 everywhere, for one kernel."""

    def decide(rows: Rows) -> Verdict:
        comparison = compare(
            _of(rows, kernel),
            f"{degree_name(2)} below {degree_name(1)}",
            {"degree": 2},
            {"degree": 1},
        )
        return judged(
            f"GRF++ of degree 2 has less error than GRF for {KERNELS[kernel]}, on all graphs",
            [comparison],
        )

    return decide


EXPERIMENT = Experiment(
    name="other-kernels",
    title="Beyond diffusion",
    source="Figs. estimation-2, -3, -4",
    about=[
        "Inverse powers exist only for spectral radii below 1, so the weights are scaled down; "
        "the paper does not say how it did that. With these weights and lengths the variance is "
        "finite: `σ⁴ < 1 − p_halt`. `sample` would refuse anything else.",
    ],
    plan=plan,
    run=run_errors,
    claims=[
        Claim(
            f"other-kernels-{number}",
            title,
            f"Relative error of {title} in the Frobenius norm.",
            panels(kernel),
            judge(kernel),
            (table(kernel),),
        )
        for number, (kernel, title) in enumerate(KERNELS.items(), start=1)
    ],
    cost=cost,
)
