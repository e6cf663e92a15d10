"""Laws of the walk length, the number of steps of a walk.

Every law has the probability of each length, the survival ``τ(k) = P(length ≥ k)`` by which a
deposit after ``k`` steps is divided, and its mean. `Matched`, for pools, has a mean only: the
series of the kernel splits the budget over the steps. The estimate is unbiased for every law whose
walks can be as long as the kernel's series; its variance strongly depends on the law.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from grfpp._checks import CheckedFields, between, finite, positive, probability
from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.series import exp, power
from grfpp.typing import FloatArray, IntArray


class Termination(CheckedFields, ABC):
    """A probability law on the walk lengths 0, 1, 2 and so on.

    Examples
    --------
    >>> from grfpp import Geometric, Poisson
    >>> paper = Geometric(p_halt=0.1)
    >>> paper.mean
    9.0
    >>> paper.survival([0, 1, 2])
    array([1.  , 0.9 , 0.81])
    >>> Poisson.matching(paper)
    Poisson(mean=9.0)
    """

    #: Name of this law on the command line and in files.
    name: ClassVar[str]

    @property
    @abstractmethod
    def mean(self) -> float:
        """Expected number of steps of a walk."""

    @property
    def max_length(self) -> int | None:
        """Length of the longest possible walk; ``None`` if unbounded."""
        return None

    def pmf(self, lengths: npt.ArrayLike) -> FloatArray:
        """Probability of each of the given lengths."""
        k = _lengths(lengths)
        return np.asarray(np.where(k < 0, 0.0, self._pmf(np.maximum(k, 0))), dtype=np.float64)

    def survival(self, lengths: npt.ArrayLike) -> FloatArray:
        """Probability that a walk has at least each of the given lengths."""
        k = _lengths(lengths)
        return np.asarray(np.where(k <= 0, 1.0, self._survival(np.maximum(k, 1))), dtype=np.float64)

    @abstractmethod
    def _pmf(self, k: IntArray) -> FloatArray:
        """Probabilities for ``k ≥ 0``."""

    @abstractmethod
    def _survival(self, k: IntArray) -> FloatArray:
        """Survival for ``k ≥ 1``, with a small relative error far into the tail."""

    @classmethod
    @abstractmethod
    def matching(cls, other: Termination) -> Self:
        """The law of this class with the same mean as `other`, for comparisons at equal cost."""

    def to_dict(self) -> dict[str, Any]:
        """The law as plain values, for `termination_from_dict`."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]


def _lengths(lengths: npt.ArrayLike) -> IntArray:
    values = np.asarray(lengths)
    if values.dtype.kind not in "iu" and values.size:
        raise InputError(f"walk lengths must be whole numbers, found dtype {values.dtype}")
    return values.astype(np.int64)


@dataclass(frozen=True)
class Geometric(Termination):
    """The classic law: before every step the walker halts with probability `p_halt`.

    With this law Algorithm 2 of the paper is its Algorithm 1.

    References
    ----------
    K. Choromanski, A. Dubey, A. Sehanobish and I. Reid, Computationally-efficient graph modeling
    with refined graph random features, ICML 2026, Algorithm 1.

    Examples
    --------
    >>> law = Geometric(p_halt=0.25)
    >>> law.mean, law.pmf([0, 1, 2])
    (3.0, array([0.25    , 0.1875  , 0.140625]))
    """

    p_halt: float = 0.1
    name: ClassVar[str] = "geometric"
    _checks: ClassVar = {"p_halt": partial(probability, above_zero=True)}

    @property
    def mean(self) -> float:
        return (1.0 - self.p_halt) / self.p_halt

    def _pmf(self, k: IntArray) -> FloatArray:
        return self.p_halt * self._survival(k)

    def _survival(self, k: IntArray) -> FloatArray:
        return power(1.0 - self.p_halt, k.astype(np.float64))

    @classmethod
    def matching(cls, other: Termination) -> Self:
        return cls(1.0 / (1.0 + other.mean))


@dataclass(frozen=True, init=False)
class Poisson(Termination):
    """Poisson distributed lengths: the paper's new halting policy.

    Its tail decreases faster than any geometric one. That suits kernels whose modulation decreases
    as fast (diffusion), and gives infinite variance for others (inverse powers), which
    `grfpp.sample` refuses.

    References
    ----------
    K. Choromanski, A. Dubey, A. Sehanobish and I. Reid, Computationally-efficient graph modeling
    with refined graph random features, ICML 2026, section "Going
    beyond the Bernoulli Trial Scheme".

    Examples
    --------
    >>> law = Poisson(mean=4.0)
    >>> law.survival([1, 4, 16]).round(6)
    array([9.81684e-01, 5.66530e-01, 5.00000e-06])
    """

    mean: float = 1.0  # a value of the class, so that the abstract property counts as defined
    name: ClassVar[str] = "poisson"
    _checks: ClassVar = {"mean": positive}

    def __init__(self, mean: float) -> None:
        object.__setattr__(self, "mean", mean)
        self.__post_init__()

    def _pmf(self, k: IntArray) -> FloatArray:
        from scipy.stats import poisson

        return np.asarray(poisson.pmf(k, self.mean))

    def _survival(self, k: IntArray) -> FloatArray:
        from scipy.special import gammainc

        return np.asarray(gammainc(k.astype(np.float64), self.mean))

    @classmethod
    def matching(cls, other: Termination) -> Self:
        return cls(other.mean)


#: Accepts numbers of halting signals for which float64 resolves the probabilities.
_checked_halts = partial(between, low=1e-100, high=1e9)


@dataclass(frozen=True)
class NegativeBinomial(Termination):
    """The walker halts at the `n_halts`-th halting signal, which have probability `p_halt` each.

    One signal is the geometric law; many signals approach Poisson's law.

    Examples
    --------
    >>> law = NegativeBinomial(n_halts=2, p_halt=0.4)
    >>> law.mean, law.pmf([0, 1, 2]).round(4)
    (3.0, array([0.16  , 0.192 , 0.1728]))
    """

    n_halts: float = 2.0
    p_halt: float = 0.2
    name: ClassVar[str] = "negative-binomial"
    _checks: ClassVar = {
        "n_halts": _checked_halts,
        "p_halt": partial(probability, above_zero=True, below_one=True),
    }

    @property
    def mean(self) -> float:
        return self.n_halts * (1.0 - self.p_halt) / self.p_halt

    def _pmf(self, k: IntArray) -> FloatArray:
        from scipy.stats import nbinom

        return np.asarray(nbinom.pmf(k, self.n_halts, self.p_halt))

    def _survival(self, k: IntArray) -> FloatArray:
        from scipy.special import betainc

        return np.asarray(betainc(k.astype(np.float64), self.n_halts, 1.0 - self.p_halt))

    @classmethod
    def matching(cls, other: Termination, n_halts: float = 2.0) -> Self:
        """The law with this number of signals and the same mean as `other`."""
        signals = _checked_halts(n_halts, "n_halts")
        return cls(signals, signals / (signals + other.mean))


@dataclass(frozen=True)
class FirstStepThenGeometric(Termination):
    """The first step is always taken, every further one with probability `p_next`.

    References
    ----------
    K. Choromanski, A. Dubey, A. Sehanobish and I. Reid, Computationally-efficient graph modeling
    with refined graph random features, ICML 2026, paragraph
    "Walk-stitching with general termination strategies".

    Examples
    --------
    >>> law = FirstStepThenGeometric(p_next=0.5)
    >>> law.mean, law.survival([1, 2, 3])
    (2.0, array([1.  , 0.5 , 0.25]))
    """

    p_next: float = 0.5
    name: ClassVar[str] = "first-step"
    _checks: ClassVar = {"p_next": partial(probability, below_one=True)}

    @property
    def mean(self) -> float:
        return 1.0 / (1.0 - self.p_next)

    def _pmf(self, k: IntArray) -> FloatArray:
        return np.where(k >= 1, (1.0 - self.p_next) * self._survival(np.maximum(k, 1)), 0.0)

    def _survival(self, k: IntArray) -> FloatArray:
        return power(self.p_next, k.astype(np.float64) - 1.0)

    @classmethod
    def matching(cls, other: Termination) -> Self:
        if other.mean < 1.0:
            raise InputError(f"walks with a certain first step have mean >= 1, not {other.mean:g}")
        return cls(1.0 - 1.0 / other.mean)


def _unrounded(n: float) -> Any:
    """Undo rounding errors of whole numbers, such as 18.999999999999996."""
    return float(round(n)) if abs(n - round(n)) <= 1e-12 * n else n


def _steps(value: float, name: str) -> int:
    """Check a number of steps, which the command line reads as a float such as 5.0."""
    number = finite(value, name)
    if number < 0 or number != np.floor(number):
        raise InputError(f"must be a whole number >= 0, found {shown(value)}", argument=name)
    return int(number)


@dataclass(frozen=True)
class _BoundedLength(Termination):
    """Lengths up to `n`, which truncate the kernel's series: see `grfpp.walks.convergence`."""

    n: int
    _checks: ClassVar = {"n": _steps}

    @property
    def max_length(self) -> int:
        return self.n


@dataclass(frozen=True)
class FixedLength(_BoundedLength):
    """Every walk takes exactly `n` steps (fewer only at a dead end).

    Examples
    --------
    >>> law = FixedLength(3)
    >>> law.mean, law.max_length, law.survival([3, 4])
    (3.0, 3, array([1., 0.]))
    """

    name: ClassVar[str] = "fixed"

    @property
    def mean(self) -> float:
        return float(self.n)

    def _pmf(self, k: IntArray) -> FloatArray:
        return np.where(k == self.n, 1.0, 0.0)

    def _survival(self, k: IntArray) -> FloatArray:
        return np.where(k <= self.n, 1.0, 0.0)

    @classmethod
    def matching(cls, other: Termination) -> Self:
        return cls(_unrounded(other.mean))


@dataclass(frozen=True)
class UniformLength(_BoundedLength):
    """All lengths from 0 to `n` have the same probability.

    Examples
    --------
    >>> law = UniformLength(4)
    >>> law.mean, law.survival([0, 2, 4])
    (2.0, array([1. , 0.6, 0.2]))
    """

    name: ClassVar[str] = "uniform"

    @property
    def mean(self) -> float:
        return self.n / 2.0

    def _pmf(self, k: IntArray) -> FloatArray:
        return np.where(k <= self.n, 1.0 / (self.n + 1.0), 0.0)

    def _survival(self, k: IntArray) -> FloatArray:
        return np.asarray(np.maximum(self.n + 1.0 - k, 0.0) / (self.n + 1.0))

    @classmethod
    def matching(cls, other: Termination) -> Self:
        return cls(_unrounded(2.0 * other.mean))


@dataclass(frozen=True, init=False)
class CustomLength(Termination):
    """Length ``k`` has probability ``probabilities[k]``; they must sum to one.

    Examples
    --------
    >>> law = CustomLength([0.5, 0.0, 0.5])
    >>> law.mean, law.max_length, law.survival([1, 2])
    (1.0, 2, array([0.5, 0.5]))
    """

    probabilities: tuple[float, ...]
    name: ClassVar[str] = "custom"

    def __init__(self, probabilities: Sequence[float] | FloatArray) -> None:
        try:
            values = np.asarray(probabilities)
        except ValueError:  # lists of different lengths
            values = np.asarray("")
        if values.dtype.kind not in "iuf" or values.ndim != 1 or len(values) == 0:
            raise InputError("must be a list of numbers", argument="probabilities")
        require_bytes(64 * values.size, f"a law of {values.size} lengths")
        values = values.astype(np.float64)
        with np.errstate(over="ignore"):
            total = float(values.sum())
        if not (values >= 0).all() or not abs(total - 1.0) <= 1e-9:
            problem = f"must not be negative and must sum to 1, found a sum of {total:.12g}"
            raise InputError(problem, argument="probabilities")
        values = np.trim_zeros(values / total, "b")
        object.__setattr__(self, "probabilities", tuple(values.tolist()))

    @property
    def mean(self) -> float:
        return float(np.arange(len(self.probabilities)) @ np.asarray(self.probabilities))

    @property
    def max_length(self) -> int:
        return len(self.probabilities) - 1

    def _pmf(self, k: IntArray) -> FloatArray:
        padded = np.append(self.probabilities, 0.0)
        return np.asarray(padded[np.minimum(k, len(self.probabilities))])

    def _survival(self, k: IntArray) -> FloatArray:
        # Summed from the end, so that small tails are accurate.
        tail = np.append(np.cumsum(self.probabilities[::-1])[::-1], 0.0)
        return np.asarray(np.minimum(tail[np.minimum(k, len(self.probabilities))], 1.0))

    @classmethod
    def matching(
        cls, other: Termination, probabilities: Sequence[float] | FloatArray | None = None
    ) -> Self:
        """Tilt `probabilities` exponentially until their mean is that of `other`.

        Without `probabilities`, equal ones of the lengths ``0 … 4·mean`` are tilted.
        """
        from scipy.optimize import brentq

        if probabilities is None:
            n = max(1, int(np.ceil(4.0 * other.mean)))
            require_bytes(64 * n, f"a law of {n} lengths")
            probabilities = np.full(n + 1, 1.0 / (n + 1))
        base = np.array(cls(probabilities).probabilities)
        lengths, support = np.arange(len(base)), np.flatnonzero(base)
        if not support[0] < other.mean < support[-1]:
            lengths_given = f"lengths from {support[0]} to {support[-1]}"
            raise InputError(f"{lengths_given} cannot have mean {other.mean:g}")

        def tilted(rate: float) -> FloatArray:
            logs = np.where(base > 0, rate * lengths, -np.inf)
            weights = base * exp(logs - logs.max())
            return np.asarray(weights / weights.sum())

        rate = brentq(lambda rate: lengths @ tilted(rate) - other.mean, -700.0, 700.0, xtol=1e-14)
        return cls(tilted(rate))


@dataclass(frozen=True)
class Matched(Termination):
    """A budget of `mean` steps per walk for pooled walks, matched to the tail of the series.

    The share of step ``k`` in the budget is proportional to the tail ``Σ_{j ≥ k} |f(j)| ρ^j`` of
    the kernel's series. So it depends on kernel, degree and graph, and independent walks cannot use
    it.

    References
    ----------
    L.-H. Lim and J. Weare, Fast randomized iteration: diffusion Monte Carlo through the lens of
    numerical linear algebra, SIAM Review 59, 2017: the pools; the shares are of this library
    (`docs/mathematics.md`).

    Examples
    --------
    >>> Matched(9)
    Matched(mean=9.0)
    >>> Matched(9).survival([1])
    Traceback (most recent call last):
    grfpp.errors.InputError: Matched(mean=9.0) is a budget for pooled walks, not a law of lengths...
    """

    mean: float = 9.0
    name: ClassVar[str] = "matched"
    _checks: ClassVar = {"mean": positive}

    def _survival(self, k: IntArray) -> NoReturn:
        problem = f"{self!r} is a budget for pooled walks, not a law of lengths"
        raise InputError(problem, advice="use walks='pooled', or a law such as Geometric(0.1)")

    _pmf = _survival

    @classmethod
    def matching(cls, other: Termination) -> Self:
        return cls(other.mean)


#: Laws by the names in files and on the command line.
LAWS: dict[str, type[Termination]] = {
    law.name: law
    for law in list(globals().values())
    if isinstance(law, type) and issubclass(law, Termination) and "name" in vars(law)
}


def termination_from_dict(values: dict[str, Any]) -> Termination:
    """The law with the values of `Termination.to_dict`."""
    parameters = dict(values)
    return _law(str(parameters.pop("name", "")), values, **parameters)


def termination_from_spec(spec: str) -> Termination:
    """A law from its text on the command line: ``poisson:4``, ``geometric:0.1``, ``fixed:10``.

    Examples
    --------
    >>> termination_from_spec("negative-binomial:2:0.2")
    NegativeBinomial(n_halts=2.0, p_halt=0.2)
    """
    name, *parts = spec.split(":")
    try:
        numbers: list[Any] = [float(part) for part in parts]
    except ValueError:
        problem = f"the parameters of {shown(spec)} must be numbers, as in poisson:4"
        raise InputError(problem) from None
    return _law(name, spec, *([numbers] if name == CustomLength.name else numbers))


def _law(name: str, source: Any, *values: Any, **parameters: Any) -> Termination:
    if name not in LAWS:
        raise InputError(f"unknown termination law {name!r}; known: {', '.join(LAWS)}")
    try:
        return LAWS[name](*values, **parameters)
    except TypeError:
        raise InputError(f"{shown(source)} does not hold the parameters of {name!r}") from None
