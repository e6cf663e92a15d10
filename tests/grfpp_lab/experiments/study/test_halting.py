"""Verdicts on halting."""

import pytest
from laboratory.error_rows import as_paper, error_rows

from grfpp_lab.experiments.study import halting
from grfpp_lab.harness.experiment import Holds


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
