"""Kernels with parameters, told by their logarithmic derivative."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp import series
from grfpp.kernels.base import Kernel
from grfpp.typing import FloatArray


class Family(Kernel):
    """A kernel with parameters, the fields of a frozen dataclass."""

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel's name and parameters, which `from_dict` takes."""
        return {"kernel": self.name, **asdict(self)}  # type: ignore[call-overload]

    def _set(self, **parameters: Any) -> None:
        for name, value in parameters.items():
            object.__setattr__(self, name, value)


class LogDerivativeKernel(Family):
    """A kernel whose ``g'/g`` is a ratio of polynomials.

    That makes the series of ``g`` and of every root of it a short recurrence,
    `grfpp.series.from_log_derivative_here`.
    """

    def _constant_here(self, order: int) -> Decimal:
        """``|α_0|^(1/order)`` in the current decimal context; ``α_0 = g(0)`` is not zero."""
        return Decimal(1)

    @abstractmethod
    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        """Numerator and denominator of ``g'/g``."""

    @property
    def sign(self) -> int:
        """1, or −1 when ``α_0 < 0``: then the modulation is that of ``−K``."""
        return 1

    def _coefficients_here(self, n: int) -> list[Decimal]:
        numerator, denominator = map(_decimals, self._whole_log_derivative())
        start = self.sign * self._constant_here(1)
        return series.from_log_derivative_here(start, numerator, denominator, 1, n)

    def _modulation(self, order: int, n: int, digits: int) -> list[Decimal]:
        polynomials = self._whole_log_derivative()

        def here() -> list[Decimal]:
            numerator, denominator = map(_decimals, polynomials)
            start = self._constant_here(order)
            return series.from_log_derivative_here(start, numerator, denominator, order, n)

        return series.settled(here, digits)

    def _whole_log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        """Numerator and denominator with whole coefficients, which decimals hold exactly."""
        numerator, denominator = self._log_derivative()
        common = math.lcm(*(value.denominator for value in [*numerator, *denominator]))
        return [common * value for value in numerator], [common * value for value in denominator]


def _decimals(values: Sequence[Fraction]) -> list[Decimal]:
    return [series.decimal_here(value) for value in values]


def real_array(x: npt.ArrayLike) -> FloatArray:
    """Return numbers as a float64 array."""
    return np.asarray(x, dtype=np.float64)


def quiet() -> np.errstate:
    """Let overflow give inf, and points outside the domain nan, without warnings."""
    return np.errstate(over="ignore", divide="ignore", invalid="ignore")
