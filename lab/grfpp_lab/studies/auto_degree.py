"""Regret of ``degree="auto"``: the error at the degree it takes, over that at the best one.

``python -m grfpp_lab.studies.auto_degree`` prints a table. The rule was fitted on one
scale-free graph and one block model; here are other graphs and another seed.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from grfpp import datasets
from grfpp.errors import DivergentSeriesError, InputWarning
from grfpp.estimate.deflation import deflation_of
from grfpp.estimate.degree import DEGREES, at_equal_steps, with_fixed_degree
from grfpp.estimate.sampling import sample_estimate
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, InversePower, Kernel
from grfpp.options import WalkOptions
from grfpp_lab.experiments.refined.measuring import log_normal, nearest_neighbours
from grfpp_lab.graphs import grid, mesh_named, random_regular, scale_free

#: With the scale of the weights.
KERNELS: dict[str, tuple[Kernel, float]] = {
    **{f"exp({lam} W)": (Diffusion(float(lam)), 1.0) for lam in (1, 5, 20, 50)},
    **{f"(I - {scale} W)^-2": (InversePower(2), scale) for scale in (0.8, 0.95)},
}
N_VECTORS = (0, 16)
#: Of the generated graphs and of the walks.
SEED = 7


class Regret(NamedTuple):
    """What ``"auto"`` takes in one case, and how good that is."""

    case: str
    degree: int
    error: float
    best_degree: int
    best_error: float

    @property
    def regret(self) -> float:
        """At least 1."""
        return self.error / self.best_error


def graphs() -> dict[str, Graph]:
    """Graphs that the rule was not fitted on."""
    return {
        "karate": datasets.load_graph("karate", download=False).graph,
        "grid 30 × 30": grid(900),
        "10-regular 1,000": random_regular(1000, seed=SEED),
        "scale-free 1,500": scale_free(1500, 3, seed=SEED),
        "sphere 642": mesh_named("sphere 3").graph,
        "ER(800, 0.01)": datasets.erdos_renyi(800, 0.01, seed=SEED),
        "ER(800, 0.01), log-normal": log_normal(datasets.erdos_renyi(800, 0.01, seed=SEED)),
        "kNN 800, Gaussian": nearest_neighbours(800),
    }


def regrets(
    name: str, graph: Graph, n_vectors: Sequence[int] = N_VECTORS, seed: int = SEED
) -> Iterator[Regret]:
    """All kernels on one graph, without and with eigenvectors taken exactly."""
    for title, (kernel, scale) in KERNELS.items():
        W = graph.normalized("sym", scale)
        exact = kernel.exact(W)
        for deflate in n_vectors:
            options = WalkOptions(degree="auto", seed=seed, deflate=deflate, check_error=False)
            chosen = with_fixed_degree(W, kernel, options, deflation_of(W, kernel, deflate))
            errors = {}
            for degree in DEGREES:
                try:
                    with warnings.catch_warnings(category=InputWarning, action="ignore"):
                        # Degree 1 is compared too, where it is of no use.
                        K = sample_estimate(W, kernel, at_equal_steps(options, degree))
                except DivergentSeriesError:  # the root of this degree has a smaller radius
                    continue
                difference = np.linalg.norm(K.toarray() - exact)
                errors[degree] = float(difference / np.linalg.norm(exact))
            best = min(errors, key=errors.__getitem__)
            case = f"{name}, {title}" + (f", {deflate} eigenvectors" if deflate else "")
            taken = chosen.stitching_degree
            yield Regret(case, taken, errors[taken], best, errors[best])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="auto_degree", description=__doc__)
    known = graphs()
    parser.add_argument("--graphs", nargs="+", choices=known, default=list(known))
    options = parser.parse_args(arguments)
    found = []
    for name in options.graphs:
        for each in regrets(name, known[name]):
            found.append(each)
            print(
                f"{each.case:<55} degree {each.degree:>2}: {each.error:.2e}   "
                f"best {each.best_degree:>2}: {each.best_error:.2e}   × {each.regret:.2f}"
            )
    numbers = np.array([each.regret for each in found])
    high = int(np.count_nonzero(numbers > 2))
    print(
        f"{len(found)} cases: median × {np.median(numbers):.2f}, nine tenths below "
        f"× {np.quantile(numbers, 0.9):.2f}, worst × {numbers.max():.2f}, {high} above × 2"
    )


if __name__ == "__main__":
    main()
