"""Rows and sizes for the tests of the benchmark."""

from dataclasses import replace

from grfpp_lab.benchmark.rows import Row
from grfpp_lab.benchmark.settings import SETS

TINY = replace(
    SETS["smoke"],
    sampling=(("grid", 100),),
    slow_peers_up_to=100,
    growth=(25, 100),
    recompute=100,
    local=(100, 4),
    dense=(60, 20),
    sparse=100,
    budget=0.002,
)


def sampled(workload, method, rate, **others):
    return Row("sampling", workload, method, numbers={"steps_per_second": rate}, **others)


def grown(n_nodes, microseconds, peak):
    numbers = {
        "n_nodes": n_nodes,
        "seconds": n_nodes * microseconds / 1e6,
        "steps_per_second": 144e6 / microseconds,
        "microseconds_per_node": microseconds,
        "peak_bytes_per_node": peak,
        "stored_bytes_per_node": 400.0,
        "sample_seconds": 3 * n_nodes * microseconds / 1e6,
    }
    return Row("growth", f"grid, {n_nodes:,} nodes", "grfpp, float32", numbers=numbers)


def timed(section, workload, method, seconds, **others):
    numbers = {"n_nodes": 35_300, "seconds": seconds, "error": 0.1}
    return Row(section, workload, method, numbers=numbers, **others)
