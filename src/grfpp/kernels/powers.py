"""Powers and inverse powers: regularised Laplacian, (I − W)^−d, (I − W²)^−d, p-step walks."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp.arguments import finite, positive, whole
from grfpp.errors import InputError
from grfpp.kernels.base import Kernel
from grfpp.kernels.family import LogDerivativeKernel, quiet, real_array
from grfpp.series import root_of_number_here
from grfpp.typing import FloatArray

#: Powers of 2 that float64 holds, both ways.
_RANGE = 1022


class InversePowerKernel(LogDerivativeKernel):
    """``(1 − c x^of)^−power``, or a multiple of it."""

    power: float
    of: int

    @abstractmethod
    def _c(self) -> Fraction: ...

    @property
    def radius(self) -> float:
        """Distance to the pole of ``g``."""
        try:
            distance = float(1 / self._c())
        except (OverflowError, ZeroDivisionError):  # farther than float64 can tell
            distance = math.inf
        return distance if self.of == 1 else math.sqrt(distance)

    def modulation_radius(self, degree: int) -> float:
        """Distance to the pole of ``g``, which is `radius`."""
        whole(degree, "degree", 1)
        return self.radius

    def value(self, x: npt.ArrayLike) -> FloatArray:
        """``g(x)``, also beyond the radius of convergence where it is real."""
        with quiet():
            return (1 - float(self._c()) * real_array(x) ** self.of) ** -float(self.power)

    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        c, gap = self._c(), [Fraction(0)] * (self.of - 1)
        return [*gap, self.of * Fraction(self.power) * c], [Fraction(1), *gap, -c]

    def _dense(self, weights: FloatArray) -> FloatArray:
        from scipy.linalg import fractional_matrix_power

        base = float(self._c()) * np.linalg.matrix_power(weights, self.of)
        inverse = np.linalg.inv(np.eye(len(weights)) - base)
        if self.power == int(self.power):
            return np.linalg.matrix_power(inverse, int(self.power))
        result: FloatArray = np.real(fractional_matrix_power(inverse, self.power))
        return result


@dataclass(frozen=True)
class RegularizedLaplacian(InversePowerKernel):
    """The d-regularised Laplacian kernel ``(I − c W)^−power`` with ``c = σ² / (1 + σ²)``.

    With the Laplacian ``L = I − W`` of a normalised graph, ``I + σ² L = (1 + σ²)(I − c W)``, so
    this is ``(1 + σ²)^power (I + σ² L)^−power``: the textbook kernel, scaled to ``α_0 = 1``.
    Multiply by ``(1 + σ²)^−power`` to get the textbook's numbers.

    Parameters
    ----------
    power
        The exponent ``d``, any positive number.
    sigma2
        The regularisation ``σ²``, positive.

    Examples
    --------
    >>> kernel = RegularizedLaplacian(2, sigma2=1.0)
    >>> kernel.coefficients(4)
    array([1.  , 1.  , 0.75, 0.5 ])
    >>> kernel.radius
    2.0
    """

    power: float = 1
    sigma2: float = 1.0

    name = "regularized-laplacian"
    of = 1

    def __post_init__(self) -> None:
        power = _tidy(positive(self.power, "power"))
        self._set(power=power, sigma2=positive(self.sigma2, "sigma2"))

    @property
    def c(self) -> float:
        """The factor ``σ² / (1 + σ²)`` of ``W``."""
        return float(self._c())

    def _c(self) -> Fraction:
        return Fraction(self.sigma2) / (1 + Fraction(self.sigma2))

    def _remedies(self) -> dict[str, Any]:
        return {"other": "a smaller sigma2"}


@dataclass(frozen=True)
class InversePower(InversePowerKernel):
    """The inverse powers ``(I − W)^−power`` and ``(I − W²)^−power``.

    Parameters
    ----------
    power
        The exponent, any positive number.
    of
        1 for powers of ``I − W``, 2 for powers of ``I − W²``.

    Examples
    --------
    >>> InversePower(4).modulation(2, 5)
    array([1., 1., 1., 1., 1.])
    >>> InversePower(4, of=2).coefficients(5)
    array([ 1.,  0.,  4.,  0., 10.])
    """

    power: float = 1
    of: int = 1

    name = "inverse-power"

    def __post_init__(self) -> None:
        power, of = _tidy(positive(self.power, "power")), whole(self.of, "of", 1)
        if of > 2:
            raise InputError(f"of must be 1 or 2, found {of}")
        self._set(power=power, of=of)

    def _c(self) -> Fraction:
        return Fraction(1)


@dataclass(frozen=True)
class PStep(LogDerivativeKernel):
    """The p-step random-walk kernel ``(a I + W)^p``.

    Parameters
    ----------
    p
        The number of steps, at least 1.
    a
        The weight of staying, not zero.

    Examples
    --------
    >>> kernel = PStep(2, a=2.0)
    >>> kernel.coefficients(4)
    array([4., 4., 1., 0.])
    >>> kernel.modulation(1, 4)
    array([2., 1., 0., 0.])
    >>> kernel.modulation_radius(1), kernel.modulation_radius(2)
    (inf, 2.0)
    """

    p: int = 2
    a: float = 2.0

    name = "p-step"
    radius = math.inf

    def __post_init__(self) -> None:
        p, a = whole(self.p, "p", 1), finite(self.a, "a")
        if a == 0:
            raise InputError("a must not be zero: W^p has no root series, because alpha_0 = 0")
        if abs(p * math.log2(abs(a))) > _RANGE:
            raise InputError(
                f"a^p must lie within the range of float64, found p={p} and a={a:g}; use "
                f"PStep(p, a=1) of the weights over a, or Diffusion(p / a), which so many steps are"
            )
        self._set(p=p, a=a)

    def modulation_radius(self, degree: int) -> float:
        """Return ``|a|``, or infinity when ``2 · degree`` divides ``p``: the series is finite."""
        return math.inf if self.p % (2 * whole(degree, "degree", 1)) == 0 else abs(self.a)

    def value(self, x: npt.ArrayLike) -> FloatArray:
        """Return ``(a + x)^p``."""
        with quiet():
            return (self.a + real_array(x)) ** self.p

    @property
    def sign(self) -> int:
        """1, or −1 when ``a < 0`` and ``p`` is odd: then the modulation is that of ``−K``."""
        return -1 if self.a < 0 and self.p % 2 else 1

    def _constant_here(self, order: int) -> Decimal:
        # Not by way of a^p, which may have millions of digits.
        steps, rest = divmod(self.p, order)
        distance = abs(Decimal(self.a))
        return distance**steps * root_of_number_here(distance**rest, order)

    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        return [Fraction(self.p)], [Fraction(self.a), Fraction(1)]

    def _dense(self, weights: FloatArray) -> FloatArray:
        return np.linalg.matrix_power(self.a * np.eye(len(weights)) + weights, self.p)

    def _remedies(self) -> dict[str, Any]:
        finite = {} if self.p % 2 else {"degree": self.p // 2}
        return {"other": "a larger a", **finite}


def _tidy(power: float) -> float:
    """Show a whole number as one."""
    return int(power) if power == int(power) else power


class InversePowerForm(NamedTuple):
    """A kernel as ``factor · (I − c W^of)^-power``."""

    c: float
    of: int
    power: float
    factor: float


def inverse_power_form(kernel: Kernel) -> InversePowerForm | None:
    """What the kernel is an inverse power of, for those who solve; ``None`` for other kernels.

    Examples
    --------
    >>> inverse_power_form(RegularizedLaplacian(2, sigma2=1.0))
    InversePowerForm(c=0.5, of=1, power=2, factor=1.0)
    """
    if not isinstance(kernel, InversePowerKernel):
        return None
    return InversePowerForm(float(kernel._c()), kernel.of, kernel.power, float(kernel.value(0.0)))
