"""Verdicts on large meshes."""

from grfpp_lab.experiments.study import scaling
from grfpp_lab.harness.experiment import Holds


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
