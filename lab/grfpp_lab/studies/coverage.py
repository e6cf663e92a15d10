"""How often 95 % intervals of error bars hold the truth.

``python -m grfpp_lab.studies.coverage`` prints a table. A graph is taken many times side by side:
walks from its copies are independent, and so are as many repeats of one estimate. Deflated, `k`
eigenvectors of each copy span what `k` for each copy of all of them together span: estimates have
the same law, and are made for a few copies at a time.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputWarning
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, Kernel

KERNELS = (Diffusion(2.0),)
DEGREES = (1, 2, 4)
#: Copies whose eigenvectors are found together.
_DEFLATED_COPIES = 20
#: Half-width of a 95 % interval of a standard normal variable.
WIDTH = 1.959963984540054


class Coverage(NamedTuple):
    """Shares of intervals that hold the truth."""

    case: str
    entries: float
    rows: float
    diagonal: float
    products: float


def graphs(seed: int = 5) -> dict[str, Graph]:
    """Small graphs: plain, weighted, directed."""
    rng = np.random.default_rng(seed)
    points = rng.random((20, 2))
    distance = np.linalg.norm(points[:, np.newaxis] - points, axis=-1)
    affinity = np.exp(-(distance**2) / 0.05) * (distance < 0.5)
    np.fill_diagonal(affinity, 0.0)
    arcs = (rng.random((20, 20)) < 0.2) * rng.random((20, 20))
    np.fill_diagonal(arcs, 0.0)
    return {
        "families": Graph(nx.florentine_families_graph()).normalized("sym"),
        "weighted": Graph(affinity).normalized("sym"),
        "directed": Graph(arcs, directed=True).normalized("rw"),
    }


def coverage(
    case: str, W: Graph, kernel: Kernel, n_repeats: int, seed: int, **options: Any
) -> Coverage:
    """Entries, rows (of one node), the diagonal and products of one kind of estimate."""
    n, exact = W.n_nodes, kernel.exact(W)
    V = np.random.default_rng(1).standard_normal((n, 2))
    n_copies = n_repeats
    if deflate := options.get("deflate"):
        n_copies = min(n_repeats, _DEFLATED_COPIES)
        options = {**options, "deflate": deflate * n_copies}
    copies = Graph(sp.block_diag([W.adjacency] * n_copies, format="csr"), directed=W.is_directed)
    blocks = np.tile(np.hstack([np.eye(n), V]), (n_copies, 1))
    n_rounds = -(-n_repeats // n_copies)
    answers = [
        sample(copies, kernel, seed=seed + i, check_error=False, **options).product(
            blocks, return_std=True
        )
        for i in range(n_rounds)
    ]
    value, std = (
        np.concatenate(each).reshape(n_rounds * n_copies, n, -1)
        for each in zip(*answers, strict=True)
    )
    truth = np.hstack([exact, exact @ V])
    held = np.abs(value - truth) <= WIDTH * std + 1e-13 * np.abs(exact).max()
    matrix = held[:, :, :n]
    parts = (matrix[:, ~np.eye(n, dtype=bool)], matrix[:, 0], np.einsum("rii->ri", matrix))
    return Coverage(case, *(float(np.mean(part)) for part in (*parts, held[:, :, n:])))


def cases(n_repeats: int, seed: int, degrees: Sequence[int] = DEGREES) -> Iterator[Coverage]:
    """Degrees, walks, graphs; symmetrised or not; deflated."""
    for name, W in graphs().items():
        for kernel in KERNELS:
            for degree in degrees:
                for options in _ways(W):
                    words = ", ".join(f"{key}={value}" for key, value in options.items())
                    case = f"{name}, {kernel!r}, degree {degree}, {words}"
                    yield coverage(case, W, kernel, n_repeats, seed, degree=degree, **options)


def _ways(W: Graph) -> list[dict[str, Any]]:
    ways: list[dict[str, Any]] = [{"walks": "pooled"}, {"walks": "independent"}]
    if not W.is_directed:
        ways += [{"walks": "pooled", "symmetrize": False}, {"walks": "pooled", "deflate": 3}]
        ways += [{"walks": "independent", "symmetrize": True}]
    return ways


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="coverage", description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--degrees", type=int, nargs="+", default=list(DEGREES))
    options = parser.parse_args(arguments)
    print(f"{'':<75} entries    rows  diagonal  products")
    found = []
    with warnings.catch_warnings(category=InputWarning, action="ignore"):
        for each in cases(options.repeats, options.seed, options.degrees):
            found.append(each)
            print(f"{each.case:<75}" + "".join(f"  {share:7.3f}" for share in each[1:]), flush=True)
    shares = np.array([each[1:] for each in found])
    within = np.count_nonzero((shares >= 0.93) & (shares <= 0.97))
    print(
        f"{within} of {shares.size} shares within 0.93 and 0.97; least {shares.min():.3f}, "
        f"largest {shares.max():.3f}"
    )


if __name__ == "__main__":
    main()
