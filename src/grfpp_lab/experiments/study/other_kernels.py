"""Figs. estimation-2, -3, -4: kernels beyond diffusion, GRF against GRF++ of degree 2."""

from __future__ import annotations

from functools import partial

from grfpp.errors import InputError
from grfpp_lab.experiments.graphs import EIGHT
from grfpp_lab.experiments.measuring import cost
from grfpp_lab.experiments.study.estimation import DEGREE, degree_comparisons, pooled_words
from grfpp_lab.experiments.study.grid import chosen, error_plan, grids, run_errors
from grfpp_lab.experiments.verdicts import judged
from grfpp_lab.experiments.views import degree_series, error_claim, select
from grfpp_lab.harness import experiment as lab

#: Inverse powers need a spectral radius below 1; the paper does not say which it had.
OTHER_SCALE = 0.5
KERNELS = {
    "inverse-power:4:1": "(I − W)^-4",
    "inverse-power:4:2": "(I − W²)^-4",
    "squared-diffusion:1": "exp(W²)",
}
_GRIDS = grids(EIGHT, ("er-20", "karate"), (1, 2), (1, 2))


def plan(settings: lab.Settings) -> lab.Plan:
    """One cell for every kernel, graph, degree and number of walks."""
    scale, p_halt = chosen(settings, OTHER_SCALE)
    if scale**2 >= 1 - p_halt:
        raise InputError(
            f"other-kernels: with scale {scale:g} and p_halt {p_halt:g} the series diverges or "
            "the variance is infinite; scale must be below 1 and its square below 1 - p_halt"
        )
    return error_plan(_GRIDS, kernels=KERNELS, scale=OTHER_SCALE, pooled=DEGREE)(settings)


def judge(kernel: str, rows: lab.Rows) -> lab.Verdict:
    """Whether degree 2 is below degree 1 everywhere, for one kernel."""
    return judged(
        f"GRF++ of degree 2 has less error than GRF for {KERNELS[kernel]}, on all graphs",
        degree_comparisons(select(rows, kernel=kernel)),
        pooled_words(select(rows, kernel=kernel)),
    )


def _claim(number: int, kernel: str) -> lab.Claim:
    return error_claim(
        f"other-kernels-{number}",
        KERNELS[kernel],
        f"Relative error of {KERNELS[kernel]} in the Frobenius norm.",
        degree_series,
        partial(judge, kernel),
        own=lambda rows: select(rows, kernel=kernel),
    )


EXPERIMENT = lab.Experiment(
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
    claims=[_claim(number, kernel) for number, kernel in enumerate(KERNELS, start=1)],
    cost=cost,
    version=2,
)
