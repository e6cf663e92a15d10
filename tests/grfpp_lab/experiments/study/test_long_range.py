"""Verdicts on distant nodes."""

from laboratory.error_rows import as_paper, error_rows

from grfpp_lab.experiments.study import long_range


def test_at_long_range_an_error_above_one_is_told():
    rows = error_rows(lambda graph, degree, n_walks: 2.0 / degree)
    assert "GRF with 16 walks is no better than the answer zero" in long_range.judge(rows).measured
    rows = error_rows(as_paper)
    assert "answer zero" not in long_range.judge(rows).measured
