"""``method="lanczos"``: a Krylov space for each column, with a bound on the error."""

from __future__ import annotations

import numpy as np

from grfpp.linalg.lanczos import function_times
from grfpp.operators.costs import Costs
from grfpp.operators.methods.base import Method, Product
from grfpp.operators.problem import CostEstimate
from grfpp.operators.thresholds import MAX_LANCZOS_STEPS
from grfpp.typing import FloatArray

#: Measured time of its steps over that of their pieces, relative to polynomials: the mean over the
#: cases of the planner's study.
_OVERHEAD = 1.2


class Lanczos(Method):
    """Lanczos' method, with a bound on its error."""

    name = "lanczos"
    chunk = 16

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """As many products with ``W`` as it took last time, or as polynomials take."""
        problem = self.problem
        if isinstance(problem.expansion, str):
            return self._ineligible(problem.expansion)
        known = problem.lanczos_steps
        n_steps = min(problem.optimistic_steps if known is None else known, problem.n_nodes)
        if n_steps > MAX_LANCZOS_STEPS:
            return self._ineligible(f"may take more than {MAX_LANCZOS_STEPS} steps")
        width = min(n_columns, self.chunk)
        # The recurrence, and the sum of all vectors at the end.
        seconds = n_steps * self._step_seconds(width, costs, 12)
        seconds += 0.5 * n_steps * costs.machine.check * width**0.5
        seconds *= _OVERHEAD
        n_bytes = 8 * problem.n_nodes * ((n_steps + 4) * width + 2 * n_columns)
        note = f"{n_steps} products with W{' at least' * (known is None)}"
        return self._estimate(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def times(self, block: FloatArray, tol: float) -> Product:
        """The product; one with an infinite error where too many steps would be needed."""
        product = self.attempt(block, tol, MAX_LANCZOS_STEPS)
        if product is None:
            note = f"no convergence in {MAX_LANCZOS_STEPS} steps"
            return Product(np.zeros_like(block), 1.0, 1.0, 0.0, note)
        return product

    def attempt(self, block: FloatArray, tol: float, max_steps: int) -> Product | None:
        """The product, if at most `max_steps` steps reach `tol`."""
        problem = self.problem
        first_check = max(2, problem.optimistic_steps // 2)
        krylov = function_times(
            *(problem.weights, problem.scaled_value, problem.radius, block, tol, max_steps),
            first_check=first_check,
            n_jobs=problem.n_jobs,
        )
        if krylov.product is None:
            return None
        problem.lanczos_steps = krylov.n_steps
        note = f"{krylov.n_steps} products with W"
        peak = problem.require_expansion().peak
        return Product(krylov.product, peak, krylov.error, krylov.norm, note)
