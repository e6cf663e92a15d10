from grfpp.kernels import Diffusion
from grfpp_lab.graphs import grid
from grfpp_lab.studies import tolerance


def test_kept_and_at_what_price(monkeypatch, capsys):
    monkeypatch.setattr(tolerance, "graphs", lambda: {"grid": grid(49)})
    monkeypatch.setattr(tolerance, "KERNELS", {"exp(2 W)": (Diffusion(2.0), 1.0, 0.02)})
    (found,) = tolerance.kept_promises(3, n_fixed=3)
    assert max(found.errors) <= found.tol == 0.02
    assert 36 <= found.best_steps <= 4 * max(found.steps)
    tolerance.main(["--runs", "2"])
    assert "kept in 100.0% of 2 runs" in capsys.readouterr().out
