"""Whether ``sample(…, tol=…)`` reaches its tolerance, and in how many steps.

``python -m grfpp_lab.studies.tolerance`` prints a table for four kernels on four graphs: of how
many runs the true error is below the tolerance, and the median number of steps over the smallest
number with which 95 % of runs with a fixed number of walks would have been below it.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from grfpp import datasets
from grfpp.errors import InputWarning
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, InversePower, Kernel
from grfpp_lab.graphs import grid, scale_free

#: With the scale of the weights and the tolerance.
KERNELS: dict[str, tuple[Kernel, float, float]] = {
    "exp(W)": (Diffusion(1.0), 1.0, 0.003),
    "exp(3 W)": (Diffusion(3.0), 1.0, 0.01),
    "exp(10 W)": (Diffusion(10.0), 1.0, 0.05),
    "(I - 0.7 W)^-2": (InversePower(2), 0.7, 0.03),
}


class Kept(NamedTuple):
    """Errors and steps of one case."""

    case: str
    tol: float
    errors: list[float]
    steps: list[float]
    best_steps: float


def graphs(seed: int = 3) -> dict[str, Graph]:
    """Four graphs that nothing was fitted on."""
    return {
        "karate": datasets.load_graph("karate", download=False).graph,
        "scale-free 600": scale_free(600, 4, seed=seed),
        "ER(500, 0.02)": datasets.erdos_renyi(500, 0.02, seed=seed),
        "grid 25 × 25": grid(625),
    }


def kept_promises(
    n_runs: int, n_fixed: int = 20, only: Sequence[str] = ("",), kernels: Sequence[str] = ("",)
) -> Iterator[Kept]:
    """All kernels on all graphs, or on those whose names begin so."""
    for name, graph in graphs().items():
        for title, (kernel, scale, tol) in KERNELS.items():
            if not (name.startswith(tuple(only)) and title.startswith(tuple(kernels))):
                continue
            W = graph.normalized("sym", scale)
            exact = kernel.exact(W)
            size = np.linalg.norm(exact)
            errors, steps = [], []
            for seed in range(n_runs):
                K = sample(W, kernel, tol=tol, seed=seed)
                errors.append(float(np.linalg.norm(K.toarray() - exact) / size))
                steps.append(K.meta["steps_per_node"])
            best = _best_steps(W, kernel, exact, tol, n_fixed)
            yield Kept(f"{name}, {title}, tol={tol:g}", tol, errors, steps, best)


def _best_steps(W: Graph, kernel: Kernel, exact: np.ndarray, tol: float, n_runs: int) -> float:
    """Steps of the smallest number of walks that is enough in 95 % of runs, within 10 %."""
    n_walks = 1
    while True:
        errors, steps = [], 0.0
        for seed in range(n_runs):
            K = sample(W, kernel, n_walks=n_walks, seed=1000 + seed, check_error=False)
            errors.append(float(np.linalg.norm(K.toarray() - exact) / np.linalg.norm(exact)))
            steps = K.meta["steps_per_node"]
            if np.count_nonzero(np.array(errors) > tol) > 0.05 * n_runs:
                break
        else:
            return steps
        n_walks = max(n_walks + 1, round(1.1 * n_walks))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="tolerance", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--graphs", nargs="+", default=[""], help="whose names begin so")
    parser.add_argument("--kernels", nargs="+", default=[""], help="whose names begin so")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings(category=InputWarning, action="ignore"):
        for each in kept_promises(options.runs, only=options.graphs, kernels=options.kernels):
            share = np.mean(np.array(each.errors) <= each.tol)
            ratio = np.median(each.steps) / each.best_steps
            print(
                f"{each.case:<40} kept in {share:.1%} of {len(each.errors)} runs, "
                f"{np.median(each.steps):.0f} steps a node, × {ratio:.2f} of the best fixed number "
                f"(worst run × {max(each.steps) / each.best_steps:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
