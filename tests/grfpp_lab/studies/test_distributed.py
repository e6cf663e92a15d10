"""The study of clusters without a cluster: its model, its predictions, and its verdicts."""

import pytest

pytest.importorskip("distributed", reason="dask and distributed are not installed")

import grfpp
from grfpp.estimate.sampling import sample
from grfpp_lab.graphs import scale_free
from grfpp_lab.studies import distributed as study


@pytest.mark.parametrize("shift", [0, 1])
def test_bits_are_the_same_or_the_verdict_is_false(monkeypatch, capsys, shift):
    W = scale_free(40, 3).normalized("sym")
    monkeypatch.setattr(study, "OPTIONS", {"degree 1": {"degree": 1}, "deflated": {"deflate": 2}})

    def other_sample(client, *what, seed, **how):
        return sample(*what, seed=seed + shift, **how)

    def other_top_k(client, W, kernel, seed):
        return grfpp.LocalKernel(W, kernel, seed=seed).top_k(range(39 + (not shift)))

    monkeypatch.setattr(study.distributed, "sample", other_sample)
    monkeypatch.setattr(study.distributed, "top_k", other_top_k)
    assert study.report_bits(None, W, seed=3) == [not shift] * 4
    assert capsys.readouterr().out.count("NOT MET") == 4 * shift


def test_costs_grow_as_the_model_says():
    work = study.Work(n_nodes=1e6, n_stored=1e7, row_entries=100)
    assert work.walking_seconds(2, 1e7) == pytest.approx(4 * 144 * 1e6 / 2e7)
    assert work.exchanged_bytes(1) == 0
    assert work.product_bytes(2, 3) == pytest.approx(3 * work.product_bytes(2, 1))
    assert study.Work(1e6, 1e7, 100, on_disk=True).graph_bytes < work.graph_bytes


def test_predictions_are_printed(monkeypatch, capsys):
    monkeypatch.setattr("grfpp.warmup.warmup", lambda: None)
    study.main(["--parts", "predict", "--nodes", "100"])
    out = capsys.readouterr().out
    assert out.count("nearest nodes of all: ") == 12
    assert "an estimate does not fit" in out and "GB a machine; walking" in out
