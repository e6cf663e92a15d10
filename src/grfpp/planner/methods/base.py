"""What every way to multiply with a kernel has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, Protocol

from grfpp.planner.costs import Costs
from grfpp.planner.plan import Offer
from grfpp.planner.problem import Problem
from grfpp.typing import FloatArray


class Product(NamedTuple):
    """``K @ block`` and how good it is."""

    #: In units of `unit`, which may be near the end of the range of float64.
    scaled: FloatArray
    unit: float
    #: Bound on the error, and norm of the product, both Frobenius and in units of `unit`.
    error: float
    norm: float
    #: In words: how it was made.
    note: str


class Multiplier(Protocol):
    """A kernel that multiplies, in one way."""

    def times(self, block: FloatArray, tol: float) -> Product:
        """``K @ block``, to `tol` where that can be reached; the product tells."""


class Method(ABC):
    """One way to multiply with a kernel."""

    name: ClassVar[str]
    #: Columns that are multiplied at a time.
    chunk: ClassVar[int] = 64

    @abstractmethod
    def offer(self, problem: Problem, n_columns: int, costs: Costs) -> Offer:
        """What it would take; next to no work is done."""

    def check(self, problem: Problem) -> None:  # noqa: B027 - most are for all
        """`InputError` where it is for other kernels or graphs; no work is done."""

    @abstractmethod
    def prepare(self, problem: Problem) -> Multiplier:
        """Do what has to be done once; `InputError` where it cannot be."""

    def _out(self, why: str) -> Offer:
        return Offer(self.name, out=why)

    def _offer(
        self, costs: Costs, setup: float, product: float, n_bytes: float, note: str
    ) -> Offer:
        factor = costs.correction(self.name)
        return Offer(self.name, factor * setup, factor * product, n_bytes, note)
