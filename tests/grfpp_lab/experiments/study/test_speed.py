"""Verdicts on speed."""

from grfpp_lab.experiments.study import speed
from grfpp_lab.harness.experiment import Holds


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
