"""Laws under which a walk can be of any length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from grfpp.arguments import positive, probability
from grfpp.elementary import power
from grfpp.errors import InputError
from grfpp.termination.base import Termination, store
from grfpp.typing import FloatArray, IntArray

#: Halting signals of `NegativeBinomial` with which its probabilities can be told in float64.
_FEW, _MANY = 1e-100, 1e9


@dataclass(frozen=True)
class Geometric(Termination):
    """The classic rule: before every step the walker halts with probability `p_halt`.

    With this law Algorithm 2 of the paper is its Algorithm 1.
    """

    p_halt: float = 0.1
    name: ClassVar[str] = "geometric"

    def __post_init__(self) -> None:
        store(self, p_halt=probability(self.p_halt, "p_halt", above_zero=True))

    @property
    def mean(self) -> float:
        return (1.0 - self.p_halt) / self.p_halt

    def _pmf(self, k: IntArray) -> FloatArray:
        return self.p_halt * self._survival(k)

    def _survival(self, k: IntArray) -> FloatArray:
        return power(1.0 - self.p_halt, k.astype(np.float64))

    @classmethod
    def _with_mean(cls, mean: float) -> Self:
        return cls(1.0 / (1.0 + mean))


@dataclass(frozen=True, init=False)
class Poisson(Termination):
    """Poisson distributed lengths: the paper's new halting policy.

    The tail falls faster than any geometric one. That suits kernels whose modulation falls as fast
    (diffusion) and makes the variance infinite for those whose modulation does not (inverse
    powers); `grfpp.sample` refuses the latter.
    """

    mean: float = 1.0  # a value of the class, so that the abstract property counts as defined
    name: ClassVar[str] = "poisson"

    def __init__(self, mean: float) -> None:
        store(self, mean=positive(mean, "mean"))

    def _pmf(self, k: IntArray) -> FloatArray:
        from scipy.special import gammaln, xlogy

        return np.asarray(np.exp(xlogy(k, self.mean) - self.mean - gammaln(k + 1.0)))

    def _survival(self, k: IntArray) -> FloatArray:
        from scipy.special import gammainc

        return np.asarray(gammainc(k.astype(np.float64), self.mean))

    @classmethod
    def _with_mean(cls, mean: float) -> Self:
        return cls(mean)


@dataclass(frozen=True)
class NegativeBinomial(Termination):
    """The walker halts at the `n_halts`-th halting signal, each given with probability `p_halt`.

    One signal is the geometric law; many signals come close to Poisson's.
    """

    n_halts: float = 2.0
    p_halt: float = 0.2
    name: ClassVar[str] = "negative-binomial"

    def __post_init__(self) -> None:
        n_halts = positive(self.n_halts, "n_halts")
        if not _FEW <= n_halts <= _MANY:
            raise InputError(
                f"must lie between {_FEW:g} and {_MANY:g}, found {n_halts:g}; Poisson is the "
                "law of very many",
                argument="n_halts",
            )
        store(
            self,
            n_halts=n_halts,
            p_halt=probability(self.p_halt, "p_halt", above_zero=True, below_one=True),
        )

    @property
    def mean(self) -> float:
        return self.n_halts * (1.0 - self.p_halt) / self.p_halt

    def _pmf(self, k: IntArray) -> FloatArray:
        from scipy.special import gammaln

        log_pmf = (
            gammaln(k + self.n_halts)
            - gammaln(self.n_halts)
            - gammaln(k + 1.0)
            + self.n_halts * np.log(self.p_halt)
            + k * np.log1p(-self.p_halt)
        )
        return np.asarray(np.exp(log_pmf))

    def _survival(self, k: IntArray) -> FloatArray:
        from scipy.special import betainc

        return np.asarray(betainc(k.astype(np.float64), self.n_halts, 1.0 - self.p_halt))

    @classmethod
    def matching(cls, other: Termination, n_halts: float = 2.0) -> Self:
        """The law with this number of signals and the same mean as `other`."""
        signals = positive(n_halts, "n_halts")
        return cls(signals, signals / (signals + other.mean))

    @classmethod
    def _with_mean(cls, mean: float) -> Self:
        return cls(2.0, 2.0 / (2.0 + mean))


@dataclass(frozen=True)
class FirstStepThenGeometric(Termination):
    """The first step is always taken, every further one with probability `p_next`.

    The law of the paper's paragraph "Walk-stitching with general termination strategies".
    """

    name: ClassVar[str] = "first-step"
    p_next: float = 0.5

    def __post_init__(self) -> None:
        store(self, p_next=probability(self.p_next, "p_next", below_one=True))

    @property
    def mean(self) -> float:
        return 1.0 / (1.0 - self.p_next)

    def _pmf(self, k: IntArray) -> FloatArray:
        return np.where(k >= 1, (1.0 - self.p_next) * self._survival(np.maximum(k, 1)), 0.0)

    def _survival(self, k: IntArray) -> FloatArray:
        return power(self.p_next, k.astype(np.float64) - 1.0)

    @classmethod
    def _with_mean(cls, mean: float) -> Self:
        if mean < 1.0:
            raise InputError(f"a walk that always takes a first step has mean >= 1, not {mean:g}")
        return cls(1.0 - 1.0 / mean)
