"""Kernels of all kinds, and functions that some are made of."""

from __future__ import annotations

import math
from fractions import Fraction

import grfpp


def exponential(k):
    return Fraction(1, math.factorial(k))


def bessel(k):
    """Coefficients of J_0(2x): α_2 is negative, and they fall faster than those of exp."""
    return 0 if k % 2 else Fraction((-1) ** (k // 2), math.factorial(k // 2) ** 2)


def geometric_float(k):
    return 0.6**k


# All products in one convolution have one sign: nothing cancels.
TAME = [
    grfpp.Diffusion(),
    grfpp.Diffusion(0.1),
    grfpp.Diffusion(7.5),
    grfpp.Diffusion(-3.0),
    grfpp.SquaredDiffusion(),
    grfpp.SquaredDiffusion(-0.3),
    grfpp.RegularizedLaplacian(1, 1.0),
    grfpp.RegularizedLaplacian(2, 0.2),
    grfpp.RegularizedLaplacian(2.5, 10.0),
    grfpp.InversePower(1),
    grfpp.InversePower(4),
    grfpp.InversePower(4, of=2),
    grfpp.InversePower(0.3, of=2),
    grfpp.PersonalizedPageRank(),
    grfpp.PersonalizedPageRank(0.7),
    grfpp.HeatKernel(),
    grfpp.HeatKernel(12.5),
    grfpp.TaylorKernel(exponential),
    grfpp.TaylorKernel(geometric_float, radius=1 / 0.6),
]


# The coefficients fall faster than those of the root: hundreds of digits cancel.
CANCELLING = [grfpp.Cosine(), grfpp.Cosine(-2.0), grfpp.TaylorKernel(bessel)]


# The coefficients end and those of the root do not: all digits cancel.
FINITE = [
    grfpp.PStep(2, 2.0),
    grfpp.PStep(3, 0.7),
    grfpp.PStep(16, 1.1),
    grfpp.PStep(3, -1.5),
    grfpp.TaylorKernel([1, 2, 1]),
    grfpp.TaylorKernel([2.5, -1.0, 0.3]),
    grfpp.TaylorKernel([-2, 1, Fraction(1, 3)]),
    grfpp.TaylorKernel([7]),
]


KERNELS = TAME + CANCELLING + FINITE


NAMED = [k for k in KERNELS if not isinstance(k, grfpp.TaylorKernel)]
