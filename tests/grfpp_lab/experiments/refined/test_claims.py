"""Bars, and verdicts on rows made by hand."""

from verdict_case import NO, OPEN, YES, verdicts

from grfpp_lab.experiments.measuring import EIGHT
from grfpp_lab.experiments.refined import claims
from grfpp_lab.experiments.refined import measuring as graphs
from grfpp_lab.experiments.refined.claims import Bar, Ratio, judge_bars
from grfpp_lab.experiments.refined.measuring import AVERAGED, FAST, INDEPENDENT, POOLED


def row(graph, method, error, degree=2, budget=576, kernel=FAST, **more):
    """A row whose error without the diagonal is twice that of the whole matrix."""
    return {
        **{"graph": graph, "n_nodes": 2000, "columns": 100, "kernel": kernel, "method": method},
        **{"degree": degree, "budget": budget, "steps_per_node": budget, "repeats": 2},
        **{"entries": 0.5 * (budget or 0), "seconds": 0.01 * (budget or 0)},
        **{"error": error, "standard_error": 0.001 * error},
        **{"off_error": 2 * error, "off_standard_error": 0.002 * error},
        **more,
    }


def beside(graph, ratio, error=0.1, **more):
    """Independent and pooled walks whose errors have this ratio; averaged ones have 0.7 of it."""
    return [
        row(graph, INDEPENDENT, error, **more),
        row(graph, POOLED, error / ratio, **more),
        row(graph, AVERAGED, 0.7 * error / ratio, **more),
    ]


def test_all_must_be_met():
    met, missed = Bar("a", 0.01, 0.02), Bar("b", 0.03, 0.02)
    assert judge_bars("small", []).holds is OPEN
    assert judge_bars("small", [met]).holds is YES
    both = judge_bars("small", [met, missed], ["more"])
    assert both.holds is NO
    assert both.measured == "1 of 2 bars met: a 0.01, b 0.03 (bar 0.02, missed); more"
    assert both.paper == "nothing of pooled walks; our bar: small"


def test_ratios_are_told_as_parts():
    assert Ratio("a", 0.001, 0.02).words() == "a 1/1,000"
    assert Ratio("a", 0.1, 0.05).words() == "a 1/10 (bar 1/20, missed)"
    assert Ratio("a", 1.3, 1.0).words() == "a × 1.3 (bar × 1, missed)"


def steps(plain, hubs):
    rows = [each for graph in EIGHT[:-1] for each in beside(graph, plain)]
    return rows + [each for graph in claims.WITH_HUBS for each in beside(graph, hubs)]


CHEAP = [{**each, "budget": 144} for each in steps(100, 30)]
EVERYWHERE = [
    each
    for graph in ("karate", "Cora")
    for kernel in (graphs.FAST, graphs.SLOW)
    for each in beside(graph, 10, kernel=kernel)
]
#: Below in the whole matrix, and above without the diagonal.
NOT_OFF = [EVERYWHERE[0], {**EVERYWHERE[1], "off_error": 9.0}, *EVERYWHERE[2:]]


def entries(ratio, best):
    return [
        *beside(graphs.GRID, ratio),
        row(graphs.GRID, INDEPENDENT, 0.05, budget=2304, entries=1152),
        *beside(graphs.MESH, ratio, entries=200),
        row(graphs.GRID, graphs.LARGEST, best, None, None, entries=288),
    ]


#: Compared with walks that store at least as many.
UNEQUAL = [
    row(graphs.GRID, INDEPENDENT, 0.2, budget=144, entries=100),
    row(graphs.GRID, POOLED, 0.01, entries=150),
    row(graphs.GRID, INDEPENDENT, 0.1, budget=2304, entries=900),
]


def slow(diffusion, inverse):
    return [
        row(graphs.CORA, method, error, degree, kernel=kernel)
        for kernel, last in ((graphs.SLOW, diffusion), (graphs.SLOW_INVERSE, inverse))
        for method, error, degree in (
            *((INDEPENDENT, 0.4, 2), (AVERAGED, 0.3, 8)),
            *((graphs.DEFLATED, 0.2, 4), (graphs.DEFLATED, last, 8)),
        )
    ]


def weighted(part, **more):
    return [
        each
        for (graph, kernel), (most, most_off) in claims.WEIGHTED_BARS.items()
        for each in (
            row(
                graph, AVERAGED, part * most, kernel=kernel, **{"off_error": 0.9 * most_off, **more}
            ),
            row(graph, INDEPENDENT, 3.0, kernel=kernel, **more),
        )
    ]


def stitching(high):
    return [
        row(graph, POOLED, error, degree, kernel=kernel)
        for graph in ("karate", "Cora")
        for kernel in (graphs.SLOW, graphs.MIDDLE)
        for degree, error in ((2, 0.1), (8, high if kernel == graphs.SLOW else 9.0))
    ]


def seconds(ratio):
    return [
        *beside("Cora", ratio),
        row("Cora", graphs.CHEBYSHEV, 1e-9, None, None, seconds=40.0),
        *({**each, "n_nodes": 30} for each in beside("karate", 0.1)),
    ]


HUBS = "Eurosis 1/43, Barabási–Albert 2,000 1/43; not averaged 1/100"
SIZES = "Grid 100 × 100, 288 entries, 1/50, mesh 57084, 200 entries, 1/50"
LARGEST = "the 288 largest entries of each row have 0.0001, better than pooled"
DEFLATED = "exp(20 W), pooled, averaged, deflated, degree 8: 0.013"
MET = "12 of 12 bars met: kNN 1,500, Gaussian, exp(W), 0.001"

test_verdicts = verdicts(
    [
        (claims.judge_steps, steps(100, 30), YES, "9 of 9 bars met: ER(20, 0.2) 1/143", HUBS),
        (claims.judge_steps, steps(50, 30), NO, "Karate 1/71 (bar 1/80, missed)"),
        (claims.judge_steps, steps(100, 10), NO),
        (claims.judge_steps, CHEAP, OPEN),
        (claims.judge_everywhere, EVERYWHERE, YES, "4 of 4, error × 0.10", "diagonal in 4 of 4"),
        (claims.judge_everywhere, NOT_OFF, NO, "independent in 4 of 4", "diagonal in 3 of 4"),
        (claims.judge_entries, entries(50, 1e-4), YES, SIZES, LARGEST),
        (claims.judge_entries, entries(50, 0.5), YES, "worse than pooled"),
        (claims.judge_entries, entries(10, 1e-4), NO),
        (claims.judge_entries, UNEQUAL, NO, "150 entries, 1/10 (bar 1/20, missed)"),
        (claims.judge_entries, UNEQUAL[:2], OPEN),
        (claims.judge_slow, slow(0.013, 0.08), YES, DEFLATED, "walks have 0.4 for exp(20 W)"),
        (claims.judge_slow, slow(0.013, 0.1), NO),
        (claims.judge_slow, slow(0.03, 0.08), NO),
        (claims.judge_weighted, weighted(0.5), YES, MET, "walks: 3, 3, 3, 3, 3, 3"),
        (claims.judge_weighted, weighted(1.5), NO),
        (claims.judge_weighted, weighted(0.5, off_error=1.0), NO, "6 of 12 bars met"),
        (claims.judge_stitching, stitching(0.05), YES, "degree 2 in 2 of 2, error × 0.50"),
        (claims.judge_stitching, stitching(0.05), YES, "on Cora × 0.50 at 576 steps"),
        (claims.judge_stitching, stitching(0.2), NO),
        (claims.judge_seconds, seconds(100), YES, "1 of 1 bars met: Cora 1/143", "in 40 s"),
        (claims.judge_seconds, seconds(100), YES, "for all columns, 0.02 s for one"),
        (claims.judge_seconds, seconds(0.5), NO),
    ]
)
