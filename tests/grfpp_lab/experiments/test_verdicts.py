"""Verdicts on rows made by hand: where a claim is true, is false, or cannot be judged."""

import itertools

import pytest

from grfpp_lab.experiments.experiment import Holds
from grfpp_lab.experiments.registry import EXPERIMENTS
from grfpp_lab.experiments.study import (
    equal_cost,
    estimation,
    halting,
    long_range,
    other_kernels,
    reuse,
    scaling,
    speed,
    theory,
)
from grfpp_lab.experiments.verdicts import compare, plus_minus, worst

GRAPHS, WALKS = ("er-20", "karate"), (4, 16)


def error_rows(error, degrees=(1, 2, 4), spread=0.001, **more):
    """Rows whose errors are a function of graph, degree and walks."""
    return [
        {
            "graph": graph,
            "n_nodes": 20,
            "degree": degree,
            "n_walks": n_walks,
            "error": error(graph, degree, n_walks),
            "standard_error": spread,
            **more,
        }
        for graph, degree, n_walks in itertools.product(GRAPHS, degrees, WALKS)
    ]


def as_paper(graph, degree, n_walks):
    return 0.6 / (degree * n_walks) ** 0.5


def except_karate(graph, degree, n_walks):
    """As the paper says, but on karate with 16 walks degree 4 is worse than degree 2."""
    return (
        0.5 if (graph, degree, n_walks) == ("karate", 4, 16) else as_paper(graph, degree, n_walks)
    )


@pytest.mark.parametrize("judge", [estimation.judge, long_range.judge])
def test_degrees(judge):
    true = judge(error_rows(as_paper))
    assert true.holds is Holds.YES
    assert "GRF++ degree 2 below GRF in 4 of 4, error × 0.71" in true.measured
    assert "GRF++ degree 4 below GRF++ degree 2 in 4 of 4, error × 0.71" in true.measured
    false = judge(error_rows(except_karate))
    assert false.holds is Holds.NO
    assert "in 3 of 4" in false.measured
    assert "not at Karate, 16 walks: 0.500 ± 0.001 against 0.106 ± 0.001)" in false.measured
    assert str(false).startswith("paper says GRF++")


def test_differences_within_noise_are_told_from_others():
    slightly = [
        {**row, "error": min(row["error"], 0.11 if row["degree"] == 4 else 1.0)}
        for row in error_rows(except_karate, spread=0.02)
    ]
    noisy = estimation.judge(slightly)
    assert noisy.holds is Holds.NOISE
    assert ", noise)" in noisy.measured


def test_a_claim_that_fails_in_most_cases_does_not_hold_however_noisy():
    equal = error_rows(lambda graph, degree, n_walks: 0.3 + 0.001 * degree, spread=0.2)
    assert estimation.judge(equal).holds is Holds.NO


def test_at_long_range_an_error_above_one_is_told():
    rows = error_rows(lambda graph, degree, n_walks: 2.0 / degree)
    assert "GRF with 16 walks is no better than the answer zero" in long_range.judge(rows).measured
    rows = error_rows(as_paper)
    assert "answer zero" not in long_range.judge(rows).measured


@pytest.mark.parametrize("judge", [halting.judge, halting.judge_long])
def test_halting(judge):
    bernoulli = error_rows(as_paper, (1, 2), termination="geometric:0.1")

    def rows(factor):
        return bernoulli + error_rows(
            lambda *which: factor * as_paper(*which), (1, 2), termination="poisson:9.0"
        )

    true, false = judge(rows(0.9)), judge(rows(1.1))
    assert (true.holds, false.holds) == (Holds.YES, Holds.NO)
    assert "GRF: Poisson below Bernoulli in 4 of 4, error × 0.90" in true.measured
    assert "GRF++ degree 2: Poisson below Bernoulli in 0 of 4, error × 1.10" in false.measured


def test_reuse():
    def rows(factor):
        found = []
        for walks, times in ((reuse.FRESH, 1.0), (reuse.ONE_SET, factor), (reuse.TWO_SETS, 1.2)):
            found += error_rows(
                lambda graph, degree, n_walks, times=times: (
                    times * as_paper(graph, degree, n_walks)
                ),
                (1, 2),
                walks=walks,
            )
        return found

    true, false = reuse.judge(rows(1.1)), reuse.judge(rows(1.5))
    assert (true.holds, false.holds) == (Holds.YES, Holds.NO)
    assert "GRF++ degree 2 with GRF's own walks below GRF in 4 of 4, error × 0.78" in true.measured
    assert "below GRF in 0 of 4, error × 1.06" in false.measured
    assert "× 0.85 that of GRF when there are two sets, one for each side" in true.measured
    assert "× 0.71 that of GRF when all walks are fresh" in true.measured
    assert "the error is × 0.71 that of GRF with one set for both sides" in true.measured


@pytest.mark.parametrize("kernel", other_kernels.KERNELS)
def test_other_kernels(kernel):
    others = [
        row
        for other in other_kernels.KERNELS
        if other != kernel
        for row in error_rows(lambda graph, degree, n_walks: degree, (1, 2), kernel=other)
    ]
    judge = other_kernels.judge(kernel)
    assert judge(others + error_rows(as_paper, (1, 2), kernel=kernel)).holds is Holds.YES
    worse = error_rows(lambda graph, degree, n_walks: 0.1 * degree, (1, 2), kernel=kernel)
    assert judge(others + worse).holds is Holds.NO
    assert judge(others).holds is Holds.OPEN
    assert other_kernels.KERNELS[kernel] in judge(others).paper


def test_equal_cost():
    def rows(stitching, shortening):
        found = []
        for degree, times in equal_cost.METHODS:
            gain = (stitching if degree > 1 else 1) * (shortening if times > 1 else 1)
            for row in error_rows(lambda graph, degree, n_walks: n_walks**-0.5, (degree,)):
                error, budget = gain * row["error"], 18 * row["n_walks"]
                found.append({**row, "error": error, "budget": budget, "times": times})
        return found

    true = equal_cost.judge(rows(0.8, 0.5))
    assert true.holds is Holds.YES
    assert "stitching alone, degree 4, × 0.80" in true.measured
    assert "walks 4 × shorter alone × 0.50; both × 0.40" in true.measured
    false = equal_cost.judge(rows(1.0, 0.5))
    assert false.holds is Holds.NO
    assert "stitching alone, degree 4, × 1.00" in false.measured
    assert "both × 0.50" in false.measured


def test_speed():
    def rows(walk, stitch):
        return [
            {
                "p_base": 0.01,
                "degree": degree,
                "full_walks": full,
                "walk_seconds": walk(degree) if full else 0.001 * degree,
                "stitch_seconds": stitch(degree),
            }
            for degree in (1, 2, 3)
            for full in (True, False)
        ]

    true = speed.judge(rows(lambda d: 1 / d, lambda d: 2 / d))
    assert true.holds is Holds.YES
    assert "degree 1 → 3: walking 1 → 0.333 s for all factors" in true.measured
    for walk, stitch in ((lambda d: 1 / d, lambda d: d), (lambda d: d, lambda d: 1 / d)):
        false = speed.judge(rows(walk, stitch))
        assert false.holds is Holds.NO
    assert "stitching 1 → 0.333 s" in false.measured
    assert "0.5 → 0.5 s for one factor" in false.measured


def scaling_rows(ratio, sizes=(2000, 4000)):
    rows = []
    for n in sizes:
        for method, task, seconds, paper in (
            (scaling.DENSE, scaling.WHOLE_DENSE, ratio, None),
            (scaling.WALKS, scaling.WHOLE_DENSE, 1.0, None),
            (scaling.WALKS, scaling.WHOLE, 2.0, 5591.42),
            (scaling.WALKS, scaling.PRODUCT, 0.1, None),
            (scaling.CHEBYSHEV, scaling.PRODUCT, 0.01, None),
        ):
            row = {"n_nodes": n, "method": method, "task": task, "seconds": seconds}
            rows.append({**row, "paper_seconds": paper, "error": 0.1})
    return rows


def test_scaling():
    true = scaling.judge(scaling_rows(3.0))
    assert true.holds is Holds.YES
    assert "3.0 times faster at 2,000 nodes, 3.0 times faster at 4,000 nodes" in true.measured
    assert "all entries at 4,000 nodes, in sparse form: 2 s (the paper's GRF++: 5,591 s)" in (
        true.measured
    )
    assert "Chebyshev polynomials give it to ten digits in 0.01 s" in true.measured
    assert scaling.judge(scaling_rows(0.5)).holds is Holds.NO
    small = scaling.judge(scaling_rows(0.5, sizes=(100,)))
    assert small.holds is Holds.OPEN
    assert "too small to judge" in small.measured
    assert scaling.judge([r for r in scaling_rows(3.0) if r["method"] != scaling.DENSE]).holds is (
        Holds.OPEN
    )


def lemma_row(measured, formula, spread=0.01, **more):
    return {
        "part": theory.LEMMA,
        "graph": "karate",
        "n_walks": 4,
        "error": measured,
        "standard_error": spread,
        "formula": formula,
        "difference": measured - formula,
        "difference_error": spread,
        **more,
    }


def test_lemma():
    true = theory.lemma_judge([lemma_row(0.2, 0.21), lemma_row(0.4, 0.39, n_walks=2)])
    assert true.holds is Holds.YES
    assert "measured over formula is 0.952 to 1.026 in 2 settings" in true.measured
    false = theory.lemma_judge([lemma_row(0.2, 0.21), lemma_row(0.5, 0.4, n_walks=2)])
    assert false.holds is Holds.NO
    assert "on Karate with 2 walks, is 10.0 standard errors (0.5 against 0.4)" in false.measured


def test_theorem():
    def rows(error):
        return error_rows(error, (1, 2, 4), part=theory.THEOREM, kernel="diffusion:1")

    true = theory.theorem_judge(rows(lambda graph, degree, n_walks: 1 / degree))
    assert true.holds is Holds.YES
    assert "MSE(4) below MSE(2) in 4 of 4, error × 0.50" in true.measured
    false = theory.theorem_judge(rows(lambda graph, degree, n_walks: abs(degree - 2.1)))
    assert false.holds is Holds.NO
    assert "MSE(2) below MSE(1) in 4 of 4" in false.measured
    assert "MSE(4) below MSE(2) in 0 of 4" in false.measured


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_without_rows_nothing_is_judged_and_nothing_drawn(name):
    for claim in EXPERIMENTS[name].claims:
        assert claim.judge([]).holds is Holds.OPEN


def test_pairs_need_both_sides():
    rows = [
        {"graph": "a", "n_walks": 2, "degree": 1, "error": 1.0, "standard_error": 0.0},
        {"graph": "b", "n_walks": 2, "degree": 2, "error": 0.5, "standard_error": 0.0},
    ]
    found = compare(rows, "two below one", {"degree": 2}, {"degree": 1})
    assert (found.pairs, found.holds) == ([], Holds.OPEN)
    assert found.words() == "two below one: nothing to compare"


def test_the_worst_answer_counts():
    assert worst([]) is worst([Holds.OPEN]) is Holds.OPEN
    assert worst([Holds.YES, Holds.OPEN]) is Holds.YES
    assert worst([Holds.YES, Holds.NOISE]) is Holds.NOISE
    assert worst([Holds.NOISE, Holds.NO, Holds.YES]) is Holds.NO


@pytest.mark.parametrize(
    ("error", "spread", "text"),
    [
        (0.1499, 0.0042, "0.150 ± 0.004"),
        (2.0913, 0.0091, "2.091 ± 0.009"),
        (12.3, 1.4, "12 ± 1"),
        (0.3, 0.0, "0.3"),
        (0.12345678, 1e-9, "0.123457 ± 0.000000"),
    ],
)
def test_digits(error, spread, text):
    assert plus_minus({"error": error, "standard_error": spread}) == text
