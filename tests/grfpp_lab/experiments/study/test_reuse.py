"""Verdicts on walks used again."""

from laboratory.error_rows import as_paper, error_rows

from grfpp_lab.experiments.study import reuse
from grfpp_lab.harness.experiment import Holds


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
