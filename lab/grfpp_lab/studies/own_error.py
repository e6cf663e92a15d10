"""How well estimates know their own error, and what finding out costs.

``python -m grfpp_lab.studies.own_error`` prints a table: of how many estimates
``meta["relative_error"]`` is within 10 % of the true error, found by whole matrices.
``--cost`` prints how long walking, the pilot run of every sampling, and measuring take;
``--cost-of-bars`` how much longer answers take with error bars, over walking and the answer, on
graphs of ``--nodes`` nodes.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from grfpp import datasets
from grfpp.errors import InputWarning
from grfpp.estimate import KernelEstimate
from grfpp.estimate.error_bars import N_REPLICATES
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, InversePower, Kernel
from grfpp_lab.benchmark.timing import timed
from grfpp_lab.graphs import grid, mesh_named, random_regular, scale_free

#: With the scale of the weights.
KERNELS: dict[str, tuple[Kernel, float]] = {
    "exp(W)": (Diffusion(1.0), 1.0),
    "exp(20 W)": (Diffusion(20.0), 1.0),
    "(I - 0.9 W)^-2": (InversePower(2), 0.9),
}


_MADE: dict[str, Callable[[int], Graph]] = {
    "grid": grid,
    "10-regular": random_regular,
    "scale-free": lambda n: scale_free(n, 5),
}
#: What error bars are asked for.
QUESTIONS = ("entry", "two rows", "product", "diagonal")
#: Up to so many nodes replicates are kept too.
_KEPT = 50_000


class Known(NamedTuple):
    """Estimated errors over true errors."""

    case: str
    error: float
    #: Of the whole matrix, and of its off-diagonal part.
    ratios: list[float]
    off_diagonal: list[float]


def graphs(seed: int = 7) -> dict[str, Graph]:
    """Four graphs that the number of probes was not chosen on."""
    return {
        "scale-free 1,500": scale_free(1500, 3, seed=seed),
        "sphere 642": mesh_named("sphere 3").graph,
        "ER(800, 0.01)": datasets.erdos_renyi(800, 0.01, seed=seed),
        "grid 30 × 30": grid(900),
    }


def known_errors(n_runs: int, seed: int = 0) -> Iterator[Known]:
    """Twelve pairs of a graph and a kernel."""
    for name, graph in graphs().items():
        for title, (kernel, scale) in KERNELS.items():
            W = graph.normalized("sym", scale)
            exact = kernel.exact(W)
            off = ~np.eye(W.n_nodes, dtype=bool)
            ratios, off_diagonal, errors = [], [], []
            for run in range(n_runs):
                K = sample(W, kernel, seed=seed + run, check_error=False)
                difference = K.toarray() - exact
                true = np.linalg.norm(difference) / np.linalg.norm(exact)
                true_off_diagonal = np.linalg.norm(difference[off]) / np.linalg.norm(exact[off])
                errors.append(true)
                ratios.append(float(K.meta["relative_error"] / true))
                off_diagonal.append(float(K.meta["off_diagonal_error"] / true_off_diagonal))
            yield Known(f"{name}, {title}", float(np.mean(errors)), ratios, off_diagonal)


def print_costs() -> None:
    """Seconds of walking, of the pilot run, and of measuring."""
    for name, make in _MADE.items():
        for n in (10_000, 200_000):
            W, kernel = make(n).normalized("sym"), Diffusion(1.0)
            seconds, measuring = dict.fromkeys((False, True), np.inf), np.inf
            for turn in range(6):
                for check in (turn % 2 == 0, turn % 2 == 1):  # neither always comes first
                    start = perf_counter()
                    K = sample(W, kernel, seed=0, check_error=check)
                    seconds[check] = min(seconds[check], perf_counter() - start)
                start = perf_counter()
                K.measure_error()
                measuring = min(measuring, perf_counter() - start)
            print(
                f"{name}, {W.n_nodes:,} nodes: walking {seconds[False]:.3f} s, with the pilot run "
                f"× {seconds[True] / seconds[False]:.2f}, measuring {measuring:.3f} s",
                flush=True,
            )


def print_costs_of_bars(
    n_nodes: int, families: Sequence[str], asked_for: Sequence[str] = QUESTIONS
) -> None:
    """What error bars of single numbers add, over the time of walking and of the answer alone."""
    for name in families:
        make = _MADE[name]
        W = make(n_nodes).normalized("sym")
        walk = partial(sample, W, Diffusion(1.0), seed=0)
        walk()  # so that all is compiled
        took = timed(walk)[1]
        # Estimates that are kept must fit into memory.
        for n_groups in (0, N_REPLICATES) if n_nodes <= _KEPT else (0,):
            K, with_groups = timed(partial(walk, n_groups=n_groups))
            parts = [f"walking × {with_groups / took:.1f}"]
            for asked, question in _questions(K, asked_for).items():
                question(return_std=False)  # what is prepared once
                alone = timed(partial(question, return_std=False))[1]
                bars = timed(partial(question, return_std=True))[1]
                parts.append(f"{asked} × {(took + bars) / (took + alone):.2f}")
            print(
                f"{name}, {W.n_nodes:,} nodes, n_groups={n_groups}: {', '.join(parts)}", flush=True
            )


def _questions(K: KernelEstimate, asked_for: Sequence[str]) -> dict[str, Callable[..., Any]]:
    V = np.random.default_rng(0).standard_normal((K.n_nodes, 1))
    ways: tuple[Callable[..., Any], ...] = (
        partial(K.entry, 5, 7),
        partial(K.rows, [5, 99]),
        partial(K.product, V),
        K.diagonal,
    )
    known = dict(zip(QUESTIONS, ways, strict=True))
    return {name: known[name] for name in asked_for}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="own_error", description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--cost-of-bars", action="store_true")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--families", nargs="+", choices=list(_MADE), default=list(_MADE))
    parser.add_argument("--asked", nargs="+", choices=QUESTIONS, default=QUESTIONS)
    options = parser.parse_args(arguments)
    if options.cost or options.cost_of_bars:
        if options.cost:
            print_costs()
        if options.cost_of_bars:
            print_costs_of_bars(options.nodes, options.families, options.asked)
        return
    with warnings.catch_warnings(category=InputWarning, action="ignore"):
        for each in known_errors(options.runs):
            shares = [
                np.mean(np.abs(np.array(r) - 1) <= 0.1) for r in (each.ratios, each.off_diagonal)
            ]
            print(
                f"{each.case:<35} error {each.error:.2e}: within 10 % in {shares[0]:.0%} of runs "
                f"({min(each.ratios):.2f} to {max(each.ratios):.2f}), off the diagonal in "
                f"{shares[1]:.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
