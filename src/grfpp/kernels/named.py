"""The kernels of the literature, each a frozen dataclass of its parameters."""

from __future__ import annotations

import decimal
import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import count
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from grfpp import series
from grfpp._checks import between, finite, positive, probability, whole
from grfpp.errors import InputError
from grfpp.kernels.base import KERNEL_CLASSES, InversePowerForm, LogDerivativeKernel, NamedKernel
from grfpp.typing import FloatArray

__all__ = ["Cosine", "Diffusion", "HeatKernel", "InversePower", "PStep", "PersonalizedPageRank"]
__all__ += ["RegularizedLaplacian", "SquaredDiffusion"]

#: Largest ``|log2 a^p|``: float64 holds numbers from 2^-1022 to 2^1024.
_MAX_LOG2 = 1022


@dataclass(frozen=True)
class _Exponential(LogDerivativeKernel):
    """``exp(λ x^of)``."""

    lam: float = 1.0

    _of = 1
    _checks: ClassVar = {"lam": finite}

    def _value(self, x: FloatArray) -> FloatArray:
        return np.exp(self.lam * x**self._of)

    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        return [*[Fraction(0)] * (self._of - 1), self._of * Fraction(self.lam)], [Fraction(1)]

    def _dense(self, weights: FloatArray) -> FloatArray:
        return _expm(self.lam * np.linalg.matrix_power(weights, self._of))


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

    References
    ----------
    R. I. Kondor and J. Lafferty, Diffusion kernels on graphs and other discrete input spaces, ICML
    2002.
    """

    name = "diffusion"
    formula = "exp(LAM W)"

    @property
    def _exponential(self) -> tuple[float, float]:  # type: ignore[override]
        return 1.0, self.lam


@dataclass(frozen=True)
class SquaredDiffusion(_Exponential):
    """Diffusion along walks of even length, ``exp(λ W²)``, with `lam` as in `Diffusion`.

    Examples
    --------
    >>> SquaredDiffusion().modulation(2, 5)
    array([1.     , 0.     , 0.25   , 0.     , 0.03125])

    References
    ----------
    Computationally-efficient Graph Modeling with Refined Graph Random Features, ICML 2026, appendix
    "GRF++ beyond Diffusion Kernels", kernel (3).
    """

    name = "squared-diffusion"
    formula = "exp(LAM W^2)"
    _of = 2


@dataclass(frozen=True)
class Cosine(NamedKernel):
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

    References
    ----------
    A. J. Smola and R. Kondor, Kernels and regularization on graphs, COLT 2003, eq. (19).
    """

    lam: float = 1.0

    name = "cosine"
    formula = "cos(LAM W) + sin(LAM W)"
    _checks: ClassVar = {"lam": finite}
    _advice = "use a smaller lam"

    def modulation_radius(self, degree: int) -> float:
        """``π / (4 |λ|)``, the distance to the nearest zero of ``g``."""
        whole(degree, "degree", 1)
        return math.pi / (4 * abs(self.lam)) if self.lam else math.inf

    def _value(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.cos(self.lam * x) + np.sin(self.lam * x))

    def _root_here(self, order: int, n: int) -> list[Decimal]:
        # The recurrence may stop at coefficients far below the precision: they change the root,
        # whose terms grow as (π/4)^−k, by less than its rounding.
        nats = (decimal.getcontext().prec + 10) * math.log(10)
        n_alpha = n if order == 1 else next(k for k in count(1) if math.lgamma(k) > nats)
        alpha, term = [], Decimal(1)
        for k in range(min(n, n_alpha)):
            alpha.append(term)
            term = (-term if k % 2 else term) / (k + 1)
        root = alpha if order == 1 else series.root_here(alpha, order, n)
        factor, ratio = Decimal(1), Decimal(self.lam)
        for k, value in enumerate(root):
            root[k] = value * factor
            factor *= ratio
        return root

    def _dense(self, weights: FloatArray) -> FloatArray:
        wave = _expm(1j * self.lam * weights)
        return np.asarray(wave.real + wave.imag)


def _exponent(value: Any, name: str) -> float:
    """A checked positive number, as `int` where it is whole."""
    number = positive(value, name)
    return int(number) if number == int(number) else number


class InversePowerKernel(LogDerivativeKernel):
    """``(1 − c x^of)^−power``, or a multiple of it."""

    power: float
    of: int

    @abstractmethod
    def _c(self) -> Fraction: ...

    @property
    def radius(self) -> float:  # type: ignore[override]
        """Distance to the pole of ``g``."""
        try:
            distance = float(1 / self._c())
        except (OverflowError, ZeroDivisionError):  # beyond the range of float64
            distance = math.inf
        return distance if self.of == 1 else math.sqrt(distance)

    @property
    def inverse_power_form(self) -> InversePowerForm:
        """The kernel as an inverse power.

        Examples
        --------
        >>> RegularizedLaplacian(2, sigma2=1.0).inverse_power_form
        InversePowerForm(c=0.5, of=1, power=2, factor=1.0)
        """
        return InversePowerForm(float(self._c()), self.of, self.power, float(self.value(0.0)))

    def _value(self, x: FloatArray) -> FloatArray:
        return np.asarray((1 - float(self._c()) * x**self.of) ** -float(self.power))

    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        c, gap = self._c(), [Fraction(0)] * (self.of - 1)
        return [*gap, self.of * Fraction(self.power) * c], [Fraction(1), *gap, -c]

    def _dense(self, weights: FloatArray) -> FloatArray:
        from scipy.linalg import fractional_matrix_power

        base = float(self._c()) * np.linalg.matrix_power(weights, self.of)
        inverse = np.linalg.inv(np.eye(len(weights)) - base)
        if self.power == int(self.power):
            return np.linalg.matrix_power(inverse, int(self.power))
        return np.asarray(np.real(fractional_matrix_power(inverse, self.power)))


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

    References
    ----------
    A. J. Smola and R. Kondor, Kernels and regularization on graphs, COLT 2003, eq. (17).
    """

    power: float = 1
    sigma2: float = 1.0

    name = "regularized-laplacian"
    formula = "(I - c W)^-POWER, c = SIGMA2 / (1 + SIGMA2)"
    of = 1
    _checks: ClassVar = {"power": _exponent, "sigma2": positive}
    _advice = "use a smaller sigma2"

    @property
    def c(self) -> float:
        """The factor ``σ² / (1 + σ²)`` of ``W``."""
        return float(self._c())

    def _c(self) -> Fraction:
        return Fraction(self.sigma2) / (1 + Fraction(self.sigma2))


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

    References
    ----------
    Computationally-efficient Graph Modeling with Refined Graph Random Features, ICML 2026, appendix
    "GRF++ beyond Diffusion Kernels", kernels (1) and (2).
    """

    power: float = 1
    of: int = 1

    name = "inverse-power"
    formula = "(I - W^OF)^-POWER, OF is 1 or 2"
    _checks: ClassVar = {"power": _exponent, "of": partial(whole, low=1, high=2)}

    def _c(self) -> Fraction:
        return Fraction(1)


@dataclass(frozen=True)
class PersonalizedPageRank(InversePowerKernel):
    """Personalised PageRank, ``α Σ (1 − α)^k W^k = α (I − (1 − α) W)^-1``.

    For ``W = graph.normalized("rw")``: row ``i`` is the PageRank vector of a surfer who goes back
    to node ``i`` with probability `alpha` before every step. Directed graphs and weights are taken
    as they are.

    Parameters
    ----------
    alpha
        The *teleport* probability, above 0 and at most 1. networkx, igraph and scikit-network ask
        for the damping factor, which is ``1 − alpha``.

    Notes
    -----
    The walk of a surfer ends at a node without out-edges, so a row may add up to less than 1.
    ``networkx.pagerank(personalization={i: 1})`` and igraph's ``prpack`` send such a surfer back to
    ``i``. Their vector is this row over its sum, ``row / row.sum()``: the order of the nodes is the
    same.

    On symmetrically normalised weights ``D^-1/2 A D^-1/2`` this is another kernel, whose rows are
    no probabilities; a warning says so.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> web = nx.karate_club_graph()
    >>> W = grfpp.Graph(web).normalized("rw")
    >>> row = PersonalizedPageRank(0.15).exact(W)[0]
    >>> theirs = nx.pagerank(web, alpha=0.85, personalization={0: 1}, tol=1e-12)
    >>> bool(np.allclose(row, list(theirs.values())))
    True

    References
    ----------
    G. Jeh and J. Widom, Scaling personalized web search, WWW 2003.
    """

    alpha: float = 0.15

    name = "personalized-pagerank"
    formula = "ALPHA (I - (1 - ALPHA) W)^-1"
    normalization = "rw"
    power = 1
    of = 1
    _checks: ClassVar = {"alpha": partial(probability, above_zero=True)}
    _advice = "use a larger alpha"

    def _c(self) -> Fraction:
        return 1 - Fraction(self.alpha)

    def _constant_here(self, order: int) -> Decimal:
        return series.root_of_number_here(Decimal(self.alpha), order)

    def _value(self, x: FloatArray) -> FloatArray:
        return self.alpha * super()._value(x)

    def _dense(self, weights: FloatArray) -> FloatArray:
        return self.alpha * super()._dense(weights)


@dataclass(frozen=True)
class HeatKernel(LogDerivativeKernel):
    """The heat kernel ``e^-t Σ t^k/k! W^k = exp(−t (I − W))`` of the random walk.

    For ``W = graph.normalized("rw")``, where ``I − W`` is the random-walk Laplacian: row ``i`` is
    where the heat of node ``i`` is after the time `t`, or a surfer who makes steps at rate 1. It is
    ``e^-t`` times `Diffusion(t)`. A surfer on a node without out-edges vanishes at the next step.

    Parameters
    ----------
    t
        The time, from 0 to 700.

    Examples
    --------
    >>> import grfpp
    >>> W = grfpp.Graph([("a", "b"), ("b", "c")]).normalized("rw")
    >>> HeatKernel(1.0).exact(W).round(3)
    array([[0.468, 0.432, 0.1  ],
           [0.216, 0.568, 0.216],
           [0.1  , 0.432, 0.468]])

    References
    ----------
    F. Chung, The heat kernel as the pagerank of a graph, PNAS 104, 2007.
    """

    t: float = 1.0

    name = "heat"
    formula = "exp(-T (I - W))"
    normalization = "rw"
    # Up to 700, exp(-t), the first coefficient, is in the range of float64.
    _checks: ClassVar = {"t": partial(between, low=0, high=700)}

    @property
    def _exponential(self) -> tuple[float, float]:  # type: ignore[override]
        return math.exp(-self.t), self.t

    def _value(self, x: FloatArray) -> FloatArray:
        return np.exp(self.t * (x - 1))

    def _constant_here(self, order: int) -> Decimal:
        return (-Decimal(self.t) / order).exp()

    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        return [Fraction(self.t)], [Fraction(1)]

    def _dense(self, weights: FloatArray) -> FloatArray:
        return _expm(self.t * (weights - np.eye(len(weights))))


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

    References
    ----------
    A. J. Smola and R. Kondor, Kernels and regularization on graphs, COLT 2003, eq. (18).
    """

    p: int = 2
    a: float = 2.0

    name = "p-step"
    formula = "(A I + W)^P"
    _checks: ClassVar = {"p": partial(whole, low=1), "a": finite}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a == 0:
            problem = "must not be zero: W^p has no root series, because alpha_0 = 0"
            raise InputError(problem, argument="a")
        if abs(self.p * math.log2(abs(self.a))) > _MAX_LOG2:
            problem = f"must be such that float64 holds a^p, found p={self.p} and a={self.a:g}"
            advice = "use PStep(p, a=1) of the weights over a, or Diffusion(p / a)"
            raise InputError(problem, argument="a", advice=advice)

    def modulation_radius(self, degree: int) -> float:
        """Return ``|a|``, or infinity when ``2 · degree`` divides ``p``: the series is finite."""
        return math.inf if self.p % (2 * whole(degree, "degree", 1)) == 0 else abs(self.a)

    def _value(self, x: FloatArray) -> FloatArray:
        return np.asarray((self.a + x) ** self.p)

    @property
    def sign(self) -> int:  # type: ignore[override]
        """1, or −1 when ``a < 0`` and ``p`` is odd: then the modulation is that of ``−K``."""
        return -1 if self.a < 0 and self.p % 2 else 1

    @property
    def _advice(self) -> str:  # type: ignore[override]
        finite_series = "" if self.p % 2 else f", or degree={self.p // 2}: its series is finite"
        return f"use a larger a{finite_series}"

    def _constant_here(self, order: int) -> Decimal:
        # Not by way of a^p, which may have millions of digits.
        steps, rest = divmod(self.p, order)
        distance = abs(Decimal(self.a))
        return distance**steps * series.root_of_number_here(distance**rest, order)

    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        return [Fraction(self.p)], [Fraction(self.a), Fraction(1)]

    def _dense(self, weights: FloatArray) -> FloatArray:
        return np.linalg.matrix_power(self.a * np.eye(len(weights)) + weights, self.p)


def _expm(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    from scipy.linalg import expm

    return np.asarray(expm(matrix))


#: The kernels of this module, by their names on the command line.
KERNELS: dict[str, Any] = dict(KERNEL_CLASSES)
