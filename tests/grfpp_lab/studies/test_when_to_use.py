import pytest

from grfpp_lab.studies import when_to_use
from grfpp_lab.studies.planner import Case, Point

ONE = Case("karate", "exp(W)", 16)


@pytest.fixture(autouse=True)
def _costs_as_they_are(monkeypatch):
    """Neither compile everything nor measure this machine for all tests that follow."""
    monkeypatch.setattr(when_to_use, "warmup", lambda: None)
    monkeypatch.setattr(when_to_use, "measure_costs", lambda: when_to_use.current_costs().machine)


def test_the_fastest_that_is_good_enough():
    points = [
        Point(ONE, "walks", "few", 0.1, 0.05),
        Point(ONE, "chebyshev", "tol=0.001", 0.2, 1e-4),
        Point(ONE, "dense", "", 0.3, 1e-15),
    ]
    found = when_to_use.fastest(points)
    assert [best.method for _, _, best in found] == ["walks", "chebyshev", "chebyshev", "dense"]
    assert when_to_use.fastest(points[:1])[-1] == (ONE, 1e-6, None)


def test_printed_and_drawn(tmp_path, capsys):
    chart = tmp_path / "chart.png"
    when_to_use.main(["--graphs", "karate", "--kernels", "exp(W)", "--out", str(chart)])
    out = capsys.readouterr().out
    assert "chebyshev" in out and "to 1e-06" in out
    assert chart.read_bytes().startswith(b"\x89PNG")
