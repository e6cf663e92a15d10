"""Kernels of all kinds, and functions that some are made of."""

from __future__ import annotations

import math
from fractions import Fraction

from grfpp.kernels.named import (
    Cosine,
    Diffusion,
    HeatKernel,
    InversePower,
    PersonalizedPageRank,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
)
from grfpp.kernels.taylor import TaylorKernel


def exponential(k):
    return Fraction(1, math.factorial(k))


def bessel(k):
    """Coefficients of J_0(2x): α_2 is negative, and they fall faster than those of exp."""
    return 0 if k % 2 else Fraction((-1) ** (k // 2), math.factorial(k // 2) ** 2)


def geometric_float(k):
    return 0.6**k


# All products in one convolution have one sign: nothing cancels.
TAME = [
    Diffusion(),
    Diffusion(0.1),
    Diffusion(7.5),
    Diffusion(-3.0),
    SquaredDiffusion(),
    SquaredDiffusion(-0.3),
    RegularizedLaplacian(1, 1.0),
    RegularizedLaplacian(2, 0.2),
    RegularizedLaplacian(2.5, 10.0),
    InversePower(1),
    InversePower(4),
    InversePower(4, of=2),
    InversePower(0.3, of=2),
    PersonalizedPageRank(),
    PersonalizedPageRank(0.7),
    HeatKernel(),
    HeatKernel(12.5),
    TaylorKernel(exponential),
    TaylorKernel(geometric_float, radius=1 / 0.6),
]


# The coefficients fall faster than those of the root: hundreds of digits cancel.
CANCELLING = [
    Cosine(),
    Cosine(-2.0),
    TaylorKernel(bessel),
]


# The coefficients end and those of the root do not: all digits cancel.
FINITE = [
    PStep(2, 2.0),
    PStep(3, 0.7),
    PStep(16, 1.1),
    PStep(3, -1.5),
    TaylorKernel([1, 2, 1]),
    TaylorKernel([2.5, -1.0, 0.3]),
    TaylorKernel([-2, 1, Fraction(1, 3)]),
    TaylorKernel([7]),
]


KERNELS = TAME + CANCELLING + FINITE


NAMED = [k for k in KERNELS if not isinstance(k, TaylorKernel)]
