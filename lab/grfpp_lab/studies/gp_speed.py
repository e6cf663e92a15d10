"""Processor time and peak memory of Gaussian processes on grids and on an expander.

``python -m grfpp_lab.studies.gp_speed`` prints a row for each case, in a process of its own with
one thread: a noisy wave on a grid at random nodes, and the draws of `node_gp` on MUSAE Facebook (a
scale-free graph where it is not at hand), whose error stands beside that of the exact process with
its best λ.
"""

import argparse
from collections.abc import Mapping, Sequence
from time import process_time
from typing import Any

import numpy as np

from grfpp.datasets import grid
from grfpp.gp import GraphGP
from grfpp.graph import Graph
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.benchmark.timing import peak_memory
from grfpp_lab.harness.processes import call
from grfpp_lab.studies import node_gp

#: Sides of grids and numbers of observed nodes; on the largest one parameters are given.
GRIDS = {"40,000": (200, 500), "250,000": (500, 2000), "1,000,000": (1000, 10_000)}
#: Nodes of a grid above which parameters are given and draws are made.
GIVEN_ABOVE = 500_000
N_DRAWS = 100
N_DEVIATIONS = 200
EXPANDER = "expander"
_HERE = "grfpp_lab.studies.gp_speed"
N_OBSERVED = 1000
NOISE = 0.3


def on_grid(request: Mapping[str, Any]) -> dict[str, Any]:
    """Fit and predict on a grid of a side, at a number of observed nodes."""
    side, n_observed = request["side"], request["n_observed"]
    graph, rng = grid(side, side), np.random.default_rng(0)
    rows, columns = np.divmod(np.arange(side * side), side)
    wave = np.sin(20 * rows / side) + np.cos(15 * columns / side)
    order = rng.permutation(side * side)
    seen, unseen = order[:n_observed], order[n_observed:]
    y = wave[seen] + np.sqrt(NOISE) * rng.standard_normal(n_observed)
    is_large = side * side > GIVEN_ABOVE
    given = {"width": 1000.0, "noise": NOISE, "outputscale": 1.0} if is_large else {}
    return _measured(graph, seen, y, unseen, wave, N_DRAWS if is_large else 0, **given)


def on_expander(request: Mapping[str, Any]) -> dict[str, Any]:
    """Fit and predict the first problem of `node_gp`; error over that of the exact process."""
    _, graph = node_gp.graph()
    W = graph.normalized("sym")
    data = node_gp.problem(W, request["n_observed"], NOISE, node_gp.SEED)
    y = data.noisy[data.seen]
    found = _measured(graph, data.seen, y, data.unseen, data.function, 0)
    exact = min(node_gp.exact(data, lam).rmse for lam in request["grid"])
    return {**found, "ratio": found["rmse"] / exact}


def _measured(
    graph: Graph,
    seen: IntArray,
    y: FloatArray,
    unseen: IntArray,
    truth: FloatArray,
    n_draws: int,
    **given: Any,
) -> dict[str, Any]:
    """Seconds of fit, mean, draws and deviations, and the peak of all."""
    few = grid(9, 9)
    GraphGP(few).fit(np.arange(9), np.arange(9.0)).predict()  # compiles what is compiled
    seconds = [process_time()]
    with peak_memory() as peak:
        gp = GraphGP(graph, n_jobs=1, random_state=0, **given).fit(seen, y)
        seconds.append(process_time())
        mean = gp.predict()
        seconds.append(process_time())
        if n_draws:
            gp.sample(n_samples=n_draws)
        seconds.append(process_time())
        gp.predict(unseen[:N_DEVIATIONS], return_std=True)
        seconds.append(process_time())
    rmse = float(np.sqrt(np.mean(np.square(mean - truth)[unseen])))
    parts = dict(zip(("fit", "mean", "draws", "deviations"), np.diff(seconds), strict=True))
    return {"how": gp.plan_.how, "rmse": rmse, "peak_bytes": peak.n_bytes, **parts}


def row(name: str, n_observed: int, found: Mapping[str, Any]) -> str:
    """A line of the table."""
    parts = "".join(f"{found[part]:12.1f}" for part in ("fit", "mean", "draws", "deviations"))
    error = f"  × {found['ratio']:.4f} of the exact error" if "ratio" in found else ""
    size = f"{found['peak_bytes'] / 1e9:10.1f} GB"
    return f"{name:12s}{n_observed:9,d}  {found['how']:10s}{parts}{size}{error}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="gp_speed", description=__doc__)
    names = (*GRIDS, EXPANDER)
    parser.add_argument("--cases", nargs="+", choices=names, default=names)
    options = parser.parse_args(arguments)
    heads = "".join(f"{head:>12s}" for head in ("fit", "mean", "draws", "deviations"))
    print(f"{'nodes':12s}{'observed':>9s}  {'method':10s}{heads}{'peak':>13s}")
    for name in options.cases:
        if name == EXPANDER:
            request: dict[str, Any] = {"n_observed": N_OBSERVED, "grid": list(node_gp.GRID)}
            found = call(f"{_HERE}:on_expander", request)
            print(row(name, N_OBSERVED, found), flush=True)
        else:
            side, n_observed = GRIDS[name]
            request = {"side": side, "n_observed": n_observed}
            found = call(f"{_HERE}:on_grid", request)
            print(row(name, n_observed, found), flush=True)
    print(f"processor seconds; {N_DRAWS} draws, {N_DEVIATIONS} deviations, one thread")


if __name__ == "__main__":
    main()
