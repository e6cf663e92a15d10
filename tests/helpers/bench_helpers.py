"""Rows and sizes for the tests of the benchmark."""

from dataclasses import replace

import numpy as np

from grfpp_lab.benchmark.settings import SETS, Row
from grfpp_lab.benchmark.suite import TASKS

TINY = replace(
    SETS["smoke"],
    **{"sampling": (("grid", 100),), "slow_peers_up_to": 100, "equal": (("grid", 64),)},
    **{"growth": (25, 100), "recompute": 100, "local": (100, 4), "dense": (60, 20)},
    **{"sparse": 100, "budget": 0.002},
)


def sampled(workload, method, rate, **others):
    return Row("sampling", workload, method, numbers={"steps_per_second": rate}, **others)


def grown(n_nodes, microseconds, peak):
    seconds = n_nodes * microseconds / 1e6
    numbers = {"n_nodes": n_nodes, "seconds": seconds, "sample_seconds": 3 * seconds}
    numbers |= {"steps_per_second": 144e6 / microseconds, "microseconds_per_node": microseconds}
    numbers |= {"peak_bytes_per_node": peak, "stored_bytes_per_node": 400.0}
    return Row("growth", f"grid, {n_nodes:,} nodes", "grfpp, float32", numbers=numbers)


def timed(section, workload, method, seconds, **others):
    numbers = {"n_nodes": 35_300, "seconds": seconds, "error": 0.1}
    return Row(section, workload, method, numbers=numbers, **others)


def equal(workload, ratio):
    """Pooled walks, and independent ones with so many times their error."""
    return [
        Row("equal", workload, method, numbers={"seconds": 2.0, "error": error, "steps": 576.0})
        for method, error in (("grfpp, pooled", 0.2 / ratio), ("grfpp, independent", 0.2))
    ]


COMMON = {"threads": 2, "budget": 0.001}


def run(task, **request):
    results = TASKS[task]({**COMMON, **request})
    for result in results:
        assert all(np.isfinite(value) for value in result["numbers"].values())
    return {result["method"]: result for result in results}


ROWS = [
    sampled("grid, 100 nodes", "grfpp, float64", 90e6, version="0.1", threads=2),
    sampled("grid, 100 nodes", "pointer chases", 180e6, note="the limit"),
    sampled("grid, 100 nodes", "slow peer", 0.1e6, version="7.5", note="no features"),
    Row("sampling", "grid, 100 nodes", "lost peer", status="not run", note="it does not build"),
    grown(1000, 2.0, 900.0),
    grown(10**4, 1.5, 700.0),
    grown(10**5, 1.5, 500.0),
    Row("growth", "grid, 10 nodes", "grfpp, recompute", status="not run", note="no memory"),
    timed("paper", "mesh, 35,300 nodes", "paper, GRFs++", 5591.42, status="quoted"),
    timed("paper", "mesh, 35,300 nodes", "grfpp", 0.4),
    timed("paper", "mesh, 35,300 nodes", "Chebyshev", 0.01),
    timed("paper", "mesh, 35,300 nodes", "dense brute force", 9e4, status="estimated"),
    timed("uses", "K[S, S]", "grfpp", 0.5),
    timed("uses", "K[S, S]", "Chebyshev", 5.0, status="estimated"),
    timed("uses", "K @ V", "grfpp", 5.0),
    timed("uses", "K @ V", "Chebyshev", 0.5),
    *equal("exp(W), grid, 100 nodes", 1000),
    Row("equal", "exp(W), grid, 900 nodes", "grfpp, pooled", status="not run", note="no time"),
]


TEXTS = ("section", "workload", "method", "version", "status", "note", "hardware")
ROW = {**dict.fromkeys(TEXTS, str), "numbers": dict, "threads": int}


def check(document):
    assert document["format"] == "grfpp-bench-1"
    assert {"machine", "settings", "began", "seconds", "threads", "grfpp"} <= set(document)
    assert {"ratios", "slopes", "bars"} <= set(document)
    for row in document["rows"]:
        assert {name: type(value) for name, value in row.items()} == ROW
        assert all(isinstance(value, float | int) for value in row["numbers"].values())
        assert row["status"] in ("measured", "estimated", "quoted", "not run")
        assert row["note"] or row["status"] == "measured"
        assert row["hardware"] or row["status"] == "quoted"
    return document["rows"]
