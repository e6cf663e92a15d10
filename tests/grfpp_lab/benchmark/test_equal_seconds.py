"""Errors at equal seconds, at the smallest size."""

from bench_helpers import COMMON

from grfpp_lab.benchmark import equal_seconds


def test_pooled_walks_beside_independent_ones_that_take_as_long():
    request = {**COMMON, "family": "grid", "n_nodes": 144}
    names = {f"{kernel}, here": kernel for kernel in equal_seconds.DEGREES}
    rows = equal_seconds.equal_seconds({**request, "kernels": names})
    assert [(row["workload"], row["method"]) for row in rows] == [
        (name, method)
        for name in names
        for method in (equal_seconds.POOLED, equal_seconds.INDEPENDENT)
    ]
    for pooled, independent in zip(rows[::2], rows[1::2], strict=True):
        assert pooled["numbers"]["steps"] == 576
        assert pooled["numbers"]["error"] < independent["numbers"]["error"] / 3
        assert 1 <= independent["numbers"]["n_walks"] <= 48
        assert "degree" in pooled["note"]


def test_printed(capsys, monkeypatch):
    monkeypatch.setattr(equal_seconds, "warmup", lambda: None)
    options = ["--nodes", "64", "--threads", "1", "--families", "grid", "--budget", "0.001"]
    equal_seconds.main(options)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("grid, exp(W) ")
    assert "error" in lines[0]
