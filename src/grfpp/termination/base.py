"""What every walk-length law knows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.typing import FloatArray, IntArray


class Termination(ABC):
    """A probability law on the walk lengths 0, 1, 2 and so on.

    Examples
    --------
    >>> from grfpp import Geometric, Poisson
    >>> paper = Geometric(p_halt=0.1)
    >>> paper.mean
    9.0
    >>> paper.survival([0, 1, 2])
    array([1.  , 0.9 , 0.81])
    >>> Poisson.matching(paper)
    Poisson(mean=9.0)
    """

    #: How the command line and saved files call this law.
    name: ClassVar[str]

    @property
    @abstractmethod
    def mean(self) -> float:
        """Expected number of steps of a walk."""

    @property
    def max_length(self) -> int | None:
        """Longest possible walk, or ``None`` where there is none."""
        return None

    def pmf(self, lengths: npt.ArrayLike) -> FloatArray:
        """Probability of each of the given lengths."""
        k = _lengths(lengths)
        return np.asarray(np.where(k < 0, 0.0, self._pmf(np.maximum(k, 0))), dtype=np.float64)

    def survival(self, lengths: npt.ArrayLike) -> FloatArray:
        """Probability that a walk has at least each of the given lengths."""
        k = _lengths(lengths)
        return np.asarray(np.where(k <= 0, 1.0, self._survival(np.maximum(k, 1))), dtype=np.float64)

    @abstractmethod
    def _pmf(self, k: IntArray) -> FloatArray:
        """Probabilities for ``k ≥ 0``."""

    @abstractmethod
    def _survival(self, k: IntArray) -> FloatArray:
        """Survival for ``k ≥ 1``, accurate in relative terms far into the tail."""

    @classmethod
    def matching(cls, other: Termination) -> Self:
        """The law of this kind with the same mean as `other`, for comparisons at equal cost."""
        return cls._with_mean(other.mean)

    @classmethod
    @abstractmethod
    def _with_mean(cls, mean: float) -> Self: ...

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `termination_from_dict` turns back into the law."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]


def store(law: Termination, **values: Any) -> None:
    """Store checked values on a frozen law."""
    for name, value in values.items():
        object.__setattr__(law, name, value)


def _lengths(lengths: npt.ArrayLike) -> IntArray:
    values = np.asarray(lengths)
    if values.dtype.kind not in "iu" and values.size:
        raise InputError(f"walk lengths must be whole numbers, found dtype {values.dtype}")
    return values.astype(np.int64)
