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
