"""``method="chebyshev"``: polynomials of ``W``; power series where the graph is directed."""

from __future__ import annotations

import numpy as np

from grfpp.errors import InputError
from grfpp.linalg.chebyshev import Expansion
from grfpp.linalg.csr import frobenius
from grfpp.operators.costs import Costs
from grfpp.operators.methods.base import Method, Product
from grfpp.operators.problem import CostEstimate
from grfpp.typing import FloatArray

#: Terms that are predicted for a power series whose Chebyshev series cannot be computed.
_USUAL_TERMS = 200


class Chebyshev(Method):
    """Polynomials on the interval of the spectrum."""

    name = "chebyshev"

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """As many products with ``W`` as the series has terms."""
        problem, width, passes = self.problem, min(n_columns, self.chunk), 3
        if problem.graph.is_directed:
            n_terms, passes = self._taylor_terms(), 4
            note = f"the power series, about {n_terms} terms"
        elif isinstance(problem.expansion, str):
            return self._ineligible(problem.expansion)
        else:
            n_terms, note = problem.n_terms, f"{problem.n_terms - 1} products with W"
        seconds = n_terms * self._step_seconds(width, costs, passes)
        n_bytes = 8 * problem.n_nodes * ((passes + 2) * width + 2 * n_columns)
        return self._estimate(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def _taylor_terms(self) -> int:
        """About twice as many terms as on an interval of the same radius."""
        problem = self.problem
        try:
            expansion = Expansion.of(problem.kernel.value, problem.radius)
        except InputError:
            return _USUAL_TERMS
        return 2 * expansion.n_terms(problem.tol / problem.n_nodes)

    def times(self, block: FloatArray, tol: float) -> Product:
        """The Chebyshev series; the power series where the graph is directed."""
        if self.problem.graph.is_directed:
            return self._taylor_times(block, tol)
        expansion = self.problem.require_expansion()
        product, error, norm, n_terms = expansion.times(self.problem.weights, block, tol)
        return Product(product, expansion.peak, error, norm, f"{n_terms - 1} products with W")

    def _taylor_times(self, block: FloatArray, tol: float) -> Product:
        """The power series, whose errors are relative to the largest entry of a column."""
        graph, kernel = self.problem.graph, self.problem.kernel
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
