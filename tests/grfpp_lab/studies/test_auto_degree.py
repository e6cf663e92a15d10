"""Regret of the degree that is taken, at the smallest size."""

from grfpp_lab.studies import auto_degree


def test_printed(capsys, monkeypatch):
    monkeypatch.setattr(auto_degree, "graphs", lambda: {"a grid": auto_degree.grid(25)})
    some = dict(list(auto_degree.KERNELS.items())[::3])
    monkeypatch.setattr(auto_degree, "KERNELS", some)
    auto_degree.main(["--graphs", "a grid"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 2 * len(some)
    assert lines[-1].startswith("4 cases: median × ")


def test_no_degree_is_better_than_the_best(monkeypatch):
    some = dict(list(auto_degree.KERNELS.items())[1::3])
    monkeypatch.setattr(auto_degree, "KERNELS", some)
    found = list(auto_degree.regrets("a grid", auto_degree.grid(25), n_vectors=(2,)))
    assert len(found) == len(some)
    for each in found:
        assert 1 <= each.regret < 20
        assert each.error >= each.best_error > 0
