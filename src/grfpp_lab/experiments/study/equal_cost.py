"""Ours: errors against walk steps, to tell stitching from doing more and from walking shorter."""

from __future__ import annotations

from dataclasses import dataclass

from grfpp.termination import Geometric
from grfpp_lab.experiments.graphs import EIGHT, FAR, at_hand
from grfpp_lab.experiments.measuring import cost, error_row, pick
from grfpp_lab.experiments.study import grid
from grfpp_lab.experiments.verdicts import Comparison, compare, verdict
from grfpp_lab.experiments.views import (
    PAPER,
    POOLED,
    Series,
    degree_name,
    error_claim,
    pooled_series,
    values,
)
from grfpp_lab.harness import experiment as lab

#: Degree and how many times larger `p_halt` is.
METHODS = ((1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1), (4, 4))
#: Degrees of pooled walks, which share their steps as suits the kernel.
POOLED_DEGREES = (2, 4)


@dataclass(frozen=True)
class Parameters:
    """What is varied: the graphs, and the walks of GRF whose steps all methods may take.

    On the graphs of `far` only pairs of distant nodes count.
    """

    graphs: tuple[str, ...]
    far: tuple[str, ...]
    grf_walks: tuple[int, ...]
    repeats: int


PARAMETERS = {
    lab.Size.FULL: Parameters(EIGHT, tuple(FAR), (8, 16, 32, 64), 10),
    lab.Size.QUICK: Parameters(EIGHT, tuple(FAR), (8, 32), 4),
    lab.Size.TINY: Parameters(("er-20", "karate"), ("binary-tree",), (8, 16), 2),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """One cell for every graph, method and budget of steps."""
    mine, (scale, p_halt) = PARAMETERS[settings.size], grid.chosen(settings)
    near, skipped = at_hand(mine.graphs)
    far, more_skipped = at_hand(mine.far)
    scenes: list[tuple[str, dict[str, int]]] = [(graph, {}) for graph in near]
    scenes += [(graph, {"distance": FAR[graph].distance}) for graph in far]
    budgets = [2 * Geometric(p_halt).mean * walks for walks in mine.grf_walks]
    methods: list[tuple[int, int, dict[str, str]]] = [
        (degree, times, {"termination": grid.geometric(times * p_halt)})
        for degree, times in METHODS
        if times * p_halt < 1
    ]
    methods += [
        (degree, 1, {"termination": grid.matched(p_halt), "walks": POOLED})
        for degree in POOLED_DEGREES
    ]
    cells = [
        {
            "graph": graph,
            "kernel": grid.DIFFUSION,
            "scale": scale,
            "degree": degree,
            "n_walks": max(1, round(budget / (2 * degree * Geometric(times * p_halt).mean))),
            "times": times,
            "budget": round(budget),
            "repeats": mine.repeats,
            "seed": settings.seed,
            **pairs,
            **walks,
        }
        for graph, pairs in scenes
        for degree, times, walks in methods
        for budget in budgets
    ]
    described = {
        "kernel": "exp(W)",
        "weights": grid.weights_in_words(scale),
        "walk lengths": f"geometric, p_halt = {p_halt:g} and 2 and 4 times that",
        "steps per node": grid.listed([round(budget) for budget in budgets]),
        "repeats": str(mine.repeats),
    }
    return lab.Plan(cells, described, {**skipped, **more_skipped})


def run(cell: lab.Cell) -> list[lab.Row]:
    """The mean error of one method with so many steps."""
    return [{**error_row(cell), **pick(cell, "times", "budget")}]


def series(rows: lab.Rows) -> list[Series]:
    """Degrees with long walks (full lines) and with walks shortened as in the paper (dashed)."""
    present = {(row["degree"], row["times"]) for row in rows if "walks" not in row}
    paper = [
        Series(
            degree_name(degree) + (f", walks {times} × shorter" if times > 1 else ""),
            {"degree": degree, "times": times, **PAPER},
            degree - 1,
            times > 1,
        )
        for degree, times in METHODS
        if (degree, times) in present
    ]
    return [*paper, *pooled_series(rows)]


def drawn(rows: lab.Rows) -> list[Series]:
    """Those of the charts, which all of them would crowd."""
    return [each for each in series(rows) if each.where.get("times") != 2]


def judge(rows: lab.Rows) -> lab.Verdict:
    """What stitching alone, shorter walks alone, and both bring at equal steps."""
    top = max(values(rows, "degree"), default=4)
    grf = {"degree": 1, "times": 1}
    gains = [
        _gain(rows, f"stitching alone, degree {top},", {"degree": top, "times": 1}, grf),
        _gain(rows, f"walks {top} × shorter alone", {"degree": 1, "times": top}, grf),
        _gain(rows, "both", {"degree": top, "times": top}, grf),
        _gain(
            rows,
            f"stitching, relative to GRF with walks {top} × shorter,",
            {"degree": top, "times": top},
            {"degree": 1, "times": top},
        ),
    ]
    known = [each for each in gains if each.pairs]
    if not known:
        return verdict(_PAPER)
    ours = compare(rows, "ours, pooled walks of degree 2", _POOLED, {**grf, **PAPER}, _BY)
    words = "; ".join(f"{each.text} × {each.ratio:.2f}" for each in known)
    if ours.pairs:
        words += f"; {ours.text} × {ours.ratio:.2g}"
    told = f"errors relative to GRF with as many steps: {words}. Below GRF: {gains[0].words()}"
    return verdict(_PAPER, told, gains[0].holds)


_BY = ("graph", "budget")
_POOLED = {"degree": POOLED_DEGREES[0], "walks": POOLED}
_PAPER = "the gain at equal numbers of walks is due to stitching; equal steps are not compared"


def _gain(rows: lab.Rows, text: str, low: dict[str, int], high: dict[str, int]) -> Comparison:
    return compare(rows, text, {**low, **PAPER}, {**high, **PAPER}, _BY)


EXPERIMENT = lab.Experiment(
    name="equal-cost",
    title="At equal cost",
    source="ours",
    about=[
        "Degree `l` walks `2 l` factors: at equal numbers of walks it takes `l` times the steps, "
        "which alone would divide the error by `√l`. Here every method takes the same number of "
        "steps per node, all factors counted, and has fewer walks where they are long or many. "
        "The paper also shortens the walks (`p_halt · l`) where it compares times; regular GRFs "
        "with shortened walks tell what that alone does. Pooled walks are ours: see `refined`.",
    ],
    plan=plan,
    run=run,
    claims=[
        error_claim(
            "equal-cost",
            "Stitching at equal steps",
            "Relative error against walk steps per node, all factors counted: points one above "
            "the other cost the same. Dashed: walks halt more often, in return there are more.",
            series,
            judge,
            own=lambda rows: [row for row in rows if "distance" not in row],
            x="budget",
            drawn=drawn,
        ),
        error_claim(
            "equal-cost-far",
            "Stitching at equal steps, distant nodes",
            "The same for the pairs of distant nodes of `long-range`. An estimate that is zero "
            "for all of them would have error 1.",
            series,
            judge,
            own=lambda rows: [row for row in rows if "distance" in row],
            x="budget",
            drawn=drawn,
        ),
    ],
    cost=cost,
    version=2,
)
