"""Comparisons on rows made by hand."""

import itertools

import numpy as np
import pytest
from scipy.stats import ttest_rel

from grfpp_lab.experiments import claims as views
from grfpp_lab.experiments.claims import compare, judge_gaps, judged, paired, plus_minus, worst
from grfpp_lab.harness.experiment import Claim, Holds


def test_pairs_need_both_sides_and_the_worst_answer_counts():
    rows = [
        {"graph": "a", "n_walks": 2, "degree": 1, "error": 1.0, "standard_error": 0.0},
        {"graph": "b", "n_walks": 2, "degree": 2, "error": 0.5, "standard_error": 0.0},
    ]
    found = compare(rows, "two below one", {"degree": 2}, {"degree": 1})
    assert (found.pairs, found.holds) == ([], Holds.OPEN)
    assert found.words() == "two below one: nothing to compare"
    assert worst([]) is worst([Holds.OPEN]) is Holds.OPEN
    assert worst([Holds.YES, Holds.OPEN]) is Holds.YES
    assert worst([Holds.YES, Holds.NOISE]) is Holds.NOISE
    assert worst([Holds.NOISE, Holds.NO, Holds.YES]) is Holds.NO


ROWS = [
    {
        **{"graph": graph, "n_nodes": 9, "degree": degree, "n_walks": walks},
        **{"error": 1 / (degree * walks), "standard_error": 0.01},
    }
    for graph, degree, walks in itertools.product(("karate", "er-20"), (2, 1), (16, 4))
]


def test_a_claim_on_errors_is_about_its_own_rows():
    claim = views.error_claim(
        *("name", views.degree_series),
        lambda rows: judged(str(len(rows)), []),
        own=lambda rows: views.select(rows, graph="karate"),
    )
    (panel,) = claim.panels(ROWS)
    assert [curve.name for curve in panel.curves] == ["GRF", "GRF++ degree 2"]
    assert claim.judge(ROWS).paper == "4"
    (table,) = [make(ROWS) for make in claim.tables]
    assert table.groups[0].rows == [["Karate", "0.06 ± 0.01", "0.03 ± 0.01"]]
    assert table.caption.startswith("Relative error at 16 walks")


def test_pooled_walks_have_panels_of_their_own():
    rows = [*ROWS, *({**row, "walks": views.POOLED, "error": 1e-14} for row in ROWS)]
    panels = views.error_panels(rows, views.degree_series(rows))
    assert [panel.title for panel in panels] == [
        *("Karate", "Karate, pooled", "ER(20, 0.2)", "ER(20, 0.2), pooled")
    ]
    for panel, is_pooled in zip(panels, [False, True] * 2, strict=True):
        assert all(("pooled" in curve.name) == is_pooled for curve in panel.curves)


@pytest.mark.parametrize(
    ("n", "holds"), [(1, Holds.FEW), (2, Holds.FEW), (3, Holds.YES), (0, Holds.OPEN)]
)
def test_a_few_graphs_are_no_verdict(n, holds):
    rows = [{**row, "graph": graph} for graph in "abc"[:n] for row in ROWS[:4]]

    def judge(own):
        return judged("less", [compare(own, "", {"degree": 2}, {"degree": 1})])

    verdict = Claim("name", list, judge).verdict(rows)
    assert verdict.holds is holds
    assert ("a verdict needs 3" in verdict.measured) is (holds is Holds.FEW)


def test_digits():
    for error, spread, text in (
        *((0.1499, 0.0042, "0.150 ± 0.004"), (2.0913, 0.0091, "2.091 ± 0.009")),
        *((12.3, 1.4, "12 ± 1"), (0.3, 0.0, "0.3"), (0.12345678, 1e-9, "0.123457 ± 0.000000")),
    ):
        assert plus_minus({"error": error, "standard_error": spread}) == text


def test_curves_are_in_the_order_of_their_axis():
    assert views.values([*ROWS, {"degree": None}, {}], "degree") == [1, 2]
    assert views.distinct(ROWS, "graph") == ["karate", "er-20"]
    assert views.select(ROWS, graph="karate", degree=3) == []
    curve = views.error_curve("c", views.select(ROWS, graph="karate", degree=1), "n_walks", 2)
    assert (curve.x, curve.y, curve.spread) == ([4, 16], [1 / 4, 1 / 16], [0.01, 0.01])
    mean = views.mean_curve("m", ROWS, "n_walks", lambda row: row["degree"], 0)
    assert (mean.x, mean.y) == ([4, 16], [1.5, 1.5])
    assert mean.spread == pytest.approx([0.28867, 0.28867], rel=1e-4)
    assert views.chart("t", [curve, views.curve("none", [], "x", "y")], "x", "y").curves == [curve]


def test_the_paired_test_is_that_of_scipy_and_pairs_are_made_by_seed():
    rng = np.random.default_rng(0)
    for n in (3, 5, 8):
        ours, theirs = rng.normal(80, 1, n), rng.normal(79.5, 1, n)
        found = paired(dict(enumerate(ours)), dict(enumerate(theirs)))
        expected = ttest_rel(ours, theirs)
        assert found.p == pytest.approx(expected.pvalue)
        assert found.mean / found.standard_error == pytest.approx(expected.statistic)
        assert found.n == n
    assert paired({0: 1.0, 1: 2.0, 7: 9.0}, {1: 1.0, 0: 0.0, 8: 3.0}).mean == 1.0
    assert np.isnan(paired({0: 1.0}, {0: 2.0}).p)
    assert paired({0: 1.0, 1: 1.0}, {0: 1.0, 1: 1.0}).p == 1.0
    assert paired({0: 2.0, 1: 2.0}, {0: 1.0, 1: 1.0}).p == 0.0


def gap_verdict(gaps, share=1.0):
    named = {f"graph {number}": gap for number, gap in enumerate(gaps)}
    words = {name: f"{gap:+g}" for name, gap in named.items()}
    return judge_gaps("near", named, words, 1.0, share=share, unit=" point", more="and more")


@pytest.mark.parametrize(
    ("gaps", "share", "holds"),
    [
        ([0.5, -1.0, 1.0], 1.0, Holds.YES),
        ([0.5, -1.1, 1.0], 1.0, Holds.NO),
        ([0.5, 1.1, 1.0], 1.0, Holds.NO),  # above is as far away as below
        ([2.0] + 9 * [0.0], 0.9, Holds.YES),
        ([2.0, -2.0] + 8 * [0.0], 0.9, Holds.NO),
        ([float("nan")], 1.0, Holds.NO),
        ([], 1.0, Holds.OPEN),
    ],
)
def test_both_directions_count(gaps, share, holds):
    found = gap_verdict(gaps, share)
    assert found.holds is holds
    assert found.paper == "nothing of pooled walks, which are ours; our bar: near"
    told = gap_verdict([2.0, 0.0, -3.0]).measured
    expected = "within 1 point of exact on 1 of 3 (not on graph 0 +2; graph 2 -3); and more"
    assert told == f"pooled walks {expected}"
