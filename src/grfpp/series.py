"""Power-series arithmetic: truncated products and real roots.

A series is the list of its coefficients, lowest first. Products work in whatever numbers they are
given. Roots are computed in decimal floating point of many digits, because float64 is not
enough: ``1/k!`` underflows before ``k = 200``, and where the coefficients of a series fall faster
than those of its root (``cos x + sin x``, ``(a + x)^p``) the terms that make up the one from the
other cancel to hundreds of digits. `stable_digits` raises the precision until the requested digits
no longer change.

Functions whose name ends in ``_here`` compute in the decimal context that they are called in.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import repeat, zip_longest
from operator import mul, sub, truediv
from typing import Any, TypeVar

import numpy as np

from grfpp.errors import InputError
from grfpp.typing import FloatArray

Number = TypeVar("Number", float, Fraction, Decimal)
Term = TypeVar("Term", int, Decimal)

#: Digits to which roots are computed by default: three more than float64 holds.
DIGITS = 20


#: Digits beyond those requested, for the rounding of long recurrences.
_GUARD_DIGITS = 20
#: Largest number of digits: series that are not stable with as many are refused.
MAX_DIGITS = 20_000
#: Mersenne primes, as moduli in which a number that is not zero becomes zero with a probability
#: below 1e-18; several, since one may divide a denominator.
_PRIMES = (2**61 - 1, 2**89 - 1, 2**107 - 1)


#: Growth of ``log R`` between two stretches from which a function counts as entire: poles and
#: branch points show less than 0.01, exp shows log 2.
_MIN_GROWTH_OF_ENTIRE = 0.05


def out_of_range(name: str) -> InputError:
    """The error of a series whose first coefficient exceeds the range of float64."""
    advice = "use a multiple of the kernel that is 1 at zero, such as PStep(p, a=1) of W / a"
    return InputError(f"{name} begins beyond the range of float64", advice=advice)


def product(a: Sequence[Number], b: Sequence[Number], n: int) -> list[Number]:
    """First `n` coefficients of the product of two series (the convolution of `a` and `b`).

    Examples
    --------
    >>> product([1, 1], [1, 1], 4)
    [1, 2, 1, 0]
    """
    zero = type(a[0])(0)
    backwards = list(b)[::-1]
    result = []
    for k in range(n):
        first = max(0, k - len(b) + 1)
        terms = map(mul, a[first : k + 1], backwards[len(b) - 1 - (k - first) :])
        result.append(sum(terms, zero))
    return result


def root(
    a: Sequence[int | float | Fraction | Decimal], order: int, n: int, digits: int = DIGITS
) -> list[Decimal]:
    """First `n` coefficients of the real root ``h`` of a series, ``h^order = a``, ``h_0 > 0``.

    Parameters
    ----------
    a
        Coefficients, taken as exact; those beyond the last are zero. ``a[0]`` must be positive.
    order
        Order of the root, at least 1.
    n
        Number of coefficients.
    digits
        Number of correct digits of each coefficient.

    Examples
    --------
    >>> [float(c) for c in root([1, 2, 1], 2, 4)]
    [1.0, 1.0, 0.0, 0.0]
    >>> [float(c) for c in root([1, 1], 2, 4)]
    [1.0, 0.5, -0.125, 0.0625]
    """
    exact = [Fraction(value) for value in a[:n]]
    if not exact or exact[0] <= 0:
        raise InputError("a series has a real root of every order only if a[0] > 0")

    def here() -> list[Decimal]:
        return root_here([decimal_here(value) for value in exact], order, n)

    return stable_digits(here, digits, lambda: zeros_of_root(exact, order, n))


def stable_digits(
    compute_here: Callable[[], list[Decimal]],
    digits: int = DIGITS,
    exact_zeros: Callable[[], Collection[int]] | None = None,
) -> list[Decimal]:
    """Run a computation at 1, 2, 4 … times the precision until `digits` digits stop changing.

    Parameters
    ----------
    compute_here
        Returns the numbers, computed in the current decimal context.
    digits
        Digits of each number on which two successive precisions must agree.
    exact_zeros
        Returns the positions of the numbers that are zero; called when some are not stable, or
        are stable at zero. Rounding can leave noise where a zero should be, at every precision, and
        can leave a zero where a small number should be. Without it zeros are taken as they come.
    """
    precision = digits + _GUARD_DIGITS
    with decimal.localcontext(context(precision)):
        coarse = compute_here()
    zeros: Collection[int] | None = None
    while precision <= MAX_DIGITS:
        precision *= 2
        with decimal.localcontext(context(precision)):
            fine = compute_here()
            share = Decimal(10) ** -digits
            unstable = [
                k
                for k, (old, new) in enumerate(zip(coarse, fine, strict=True))
                if abs(old - new) > share * abs(new) or (new == 0 and exact_zeros is not None)
            ]
        if unstable and exact_zeros is not None and zeros is None:
            zeros = exact_zeros()
        unresolved = [k for k in unstable if zeros is None or k not in zeros]
        if not unresolved:
            for k in unstable:
                fine[k] = Decimal(0)
            with decimal.localcontext(context(digits + _GUARD_DIGITS)):
                return [+value for value in fine]
        coarse = fine
    problem = f"coefficient {unresolved[0]} of the series cancels beyond {precision} digits"
    raise InputError(problem, advice="ask for fewer coefficients")


def context(precision: int) -> decimal.Context:
    """Arithmetic of `precision` digits, with exponents too wide to overflow or underflow."""
    traps = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
    low, high = decimal.MIN_EMIN, decimal.MAX_EMAX
    return decimal.Context(precision, decimal.ROUND_HALF_EVEN, low, high, traps=traps)


def decimal_here(value: Fraction) -> Decimal:
    """Round a fraction to the current decimal context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def root_of_number_here(value: Decimal, order: int) -> Decimal:
    """Real root of a positive number in the current decimal context."""
    return value if order == 1 else (value.ln() / order).exp()


def root_here(a: Sequence[Decimal], order: int, n: int) -> list[Decimal]:
    """Root of a series by J. C. P. Miller's recurrence, in the current decimal context.

    It is `from_log_derivative_here` with ``a'/a`` as the logarithmic derivative.

    References
    ----------
    P. Henrici, Applied and Computational Complex Analysis, volume 1, 1974.
    D. E. Knuth, The Art of Computer Programming, volume 2, section 4.7.
    """
    derivative = [j * value for j, value in enumerate(a)][1:]
    start = root_of_number_here(a[0], order)
    return from_log_derivative_here(start, derivative, a, order, n)


def from_log_derivative_here(
    start: Term,
    numerator: Sequence[Term],
    denominator: Sequence[Term],
    order: int,
    n: int,
    divide: Callable[[Any, Any], Any] = truediv,
) -> list[Term]:
    """First `n` coefficients of the ``h`` with ``order · h'/h = numerator/denominator``.

    ``h(0) = start``. In any numbers that `divide` divides; decimals in the current context.
    Comparing coefficients of ``order · D h' = N h`` gives
    ``order · k D_0 h_k = Σ_{j ≥ 1} (N_{j−1} − order (k − j) D_j) h_{k−j}``,
    one product for each coefficient of the polynomials.
    """
    number = type(start)
    # The weight of h_{k−j} is fixed_j − k · slope_j. It is summed before it is multiplied: where
    # it is exactly zero, as for (a + x)^p beyond k = p/order, the series must end exactly.
    pairs = zip_longest(numerator, (order * d for d in denominator[1:]), fillvalue=number(0))
    recurrence = [(j, u + j * slope, slope) for j, (u, slope) in enumerate(pairs, start=1)]
    nonzero = [row for row in recurrence if row[1] or row[2]]
    offsets = [j for j, _, _ in nonzero]
    fixed, slopes = [weight for _, weight, _ in nonzero], [slope for _, _, slope in nonzero]
    is_full, divisor = len(nonzero) == len(recurrence), order * denominator[0]
    h = [start]
    for k in range(1, n):
        earlier = reversed(h) if is_full else (h[-j] for j in offsets if j <= k)
        weights = map(sub, fixed, map(mul, repeat(number(k)), slopes))
        h.append(divide(sum(map(mul, weights, earlier), number(0)), k * divisor))
    return h


def zeros_of_root(a: Sequence[Fraction], order: int, n: int) -> frozenset[int]:
    """Positions of the exact zeros among the first `n` coefficients of ``(a / a_0)^(1/order)``.

    These coefficients are rational, so a zero stays zero modulo a prime, and anything else becomes
    zero with a probability of about 1e-18.
    """
    for prime in _PRIMES:
        if a[0].numerator % prime and all(value.denominator % prime for value in a):
            break
    else:
        return frozenset()

    def divide(dividend: int, divisor: int) -> int:
        return dividend * pow(divisor, -1, prime) % prime

    residues = [divide(value.numerator, value.denominator) for value in a]
    derivative = [j * value for j, value in enumerate(residues)][1:]
    h = from_log_derivative_here(1, derivative, residues, order, n, divide)
    return frozenset(k for k, value in enumerate(h) if value == 0)


def to_float64(series: Sequence[Decimal], scale: float = 1.0) -> FloatArray:
    """Round ``c_k · scale^k`` to float64; numbers below its range become zero.

    Raises
    ------
    OverflowError
        With the first ``k`` at which the number is too large, as its argument.
    """
    result = np.zeros(len(series))
    with decimal.localcontext(context(DIGITS + _GUARD_DIGITS)):
        factor, ratio = Decimal(1), Decimal(scale)
        for k, value in enumerate(series):
            result[k] = float(value if scale == 1.0 else value * factor)
            factor *= ratio
    too_large = np.flatnonzero(np.isinf(result))
    if len(too_large):
        raise OverflowError(int(too_large[0]))
    return result


def estimate_radius(series: Sequence[Decimal]) -> float:
    """Estimate the radius of convergence from the first coefficients (two hundred or so).

    ``log |c_k| ≈ a + b log k − k log R`` is fitted to two successive stretches. Where ``R`` grows
    from one to the next, the function is taken to be entire. This is right for series with
    singularities of the usual kinds (poles, branch points) and cannot be right for all.

    Examples
    --------
    >>> round(estimate_radius([Decimal(2) ** -k for k in range(256)]), 6)
    2.0
    """
    n = len(series)
    logs = [(k, _log(value)) for k, value in enumerate(series) if value and k >= n // 4]
    early = [point for point in logs if point[0] < n // 2]
    late = [point for point in logs if point[0] >= n // 2]
    if not late:
        return math.inf
    if min(len(early), len(late)) < 8:
        return math.exp(min(-log / k for k, log in logs))
    before, after = _decay(early), _decay(late)
    return math.inf if after - before > _MIN_GROWTH_OF_ENTIRE else math.exp(after)


def _log(value: Decimal) -> float:
    exponent = value.adjusted()
    return math.log(abs(float(value.scaleb(-exponent)))) + exponent * math.log(10)


def _decay(points: Sequence[tuple[int, float]]) -> float:
    """``log R`` by least squares."""
    slope = _fitted_slope(points)
    # Several singularities at one distance make the coefficients oscillate: fit their maxima.
    rising = [(log - slope * k, k, log) for k, log in points]
    crests = [max(rising[i : i + 8])[1:] for i in range(0, len(rising) - 7, 8)]
    return -(_fitted_slope(crests) if len(crests) >= 6 else slope)


def _fitted_slope(points: Sequence[tuple[int, float]]) -> float:
    k, log = np.array(points).T
    basis = np.stack([np.ones_like(k), np.log(k), k / k[-1]], axis=1)
    return float(np.linalg.lstsq(basis, log)[0][2] / k[-1])


def exp(x: FloatArray) -> FloatArray:
    """``e^x``, for numbers that do not overflow."""
    return _elementwise(math.exp, x)


def log(x: FloatArray) -> FloatArray:
    """The natural logarithm of numbers that are not negative; minus infinity of 0.

    Examples
    --------
    >>> log(np.array([0.0, 1.0]))
    array([-inf,   0.])
    """
    return _elementwise(lambda number: math.log(number) if number > 0 else -math.inf, x)


def power(base: float, exponents: FloatArray) -> FloatArray:
    """``base^k`` of a positive base; infinity where that overflows.

    Examples
    --------
    >>> power(0.5, np.arange(3.0)), power(10.0, np.array([400.0]))
    (array([1.  , 0.5 , 0.25]), array([inf]))
    """

    def one(exponent: float) -> float:
        try:
            return math.pow(base, exponent)
        except OverflowError:
            return math.inf

    return _elementwise(one, exponents)


def _elementwise(function: Callable[[float], float], x: FloatArray) -> FloatArray:
    numbers = np.asarray(x, dtype=np.float64)
    values = np.fromiter(map(function, numbers.ravel().tolist()), np.float64, numbers.size)
    return values.reshape(numbers.shape)
