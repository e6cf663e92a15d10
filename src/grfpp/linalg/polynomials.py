"""Where a polynomial's root series stops converging: its nearest zero that stays a branch point."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder, polydiv, polysub

from grfpp.series import product

_PRIME = 2**61 - 1
_SQUARINGS = 30
_PRECISION = 200


@lru_cache(maxsize=64)
def nearest_branch_point(polynomial: tuple[Fraction, ...], order: int) -> float:
    """Distance from 0 to the nearest zero of a polynomial that is a branch point of its root.

    Zeros whose multiplicity is a multiple of `order` are no branch points: the root of
    ``(1 + x)^2 (5 + x)`` of order 2 is singular at −5 only. Without any the root is a polynomial
    and the distance infinite. The coefficients are taken as exact.

    Examples
    --------
    >>> round(nearest_branch_point((5, 11, 7, 1), 2), 6)
    5.0
    >>> nearest_branch_point((1, 2, 1), 2)
    inf
    """
    factors = square_free_factors(polynomial)
    zeros = (smallest_zero(factor) for multiplicity, factor in factors if multiplicity % order)
    return min(zeros, default=math.inf)


def square_free_factors(polynomial: Sequence[Fraction]) -> list[tuple[int, list[Fraction]]]:
    """Factors with simple zeros and their multiplicities, by D. Y. Y. Yun's algorithm.

    Examples
    --------
    >>> [(m, [str(c) for c in f]) for m, f in square_free_factors([5, 11, 7, 1])]
    [(1, ['5', '1']), (2, ['1', '1'])]
    """
    f = _trimmed([Fraction(value) for value in polynomial])
    if len(f) < 2:
        return []
    if _is_square_free(f):
        return [(1, f)]
    derivative = polyder(np.array(f))
    common = _gcd(np.array(f), derivative)
    b, c = polydiv(f, common)[0], polydiv(derivative, common)[0]
    factors = []
    multiplicity = 1
    while len(b) > 1:
        d = polysub(c, polyder(b))
        factor = _gcd(b, d)
        if len(factor) > 1:
            factors.append((multiplicity, factor.tolist()))
        b, c = polydiv(b, factor)[0], polydiv(d, factor)[0]
        multiplicity += 1
    return factors


def _gcd(a: Any, b: Any) -> Any:
    """Monic greatest common divisor of polynomials over the fractions."""
    while b.any():
        a, b = b, polydiv(a, b)[1]
    return a / a[-1]


def smallest_zero(polynomial: Sequence[Fraction]) -> float:
    """Smallest absolute value of the zeros of a polynomial, to about eight digits.

    Graeffe's root squaring: after ``m`` rounds every zero ``z`` has become ``z^(2^m)``, and the
    bound of Fujiwara on the smallest, off by at most a factor ``2 · degree``, is off by the
    ``2^m``-th root of that. In 200 digits, so that clusters of zeros do not disturb it, as they
    do the eigenvalues of the companion matrix.

    Examples
    --------
    >>> round(smallest_zero([Fraction(6), Fraction(-5), Fraction(1)]), 6)
    2.0
    """
    exact = _trimmed([Fraction(value) for value in polynomial])
    if len(exact) < 2:
        return math.inf
    with decimal.localcontext(
        decimal.Context(prec=_PRECISION, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
    ):
        p = [Decimal(v.numerator) / Decimal(v.denominator) for v in exact]
        for _ in range(_SQUARINGS):
            p = _with_squared_zeros(p)
        fujiwara = (
            min((p[0] / abs(value)).ln() / k for k, value in enumerate(p) if k and value)
            - Decimal(2).ln()
        )
        return float((fujiwara / 2**_SQUARINGS).exp())


def _with_squared_zeros(p: list[Decimal]) -> list[Decimal]:
    """``p(√x) p(−√x)``, scaled to 1 at zero."""
    n = len(p)
    even, odd = p[0::2], p[1::2]
    result = product(even, even, n)
    for k, value in enumerate(product(odd, odd, n - 1), start=1):
        result[k] -= value
    return [value / result[0] for value in result]


def _is_square_free(f: Sequence[Fraction]) -> bool:
    """Whether ``f`` and ``f'`` have no common factor modulo a prime, and so none at all.

    A cheap test: over the fractions the numbers in Euclid's algorithm grow long.
    """
    denominator = math.lcm(*(value.denominator for value in f))
    residues = [int(value * denominator) % _PRIME for value in f]
    if residues[-1] == 0:
        return False
    a, b = residues, _trimmed([k * value % _PRIME for k, value in enumerate(residues)][1:])
    while b:
        a, b = b, _remainder(a, b)
    return len(a) == 1


def _remainder(a: list[int], b: list[int]) -> list[int]:
    """Remainder of ``a / b`` modulo the prime."""
    rest, inverse = list(a), pow(b[-1], -1, _PRIME)
    while len(rest) >= len(b):
        factor = rest[-1] * inverse
        for k, value in enumerate(b, start=len(rest) - len(b)):
            rest[k] = (rest[k] - factor * value) % _PRIME
        rest.pop()
    return _trimmed(rest)


def _trimmed(f: list[Any]) -> list[Any]:
    """Without the zeros at the top."""
    while f and f[-1] == 0:
        f.pop()
    return f
