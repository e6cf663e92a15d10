"""`NodeGP` beside an exact process, at the smallest size."""

import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernels", reason="torch or gpytorch is not installed", exc_type=ImportError
)

from grfpp_lab.studies import node_gp

W = node_gp.scale_free(500, 4, seed=2).normalized("sym")


def test_both_answer_the_same_question():
    data = node_gp.problem(W, 120, 0.3, seed=0)
    ours = node_gp.by_default(data, "exact")
    same = node_gp.exact(data, ours.lam, intervals=True)
    # At one λ they differ by where noise and size were looked for.
    assert ours.rmse == pytest.approx(same.rmse, rel=0.02)
    assert ours.noise == pytest.approx(same.noise, rel=0.3)
    assert abs(ours.coverage_noisy - same.coverage_noisy) < 0.05
    assert 0.85 < same.coverage_noisy <= 1
    assert 0 < ours.mean_seconds <= ours.seconds


def test_printed(capsys, monkeypatch):
    monkeypatch.setattr(node_gp, "graph", lambda: ("a graph", node_gp.scale_free(300, 4, seed=2)))
    node_gp.main(
        ["--observed", "60", "--noise", "0.3", "--repeats", "2", "--grid", "5", "10", "--intervals"]
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("a graph: 300 nodes")
    assert len(lines) == 1 + 2 * 2 + 1
    assert lines[-1].startswith("2 data sets: error × ")


def test_without_data_the_graph_is_generated(no_data, monkeypatch):
    monkeypatch.setattr(node_gp, "scale_free", lambda *sizes, seed: sizes)
    assert node_gp.graph() == ("scale-free", (20_000, 8))
