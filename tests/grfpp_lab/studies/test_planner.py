"""The planner's benchmark: what it compares, and that its numbers are those of the products."""

import pytest

from grfpp_lab.studies import planner


@pytest.fixture(autouse=True)
def _costs_as_they_are(monkeypatch):
    """Neither compile everything nor measure this machine for all tests that follow."""
    monkeypatch.setattr(planner, "warmup", lambda: None)
    monkeypatch.setattr(planner, "measure_costs", lambda: planner.current_costs().machine)


def test_combinations_that_are_judged_are_not_those_that_settled():
    judged, settling = planner.judged(), planner.settling()
    assert len(set(judged)) == 24
    assert {each.n_columns for each in judged} == {1, 16, 1000}
    assert {each.kernel for each in judged} == set(planner.KERNELS)
    for field in ("graph", "kernel"):
        assert not {getattr(a, field) for a in judged} & {getattr(b, field) for b in settling}


def test_one_case():
    found = planner.regret_of(planner.Case("karate", "exp(W)", 16), budget=0.001)
    assert found.error <= planner.TOL
    assert {"dense", "chebyshev", "lanczos"} <= set(found.others)
    assert "solve" not in found.others
    assert found.regret > 0
    assert found.best in found.others


def test_curves_have_every_method():
    points = list(planner.curves(planner.Case("scale-free 100", "exp(2 W)", 8), [1e-2, 1e-6]))
    assert {point.method for point in points} == {"dense", "chebyshev", "lanczos", "walks"}
    for point in points:
        if point.method in ("chebyshev", "lanczos"):
            assert point.error <= float(point.setting.removeprefix("tol="))


def test_a_table_is_printed(capsys):
    planner.main(["--graphs", "karate", "--budget", "0.001"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[-1].startswith("3 cases: ")
