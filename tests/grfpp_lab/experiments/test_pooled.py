"""Our bars for pooled walks."""

import pytest

from grfpp_lab.experiments.pooled import judge_gaps
from grfpp_lab.harness.experiment import Holds

NAMES = [f"graph {number}" for number in range(10)]


def judged(gaps, share=1.0):
    named = dict(zip(NAMES, gaps, strict=False))
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
    found = judged(gaps, share)
    assert found.holds is holds
    assert found.paper == "nothing of pooled walks, which are ours; our bar: near"


def test_what_is_missed_is_told():
    told = judged([2.0, 0.0, -3.0]).measured
    expected = "within 1 point of exact on 1 of 3 (not on graph 0 +2; graph 2 -3); and more"
    assert told == f"pooled walks {expected}"
