"""Laws with a longest walk. They cut a kernel's series off there: see `grfpp.walks.truncation`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from grfpp.arguments import finite
from grfpp.elementary import exp
from grfpp.errors import InputError, shown
from grfpp.memory import require_bytes
from grfpp.termination.base import Termination, store
from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True)
class _UpTo(Termination):
    """A law whose only parameter is the longest length."""

    n: int

    def __post_init__(self) -> None:
        store(self, n=_steps(self.n, "n"))

    @property
    def max_length(self) -> int:
        return self.n


@dataclass(frozen=True)
class FixedLength(_UpTo):
    """Every walk takes exactly `n` steps (fewer only at a dead end)."""

    name: ClassVar[str] = "fixed"

    @property
    def mean(self) -> float:
        return float(self.n)

    def _pmf(self, k: IntArray) -> FloatArray:
        return np.where(k == self.n, 1.0, 0.0)

    def _survival(self, k: IntArray) -> FloatArray:
        return np.where(k <= self.n, 1.0, 0.0)

    @classmethod
    def _with_mean(cls, mean: float) -> Self:
        return cls(_steps(_unrounded(mean), "the mean of a fixed length"))


@dataclass(frozen=True)
class UniformLength(_UpTo):
    """All lengths from 0 to `n` are equally likely."""

    name: ClassVar[str] = "uniform"

    @property
    def mean(self) -> float:
        return self.n / 2.0

    def _pmf(self, k: IntArray) -> FloatArray:
        return np.where(k <= self.n, 1.0 / (self.n + 1.0), 0.0)

    def _survival(self, k: IntArray) -> FloatArray:
        return np.asarray(np.maximum(self.n + 1.0 - k, 0.0) / (self.n + 1.0))

    @classmethod
    def _with_mean(cls, mean: float) -> Self:
        return cls(_steps(_unrounded(2.0 * mean), "twice the mean of a uniform length"))


@dataclass(frozen=True, init=False)
class CustomLength(Termination):
    """Length ``k`` has probability ``probabilities[k]``; they must sum to one."""

    probabilities: tuple[float, ...]
    name: ClassVar[str] = "custom"

    def __init__(self, probabilities: Sequence[float] | FloatArray) -> None:
        try:
            values = np.asarray(probabilities)
        except ValueError:  # lists of different lengths
            values = np.asarray("")
        if values.dtype.kind not in "iuf":
            raise InputError("probabilities must be a sequence of numbers")
        require_bytes(64 * values.size, f"a law of {values.size} lengths")
        values = values.astype(np.float64)
        if values.ndim != 1 or len(values) == 0:
            raise InputError(f"probabilities must be a non-empty list, found shape {values.shape}")
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise InputError("probabilities must be finite and not negative")
        with np.errstate(over="ignore"):
            total = float(values.sum())
        if abs(total - 1.0) > 1e-9:
            raise InputError(f"probabilities must sum to 1, found {total:.12g}")
        values = np.trim_zeros(values / total, "b")
        store(self, probabilities=tuple(values.tolist()))

    @property
    def mean(self) -> float:
        return float(np.arange(len(self.probabilities)) @ np.asarray(self.probabilities))

    @property
    def max_length(self) -> int:
        return len(self.probabilities) - 1

    def _pmf(self, k: IntArray) -> FloatArray:
        padded = np.append(self.probabilities, 0.0)
        return np.asarray(padded[np.minimum(k, len(self.probabilities))])

    def _survival(self, k: IntArray) -> FloatArray:
        # Summed from the far end, so that small tails keep their digits.
        tail = np.append(np.cumsum(self.probabilities[::-1])[::-1], 0.0)
        return np.asarray(np.minimum(tail[np.minimum(k, len(self.probabilities))], 1.0))

    @classmethod
    def matching(
        cls, other: Termination, probabilities: Sequence[float] | FloatArray | None = None
    ) -> Self:
        """Tilt `probabilities` exponentially until their mean is that of `other`.

        Without `probabilities`, the lengths ``0 … 4·mean`` are tilted from equal ones.
        """
        if probabilities is None:
            return cls._with_mean(other.mean)
        return cls._tilted(cls(probabilities), other.mean)

    @classmethod
    def _with_mean(cls, mean: float) -> Self:
        n = max(1, int(np.ceil(4.0 * mean)))
        require_bytes(64 * n, f"a law of {n} lengths")
        return cls._tilted(cls(np.full(n + 1, 1.0 / (n + 1))), mean)

    @classmethod
    def _tilted(cls, base: CustomLength, mean: float) -> Self:
        from scipy.optimize import brentq

        lengths = np.arange(base.max_length + 1)
        support = np.flatnonzero(base.probabilities)
        if not support[0] < mean < support[-1]:
            raise InputError(
                f"lengths from {support[0]} to {support[-1]} cannot have mean {mean:g}"
            )

        def tilted(rate: float) -> FloatArray:
            logs = np.where(np.asarray(base.probabilities) > 0, rate * lengths, -np.inf)
            weights = np.asarray(base.probabilities) * exp(logs - logs.max())
            return np.asarray(weights / weights.sum())

        rate = brentq(lambda rate: lengths @ tilted(rate) - mean, -700.0, 700.0, xtol=1e-14)
        return cls(tilted(rate))


def _unrounded(mean: float) -> float:
    """The whole number that a computed mean, such as 18.999999999999996, stands for."""
    return float(round(mean)) if abs(mean - round(mean)) <= 1e-12 * mean else mean


def _steps(value: float, name: str) -> int:
    """A number of steps; 5.0, as the command line reads it, is one too."""
    number = finite(value, name)
    if number < 0 or number != np.floor(number):
        raise InputError(f"{name} must be a whole number >= 0, found {shown(value)}")
    return int(number)
