"""Figs. new_halt and new_halt_long: Poisson lengths against the Bernoulli scheme, equal means."""

from __future__ import annotations

from functools import partial

from grfpp.termination import Geometric, Poisson
from grfpp_lab.experiments.graphs import EIGHT, FAR
from grfpp_lab.experiments.measuring import cost
from grfpp_lab.experiments.study.grid import error_plan, geometric, grids, run_errors
from grfpp_lab.experiments.verdicts import compare, judged
from grfpp_lab.experiments.views import Series, degree_name, error_claim, values
from grfpp_lab.harness import experiment as lab

_DEGREES = ((1, 2, 4), (1, 2))


def laws(p_halt: float) -> list[str]:
    """The Bernoulli scheme and the Poisson law of equal mean length."""
    return [geometric(p_halt), f"poisson:{Poisson.matching(Geometric(p_halt)).mean!r}"]


def _words(p_halt: float) -> dict[str, str]:
    mean = Geometric(p_halt).mean
    lengths = f"geometric, p_halt = {p_halt:g}, and Poisson; both {mean:g} steps on average"
    return {"walk lengths": lengths}


def series(rows: lab.Rows) -> list[Series]:
    """Two methods a degree: the dashed one has Poisson lengths."""
    return [
        Series(
            f"{degree_name(degree)}, {'Poisson' if is_poisson else 'Bernoulli'}",
            {"degree": degree, "termination": law},
            degree - 1,
            is_poisson,
        )
        for degree in values(rows, "degree")
        for law in values(rows, "termination")
        for is_poisson in (law.startswith("poisson"),)
    ]


def _judge(paper: str, rows: lab.Rows) -> lab.Verdict:
    """Poisson below Bernoulli on every graph."""
    by_law = {law.partition(":")[0]: law for law in values(rows, "termination")}
    return judged(
        paper,
        [
            compare(
                rows,
                f"{degree_name(degree)}: Poisson below Bernoulli",
                {"degree": degree, "termination": by_law.get("poisson")},
                {"degree": degree, "termination": by_law.get("geometric")},
            )
            for degree in values(rows, "degree")
        ],
    )


judge = partial(
    _judge, "Poisson lengths of the same mean give less error than Bernoulli, on every graph"
)
judge_long = partial(
    _judge, "Poisson lengths of the same mean are more accurate for distant nodes too"
)

EXPERIMENT = lab.Experiment(
    name="halting",
    title="The new halting policy",
    source="Fig. new_halt",
    about=[
        "Walk lengths are drawn from a Poisson law instead of the Bernoulli scheme (geometric "
        "lengths). Both laws have the same mean, so both cost the same.",
    ],
    plan=error_plan(grids(EIGHT, ("er-20", "karate"), *_DEGREES), laws, words=_words),
    run=run_errors,
    claims=[
        error_claim(
            "halting",
            "Poisson against Bernoulli",
            "Relative error in the Frobenius norm. Dashed: Poisson lengths.",
            series,
            judge,
        )
    ],
    cost=cost,
)

LONG = lab.Experiment(
    name="halting-long",
    title="The new halting policy for distant nodes",
    source="Fig. new_halt_long",
    about=["As before, for pairs of nodes that are as far apart as in `long-range`."],
    plan=error_plan(grids(tuple(FAR), ("binary-tree",), *_DEGREES), laws, words=_words, far=True),
    run=run_errors,
    claims=[
        error_claim(
            "halting-long",
            "Poisson against Bernoulli, distant nodes",
            "Relative error of the entries whose nodes are far apart. Dashed: Poisson lengths.",
            series,
            judge_long,
        )
    ],
    cost=cost,
)
