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
    *map(grfpp.Diffusion, (1.0, 0.1, 7.5, -3.0)),
    *map(grfpp.SquaredDiffusion, (1.0, -0.3)),
    *(grfpp.RegularizedLaplacian(*each) for each in ((1, 1.0), (2, 0.2), (2.5, 10.0))),
    *map(grfpp.InversePower, (1, 4)),
    *(grfpp.InversePower(power, of=2) for power in (4, 0.3)),
    *map(grfpp.PersonalizedPageRank, (0.15, 0.7)),
    *map(grfpp.HeatKernel, (1.0, 12.5)),
    grfpp.TaylorKernel(exponential),
    grfpp.TaylorKernel(geometric_float, radius=1 / 0.6),
]
# The coefficients fall faster than those of the root: hundreds of digits cancel.
CANCELLING = [*map(grfpp.Cosine, (1.0, -2.0)), grfpp.TaylorKernel(bessel)]
# The coefficients end and those of the root do not: all digits cancel.
FINITE = [
    *(grfpp.PStep(*each) for each in ((2, 2.0), (3, 0.7), (16, 1.1), (3, -1.5))),
    *map(grfpp.TaylorKernel, ([1, 2, 1], [2.5, -1.0, 0.3], [-2, 1, Fraction(1, 3)], [7])),
]
KERNELS = TAME + CANCELLING + FINITE
NAMED = [k for k in KERNELS if not isinstance(k, grfpp.TaylorKernel)]
