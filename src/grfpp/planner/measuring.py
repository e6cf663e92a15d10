"""Measure what the cost model is made of, in about two seconds."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.kernels import Diffusion
from grfpp.linalg.functions.krylov import PlainSteps, function_times
from grfpp.linalg.functions.recurrence import chebyshev_step
from grfpp.planner.costs import MachineCosts, costs_file, current_costs

#: Entries of a row of the graphs that are measured on.
_DEGREE = 8


def measure_costs(seconds: float = 0.3) -> MachineCosts:
    """Time each piece for about so long; the shortest run counts.

    Examples
    --------
    >>> measure_costs(1e-4).step > 0
    True
    """
    rng = np.random.default_rng(0)

    def best(work: Callable[[], Any]) -> float:
        times: list[float] = []
        while not times or (sum(times) < seconds and len(times) < 50):
            began = perf_counter()
            work()
            times.append(perf_counter() - began)
        return min(times)

    def steps(n: int, width: int, *, is_compiled: bool = False) -> float:
        matrix = _random_graph(n, rng)
        a, b, c = rng.standard_normal((3, n, width))
        if is_compiled:
            return best(lambda: chebyshev_step(matrix, a, b, c, 2.0, 0.5))
        return best(lambda: _plain_step(matrix, a, b, c))

    step = 2 * steps(4, 1)  # as much again around it
    block = rng.standard_normal(2**18)
    other = block.copy()
    number = best(lambda: np.add(block, other, out=other)) / block.size
    small, large = 8_000, 250_000

    def entry(took: float, n: int, width: int) -> float:
        return max((took - step) / (n * width) - 3 * number, 0.1 * number) / _DEGREE

    narrow = entry(steps(small, 1), small, 1)
    wide = entry(steps(small, 16), small, 16)
    far_narrow = entry(steps(large, 1), large, 1)
    far = entry(steps(large, 16, is_compiled=True), large, 16)
    block = rng.standard_normal(2**22)
    other = block.copy()
    far_number = best(lambda: np.add(block, other, out=other)) / block.size
    square = rng.standard_normal((768, 768))
    dense = best(lambda: square @ square) / 768**3
    symmetric = square + square.T
    few, many = 128, 768
    eigen = {n: best(lambda n=n: np.linalg.eigh(symmetric[:n, :n])) for n in (few, many)}  # type: ignore[misc]  # of the loop
    cube = max((eigen[many] - eigen[few] * (many / few) ** 2) / many**3, 1e-12)
    path = sp.csr_array(np.diag(np.ones(15), 1) + np.diag(np.ones(15), -1))
    unit = np.eye(16, 1)

    def krylov() -> None:
        plain = PlainSteps(lambda v: path @ v)
        function_times(plain, lambda x: np.exp(3 * x), 2.0, unit, 1e-3, 10)

    return MachineCosts(
        step=step,
        check=best(krylov) / 6,
        narrow=narrow,
        wide=min(wide, narrow),
        far_narrow=far_narrow,
        far=far,
        number=number,
        far_number=far_number,
        dense=dense,
        eigen_square=eigen[few] / few**2,
        eigen_cube=cube,
        walk=_walk_seconds(best, rng),
    )


def measure_and_keep() -> bool:
    """Measure this machine, use what was found, and keep it; tells whether that could be done."""
    costs = measure_costs()
    current_costs().machine = costs
    return costs.write(costs_file())


def _plain_step(matrix: sp.csr_array, current: Any, previous: Any, result: Any) -> None:
    following = matrix @ current
    following *= 2.0
    following -= previous
    np.multiply(following, 0.5, out=previous)
    result += previous


def _random_graph(n: int, rng: np.random.Generator) -> sp.csr_array:
    indices = rng.integers(0, n, n * _DEGREE, dtype=np.int32)
    indptr = np.arange(0, n * _DEGREE + 1, _DEGREE, dtype=np.int32)
    return sp.csr_array((np.full(n * _DEGREE, 1 / _DEGREE), indices, indptr), shape=(n, n))


def _walk_seconds(best: Callable[[Callable[[], Any]], float], rng: np.random.Generator) -> float:
    from grfpp.sampling import sample

    n = 4000
    graph = Graph(_random_graph(n, rng), directed=True).normalized("rw")
    found: list[Any] = []
    took = best(lambda: found.append(sample(graph, Diffusion(1.0), seed=0).meta["steps_per_node"]))
    return float(took / (n * found[0]))
