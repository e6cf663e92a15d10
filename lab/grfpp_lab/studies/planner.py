"""Regret of the planner: the time of what it picks, over that of the best method.

``python -m grfpp_lab.studies.planner`` prints a table of 24 combinations of graph, kernel and
columns. Times are those of ``kernel_operator(W, kernel) @ V`` with everything in it, planning too;
beside it every method that is asked for by name. Errors are measured against a reference of 1e-10.
The constants of the cost model were fitted on other graphs, kernels and columns: ``--cases
settling``. ``--curves`` prints error against seconds for each method on each kind of graph.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from time import perf_counter
from typing import NamedTuple

import numpy as np

from grfpp import datasets
from grfpp.errors import InputError
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, InversePower, Kernel
from grfpp.operators import kernel_operator
from grfpp.operators.costs import current_costs
from grfpp.operators.methods import METHODS
from grfpp.operators.planner import choose
from grfpp.operators.problem import Problem
from grfpp.typing import FloatArray
from grfpp.warmup import warmup
from grfpp_lab.benchmark.timing import best_seconds, timed
from grfpp_lab.graphs import dense, grid, random_regular, scale_free

#: With the scale of the weights.
KERNELS: dict[str, tuple[Kernel, float]] = {
    "exp(W)": (Diffusion(1.0), 1.0),
    "exp(20 W)": (Diffusion(20.0), 1.0),
    "(I - .95 W)^-1": (InversePower(1), 0.95),
}
SETTLING_KERNELS: dict[str, tuple[Kernel, float]] = {
    "exp(2 W)": (Diffusion(2.0), 1.0),
    "exp(12 W)": (Diffusion(12.0), 1.0),
    "(I - .9 W)^-2": (InversePower(2), 0.9),
}
GRAPHS: dict[str, Callable[[], Graph]] = {
    "karate": lambda: datasets.load_graph("karate", download=False).graph,
    "scale-free 3,000": partial(scale_free, 3000, 3, seed=7),
    "dense 2,000": partial(dense, 2000, 600, seed=7),
    "Erdős–Rényi 30,000": partial(dense, 30_000, 8, seed=7),
    "sphere mesh 40,962": lambda: datasets.triangulated_sphere(6).graph,
    "scale-free 200,000": partial(scale_free, 200_000, 5, seed=7),
    "grid 1,000,000": partial(grid, 1_000_000),
    "10-regular 1,000,000": partial(random_regular, 1_000_000, seed=7),
}
SETTLING_GRAPHS: dict[str, Callable[[], Graph]] = {
    "scale-free 100": partial(scale_free, 100, 3, seed=1),
    "Erdős–Rényi 500": partial(dense, 500, 10, seed=1),
    "dense 800": partial(dense, 800, 200, seed=1),
    "dense 4,000": partial(dense, 4000, 800, seed=1),
    "scale-free 12,000": partial(scale_free, 12_000, 6, seed=1),
    "grid 90,000": partial(grid, 90_000),
    "10-regular 300,000": partial(random_regular, 300_000, seed=1),
}
#: Columns of the three kernels on each graph; 1,000 columns of a million nodes fit nowhere.
COLUMNS: dict[str, tuple[int, int, int]] = {
    "karate": (1, 16, 1000),
    "scale-free 3,000": (16, 1000, 1),
    "dense 2,000": (1000, 1, 16),
    "Erdős–Rényi 30,000": (1, 16, 1000),
    "sphere mesh 40,962": (16, 1000, 1),
    "scale-free 200,000": (16, 1, 16),
    "grid 1,000,000": (1, 16, 1),
    "10-regular 1,000,000": (16, 1, 16),
}
TOL = 1e-3
#: Methods slower than this multiple of the best, and than this many seconds, are not run.
_HOPELESS, _LONG = 8.0, 2.0
#: Random combinations of many columns on which errors are measured.
_PROBES = 8


class Case(NamedTuple):
    """A product to be made."""

    graph: str
    kernel: str
    n_columns: int


class Regret(NamedTuple):
    """What the planner picked in one case, and how good that was."""

    case: Case
    used: str
    seconds: float
    error: float
    #: Seconds of each method that reaches the tolerance.
    others: dict[str, float]

    @property
    def best(self) -> str:
        """The fastest method."""
        return min(self.others, key=self.others.__getitem__)

    @property
    def regret(self) -> float:
        """At least about 1."""
        return self.seconds / self.others[self.best]


def judged() -> list[Case]:
    """The 24 combinations."""
    return [
        Case(graph, kernel, n_columns)
        for graph, columns in COLUMNS.items()
        for kernel, n_columns in zip(KERNELS, columns, strict=True)
    ]


def settling() -> list[Case]:
    """Other graphs, other kernels, other columns."""
    columns = ((1, 100, 8), (8, 1, 100), (100, 8, 1))
    return [
        Case(graph, kernel, n_columns)
        for number, graph in enumerate(SETTLING_GRAPHS)
        for kernel, n_columns in zip(SETTLING_KERNELS, columns[number % 3], strict=True)
    ]


@cache
def _graph(name: str) -> Graph:
    return {**GRAPHS, **SETTLING_GRAPHS}[name]()


@cache
def _weights(name: str, scale: float) -> Graph:
    return _graph(name).normalized("sym", scale)


def _setting(case: Case) -> tuple[Graph, Kernel, FloatArray]:
    kernel, scale = {**KERNELS, **SETTLING_KERNELS}[case.kernel]
    W = _weights(case.graph, scale)
    V = np.random.default_rng(5).standard_normal((W.n_nodes, case.n_columns))
    return W, kernel, V


class _Reference:
    """Measures errors of products with one block, on random combinations of its columns."""

    def __init__(self, W: Graph, kernel: Kernel, V: FloatArray) -> None:
        width = V.shape[1]
        self._signs = np.eye(width)
        if width > _PROBES:
            self._signs = np.random.default_rng(3).choice([-1.0, 1.0], (width, _PROBES))
        exact = kernel_operator(W, kernel, tol=1e-10, method="chebyshev")
        self._wanted = exact @ (V @ self._signs)

    def error(self, product: FloatArray) -> float:
        """Relative error in the Frobenius norm."""
        difference = product @ self._signs - self._wanted
        return float(np.linalg.norm(difference) / np.linalg.norm(self._wanted))


def multiplied(W: Graph, kernel: Kernel, V: FloatArray, tol: float, method: str) -> FloatArray:
    """One product, planning and all."""
    return np.asarray(kernel_operator(W, kernel, tol, method=method, seed=0) @ V)


def regret_of(case: Case, budget: float = 1.0, tol: float = TOL) -> Regret:
    """Time the planner and every method by name."""
    W, kernel, V = _setting(case)
    reference = _Reference(W, kernel, V)
    multiply = partial(multiplied, W, kernel, V, tol)
    operator = kernel_operator(W, kernel, tol)
    product, seconds = timed(lambda: np.asarray(operator @ V))
    error = reference.error(product)
    times: dict[str, float] = {}
    problem = Problem(W, kernel, tol)
    for name, method in METHODS.items():
        estimate = method(problem).estimate(case.n_columns, current_costs())
        if estimate.ineligible_reason or estimate.seconds() > max(_LONG, _HOPELESS * seconds):
            continue
        try:
            with warnings.catch_warnings(action="ignore"):
                product, took = timed(partial(multiply, name))
        except InputError:  # walks that do not reach the tolerance
            continue
        if reference.error(product) <= tol:
            times[name] = took
    del product
    # In turns, so that what disturbs the machine disturbs all.
    fastest = min(times.values())
    rivals = [name for name, took in times.items() if took < 3 * fastest + 5e-2]
    times["auto"] = np.inf
    order = ["auto", *rivals]
    for _ in range(max(3, min(30, int(budget / fastest)))):
        order.append(order.pop(0))  # in a rotating order
        for name in order:
            times[name] = min(times[name], timed(partial(multiply, name))[1])
    seconds = times.pop("auto")
    return Regret(case, operator.used, seconds, error, times)


class Point(NamedTuple):
    """One product by one method: its seconds and its error."""

    case: Case
    method: str
    setting: str
    seconds: float
    error: float

    def __str__(self) -> str:
        return (
            f"{self.case.graph:<22} {self.case.kernel:<15} {self.case.n_columns:>5}  "
            f"{self.method:<10} {self.setting:<34} {self.seconds:9.4f} s  error {self.error:.1e}"
        )


def curves(case: Case, tolerances: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-6)) -> Iterator[Point]:
    """Error against seconds, for each method and for numbers of pooled walks."""
    W, kernel, V = _setting(case)
    reference = _Reference(W, kernel, V)
    for method in METHODS:
        if method == "walks":
            continue
        for tol in tolerances[:1] if method == "dense" else tolerances:
            plan = choose(Problem(W, kernel, tol), case.n_columns, current_costs())
            if plan[method].ineligible_reason or plan[method].seconds() > 60:
                continue
            work = partial(multiplied, W, kernel, V, tol, method)
            product, first = timed(work)
            seconds = min(first, best_seconds(work, budget=1.0, after=first))
            yield Point(case, method, f"tol={tol:g}", seconds, reference.error(product))
    for n_walks in (4, 16, 64):
        began = perf_counter()
        with warnings.catch_warnings(action="ignore"):
            try:
                K = sample(W, kernel, degree="auto", n_walks=n_walks, seed=0)
            except InputError:
                continue
        product = K @ V
        seconds = perf_counter() - began
        setting = f"{K.meta['steps_per_node']:.0f} steps a node, degree {K.degree}"
        yield Point(case, "walks", setting, seconds, reference.error(product))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="planner", description=__doc__)
    parser.add_argument("--cases", choices=["judged", "settling"], default="judged")
    parser.add_argument("--graphs", nargs="+", help="only graphs whose names begin so")
    parser.add_argument("--kernels", nargs="+", default=[""], help="only those that begin so")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each time")
    parser.add_argument("--curves", action="store_true", help="error against seconds")
    options = parser.parse_args(arguments)
    cases = judged() if options.cases == "judged" else settling()
    if options.graphs:
        cases = [each for each in cases if each.graph.startswith(tuple(options.graphs))]
    cases = [each for each in cases if each.kernel.startswith(tuple(options.kernels))]
    warmup()
    if options.curves:
        for case in cases:
            for point in curves(case):
                print(point, flush=True)
        return
    found = []
    for case in cases:
        each = regret_of(case, options.budget)
        found.append(each)
        others = ", ".join(
            f"{name} {took:.2g}"
            for name, took in sorted(each.others.items(), key=lambda pair: pair[1])
        )
        print(
            f"{case.graph:<22} {case.kernel:<15} {case.n_columns:>5}  {each.used:<42} "
            f"{each.seconds:9.4f} s  error {each.error:.1e}  × {each.regret:.2f}  ({others})",
            flush=True,
        )
    numbers = np.array([each.regret for each in found])
    met = sum(each.error <= TOL for each in found)
    near = int(np.count_nonzero(numbers <= 1.5))
    print(
        f"{len(found)} cases: {near} within × 1.5 of the best, worst × {numbers.max():.2f}; "
        f"tolerance met in {met}"
    )


if __name__ == "__main__":
    main()
