"""``method="chebyshev"``: polynomials of ``W``; power series where the graph is directed."""

from __future__ import annotations

import numpy as np

from grfpp.errors import InputError
from grfpp.linalg.functions.expansion import Expansion
from grfpp.linalg.norms import frobenius
from grfpp.planner.costs import Costs, stays_in_cache
from grfpp.planner.methods.base import Method, Multiplier, Product
from grfpp.planner.plan import Offer
from grfpp.planner.problem import Problem
from grfpp.typing import FloatArray


class Chebyshev(Method):
    """Polynomials on the interval of the spectrum."""

    name = "chebyshev"

    def offer(self, problem: Problem, n_columns: int, costs: Costs) -> Offer:
        """As many products with ``W`` as the series has terms."""
        if problem.graph.is_directed:
            return _taylor_offer(self, problem, n_columns, costs)
        if isinstance(problem.expansion, str):
            return self._out(problem.expansion)
        width = min(n_columns, self.chunk)
        seconds = problem.n_terms * step_seconds(problem, width, costs)
        n_bytes = 8 * problem.n_nodes * (5 * width + 2 * n_columns)
        note = f"{problem.n_terms - 1} products with W"
        return self._offer(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def prepare(self, problem: Problem) -> Multiplier:
        """Expand the kernel."""
        if problem.graph.is_directed:
            return _Taylor(problem)
        if isinstance(problem.expansion, str):
            raise InputError(problem.expansion)
        return _Chebyshev(problem, problem.expansion)


def step_seconds(problem: Problem, width: int, costs: Costs, passes: float = 3) -> float:
    """One product with ``W``, and so many passes over the block."""
    machine, n = costs.machine, float(problem.n_nodes)
    if problem.weights.wants_dense:
        per_column = n * n * machine.dense * (1 + 15 / width) + passes * n * machine.number
        return machine.step + width * per_column
    scattered = 0.0 if stays_in_cache(n, width) else problem.scattered
    return machine.product(problem.n_entries, n, width, passes, scattered)


class _Chebyshev:
    def __init__(self, problem: Problem, expansion: Expansion) -> None:
        self._problem, self._expansion = problem, expansion

    def times(self, block: FloatArray, tol: float) -> Product:
        weights, expansion = self._problem.weights, self._expansion
        product, error, norm, n_terms = expansion.times(weights, block, tol)
        return Product(product, expansion.peak, error, norm, f"{n_terms - 1} products with W")


class _Taylor:
    """The power series, whose errors are relative to the largest entry of a column."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def times(self, block: FloatArray, tol: float) -> Product:
        graph, kernel = self._problem.graph, self._problem.kernel
        accuracy = max(1e-14, 0.9 * tol / graph.n_nodes**0.5)
        try:
            product, note = kernel.apply(graph, block, accuracy, "taylor"), "the power series"
        except InputError:
            # Terms that cancel, or too many of them.
            product, note = kernel.apply(graph, block, 1e-12), "expm_multiply"
        unit = float(np.abs(product).max(initial=0.0)) or 1.0
        product /= unit
        norm = frobenius(product)
        return Product(product, unit, accuracy * graph.n_nodes**0.5 * norm, norm, note)


def _taylor_offer(method: Method, problem: Problem, n_columns: int, costs: Costs) -> Offer:
    """How many terms there are is found on the way: about as many as on an interval."""
    try:
        found = Expansion.of(problem.kernel.value, problem.radius)
        n_terms = 2 * found.n_terms(problem.tol / problem.n_nodes)
    except InputError:
        n_terms = 200
    width = min(n_columns, method.chunk)
    seconds = n_terms * step_seconds(problem, width, costs, 4)
    n_bytes = 8 * problem.n_nodes * (6 * width + 2 * n_columns)
    offer = Offer(
        method.name,
        0.0,
        costs.correction(method.name) * seconds * n_columns / width,
        n_bytes,
        f"the power series, about {n_terms} terms",
    )
    return offer
