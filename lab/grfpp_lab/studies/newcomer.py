"""Whether ``kernel_operator(graph, Diffusion(5)) @ V`` is right with no other argument.

``python -m grfpp_lab.studies.newcomer`` takes every graph in the data folder that ``GRFPP_DATA``
names, as it is and normalised, and prints the largest error of each kind against a product to
1e-10 by another method. Of collections it takes the first graphs.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse.linalg import expm_multiply

from grfpp.datasets import load_tudataset
from grfpp.datasets.fetch import data_folder
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Diffusion
from grfpp.operators import kernel_operator
from grfpp.typing import FloatArray
from grfpp_lab.datasets.graphs import load_shapes

KERNEL = Diffusion(5.0)
TOL = 1e-3
N_COLUMNS = 4
#: Graphs of a collection.
N_GRAPHS = 20


def graphs(folder: Path, n_graphs: int = N_GRAPHS) -> Iterator[tuple[str, Graph]]:
    """All graphs in a folder of data, by the kind that they are of."""
    for kind, pattern in (("clustering", "graphs/*.gml"), ("mesh", "meshes/*.stl.zip")):
        for path in sorted(folder.glob(pattern)):
            yield kind, Graph(path)
    for path in sorted(folder.glob("nodes/*.npz")):
        with np.load(path) as arrays:
            edges, n_nodes = arrays["edges"].reshape(-1, 2).T, int(arrays["n_nodes"])
        yield "citations", Graph((edges, None), n_nodes=n_nodes, symmetrize="max")
    for path in sorted(folder.glob("nodes/*.gz")):
        yield "network", Graph(path, duplicates="max")
    for path in sorted(folder.glob("tudataset/*.zip")):
        for graph in load_tudataset(path.stem, download=False).graphs[:n_graphs]:
            yield path.stem, graph
    for mesh in list(load_shapes(download=False).values())[:n_graphs]:
        yield "shapes", mesh.graph


def error_of(W: Graph) -> tuple[float, str]:
    """Error of a product with random numbers, and the method that was taken."""
    V = np.random.default_rng(0).standard_normal((W.n_nodes, N_COLUMNS))
    operator = kernel_operator(W, KERNEL)
    found = np.asarray(operator @ V)
    used = operator.plan.method
    if W.is_directed:
        exact = expm_multiply(KERNEL.lam * W.adjacency.tocsc(), V)
    else:
        other = "lanczos" if used == "chebyshev" else "chebyshev"
        exact = np.asarray(kernel_operator(W, KERNEL, tol=1e-10, method=other) @ V)
    return distance(found, exact), used


def distance(found: FloatArray, exact: FloatArray) -> float:
    """Relative distance in the Frobenius norm; squares may overflow."""
    unit = np.abs(exact).max()
    return float(np.linalg.norm(found / unit - exact / unit) / np.linalg.norm(exact / unit))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="newcomer", description=__doc__)
    parser.add_argument("--graphs", type=int, default=N_GRAPHS, help="of each collection")
    options = parser.parse_args(arguments)
    folder = data_folder()
    if folder is None:
        raise InputError("GRFPP_DATA names no folder with data")
    worst: dict[str, float] = {}
    number: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    with warnings.catch_warnings(action="ignore"):
        for kind, graph in graphs(folder, options.graphs):
            for W in (graph, graph.normalized("sym")):
                error, method = error_of(W)
                worst[kind] = max(worst.get(kind, 0.0), error)
                number[kind] += 1
                methods[method] += 1
    for kind, error in worst.items():
        print(f"{kind:<15} {number[kind]:>4} products, largest error {error:.1e}")
    beyond = sum(error > TOL for error in worst.values())
    print(f"{number.total()} products, kinds beyond {TOL:g}: {beyond}; methods {dict(methods)}")


if __name__ == "__main__":
    main()
