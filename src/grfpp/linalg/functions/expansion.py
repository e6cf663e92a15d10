"""Chebyshev series of a function in units of its largest value, added up until they suffice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from grfpp.errors import InputError
from grfpp.linalg.functions import chebyshev
from grfpp.linalg.functions.shared import ScalarFunction, finite
from grfpp.linalg.norms import frobenius
from grfpp.typing import FloatArray

_EPS = float(np.finfo(np.float64).eps)
#: Coefficients are had to this share of the largest value, or less where that takes too many.
_FLOORS = (1e-15, 1e-9, 1e-6)


class Recurrence(Protocol):
    """Products with ``W`` and steps of Chebyshev's recurrence."""

    def times(self, block: FloatArray) -> FloatArray:
        """``W @ block``."""

    def step(
        self,
        current: FloatArray,
        previous: FloatArray,
        result: FloatArray,
        factor: float,
        coefficient: float,
    ) -> FloatArray:
        """``next = factor · W @ current − previous``, and ``result += coefficient · next``.

        Gives ``next``, which may take the place of `previous`.
        """


@dataclass(frozen=True, eq=False)
class Expansion:
    """``f(x) = peak · Σ c_j T_j(x / radius)`` on ``[−radius, radius]``.

    Examples
    --------
    >>> found = Expansion.of(np.exp, 20.0)
    >>> found.n_terms(1e-3), found.n_terms(1e-9)
    (16, 30)
    """

    radius: float
    #: The largest absolute value of the function.
    peak: float
    coefficients: FloatArray
    #: ``tails[j]``: what the terms from ``j`` on add up to at most, one more than there are terms.
    tails: FloatArray

    @classmethod
    def of(cls, function: ScalarFunction, radius: float) -> Self:
        """Expand a function; `InputError` where too many terms would be needed."""
        points = radius * np.cos(np.linspace(0, np.pi, 65))
        with np.errstate(over="ignore", invalid="ignore"):
            values = finite(function(points))
        peak = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
        for floor in _FLOORS:
            try:
                found = chebyshev.coefficients_of(function, radius, floor)
            except InputError:
                if floor == _FLOORS[-1]:
                    raise
                continue
            break
        coefficients = found / peak
        tails = np.append(np.cumsum(np.abs(coefficients)[::-1])[::-1], 0.0) + floor
        return cls(radius, peak, coefficients, tails)

    def n_terms(self, share: float) -> int:
        """How many terms leave at most this share of the largest value."""
        return max(1, min(int(np.count_nonzero(self.tails > share)), len(self.coefficients)))

    def times(
        self, weights: Recurrence, block: FloatArray, tol: float
    ) -> tuple[FloatArray, float, float, int]:
        """``f(W) @ block / peak``, a bound on its error, its norm, and the number of terms.

        Terms are added until what is left is at most `tol` of the product, in Frobenius' norm, or
        until there are no more.
        """
        c, n_all = self.coefficients, len(self.coefficients)
        length = frobenius(block)
        result: FloatArray = c[0] * block
        n, wanted = 1, self.n_terms(0.5 * tol)
        previous, current = block, block
        while True:
            for number in range(n, min(wanted, n_all)):
                if number == 1:
                    current = weights.times(block)
                    current *= 1 / self.radius
                    result += c[1] * current
                    previous = block.copy()  # steps write to it
                    continue
                following = weights.step(current, previous, result, 2 / self.radius, c[number])
                previous, current = current, following
            n = max(n, min(wanted, n_all))
            norm = frobenius(result)
            error = (float(self.tails[n]) + 4 * _EPS * n**0.5) * length
            if error <= 0.9 * tol * norm or n >= n_all:
                return result, error, norm, n
            # As many as leave little enough of what there is by now, and one more at least.
            share = 0.8 * tol * norm / length if length else 1.0
            wanted = max(n + 1, self.n_terms(share))
