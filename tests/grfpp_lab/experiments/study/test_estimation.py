"""Verdicts on degrees."""

import pytest
from laboratory.error_rows import as_paper, error_rows

from grfpp_lab.experiments.study import estimation, long_range
from grfpp_lab.harness.experiment import Holds


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


@pytest.mark.parametrize("judge", [estimation.judge, long_range.judge])
def test_pooled_walks_stand_beside_and_change_no_verdict(judge):
    pooled = error_rows(lambda *at: as_paper(*at) / 50, (2,), walks="pooled")
    both = judge([*error_rows(as_paper), *pooled])
    assert both.holds is Holds.YES
    assert "GRF++ degree 2 below GRF in 4 of 4, error × 0.71" in both.measured
    assert both.measured.endswith("ours, pooled walks: × 0.02 of GRF++ degree 2 on average")


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
