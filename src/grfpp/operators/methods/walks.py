"""``method="walks"``: an estimate by pooled walks, checked on the product that is asked for."""

from __future__ import annotations

import numpy as np

from grfpp.errors import DivergentSeriesError, InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.degree import predicted_error
from grfpp.estimate.sampling import sample_estimate
from grfpp.linalg.csr import frobenius
from grfpp.operators.costs import Costs
from grfpp.operators.methods.base import Method, Product
from grfpp.operators.methods.chebyshev import Chebyshev
from grfpp.operators.problem import CostEstimate, Problem
from grfpp.operators.thresholds import (
    CHECK_SAFETY,
    FAR_KERNEL_TERMS,
    FIRST_WALKS,
    MAX_WALKS,
    N_CHECKED_COLUMNS,
    WALK_DEGREES,
    WALKS_GROWTH,
)
from grfpp.options import WalkOptions
from grfpp.typing import FloatArray

#: Steps of a node and factor with 16 walks.
_STEPS = 144


class Walks(Method):
    """The estimate of `grfpp.sample`, with as many walks as the tolerance needs."""

    name = "walks"
    chunk = 1024

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._reference = Chebyshev(problem)
        self._estimated: KernelEstimate | None = None
        self._n_walks = FIRST_WALKS

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """The cost of the smallest number of walks; whether it suffices is known once sampled."""
        problem = self.problem
        if problem.walk_error is not None:
            return self._ineligible(f"walks left an error of {problem.walk_error:.2g}")
        n, machine = float(problem.n_nodes), costs.machine
        n_factors = 2 * _degree(problem)
        entries = n * _STEPS * min(1.0, n / _STEPS)
        setup = 2e-3 + n_factors * n * _STEPS * machine.walk
        # Symmetrised: both orders of the factors.
        product = 2 * n_factors * machine.product(entries, n, min(n_columns, 64), 1)
        product *= max(1.0, n_columns / 64)
        checks = self._reference.estimate(N_CHECKED_COLUMNS, costs).product
        n_bytes = 12 * n_factors * entries + 32 * n * n_columns
        note = f"{n_factors * _STEPS} steps a node at least, then a check"
        return self._estimate(costs, setup, product + checks, n_bytes, note)

    def times(self, block: FloatArray, tol: float) -> Product:
        """The product by as many walks as it takes, or the best that there was."""
        while True:
            product = self.attempt(block, tol)
            if product.reaches(tol) or self._n_walks * WALKS_GROWTH > MAX_WALKS:
                return product
            # Errors fall at least with the root of the number of walks.
            if not product.reaches(2 * tol * (MAX_WALKS / self._n_walks) ** 0.5):
                return product
            self._n_walks *= WALKS_GROWTH
            self._estimated = None

    def attempt(self, block: FloatArray, tol: float) -> Product:
        """The product by the present number of walks, and an estimate of its error."""
        if self._estimated is None:
            options = _options(self.problem, self._n_walks)
            self._estimated = sample_estimate(self.problem.graph, self.problem.kernel, options)
        K, width = self._estimated, block.shape[1]
        product = np.asarray(K @ block)
        # The mean square of the differences for random signs is the square of the error in the
        # Frobenius norm.
        signs, safety = np.eye(width), 1.0
        if width > N_CHECKED_COLUMNS:
            signs = np.random.default_rng(0).choice([-1.0, 1.0], (width, N_CHECKED_COLUMNS))
            signs /= N_CHECKED_COLUMNS**0.5
            safety = CHECK_SAFETY
        wanted = self._reference.times(np.ascontiguousarray(block @ signs), 0.1 * tol)
        product /= wanted.unit
        error = safety * (frobenius(product @ signs - wanted.scaled) + wanted.error)
        steps = K.meta["steps_per_node"]
        note = f"pooled walks of degree {K.degree}, {steps:.0f} steps a node"
        return Product(product, wanted.unit, error, frobenius(product), note)


def _degree(problem: Problem) -> int:
    return WALK_DEGREES[problem.n_terms > FAR_KERNEL_TERMS]


def _options(problem: Problem, n_walks: int) -> WalkOptions:
    return WalkOptions.of(
        degree=_degree(problem), n_walks=n_walks, seed=problem.seed, n_jobs=problem.n_jobs
    )


def predicted_walk_error(problem: Problem) -> float | None:
    """The relative error of the smallest number of walks; ``None`` where it is not predicted."""
    if problem.graph.is_directed:
        return None
    try:
        return predicted_error(problem.graph, problem.kernel, _options(problem, FIRST_WALKS))
    except (DivergentSeriesError, InputError):
        return None
