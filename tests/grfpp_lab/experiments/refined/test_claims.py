"""Bars and how they are told."""

from grfpp_lab.experiments.measuring import EIGHT
from grfpp_lab.experiments.refined import claims as verdicts
from grfpp_lab.experiments.refined import measuring as graphs
from grfpp_lab.experiments.refined.claims import Bar, Ratio, judge_bars
from grfpp_lab.experiments.refined.measuring import AVERAGED, FAST, INDEPENDENT, POOLED
from grfpp_lab.harness.experiment import Holds


def row(graph, method, error, degree=2, budget=576, kernel=FAST, **more):
    """A row whose error without the diagonal is twice that of the whole matrix."""
    return {
        "graph": graph,
        "n_nodes": 2000,
        "columns": 100,
        "kernel": kernel,
        "method": method,
        "degree": degree,
        "budget": budget,
        "steps_per_node": budget,
        "entries": 0.5 * (budget or 0),
        "repeats": 2,
        "error": error,
        "standard_error": 0.001 * error,
        "off_error": 2 * error,
        "off_standard_error": 0.002 * error,
        "seconds": 0.01 * (budget or 0),
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
    assert judge_bars("small", []).holds is Holds.OPEN
    assert judge_bars("small", [met]).holds is Holds.YES
    both = judge_bars("small", [met, missed], ["more"])
    assert both.holds is Holds.NO
    assert both.measured == "1 of 2 bars met: a 0.01, b 0.03 (bar 0.02, missed); more"
    assert both.paper == "nothing of pooled walks; our bar: small"


def test_ratios_are_told_as_parts():
    assert Ratio("a", 0.001, 0.02).words() == "a 1/1,000"
    assert Ratio("a", 0.1, 0.05).words() == "a 1/10 (bar 1/20, missed)"
    assert Ratio("a", 1.3, 1.0).words() == "a × 1.3 (bar × 1, missed)"


def test_steps():
    def rows(plain, hubs):
        found = [each for graph in EIGHT[:-1] for each in beside(graph, plain)]
        return found + [each for graph in verdicts.WITH_HUBS for each in beside(graph, hubs)]

    true = verdicts.judge_steps(rows(100, 30))
    assert true.holds is Holds.YES
    assert "9 of 9 bars met: ER(20, 0.2) 1/143" in true.measured
    assert "Eurosis 1/43, Barabási–Albert 2,000 1/43; not averaged 1/100" in true.measured
    few = verdicts.judge_steps(rows(50, 30))
    assert few.holds is Holds.NO
    assert "Karate 1/71 (bar 1/80, missed)" in few.measured
    assert verdicts.judge_steps(rows(100, 10)).holds is Holds.NO
    cheap = [{**each, "budget": 144} for each in rows(100, 30)]
    assert verdicts.judge_steps(cheap).holds is Holds.OPEN


def test_everywhere():
    rows = [
        each
        for graph in ("karate", "Cora")
        for kernel in (graphs.FAST, graphs.SLOW)
        for each in beside(graph, 10, kernel=kernel)
    ]
    true = verdicts.judge_everywhere(rows)
    assert true.holds is Holds.YES
    assert "pooled below independent in 4 of 4, error × 0.10 on average" in true.measured
    assert "off the diagonal in 4 of 4" in true.measured
    # Below in the whole matrix, and above without the diagonal.
    rows[1] = {**rows[1], "off_error": 9.0}
    false = verdicts.judge_everywhere(rows)
    assert false.holds is Holds.NO
    assert "independent in 4 of 4" in false.measured
    assert "off the diagonal in 3 of 4" in false.measured


def test_entries():
    def rows(ratio, best):
        return [
            *beside(graphs.GRID, ratio),
            row(graphs.GRID, graphs.INDEPENDENT, 0.05, budget=2304, entries=1152),
            *beside(graphs.MESH, ratio, entries=200),
            row(graphs.GRID, graphs.LARGEST, best, None, None, entries=288),
        ]

    true = verdicts.judge_entries(rows(50, 1e-4))
    assert true.holds is Holds.YES
    assert "Grid 100 × 100, 288 entries, 1/50, mesh 57084, 200 entries, 1/50" in true.measured
    assert "the 288 largest entries of each row have 0.0001, better than pooled" in true.measured
    assert "worse than pooled" in verdicts.judge_entries(rows(50, 0.5)).measured
    assert verdicts.judge_entries(rows(10, 1e-4)).holds is Holds.NO


def test_entries_are_compared_with_walks_that_store_at_least_as_many():
    fewer, pooled, more = (
        row(graphs.GRID, graphs.INDEPENDENT, 0.2, budget=144, entries=100),
        row(graphs.GRID, graphs.POOLED, 0.01, entries=150),
        row(graphs.GRID, graphs.INDEPENDENT, 0.1, budget=2304, entries=900),
    )
    false = verdicts.judge_entries([fewer, pooled, more])
    assert "150 entries, 1/10 (bar 1/20, missed)" in false.measured
    assert verdicts.judge_entries([fewer, pooled]).holds is Holds.OPEN


def test_slow():
    def rows(diffusion, inverse):
        return [
            each
            for kernel, error in ((graphs.SLOW, diffusion), (graphs.SLOW_INVERSE, inverse))
            for each in (
                row(graphs.CORA, graphs.INDEPENDENT, 0.4, kernel=kernel),
                row(graphs.CORA, graphs.AVERAGED, 0.3, 8, kernel=kernel),
                row(graphs.CORA, graphs.DEFLATED, 0.2, 4, kernel=kernel),
                row(graphs.CORA, graphs.DEFLATED, error, 8, kernel=kernel),
            )
        ]

    true = verdicts.judge_slow(rows(0.013, 0.08))
    assert true.holds is Holds.YES
    assert "exp(20 W), pooled, averaged, deflated, degree 8: 0.013" in true.measured
    assert "independent walks have 0.4 for exp(20 W)" in true.measured
    assert verdicts.judge_slow(rows(0.013, 0.1)).holds is Holds.NO
    assert verdicts.judge_slow(rows(0.03, 0.08)).holds is Holds.NO


def test_weighted():
    def rows(part):
        return [
            each
            for (graph, kernel), (most, most_off) in verdicts.WEIGHTED_BARS.items()
            for each in (
                row(graph, graphs.AVERAGED, part * most, kernel=kernel, off_error=0.9 * most_off),
                row(graph, graphs.INDEPENDENT, 3.0, kernel=kernel),
            )
        ]

    true = verdicts.judge_weighted(rows(0.5))
    assert true.holds is Holds.YES
    assert "12 of 12 bars met: kNN 1,500, Gaussian, exp(W), 0.001" in true.measured
    assert "independent walks: 3, 3, 3, 3, 3, 3" in true.measured
    assert verdicts.judge_weighted(rows(1.5)).holds is Holds.NO
    off = [{**each, "off_error": 1.0} for each in rows(0.5)]
    assert "6 of 12 bars met" in verdicts.judge_weighted(off).measured


def test_stitching():
    def rows(high):
        return [
            row(graph, graphs.POOLED, error, degree, kernel=kernel)
            for graph in ("karate", "Cora")
            for kernel in (graphs.SLOW, graphs.MIDDLE)
            for degree, error in ((2, 0.1), (8, high if kernel == graphs.SLOW else 9.0))
        ]

    true = verdicts.judge_stitching(rows(0.05))
    assert true.holds is Holds.YES
    assert "degree 8 below degree 2 in 2 of 2, error × 0.50" in true.measured
    assert true.measured.endswith("on Cora × 0.50 at 576 steps")
    assert verdicts.judge_stitching(rows(0.2)).holds is Holds.NO


def test_seconds():
    def rows(ratio):
        return [
            *beside("Cora", ratio),
            row("Cora", graphs.CHEBYSHEV, 1e-9, None, None, seconds=40.0),
            *({**each, "n_nodes": 30} for each in beside("karate", 0.1)),
        ]

    true = verdicts.judge_seconds(rows(100))
    assert true.holds is Holds.YES
    assert "1 of 1 bars met: Cora 1/143" in true.measured
    assert "in 40 s for all columns, 0.02 s for one" in true.measured
    assert verdicts.judge_seconds(rows(0.5)).holds is Holds.NO
