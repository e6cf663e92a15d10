"""Errors over graphs, walks and degrees: the paper's estimation study."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.factor import StoredFactor
from grfpp.kernels.registry import kernel_from_spec
from grfpp.termination import Geometric, Poisson, termination_from_spec
from grfpp_lab.experiments import claims as views
from grfpp_lab.experiments import measuring
from grfpp_lab.experiments.claims import values
from grfpp_lab.experiments.measuring import EIGHT, FAR, at_hand, error_row, title_of
from grfpp_lab.harness import experiment as lab
from grfpp_lab.report.page import Table

#: Where the paper leaves it open: the setting of "General graph random features".
SCALE = 1.0
P_HALT = 0.1
DIFFUSION = "diffusion:1"
N_WALKS = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Grid:
    """What is varied."""

    #: Every combination is measured.
    graphs: tuple[str, ...]
    degrees: tuple[int, ...]
    n_walks: tuple[int, ...]
    #: Independent estimates of each.
    repeats: int


def grids(
    graphs: tuple[str, ...],
    tiny: tuple[str, ...],
    full: tuple[int, ...],
    quick: tuple[int, ...],
    tiny_degrees: tuple[int, ...] | None = None,
) -> dict[lab.Size, Grid]:
    """The grids of an experiment: its graphs and degrees by size."""
    return {
        lab.Size.FULL: Grid(graphs, full, N_WALKS, 10),
        lab.Size.QUICK: Grid(graphs, quick, (4, 16, 64), 4),
        lab.Size.TINY: Grid(tiny, tiny_degrees or quick, (2, 8), 2),
    }


def chosen(settings: lab.Settings, scale: float = SCALE) -> tuple[float, float]:
    """``scale`` and ``p_halt``: as asked for, else those of the experiment."""
    return (
        scale if settings.scale is None else settings.scale,
        P_HALT if settings.p_halt is None else settings.p_halt,
    )


def geometric(p_halt: float) -> str:
    """The Bernoulli scheme as the command line writes it."""
    return f"geometric:{p_halt!r}"


def matched(p_halt: float) -> str:
    """A budget for pooled walks: as many steps as the Bernoulli scheme takes on average."""
    return f"matched:{Geometric(p_halt).mean:.12g}"


def error_plan(
    sizes: Mapping[lab.Size, Grid],
    laws: Callable[[float], Sequence[str]] = lambda p_halt: [geometric(p_halt)],
    *,
    kernels: Mapping[str, str] | None = None,
    scale: float = SCALE,
    far: bool = False,
    pooled: int | None = None,
    words: Callable[[float], Mapping[str, str]] = lambda p_halt: {},
) -> Callable[[lab.Settings], lab.Plan]:
    """One cell for every kernel, graph, degree, law and number of walks.

    Parameters
    ----------
    sizes
        The grids.
    laws
        Of the lengths of walks, from ``p_halt``.
    kernels
        With what people call them; exp(W) by default.
    scale
        Of the weights, unless something else is asked for.
    far
        Whether only pairs count that are as far apart as the paper's table says.
    pooled
        The stitching degree at which pooled walks are compared with the paper's.
    words
        Parameters for the page in place of the usual ones, from ``p_halt``.
    """
    names = kernels or {DIFFUSION: "exp(W)"}

    def plan(settings: lab.Settings) -> lab.Plan:
        grid, (factor, p_halt) = sizes[settings.size], chosen(settings, scale)
        graphs, skipped = at_hand(grid.graphs)
        methods: list[tuple[int, str, dict[str, str]]] = [
            (degree, law, {}) for degree, law in product(grid.degrees, laws(p_halt))
        ]
        if pooled is not None:
            methods.append((pooled, matched(p_halt), {"walks": views.POOLED}))
        cells: list[lab.Cell] = [
            {
                "graph": graph,
                "kernel": kernel,
                "scale": factor,
                "termination": law,
                "degree": degree,
                "n_walks": n_walks,
                "repeats": grid.repeats,
                "seed": settings.seed,
                **({"distance": FAR[graph].distance} if far else {}),
                **walks,
            }
            for kernel, graph, (degree, law, walks), n_walks in product(
                names, graphs, methods, grid.n_walks
            )
        ]
        described = {
            "kernel": ", ".join(names.values()),
            "weights": weights_in_words(factor),
            "walk lengths": f"geometric, p_halt = {p_halt:g}",
            "degrees": listed(grid.degrees),
            "walks a node and factor": listed(grid.n_walks),
            "repeats": str(grid.repeats),
        }
        return lab.Plan(cells, {**described, **words(p_halt)}, skipped)

    return plan


def run_errors(cell: lab.Cell) -> list[lab.Row]:
    """The mean error of one combination."""
    return [error_row(cell)]


def weights_in_words(scale: float, more: str = ", edges counted once") -> str:
    """The weights as the page has them."""
    return f"W = σ² D^-1/2 A D^-1/2 with σ² = {scale:g}{more}"


def listed(values: Sequence[Any]) -> str:
    """Values with commas between them."""
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)


#: The library's default, at which pooled walks are shown.
DEGREE = 2


def judge_estimation(rows: lab.Rows) -> lab.Verdict:
    """GRF++ below GRF, and the higher degree below the lower one."""
    return views.judged(
        "GRF++ has less error than GRF at every number of walks, on all eight graphs, and less "
        "with a higher degree",
        degree_comparisons(rows),
        pooled_words(rows),
    )


def pooled_words(rows: lab.Rows) -> str:
    """Errors of pooled walks over those of the paper's walks of the same degree and number."""
    both = [{"degree": DEGREE, "walks": walks} for walks in (views.POOLED, None)]
    found = views.compare(rows, "", both[0], both[1])
    if not found.pairs:
        return ""
    return f"ours, pooled walks: × {found.ratio:.2g} of {views.degree_name(DEGREE)} on average"


def degree_comparisons(rows: lab.Rows) -> list[views.Comparison]:
    """Degree 2 against 1, and 4 against 2, graph by graph at equal walks."""
    measured = values(rows, "degree")
    return [
        views.compare(
            rows,
            f"{views.degree_name(high)} below {views.degree_name(low)}",
            {"degree": high, **views.PAPER},
            {"degree": low, **views.PAPER},
        )
        for low, high in ((1, 2), (2, 4))
        if low in measured and high in measured
    ]


ESTIMATION = lab.Experiment(
    name="estimation",
    plan=error_plan(grids(EIGHT, ("er-20", "karate"), (1, 2, 3, 4), (1, 2, 4)), pooled=DEGREE),
    run=run_errors,
    claims=[views.error_claim("estimation", views.degree_series, judge_estimation)],
    version=2,
)


def judge_long_range(rows: lab.Rows) -> lab.Verdict:
    """GRF++ below GRF, and the higher degree below the lower one."""
    return views.judged(
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


LONG_RANGE = lab.Experiment(
    name="long-range",
    plan=error_plan(
        grids(tuple(FAR), ("binary-tree",), (1, 2, 3, 4), (1, 2, 4)), far=True, pooled=DEGREE
    ),
    run=run_errors,
    claims=[views.error_claim("long-range", views.degree_series, judge_long_range, graph_table)],
    version=2,
)


_DEGREES = ((1, 2, 4), (1, 2))


def laws(p_halt: float) -> list[str]:
    """The Bernoulli scheme and the Poisson law of equal mean length."""
    return [geometric(p_halt), f"poisson:{Poisson.matching(Geometric(p_halt)).mean!r}"]


def _words(p_halt: float) -> dict[str, str]:
    mean = Geometric(p_halt).mean
    lengths = f"geometric, p_halt = {p_halt:g}, and Poisson; both {mean:g} steps on average"
    return {"walk lengths": lengths}


def halting_series(rows: lab.Rows) -> list[views.Series]:
    """Two methods a degree: the dashed one has Poisson lengths."""
    return [
        views.Series(
            f"{views.degree_name(degree)}, {'Poisson' if is_poisson else 'Bernoulli'}",
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
    return views.judged(
        paper,
        [
            views.compare(
                rows,
                f"{views.degree_name(degree)}: Poisson below Bernoulli",
                {"degree": degree, "termination": by_law.get("poisson")},
                {"degree": degree, "termination": by_law.get("geometric")},
            )
            for degree in values(rows, "degree")
        ],
    )


judge_halting = partial(
    _judge, "Poisson lengths of the same mean give less error than Bernoulli, on every graph"
)
judge_long = partial(
    _judge, "Poisson lengths of the same mean are more accurate for distant nodes too"
)

HALTING = lab.Experiment(
    name="halting",
    plan=error_plan(grids(EIGHT, ("er-20", "karate"), *_DEGREES), laws, words=_words),
    run=run_errors,
    claims=[views.error_claim("halting", halting_series, judge_halting)],
)

HALTING_LONG = lab.Experiment(
    name="halting-long",
    plan=error_plan(grids(tuple(FAR), ("binary-tree",), *_DEGREES), laws, words=_words, far=True),
    run=run_errors,
    claims=[views.error_claim("halting-long", halting_series, judge_long)],
)


FRESH, ONE_SET, TWO_SETS = "fresh", "one set", "two sets"


def run(cell: lab.Cell) -> list[lab.Row]:
    """Errors with fresh walks, with one set for all factors, and with one for each side."""
    W, kernel = measuring.weights(cell["graph"], cell["scale"]), kernel_from_spec(cell["kernel"])
    law = termination_from_spec(cell["termination"])
    exact = measuring.exact_kernel(cell["graph"], cell["scale"], cell["kernel"])
    degree, n_walks = cell["degree"], cell["n_walks"]
    # The same seeds for all degrees: what is used again are the very walks of regular GRFs.
    same = measuring.pick(cell, "graph", "scale", "termination", "n_walks", "seed")
    errors: dict[str, list[float]] = {FRESH: [], ONE_SET: [], TWO_SETS: []}
    steps = 0.0
    for seed in measuring.seeds(cell["repeats"], **same):
        fresh = measuring.paper_sample(W, kernel, degree, n_walks, law, seed)
        one = measuring.paper_sample(W, kernel, degree, n_walks, law, seed, reuse_walks=True)
        left, right = map(StoredFactor, fresh.factors[0])
        two = KernelEstimate([(left, right)] * degree, n_jobs=1)
        for walks, K in ((FRESH, fresh), (ONE_SET, one), (TWO_SETS, two)):
            errors[walks].append(measuring.relative_error(K.toarray(), exact))
        steps = fresh.meta["steps_per_node"] / (2 * degree)
    return [
        {
            **{"graph": cell["graph"], "n_nodes": W.n_nodes},
            **measuring.pick(cell, "kernel", "scale", "termination", "degree", "n_walks"),
            "walks": walks,
            "steps_per_node": n_factors * steps,
            **measuring.error_columns(errors[walks]),
        }
        for walks, n_factors in ((FRESH, 2 * degree), (ONE_SET, 1), (TWO_SETS, 2))
    ]


def reuse_series(rows: lab.Rows) -> list[views.Series]:
    """Regular GRFs, and every degree with one set of walks (dashed: fresh walks)."""
    degrees = values(rows, "degree")
    return [
        views.Series("GRF", {"degree": 1, "walks": FRESH}, 0, dashed=True),
        *(
            views.Series(f"{views.degree_name(d)}, reused", {"degree": d, "walks": ONE_SET}, d - 1)
            for d in degrees
        ),
        *(
            views.Series(
                f"{views.degree_name(d)}, fresh", {"degree": d, "walks": FRESH}, d - 1, dashed=True
            )
            for d in degrees
            if d in (2, 4)
        ),
    ]


def judge_reuse(rows: lab.Rows) -> lab.Verdict:
    """GRF++ with walks used again below regular GRFs."""
    grf = {"degree": 1, "walks": FRESH}
    higher = [degree for degree in values(rows, "degree") if degree > 1]
    comparisons = [
        views.compare(
            rows,
            f"{views.degree_name(degree)} with GRF's own walks below GRF",
            {"degree": degree, "walks": ONE_SET},
            grf,
        )
        for degree in higher
    ]
    notes = []
    for text, low, high in (
        ("that of GRF with one set for both sides", ONE_SET, {"degree": 1, "walks": ONE_SET}),
        ("that of GRF when there are two sets, one for each side", TWO_SETS, grf),
        ("that of GRF when all walks are fresh", FRESH, grf),
    ):
        pairs = [
            pair
            for degree in higher
            for pair in views.compare(rows, "", {"degree": degree, "walks": low}, high).pairs
        ]
        if pairs:
            notes.append(f"× {views.Comparison('', pairs, ()).ratio:.2f} {text}")
    return views.judged(
        "using the same walks for every factor still has less error than GRF, at every degree",
        comparisons,
        f"all degrees together, the error is {', '.join(notes)}" if notes else "",
    )


REUSE = lab.Experiment(
    name="reuse",
    plan=error_plan(grids(EIGHT, ("er-20", "karate"), (1, 2, 3, 4), (1, 2, 4), (1, 2))),
    run=run,
    claims=[views.error_claim("reuse", reuse_series, judge_reuse)],
)


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


def judge_kernels(kernel: str, rows: lab.Rows) -> lab.Verdict:
    """Whether degree 2 is below degree 1 everywhere, for one kernel."""
    return views.judged(
        f"GRF++ of degree 2 has less error than GRF for {KERNELS[kernel]}, on all graphs",
        degree_comparisons(views.select(rows, kernel=kernel)),
        pooled_words(views.select(rows, kernel=kernel)),
    )


def _claim(number: int, kernel: str) -> lab.Claim:
    return views.error_claim(
        f"other-kernels-{number}",
        views.degree_series,
        partial(judge_kernels, kernel),
        own=lambda rows: views.select(rows, kernel=kernel),
    )


OTHER_KERNELS = lab.Experiment(
    name="other-kernels",
    plan=plan,
    run=run_errors,
    claims=[_claim(number, kernel) for number, kernel in enumerate(KERNELS, start=1)],
    version=2,
)
