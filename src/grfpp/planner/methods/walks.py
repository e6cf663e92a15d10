"""``method="walks"``: an estimate by pooled walks, checked on the product that is asked for."""

from __future__ import annotations

import numpy as np

from grfpp.errors import DivergentSeriesError, InputError
from grfpp.estimate import KernelEstimate
from grfpp.linalg.norms import frobenius
from grfpp.options import WalkOptions
from grfpp.planner.costs import Costs
from grfpp.planner.methods.base import Method, Multiplier, Product
from grfpp.planner.methods.polynomials import Chebyshev
from grfpp.planner.plan import Offer
from grfpp.planner.problem import Problem
from grfpp.sampling import sample_estimate
from grfpp.sampling.degree import predicted_error
from grfpp.typing import FloatArray

#: Walks of the first attempt; how many times more those of the next one are; at most.
_FIRST, _MORE, _MOST = 16, 4, 1024
#: Stitching degree: kernels that reach far take the larger one.
_DEGREES, _FAR = (2, 4), 12
#: Steps of a node and factor with 16 walks.
_STEPS = 144
#: Random combinations of the columns on which a product is checked, and the safety of that.
_PROBES, _SAFETY = 8, 1.2


class Walks(Method):
    """The estimate of `grfpp.sample`, with as many walks as the tolerance needs."""

    name = "walks"
    chunk = 1024

    def offer(self, problem: Problem, n_columns: int, costs: Costs) -> Offer:
        """What the least number of walks takes: whether it suffices is found by walking."""
        if problem.walks_fail is not None:
            return self._out(f"walks left an error of {problem.walks_fail:.2g}")
        n, machine = float(problem.n_nodes), costs.machine
        n_factors = 2 * _degree(problem)
        entries = n * _STEPS * min(1.0, n / _STEPS)
        setup = 2e-3 + n_factors * n * _STEPS * machine.walk
        # Symmetrised: both orders of the factors.
        product = 2 * n_factors * machine.product(entries, n, min(n_columns, 64), 1)
        product *= max(1.0, n_columns / 64)
        probes = Chebyshev().offer(problem, _PROBES, costs).product
        n_bytes = 12 * n_factors * entries + 32 * n * n_columns
        note = f"{n_factors * _STEPS} steps a node at least, then a check"
        return self._offer(costs, setup, product + probes, n_bytes, note)

    def prepare(self, problem: Problem) -> Multiplier:
        """Nothing: how much must be walked the first product tells."""
        problem.kernel.check_converges(problem.graph, _degree(problem))
        return WalkedMultiplier(problem)


def _degree(problem: Problem) -> int:
    return _DEGREES[problem.n_terms > _FAR]


def _options(problem: Problem, n_walks: int) -> WalkOptions:
    return WalkOptions.of(
        degree=_degree(problem), n_walks=n_walks, seed=problem.seed, n_jobs=problem.n_jobs
    )


def foreseen_error(problem: Problem) -> float | None:
    """The relative error of the least number of walks; ``None`` where it cannot be foreseen."""
    if problem.graph.is_directed:
        return None
    try:
        return predicted_error(problem.graph, problem.kernel, _options(problem, _FIRST))
    except (DivergentSeriesError, InputError):
        return None


class WalkedMultiplier:
    """An estimate that grows until products are right."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._exactly = Chebyshev().prepare(problem)
        self._estimate: KernelEstimate | None = None
        self._n_walks = _FIRST

    def times(self, block: FloatArray, tol: float) -> Product:
        """The product by as many walks as it takes, or the best that there was."""
        while True:
            product = self.attempt(block, tol)
            if product.error <= tol * product.norm or self._n_walks * _MORE > _MOST:
                return product
            # Errors fall with the root of the walks at least.
            if product.error > 2 * tol * product.norm * (_MOST / self._n_walks) ** 0.5:
                return product
            self._n_walks *= _MORE
            self._estimate = None

    def attempt(self, block: FloatArray, tol: float) -> Product:
        """The product by the present number of walks, and what its error is."""
        if self._estimate is None:
            options = _options(self._problem, self._n_walks)
            self._estimate = sample_estimate(self._problem.graph, self._problem.kernel, options)
        K = self._estimate
        product = np.asarray(K @ block)
        # The mean square of these differences is the square of the error in Frobenius' norm.
        width = block.shape[1]
        signs = np.eye(width)
        if width > _PROBES:
            signs = np.random.default_rng(0).choice([-1.0, 1.0], (width, _PROBES))
            signs /= _PROBES**0.5
        wanted = self._exactly.times(np.ascontiguousarray(block @ signs), 0.1 * tol)
        unit = wanted.unit
        difference = product @ signs / unit - wanted.scaled
        error = frobenius(difference) + wanted.error
        product /= unit
        steps = K.meta["steps_per_node"]
        note = f"pooled walks of degree {K.degree}, {steps:.0f} steps a node"
        margin = _SAFETY if width > _PROBES else 1.0
        return Product(product, unit, margin * error, frobenius(product), note)
