"""``method="lanczos"``: each column's own Krylov space, for as long as its error is too large."""

from __future__ import annotations

import numpy as np

from grfpp.errors import InputError
from grfpp.linalg.functions import krylov
from grfpp.planner.costs import Costs
from grfpp.planner.methods.base import Method, Multiplier, Product
from grfpp.planner.methods.polynomials import step_seconds
from grfpp.planner.plan import Offer
from grfpp.planner.problem import Problem
from grfpp.typing import FloatArray

#: What its steps take, over what the pieces they are made of take: the mean over the study's
#: settling cases, in relation to polynomials.
_SLOWER = 1.2
#: More vectors take more memory and time than all other methods.
MOST_STEPS = 400


class Lanczos(Method):
    """Lanczos' method, with a bound on its error."""

    name = "lanczos"
    chunk = 16

    def offer(self, problem: Problem, n_columns: int, costs: Costs) -> Offer:
        """As many products with ``W`` as it took last time, or as polynomials take."""
        if isinstance(problem.expansion, str):
            return self._out(problem.expansion)
        known = problem.krylov_steps
        n_steps = min(problem.hoped_steps if known is None else known, problem.n_nodes)
        if n_steps > MOST_STEPS:
            return self._out(f"may take more than {MOST_STEPS} steps")
        width = min(n_columns, self.chunk)
        # The recurrence, and the sum of all vectors at the end.
        seconds = n_steps * step_seconds(problem, width, costs, 12)
        seconds += 0.5 * n_steps * costs.machine.check * width**0.5
        seconds *= _SLOWER
        n_bytes = 8 * problem.n_nodes * ((n_steps + 4) * width + 2 * n_columns)
        note = f"{n_steps} products with W{' at least' * (known is None)}"
        return self._offer(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def prepare(self, problem: Problem) -> Multiplier:
        """Nothing but a check."""
        if isinstance(problem.expansion, str):
            raise InputError(problem.expansion)
        return KrylovMultiplier(problem)


class KrylovMultiplier:
    """Columns by Lanczos' method."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def times(self, block: FloatArray, tol: float) -> Product:
        """The product, or what is known of it where too many steps would be needed."""
        found = self.attempt(block, tol, MOST_STEPS)
        if found is None:
            return Product(np.zeros_like(block), 1.0, 1.0, 0.0, f"{MOST_STEPS} steps")
        return found

    def attempt(self, block: FloatArray, tol: float, most: int) -> Product | None:
        """The product, if so many steps reach `tol`."""
        problem = self._problem
        assert not isinstance(problem.expansion, str)
        first = max(2, problem.hoped_steps // 2)
        found = krylov.function_times(
            problem.weights, problem.scaled_value, problem.radius, block, tol, most, first
        )
        if found.product is None:
            return None
        problem.krylov_steps = found.n_steps
        note = f"{found.n_steps} products with W"
        return Product(found.product, problem.expansion.peak, found.error, found.norm, note)
