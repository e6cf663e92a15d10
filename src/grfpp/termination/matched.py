"""Not a law of lengths, but how a pool shares its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NoReturn, Self

from grfpp.arguments import positive
from grfpp.errors import InputError
from grfpp.termination.base import Termination, store
from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True, init=False)
class Matched(Termination):
    """Pooled walks take `mean` steps a walk, shared by what still matters.

    Step ``k`` gets its share of the budget by ``Σ_{j ≥ k} |f(j)| ρ^j``: what the kernel's series
    has from there on. So there is no law before kernel, degree and graph are known, and independent
    walks cannot use it.

    Examples
    --------
    >>> Matched(9)
    Matched(mean=9.0)
    >>> Matched(9).survival([1])
    Traceback (most recent call last):
    grfpp.errors.InputError: Matched(mean=9.0) is a budget for pooled walks, not a law of lengths...
    """

    mean: float = 9.0  # a value of the class, so that the abstract property counts as defined
    name: ClassVar[str] = "matched"

    def __init__(self, mean: float = 9.0) -> None:
        store(self, mean=positive(mean, "mean"))

    def _pmf(self, k: IntArray) -> FloatArray:
        self._refuse()

    def _survival(self, k: IntArray) -> FloatArray:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InputError(
            f"{self!r} is a budget for pooled walks, not a law of lengths: use walks='pooled', or "
            "a law such as Geometric(0.1)"
        )

    @classmethod
    def _with_mean(cls, mean: float) -> Self:
        return cls(mean)
