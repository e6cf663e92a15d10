"""Fig. 2: relative error of exp(W) against the number of walks, GRF and GRF++."""

from __future__ import annotations

from grfpp_lab.experiments.graphs import EIGHT
from grfpp_lab.experiments.measuring import cost
from grfpp_lab.experiments.study.grid import error_plan, grids, run_errors
from grfpp_lab.experiments.verdicts import Comparison, compare, judged
from grfpp_lab.experiments.views import (
    PAPER,
    POOLED,
    degree_name,
    degree_series,
    error_claim,
    values,
)
from grfpp_lab.harness import experiment as lab

#: The library's default, at which pooled walks are shown.
DEGREE = 2


def judge(rows: lab.Rows) -> lab.Verdict:
    """GRF++ below GRF, and the higher degree below the lower one."""
    return judged(
        "GRF++ has less error than GRF at every number of walks, on all eight graphs, and less "
        "with a higher degree",
        degree_comparisons(rows),
        pooled_words(rows),
    )


def pooled_words(rows: lab.Rows) -> str:
    """What pooled walks have, relative to the paper's of the same degree and number."""
    both = [{"degree": DEGREE, "walks": walks} for walks in (POOLED, None)]
    found = compare(rows, "", both[0], both[1])
    if not found.pairs:
        return ""
    return f"ours, pooled walks: × {found.ratio:.2g} of {degree_name(DEGREE)} on average"


def degree_comparisons(rows: lab.Rows) -> list[Comparison]:
    """Degree 2 against 1, and 4 against 2, graph by graph at equal walks."""
    measured = values(rows, "degree")
    return [
        compare(
            rows,
            f"{degree_name(high)} below {degree_name(low)}",
            {"degree": high, **PAPER},
            {"degree": low, **PAPER},
        )
        for low, high in ((1, 2), (2, 4))
        if low in measured and high in measured
    ]


EXPERIMENT = lab.Experiment(
    name="estimation",
    title="Accurate estimation",
    source="Fig. 2",
    about=[
        "The whole matrix `exp(W)` is estimated with regular GRFs (degree 1) and with GRFs++. At "
        "equal numbers of walks a higher degree does more work: `equal-cost` compares at equal "
        "steps. Pooled walks are ours and take as many steps as the paper's: see `refined`.",
    ],
    plan=error_plan(grids(EIGHT, ("er-20", "karate"), (1, 2, 3, 4), (1, 2, 4)), pooled=DEGREE),
    run=run_errors,
    claims=[
        error_claim(
            "estimation",
            "Error against walks",
            "Relative error in the Frobenius norm, mean and standard error of the repeats. Both "
            "axes are logarithmic.",
            degree_series,
            judge,
        )
    ],
    cost=cost,
    version=2,
)
