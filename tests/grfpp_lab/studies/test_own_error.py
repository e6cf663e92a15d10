import pytest

from grfpp_lab.graphs import grid
from grfpp_lab.studies import own_error


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(own_error, "graphs", lambda: {"grid": grid(144)})


def test_ratios_to_the_true_error():
    first, *_ = own_error.known_errors(2)
    assert first.case == "grid, exp(W)" and 0 < first.error < 0.1
    assert all(0.7 < ratio < 1.4 for ratio in first.ratios + first.off_diagonal)


def test_printed(capsys):
    own_error.main(["--runs", "1"])
    out = capsys.readouterr().out
    assert out.count("within 10 % in") == len(own_error.KERNELS)


def test_costs(monkeypatch, capsys):
    monkeypatch.setattr(own_error, "_MADE", {"grid": lambda n: grid(100)})
    own_error.main(["--cost", "--cost-of-bars"])
    out = capsys.readouterr().out
    assert out.count("with the pilot run") == 2
    assert out.count("n_groups=") == 2 and out.count("two rows ×") == 2
