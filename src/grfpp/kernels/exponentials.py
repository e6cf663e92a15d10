"""Exponentials and their kin: diffusion, squared diffusion, cosine."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp import series
from grfpp.arguments import finite, whole
from grfpp.graph import Graph
from grfpp.kernels.family import Family, LogDerivativeKernel, quiet, real_array
from grfpp.linalg.functions import taylor
from grfpp.typing import FloatArray


@dataclass(frozen=True)
class _OfScaledWeights(Family):
    """A function of ``λ W`` without singularities."""

    lam: float = 1.0

    radius = math.inf

    def __post_init__(self) -> None:
        self._set(lam=finite(self.lam, "lam"))


@dataclass(frozen=True)
class _Exponential(_OfScaledWeights, LogDerivativeKernel):
    """``exp(λ x^of)``."""

    of = 1

    def modulation_radius(self, degree: int) -> float:
        """Infinite: ``exp`` has neither singularities nor zeros."""
        whole(degree, "degree", 1)
        return math.inf

    def value(self, x: npt.ArrayLike) -> FloatArray:
        """``g(x)``, infinite where it exceeds the range of float64."""
        with quiet():
            return np.exp(self.lam * real_array(x) ** self.of)

    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        return [*[Fraction(0)] * (self.of - 1), self.of * Fraction(self.lam)], [Fraction(1)]

    def _dense(self, weights: FloatArray) -> FloatArray:
        return _expm(self.lam * np.linalg.matrix_power(weights, self.of))


@dataclass(frozen=True)
class Diffusion(_Exponential):
    """The diffusion (heat) kernel ``exp(λ W)``.

    Parameters
    ----------
    lam
        The time ``λ``, any finite number.

    Examples
    --------
    >>> kernel = Diffusion(1.0)
    >>> kernel.coefficients(4)
    array([1.        , 1.        , 0.5       , 0.16666667])
    >>> kernel.modulation(2, 3)
    array([1.     , 0.25   , 0.03125])
    >>> kernel.exact([[0, 1], [1, 0]])
    array([[1.54308063, 1.17520119],
           [1.17520119, 1.54308063]])
    """

    name = "diffusion"

    def _expm_multiply(self, graph: Graph, vectors: FloatArray) -> FloatArray:
        return taylor.expm_multiply(graph, self.lam, vectors)


@dataclass(frozen=True)
class SquaredDiffusion(_Exponential):
    """Diffusion along walks of even length, ``exp(λ W²)``, with `lam` as in `Diffusion`.

    Examples
    --------
    >>> SquaredDiffusion().modulation(2, 5)
    array([1.     , 0.     , 0.25   , 0.     , 0.03125])
    """

    name = "squared-diffusion"
    of = 2


@dataclass(frozen=True)
class Cosine(_OfScaledWeights):
    """The cosine kernel ``cos(λ W) + sin(λ W)``.

    It is ``√2 cos(λ W − π/4)``; with ``λ = π/4`` and ``L = I − W`` that is ``√2 cos(π/4 · L)``, the
    inverse cosine kernel. Its modulation converges for spectral radii below ``π / (4 |λ|)`` only,
    because ``g`` has a zero there. The factor `lam` is any finite number.

    Examples
    --------
    >>> Cosine().coefficients(4)
    array([ 1.        ,  1.        , -0.5       , -0.16666667])
    >>> round(Cosine().modulation_radius(2), 4)
    0.7854
    """

    name = "cosine"
    sign = 1

    def modulation_radius(self, degree: int) -> float:
        """``π / (4 |λ|)``, the distance to the nearest zero of ``g``."""
        whole(degree, "degree", 1)
        return math.pi / (4 * abs(self.lam)) if self.lam else math.inf

    def value(self, x: npt.ArrayLike) -> FloatArray:
        """``cos(λ x) + sin(λ x)``."""
        angle = self.lam * real_array(x)
        return np.asarray(np.cos(angle) + np.sin(angle))[()]

    def _coefficients_here(self, n: int) -> list[Decimal]:
        return _in_powers_of(self.lam, _cosine_plus_sine_here(n))

    def _modulation(self, order: int, n: int, digits: int) -> list[Decimal]:
        def here() -> list[Decimal]:
            # Coefficients this small change the root, which falls only as (π/4)^−k, by less than
            # its rounding: the recurrence is short after all.
            alpha = _cosine_plus_sine_here(min(n, _terms_that_count_here()))
            return _in_powers_of(self.lam, series.root_here(alpha, order, n))

        return series.settled(here, digits)

    def _dense(self, weights: FloatArray) -> FloatArray:
        wave = _expm(1j * self.lam * weights)
        result: FloatArray = wave.real + wave.imag
        return result

    def _remedies(self) -> dict[str, Any]:
        return {"other": "a smaller lam"}


def _terms_that_count_here() -> int:
    """How many ``1/k!`` are not below the rounding of 1 by a factor of 1e10."""
    nats = (decimal.getcontext().prec + 10) * math.log(10)
    return next(k for k in count(1) if math.lgamma(k) > nats)


def _cosine_plus_sine_here(n: int) -> list[Decimal]:
    result, term = [], Decimal(1)
    for k in range(n):
        result.append(term)
        term = (-term if k % 2 else term) / (k + 1)
    return result


def _in_powers_of(lam: float, values: list[Decimal]) -> list[Decimal]:
    """``c_k · lam^k``: the series of ``g(lam · x)`` from that of ``g(x)``."""
    if lam == 1.0:
        return values
    factor, ratio = Decimal(1), Decimal(lam)
    result = []
    for value in values:
        result.append(value * factor)
        factor *= ratio
    return result


def _expm(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    from scipy.linalg import expm

    result: npt.NDArray[Any] = expm(matrix)
    return result
