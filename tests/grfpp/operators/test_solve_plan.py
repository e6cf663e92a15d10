"""The method by which a Gaussian process is solved, by predicted work."""

import pytest

from grfpp.operators.solve_plan import plan_solves


@pytest.mark.parametrize(
    ("sizes", "how"),
    [
        ((34, 156, 20, 40), "columns"),
        ((22_470, 342_000, 1000, 40), "columns"),
        ((1_000_000, 6_000_000, 500, 40), "columns"),
        ((22_470, 342_000, 11_000, 40), "products"),
        ((1_000_000, 6_000_000, 500_000, 40), "products"),
        ((10_000, 100_000_000, 5_000, 40), "features"),
    ],
)
def test_by_predicted_work(sizes, how):
    plan = plan_solves(*sizes)
    assert plan.how == how
    assert plan.how in plan.work and str(plan).startswith(how)


def test_columns_that_do_not_fit_are_no_choice(monkeypatch):
    monkeypatch.setattr("grfpp.operators.solve_plan.available_bytes", lambda: 10**8)
    plan = plan_solves(22_470, 342_000, 1000, 40)
    assert plan.how == "products" and "columns" not in plan.work
