"""Laws of the walk length: how many steps a walker takes before it stops.

Every law gives the probability of each length, the survival ``τ(k) = P(length ≥ k)`` by which a
deposit after ``k`` steps is divided, and its mean. The estimate is unbiased for every law that
lets walks grow as long as the kernel's series needs; its variance depends on the law a great deal.
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

    #: How the command line and saved files call this law.
    name: ClassVar[str]

    @property
    @abstractmethod
    def mean(self) -> float:
        """Expected number of steps of a walk."""

    @property
    def max_length(self) -> int | None:
        """Longest possible walk, or ``None`` where there is none."""
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
        """Survival for ``k ≥ 1``, accurate in relative terms far into the tail."""

    @classmethod
    @abstractmethod
    def matching(cls, other: Termination) -> Self:
        """The law of this class with the same mean as `other`, for comparisons at equal cost."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `termination_from_dict` turns back into the law."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]


def _lengths(lengths: npt.ArrayLike) -> IntArray:
    values = np.asarray(lengths)
    if values.dtype.kind not in "iu" and values.size:
        raise InputError(f"walk lengths must be whole numbers, found dtype {values.dtype}")
    return values.astype(np.int64)


@dataclass(frozen=True)
class Geometric(Termination):
    """The classic rule: before every step the walker halts with probability `p_halt`.

    With this law Algorithm 2 of the paper is its Algorithm 1.
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

    The tail falls faster than any geometric one. That suits kernels whose modulation falls as fast
    (diffusion) and makes the variance infinite for those whose modulation does not (inverse
    powers); `grfpp.sample` refuses the latter.
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


#: Numbers of halting signals whose probabilities float64 resolves.
_checked_halts = partial(between, low=1e-100, high=1e9)


@dataclass(frozen=True)
class NegativeBinomial(Termination):
    """The walker halts at the `n_halts`-th halting signal, each given with probability `p_halt`.

    One signal is the geometric law; many signals come close to Poisson's.
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

    The law of the paper's paragraph "Walk-stitching with general termination strategies".
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
    """The whole number that a computed one, such as 18.999999999999996, stands for."""
    return float(round(n)) if abs(n - round(n)) <= 1e-12 * n else n


def _steps(value: float, name: str) -> int:
    """A number of steps; 5.0, as the command line reads it, is one too."""
    number = finite(value, name)
    if number < 0 or number != np.floor(number):
        raise InputError(f"must be a whole number >= 0, found {shown(value)}", argument=name)
    return int(number)


@dataclass(frozen=True)
class _BoundedLength(Termination):
    """Lengths up to `n`, where a kernel's series is cut off: see `grfpp.walks.convergence`."""

    n: int
    _checks: ClassVar = {"n": _steps}

    @property
    def max_length(self) -> int:
        return self.n


@dataclass(frozen=True)
class FixedLength(_BoundedLength):
    """Every walk takes exactly `n` steps (fewer only at a dead end)."""

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
    """All lengths from 0 to `n` are equally likely."""

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
    """Length ``k`` has probability ``probabilities[k]``; they must sum to one."""

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
        # Summed from the far end, so that small tails keep their digits.
        tail = np.append(np.cumsum(self.probabilities[::-1])[::-1], 0.0)
        return np.asarray(np.minimum(tail[np.minimum(k, len(self.probabilities))], 1.0))

    @classmethod
    def matching(
        cls, other: Termination, probabilities: Sequence[float] | FloatArray | None = None
    ) -> Self:
        """Tilt `probabilities` exponentially until their mean is that of `other`.

        Without `probabilities`, the lengths ``0 … 4·mean`` are tilted from equal ones.
        """
        from scipy.optimize import brentq

        if probabilities is None:
            n = max(1, int(np.ceil(4.0 * other.mean)))
            require_bytes(64 * n, f"a law of {n} lengths")
            probabilities = np.full(n + 1, 1.0 / (n + 1))
        base = np.array(cls(probabilities).probabilities)
        lengths, support = np.arange(len(base)), np.flatnonzero(base)
        if not support[0] < other.mean < support[-1]:
            found = f"lengths from {support[0]} to {support[-1]}"
            raise InputError(f"{found} cannot have mean {other.mean:g}")

        def tilted(rate: float) -> FloatArray:
            logs = np.where(base > 0, rate * lengths, -np.inf)
            weights = base * exp(logs - logs.max())
            return np.asarray(weights / weights.sum())

        rate = brentq(lambda rate: lengths @ tilted(rate) - other.mean, -700.0, 700.0, xtol=1e-14)
        return cls(tilted(rate))


@dataclass(frozen=True)
class Matched(Termination):
    """A budget of `mean` steps a walk for pooled walks, matched to the tail of the series.

    Step ``k`` gets its share of the budget by ``Σ_{j ≥ k} |f(j)| ρ^j``, the rest of the kernel's
    series. So there is no law before kernel, degree and graph are known, and independent walks
    cannot use it.

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
    """Rebuild a law from what `Termination.to_dict` gave."""
    parameters = dict(values)
    return _law(str(parameters.pop("name", "")), values, **parameters)


def termination_from_spec(spec: str) -> Termination:
    """Read a law as the command line writes it: ``poisson:4``, ``geometric:0.1``, ``fixed:10``.

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
