"""Two methods compared pair by pair, seed by seed or fold by fold: the paired t-test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np

from grfpp_lab.experiments.verdicts import NOISE

#: Differences with a larger probability under chance are called noise.
LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """By how much one method is above another in each pair.

    Examples
    --------
    >>> found = Difference([1.0, 2.0, 0.0])
    >>> found.mean, found.standard_error, found.p
    (1.0, 0.577..., 0.225...)
    >>> found.words()
    '+1.0 ± 0.6'
    """

    values: Sequence[float]

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Of the differences."""
        return float(np.mean(self.values))

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN for a single pair."""
        return float(np.std(self.values, ddof=1)) / sqrt(self.n) if self.n > 1 else nan

    @property
    def p(self) -> float:
        """Probability of a mean as far from 0, either way, if there were no difference.

        NaN for a single pair.
        """
        from scipy.stats import t

        mean, error = self.mean, self.standard_error
        if error == 0:
            return 1.0 if mean == 0 else 0.0
        return float(2 * t.sf(abs(mean) / error, self.n - 1)) if self.n > 1 else nan

    @property
    def is_sure(self) -> bool:
        """Whether the t-test tells it from chance."""
        return self.p < LEVEL

    @property
    def is_noise(self) -> bool:
        """Whether it is small beside its standard error."""
        return abs(self.mean) <= NOISE * self.standard_error

    def words(self, digits: int = 1, times: float = 1.0) -> str:
        """Mean and standard error, both so many times larger."""
        spread = f" ± {times * self.standard_error:.{digits}f}" if self.n > 1 else ""
        return f"{times * self.mean:+.{digits}f}{spread}"


def paired(ours: Mapping[Any, float], theirs: Mapping[Any, float]) -> Difference:
    """Compare two methods wherever both have a value.

    Examples
    --------
    >>> paired({0: 80.0, 1: 83.0, 2: 82.0}, {0: 79.0, 1: 81.0, 5: 90.0})
    Difference(values=[1.0, 2.0])
    """
    return Difference([ours[place] - theirs[place] for place in sorted(set(ours) & set(theirs))])
