"""Kernels given by their coefficients."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial.polynomial import polyder, polydiv, polysub, polyval

from grfpp import series
from grfpp._checks import positive, whole
from grfpp.errors import DivergentSeriesError, InputError, shown
from grfpp.graph import Graph
from grfpp.kernels.base import Kernel
from grfpp.linalg.functions import MAX_DEGREE, summable_terms
from grfpp.typing import FloatArray

Coefficient = int | float | Fraction
CoefficientFunction = Callable[[int], Any]

#: Coefficients from which the radius of a series is estimated: `series.estimate_radius` needs some
#: two hundred.
_N_SAMPLE_TERMS = 256
#: Degree up to which the zeros of a polynomial are computed, in a second.
_MAX_POLYNOMIAL = 256
#: Largest number of listed coefficients: no method makes more products with the weights.
_MAX_LISTED = MAX_DEGREE + 1
#: Prime modulus of the test for common factors: a chance one has a probability below 1e-18.
_PRIME = 2**61 - 1
#: Rounds of Graeffe's root squaring: the bound is off by a factor of ``512^(2^-30)``, 6e-9.
_SQUARINGS = 30
#: Digits in root squaring, which cancel where zeros are clustered.
_PRECISION = 200
#: Tolerance of dense kernels of directed graphs: a little above rounding.
_DENSE_ACCURACY = 1e-13


class TaylorKernel(Kernel):
    """Any kernel ``Σ α_k W^k`` by its coefficients.

    Parameters
    ----------
    coefficients
        Either ``α_0, α_1, …, α_d`` (all others are zero), or a function that gives ``α_k`` for
        every ``k``. They are taken as exact numbers: give `int`, `fractions.Fraction` or
        `decimal.Decimal` where rounding to float matters, as it does for the root of a series that
        falls fast, such as ``Fraction(1, math.factorial(k))``.
    radius
        Radius of convergence of the series, for functions. Without it, it is estimated from the
        first 256 coefficients (`grfpp.series.estimate_radius`).
    name
        Name of the kernel, which messages and files show.

    Notes
    -----
    The radius of convergence of the modulation follows from the zeros of the polynomial when the
    coefficients are listed (up to degree 256). For functions it is an estimate from 256 terms.

    A kernel with a function can be pickled if the function can; `to_dict` refuses it.

    Examples
    --------
    >>> kernel = TaylorKernel([1, 2, 1])
    >>> kernel.modulation(1, 4)
    array([1., 1., 0., 0.])
    >>> TaylorKernel([0, 1]).modulation(1, 4)
    Traceback (most recent call last):
    grfpp.errors.InputError: TaylorKernel([0, 1]) has alpha_0 = 0, so its series has no root; ...

    References
    ----------
    P. Henrici, Applied and Computational Complex Analysis, volume 1, 1974: J. C. P. Miller's
    recurrence for the modulation.
    V. Y. Pan, Solving a polynomial equation: some history and recent progress, SIAM Rev. 39, 1997:
    Graeffe's iteration for the zeros.
    M. Fujiwara, Über die obere Schranke des absoluten Betrages der Wurzeln einer algebraischen
    Gleichung, Tôhoku Math. J. 10, 1916: the bound of the zeros.
    """

    name = "taylor"

    def __init__(
        self,
        coefficients: Iterable[Any] | CoefficientFunction,
        radius: float | None = None,
        name: str | None = None,
    ) -> None:
        self._alpha: tuple[Coefficient, ...] | CoefficientFunction
        if callable(coefficients):
            self._alpha = coefficients
            self._radius = radius if radius in (None, math.inf) else positive(radius, "radius")
        else:
            if radius is not None:
                problem = "is for a function of k: a finite series converges everywhere"
                raise InputError(problem, argument="radius")
            self._alpha = _listed(coefficients)
            self._radius = math.inf
        if name is not None and not isinstance(name, str):
            raise InputError(f"must be text, found {shown(name)}", argument="name")
        self.name = "taylor" if name is None else name
        # α_0 decides whether there is a root; a function that raises is refused here.
        self._sign = -1 if self._exact(1)[0] < 0 else 1

    def __setattr__(self, name: str, value: Any) -> None:
        if "_sign" in self.__dict__:
            raise AttributeError("kernels do not change; make a new one")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaylorKernel) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self._alpha, self._radius, self.name))

    def __repr__(self) -> str:
        if callable(self._alpha):
            text = getattr(self._alpha, "__qualname__", repr(self._alpha))
            given = self._radius
        else:
            values = [str(value) for value in self._alpha]
            if len(values) > 8:
                values[7:-1] = ["..."]
            text, given = f"[{', '.join(values)}]", None
        extra = "" if given is None else f", radius={given:g}"
        extra += "" if self.name == "taylor" else f", name={self.name!r}"
        return f"TaylorKernel({text}{extra})"

    @property
    def radius(self) -> float:  # type: ignore[override]
        """Radius of convergence: infinite for listed coefficients, else as given or estimated."""
        return _estimated_radius(self, None) if self._radius is None else self._radius

    @property
    def sign(self) -> int:  # type: ignore[override]
        """1, or −1 when ``α_0 < 0``: then the modulation is that of ``−K``."""
        return self._sign

    def modulation_radius(self, degree: int) -> float:
        """Distance to the nearest zero or singularity; an estimate if a function is given."""
        stitches = whole(degree, "degree", 1)
        self._require_root()
        if callable(self._alpha) or len(self._alpha) > _MAX_POLYNOMIAL + 1:
            return min(self.radius, _estimated_radius(self, stitches))
        return nearest_branch_point(self._exact(len(self._alpha)), 2 * stitches)

    @property
    def longest_gap(self) -> float:  # type: ignore[override]
        """Number of listed coefficients; infinite for a function, whose series does not end."""
        return math.inf if callable(self._alpha) else len(self._alpha)

    def value(self, x: npt.ArrayLike) -> FloatArray:
        """Sum of the series at `x`."""
        points = np.asarray(x, dtype=np.float64)
        largest = float(np.abs(points).max(initial=0.0))
        if largest >= self.radius:
            radius = self.radius
            problem = f"the series of {self!r} converges below {radius:.6g}, found {largest:.6g}"
            raise DivergentSeriesError(problem, radius=radius, spectral_radius=largest)
        # In units of the largest point, so that the table stays in the range of float64.
        unit = largest or 1.0
        table = summable_terms(self._scaled, unit)[0] if largest else self.coefficients(1)
        return np.asarray(polyval(points / unit, table), np.float64)[()]

    def to_dict(self) -> dict[str, Any]:
        """The kernel as JSON values, for `from_dict`; refused for a function of coefficients."""
        if callable(self._alpha):
            problem = f"{self!r} has a function for its coefficients and cannot be saved"
            advice = "list the coefficients"
            raise InputError(problem, advice=advice)
        listed = [str(v) if isinstance(v, Fraction) else v for v in self._alpha]
        return {"kernel": "taylor", "coefficients": listed, "name": self.name}

    @classmethod
    def _of_parameters(cls, coefficients: Sequence[Any] = (), **others: Any) -> TaylorKernel:
        try:
            exact = [Fraction(v) if isinstance(v, str) else v for v in coefficients]
        except (ValueError, ZeroDivisionError) as error:
            raise InputError(f"must be numbers: {error}", argument="coefficients") from None
        return cls(exact, **others)

    def _exact(self, n: int) -> tuple[Fraction, ...]:
        """Return the first `n` coefficients, or all that are listed when they are fewer."""
        if callable(self._alpha):
            return _called(self._alpha, n)
        return tuple(Fraction(value) for value in self._alpha[:n])

    def _coefficients_here(self, n: int) -> list[Decimal]:
        given = [series.decimal_here(value) for value in self._exact(n)]
        return given + [Decimal(0)] * (n - len(given))

    def _scaled(self, n: int, scale: float) -> FloatArray:
        """At least the number of terms after which trailing zeros mean that the series ends."""
        min_terms = _N_SAMPLE_TERMS if callable(self._alpha) else len(self._alpha)
        return super()._scaled(max(n, min_terms), scale)

    def _modulation(self, order: int, n: int, digits: int) -> list[Decimal]:
        self._require_root()
        return series.root([self.sign * value for value in self._exact(n)], order, n, digits)

    def _require_root(self) -> None:
        if self._exact(1)[0] == 0:
            problem = f"{self!r} has alpha_0 = 0, so its series has no root"
            advice = "add a multiple of the identity (alpha_0 = c), or factor out powers of W"
            raise InputError(problem, advice=advice)

    def _dense(self, weights: FloatArray) -> FloatArray:
        return self._taylor(Graph(weights), np.eye(len(weights)), _DENSE_ACCURACY)


def _listed(coefficients: Any) -> tuple[Coefficient, ...]:
    try:
        values = list(islice(coefficients, _MAX_LISTED + 1))
    except TypeError:
        problem = f"must be a sequence of numbers or a function of k, found {shown(coefficients)}"
        raise InputError(problem, argument="coefficients") from None
    if len(values) > _MAX_LISTED:
        advice = "give longer series as a function of k"
        problem = f"must be at most {_MAX_LISTED} numbers"
        raise InputError(problem, argument="coefficients", advice=advice)
    exactly = _trimmed([_number(value, k) for k, value in enumerate(values)])
    if not exactly:
        raise InputError("must hold at least one that is not zero", argument="coefficients")
    return tuple(exactly)


def _number(value: Any, k: int) -> Coefficient:
    """One coefficient as a plain number without rounding."""
    if not isinstance(value, bool | np.bool_ | str | bytes):
        if isinstance(value, int | np.integer):
            return int(value)
        with suppress(TypeError, ValueError, OverflowError):
            if isinstance(value, Fraction | Decimal):
                return Fraction(value)
            if math.isfinite(number := float(value)):
                return number
    problem = f"must be finite real numbers, found {shown(value)} at k={k}"
    raise InputError(problem, argument="coefficients")


@lru_cache(maxsize=64)
def _called(function: CoefficientFunction, n: int) -> tuple[Fraction, ...]:
    values = []
    for k in range(n):
        try:
            value = function(k)
        except Exception as error:
            raise InputError(f"the function of coefficients failed at k={k}: {error}") from error
        values.append(Fraction(_number(value, k)))
    return tuple(values)


@lru_cache(maxsize=64)
def _estimated_radius(kernel: TaylorKernel, degree: int | None) -> float:
    if degree is None:
        return series.estimate_radius(kernel.coefficients_decimal(_N_SAMPLE_TERMS))
    return series.estimate_radius(kernel.modulation_decimal(degree, _N_SAMPLE_TERMS))


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
    with decimal.localcontext(series.context(_PRECISION)):
        p, n = [series.decimal_here(value) for value in exact], len(exact)
        for _ in range(_SQUARINGS):
            # p(√x) p(−√x), scaled to 1 at zero.
            even, odd = (series.product(part, part, n) for part in (p[0::2], p[1::2]))
            p = [(e - o) / even[0] for e, o in zip(even, [Decimal(0), *odd[:-1]], strict=True)]
        bounds = [(p[0] / abs(value)).ln() / k for k, value in enumerate(p) if k and value]
        return float(((min(bounds) - Decimal(2).ln()) / 2**_SQUARINGS).exp())


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
