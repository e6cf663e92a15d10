"""Bars and how they are told."""

from grfpp_lab.experiments.refined.bars import Bar, Ratio, judge_bars
from grfpp_lab.harness.experiment import Holds


def test_all_must_be_met():
    met, missed = Bar("a", 0.01, 0.02), Bar("b", 0.03, 0.02)
    assert judge_bars("small", []).holds is Holds.OPEN
    assert judge_bars("small", [met]).holds is Holds.YES
    both = judge_bars("small", [met, missed], ["more"])
    assert both.holds is Holds.NO
    assert both.measured == "1 of 2 bars met: a 0.01, b 0.03 (bar 0.02, missed); more"
    assert both.paper == "nothing of pooled walks; our bar: small"


def test_ratios_are_parts():
    assert Ratio("a", 0.001, 0.02).words() == "a 1/1,000"
    assert Ratio("a", 0.1, 0.05).words() == "a 1/10 (bar 1/20, missed)"
    assert Ratio("a", 1.3, 1.0).words() == "a × 1.3 (bar × 1, missed)"
