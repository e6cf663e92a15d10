"""Verdicts at equal cost."""

from laboratory.error_rows import error_rows

from grfpp_lab.experiments.study import equal_cost
from grfpp_lab.harness.experiment import Holds


def test_equal_cost():
    def rows(stitching, shortening):
        found = []
        for degree, times in equal_cost.METHODS:
            gain = (stitching if degree > 1 else 1) * (shortening if times > 1 else 1)
            for row in error_rows(lambda graph, degree, n_walks: n_walks**-0.5, (degree,)):
                error, budget = gain * row["error"], 18 * row["n_walks"]
                found.append({**row, "error": error, "budget": budget, "times": times})
        return found

    pooled = [
        {**row, "budget": 18 * row["n_walks"], "times": 1, "walks": "pooled"}
        for row in error_rows(lambda graph, degree, n_walks: 0.01 * n_walks**-0.5, (2, 4))
    ]
    beside = equal_cost.judge([*rows(0.8, 0.5), *pooled])
    assert beside.holds is Holds.YES
    assert "both × 0.40" in beside.measured
    assert "ours, pooled walks of degree 2 × 0.01." in beside.measured
    assert [each.name for each in equal_cost.drawn(pooled)] == [
        "pooled, degree 2",
        "pooled, degree 4",
    ]
    true = equal_cost.judge(rows(0.8, 0.5))
    assert true.holds is Holds.YES
    assert "stitching alone, degree 4, × 0.80" in true.measured
    assert "walks 4 × shorter alone × 0.50; both × 0.40" in true.measured
    false = equal_cost.judge(rows(1.0, 0.5))
    assert false.holds is Holds.NO
    assert "stitching alone, degree 4, × 1.00" in false.measured
    assert "both × 0.50" in false.measured
