"""How time and memory grow with the number of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from grfpp.sampling import sample
from grfpp.walks import sample_factor
from grfpp_lab.benchmark.rows import measured
from grfpp_lab.benchmark.sampling import OURS_SINGLE, n_steps, stored_bytes, walk_plan
from grfpp_lab.benchmark.settings import KERNEL, LAW, N_WALKS, SEED, WALKS
from grfpp_lab.benchmark.timing import best_seconds, peak_memory, timed
from grfpp_lab.families import grid

RECOMPUTE = "grfpp, recompute"
_N_COMPARED = 10_000


def sample_grid(request: dict[str, Any]) -> list[dict[str, Any]]:
    """One factor in float32 on a grid: seconds, peak memory, stored memory.

    The first run tells the memory and the rest the time. Both include the plan, but not the graph.
    """
    W = grid(request["n_nodes"]).normalized("sym")
    n, threads = W.n_nodes, request["threads"]

    def work() -> Any:
        return sample_factor(walk_plan(W), n_jobs=threads, dtype=np.float32)

    with peak_memory() as peak:
        matrix, first = timed(work)
        stored = stored_bytes(matrix)
    del matrix
    seconds = min(first, best_seconds(work, budget=request["budget"], after=first))
    # The public call with all its checks: two factors.
    _, public = timed(
        lambda: sample(
            *(W, KERNEL, 1, N_WALKS, LAW, SEED),
            walks=WALKS,
            n_jobs=threads,
            dtype=np.float32,
            check_error=False,
        )
    )
    return [
        measured(
            OURS_SINGLE,
            "plan and factor; in a process of its own",
            n_nodes=n,
            seconds=seconds,
            steps_per_second=n_steps(walk_plan(W)) / seconds,
            microseconds_per_node=1e6 * seconds / n,
            peak_bytes_per_node=peak.n_bytes / n,
            stored_bytes_per_node=stored / n,
            sample_seconds=public,
        )
    ]


def recompute_product(request: dict[str, Any]) -> list[dict[str, Any]]:
    """One product with factors that are walked again, and whether stored ones give the same."""
    threads = request["threads"]

    def product(n_nodes: int, storage: Any) -> Any:
        W = grid(n_nodes).normalized("sym")
        v = np.random.default_rng(SEED).standard_normal(W.n_nodes)
        options: Any = {"walks": WALKS, "n_jobs": threads, "storage": storage}
        options["check_error"] = False
        with peak_memory() as peak:
            values, seconds = timed(lambda: sample(W, KERNEL, 2, N_WALKS, LAW, SEED, **options) @ v)
        return values, seconds, peak.n_bytes

    few = min(request["n_nodes"], _N_COMPARED)
    same = np.array_equal(product(few, "recompute")[0], product(few, "memory")[0])
    values, seconds, n_bytes = product(request["n_nodes"], "recompute")
    return [
        measured(
            RECOMPUTE,
            f"degree 2, one product, float64; compared with stored ones on {few:,} nodes",
            n_nodes=len(values),
            seconds=seconds,
            peak_bytes=n_bytes,
            peak_bytes_per_node=n_bytes / len(values),
            same_as_stored=float(same),
        )
    ]
