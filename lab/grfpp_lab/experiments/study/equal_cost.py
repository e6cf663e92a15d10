"""Ours: errors against walk steps, to separate stitching from more steps and from shorter walks."""

from dataclasses import dataclass

from grfpp.termination import Geometric
from grfpp_lab.experiments import claims
from grfpp_lab.experiments.measuring import EIGHT, FAR, at_hand, error_row, pick
from grfpp_lab.experiments.study import errors as grid
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
        (degree, 1, {"termination": grid.matched(p_halt), "walks": claims.POOLED})
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
    """The mean error of one method with a budget of steps."""
    return [{**error_row(cell), **pick(cell, "times", "budget")}]


def series(rows: lab.Rows) -> list[claims.Series]:
    """Degrees with long walks (full lines) and with walks shortened as in the paper (dashed)."""
    present = {(row["degree"], row["times"]) for row in rows if "walks" not in row}
    paper = [
        claims.Series(
            claims.degree_name(degree) + (f", walks {times} × shorter" if times > 1 else ""),
            {"degree": degree, "times": times, **claims.PAPER},
            degree - 1,
            times > 1,
        )
        for degree, times in METHODS
        if (degree, times) in present
    ]
    return [*paper, *claims.pooled_series(rows)]


def drawn(rows: lab.Rows) -> list[claims.Series]:
    """Those of the charts, which all of them would crowd."""
    return [each for each in series(rows) if each.where.get("times") != 2]


def judge(rows: lab.Rows) -> lab.Verdict:
    """What stitching alone, shorter walks alone, and both bring at equal steps."""
    top = max(claims.values(rows, "degree"), default=4)
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
        return claims.verdict(_PAPER)
    ours = claims.compare(
        rows, "ours, pooled walks of degree 2", _POOLED, {**grf, **claims.PAPER}, _BY
    )
    words = "; ".join(f"{each.text} × {each.ratio:.2f}" for each in known)
    if ours.pairs:
        words += f"; {ours.text} × {ours.ratio:.2g}"
    facts = f"errors relative to GRF with as many steps: {words}. Below GRF: {gains[0].words()}"
    return claims.verdict(_PAPER, facts, gains[0].holds, claims.n_graphs(gains))


_BY = ("graph", "budget")
_POOLED = {"degree": POOLED_DEGREES[0], "walks": claims.POOLED}
_PAPER = "the gain at equal numbers of walks is due to stitching; equal steps are not compared"


def _gain(
    rows: lab.Rows, text: str, low: dict[str, int], high: dict[str, int]
) -> claims.Comparison:
    return claims.compare(rows, text, {**low, **claims.PAPER}, {**high, **claims.PAPER}, _BY)


EXPERIMENT = lab.Experiment(
    name="equal-cost",
    plan=plan,
    run=run,
    claims=[
        claims.error_claim(
            "equal-cost",
            series,
            judge,
            own=lambda rows: [row for row in rows if "distance" not in row],
            x="budget",
            drawn=drawn,
        ),
        claims.error_claim(
            "equal-cost-far",
            series,
            judge,
            own=lambda rows: [row for row in rows if "distance" in row],
            x="budget",
            drawn=drawn,
        ),
    ],
    version=2,
)
