"""How often full matrices are noticed as distances: distances, and affinities.

``python -m grfpp_lab.studies.distance_notes`` prints a line for each kind of matrix, with the
share that `grfpp.io.points` takes for distances, by the number of nodes.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from grfpp.graph import Graph
from grfpp.io.points import distances_note
from grfpp.typing import FloatArray
from grfpp_lab.graphs import grid, scale_free

N_NODES = (10, 20, 50, 200)
DIMENSIONS = (1, 2, 3, 10, 100, 1000)
WIDTHS = (0.1, 0.5, 1.0, 3.0, 30.0)
N_MATRICES = 20

#: From a generator and a number of nodes to a matrix; its diagonal does not count.
Make = Callable[[np.random.Generator, int], FloatArray]
Points = Callable[[np.random.Generator, int, int], FloatArray]

POINTS: dict[str, Points] = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "clustered": lambda rng, n, d: (
        3 * rng.normal(size=(5, d))[rng.integers(0, 5, n)] + rng.normal(size=(n, d))
    ),
    "heavy-tailed": lambda rng, n, d: rng.standard_t(2, size=(n, d)),
}


def _cosines(X: FloatArray) -> FloatArray:
    cosines: FloatArray = 1 - cdist(X, X, "cosine")
    return cosines


def _gaussian(X: FloatArray, width: float) -> FloatArray:
    apart = cdist(X, X)
    affinities: FloatArray = np.exp(-((apart / (width * np.median(apart))) ** 2)) + 1e-300
    return affinities


#: Of points.
DISTANCES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "Euclidean distances": lambda X: cdist(X, X),
    "squared distances": lambda X: cdist(X, X) ** 2,
    "cosine distances": lambda X: 1 - _cosines(X),
}
AFFINITIES: dict[str, Callable[[FloatArray], FloatArray]] = {
    **{f"Gaussians of width {width}": partial(_gaussian, width=width) for width in WIDTHS},
    "products of |x|": lambda X: np.abs(X) @ np.abs(X).T,
    "1 + cosine": lambda X: 1 + _cosines(X) + 1e-9,
    "|cosine|": lambda X: np.abs(_cosines(X)) + 1e-300,
    "1 / distance": lambda X: 1 / (cdist(X, X) + 1e-9),
}


def _paths(graph: Callable[[int, int], Graph]) -> Make:
    return lambda rng, n: shortest_path(
        graph(n, int(rng.integers(2**31))).adjacency, unweighted=True
    )


PATHS: dict[str, Make] = {
    "paths in a grid": _paths(lambda n, _: grid(n)),
    "paths in scale-free trees": _paths(lambda n, seed: scale_free(n, 1, seed)),
    "paths in scale-free graphs": _paths(lambda n, seed: scale_free(n, 2, seed)),
}
NUMBERS: dict[str, Make] = {
    "independent, 0 to 1": lambda rng, n: rng.random((n, n)),
    "independent, 1 to 2": lambda rng, n: rng.uniform(1, 2, (n, n)),
    "independent, 1, 2 or 3": lambda rng, n: rng.integers(1, 4, (n, n)).astype(float),
    "products of the nodes' numbers": lambda rng, n: np.multiply.outer(*[rng.uniform(1, 2, n)] * 2),
    "sums of the nodes' numbers": lambda rng, n: np.add.outer(*[rng.uniform(1, 2, n)] * 2),
    "2 within three groups, else 1": lambda rng, n: (
        1.0 + np.equal.outer(*[rng.integers(0, 3, n)] * 2)
    ),
}


def kinds(*, affinities: bool, dimensions: Sequence[int] = DIMENSIONS) -> dict[str, Make]:
    """The matrices of one sort, by what they are called."""
    found = dict(NUMBERS if affinities else PATHS)
    for measure, of in (AFFINITIES if affinities else DISTANCES).items():
        for shape, points in POINTS.items():
            for d in dimensions:
                if d > 1 or "osine" not in measure:
                    name = f"{measure}, {shape}, {d} dimensions"
                    found[name] = partial(_of_points, of, points, d)
    return found


def _of_points(
    of: Callable[[FloatArray], FloatArray],
    points: Points,
    d: int,
    rng: np.random.Generator,
    n: int,
) -> FloatArray:
    return of(points(rng, n, d))


def share_noticed(make: Make, n: int, n_matrices: int = N_MATRICES) -> float:
    """The share of matrices that are taken for distances; the first seeds are 0, 1, 2, …."""
    n_noticed = 0
    for seed in range(n_matrices):
        upper = np.triu(np.abs(make(np.random.default_rng(seed), n)), 1)
        n_noticed += distances_note(sp.csr_array(upper + upper.T)) is not None
    return n_noticed / n_matrices


def main(arguments: Sequence[str] | None = None) -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(prog="distance_notes", description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=N_NODES)
    parser.add_argument("--dimensions", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("--matrices", type=int, default=N_MATRICES, help="of each kind and size")
    options = parser.parse_args(arguments)
    for title, affinities in (("distances", False), ("affinities and others", True)):
        print(f"{title:<50}" + "".join(f"{n:>7}" for n in options.nodes))
        for name, make in kinds(affinities=affinities, dimensions=options.dimensions).items():
            shares = [share_noticed(make, n, options.matrices) for n in options.nodes]
            print(f"{name:<50}" + "".join(f"{share:>7.2f}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
