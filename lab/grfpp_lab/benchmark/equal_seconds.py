"""Errors at equal seconds: pooled walks against independent ones that take as long.

``python -m grfpp_lab.benchmark.equal_seconds`` prints a table for graphs of 10⁶ nodes.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from grfpp.estimate import KernelEstimate, accuracy
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, Kernel
from grfpp.warmup import warmup
from grfpp_lab.benchmark.settings import LAW, N_WALKS, SEED, WALKS, measured
from grfpp_lab.benchmark.timing import best_seconds, timed
from grfpp_lab.graphs import FAMILIES

POOLED = "grfpp, pooled"
INDEPENDENT = "grfpp, independent"
#: Kernels and stitching degrees; all have as many steps as 16 walks at degree 2.
DEGREES: dict[str, tuple[Kernel, int]] = {
    "exp(W)": (Diffusion(1.0), 2),
    "exp(5 W)": (Diffusion(5.0), 4),
}
_N_PROBES = 4
#: Walks that fit into memory on a graph of 10⁶ nodes.
_MOST = 48


def equal_seconds(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Seconds and error of the default, and of independent walks of the same duration."""
    W = FAMILIES[request["family"]](request["n_nodes"]).normalized("sym")
    results = []
    for workload, kernel in request["kernels"].items():
        own = _compared(W, *DEGREES[kernel], request["threads"], request["budget"])
        results += [{**result, "workload": workload} for result in own]
    return results


def _compared(
    W: Graph, kernel: Kernel, degree: int, threads: int, budget: float
) -> list[dict[str, Any]]:
    options: Any = {"n_jobs": threads, "dtype": np.float32, "check_error": False}
    walk = partial(sample, W, kernel, degree, seed=SEED, **options)
    paper = partial(walk, termination=LAW, walks=WALKS, on_infinite_variance="ignore")
    n_walks = 2 * N_WALKS // degree
    for each in (walk, paper):
        each(n_walks=1)  # what is computed once for a graph

    def measure(estimate: Callable[[], KernelEstimate]) -> dict[str, float]:
        K, first = timed(estimate)
        error = accuracy.relative_error(K, kernel, W, method="probe", n_probes=_N_PROBES)
        steps = K.meta["steps_per_node"]
        del K
        seconds = min(first, best_seconds(estimate, budget=budget, after=first))
        return {"n_nodes": W.n_nodes, "seconds": seconds, "error": float(error), "steps": steps}

    pooled = measure(partial(walk, n_walks=n_walks))
    pilot = best_seconds(partial(paper, n_walks=n_walks), budget=budget)
    as_long = max(1, min(_MOST, round(n_walks * pooled["seconds"] / pilot)))
    independent = measure(partial(paper, n_walks=as_long))
    # The error falls with the root of the number of walks, and so of the seconds.
    independent["error"] *= (independent["seconds"] / pooled["seconds"]) ** 0.5
    note = "as many walks as take about as long"
    return [
        measured(POOLED, f"the default; degree {degree} for {kernel!r}", **pooled),
        measured(INDEPENDENT, note, **independent, n_walks=as_long),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="equal_seconds", description=__doc__)
    parser.add_argument("--nodes", type=int, default=10**6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of repeated runs")
    options = parser.parse_args(arguments)
    warmup()
    for family in options.families:
        kernels = {f"{family}, {kernel}": kernel for kernel in DEGREES}
        request = {
            "family": family,
            "n_nodes": options.nodes,
            "threads": options.threads,
            "budget": options.budget,
        }
        for row in equal_seconds({**request, "kernels": kernels}):
            numbers = row["numbers"]
            print(
                f"{row['workload']:<22} {row['method']:<19} {numbers['seconds']:8.2f} s  "
                f"error {numbers['error']:.2e}"
            )


if __name__ == "__main__":
    main()
