"""What every method of the planner provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from grfpp.operators.costs import Costs, stays_in_cache
from grfpp.operators.problem import CostEstimate, Problem
from grfpp.typing import FloatArray


class Product(NamedTuple):
    """``K @ block``, with a bound on its error."""

    #: In units of `unit`, which may be near the end of the range of float64.
    scaled: FloatArray
    unit: float
    #: Bound on the error, and norm of the product, both Frobenius and in units of `unit`.
    error: float
    norm: float
    #: How it was computed, in words.
    note: str

    def reaches(self, tol: float) -> bool:
        """Whether the relative error is at most `tol`."""
        return self.error <= tol * self.norm


class Method(ABC):
    """A method of multiplying with a kernel, for one problem."""

    name: ClassVar[str]
    #: Columns that are multiplied at a time.
    chunk: ClassVar[int] = 64

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        #: Whether a product was computed: what is done once for all products is done.
        self.is_prepared = False

    @abstractmethod
    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """Predict the cost; next to no work is done."""

    def check(self) -> None:  # noqa: B027 - most serve all problems
        """`InputError` where the method is for other kernels or graphs; no work is done."""

    @abstractmethod
    def times(self, block: FloatArray, tol: float) -> Product:
        """``K @ block``, to `tol` where that can be reached; the product has its error."""

    def _ineligible(self, reason: str) -> CostEstimate:
        return CostEstimate(self.name, ineligible_reason=reason)

    def _estimate(
        self, costs: Costs, setup: float, product: float, n_bytes: float, note: str
    ) -> CostEstimate:
        factor = costs.correction(self.name)
        return CostEstimate(self.name, factor * setup, factor * product, n_bytes, note)

    def _step_seconds(self, width: int, costs: Costs, passes: float = 3) -> float:
        """Predicted time of one product with ``W`` and `passes` passes over the block."""
        problem, machine, n = self.problem, costs.machine, float(self.problem.n_nodes)
        if problem.weights.prefers_dense:
            per_column = n * n * machine.dense * (1 + 15 / width) + passes * n * machine.number
            return machine.step + width * per_column
        scattered = 0.0 if stays_in_cache(n, width) else problem.scattered
        return machine.product(problem.n_entries, n, width, passes, scattered)
