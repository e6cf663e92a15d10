"""The figures of pooled walks, each beside its verdict."""

from __future__ import annotations

from grfpp_lab.experiments.refined import verdicts, views
from grfpp_lab.harness.experiment import Claim

CLAIMS = (
    Claim(
        "refined",
        "Error at equal steps",
        "Relative error of exp(W) against steps per node, all factors counted. Dashed: the mean of "
        "the estimate and its transpose, which is the library's default.",
        views.step_panels,
        verdicts.judge_steps,
        (views.error_table,),
    ),
    Claim(
        "refined-off",
        "Without the diagonal",
        "Relative error without the diagonal, all kernels on some graphs.",
        views.off_panels,
        verdicts.judge_everywhere,
        (views.off_table,),
    ),
    Claim(
        "refined-entries",
        "Error at equal memory",
        "Relative error against stored entries per node. The largest entries of each row are the "
        "best that a sparse matrix of so many entries can be; it has no features, and to find them "
        "takes the kernel itself.",
        views.entry_panels,
        verdicts.judge_entries,
    ),
    Claim(
        "refined-slow",
        "Slow kernels",
        "Relative error of kernels that reach far, with up to 64 eigenvectors taken exactly "
        "(one on the graphs of 100,000 nodes).",
        views.slow_panels,
        verdicts.judge_slow,
    ),
    Claim(
        "refined-weighted",
        "Weighted graphs",
        "With and without the diagonal. Weights are Gaussian in the distance of points, or "
        "log-normal with σ = 1.5.",
        views.weighted_panels,
        verdicts.judge_weighted,
    ),
    Claim(
        "refined-stitching",
        "Stitching at equal steps",
        "Relative error of exp(20 W) by degree: a higher one has fewer walks.",
        views.stitching_panels,
        verdicts.judge_stitching,
    ),
    Claim(
        "refined-seconds",
        "Error against time",
        "One thread. Walks: until the factors are there, eigenvectors included. Chebyshev: all "
        "columns, scaled from those that were measured; a product with one vector takes one part "
        "in the number of nodes of that.",
        views.second_panels,
        verdicts.judge_seconds,
    ),
)
