"""Two encodings compared seed by seed: both have the same graphs in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grfpp_lab.experiments.experiment import Rows
from grfpp_lab.experiments.paired import paired_test


@dataclass(frozen=True)
class Difference:
    """What one encoding has more than another on one data set.

    Attributes
    ----------
    dataset
        Where.
    values
        The difference for each seed, from -1 to 1.
    """

    dataset: str
    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return paired_test(self.values).mean

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN for a single seed."""
        return paired_test(self.values).standard_error

    @property
    def p_value(self) -> float:
        """Of a paired t-test on both sides; NaN for a single seed."""
        return paired_test(self.values).p


def differences(rows: Rows, first: str, second: str) -> list[Difference]:
    """Test metric of the first encoding less that of the second, by data set.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": "mnist", "encoding": e, "repeat": r, "test": t}
    ...     for e, r, t in [("GRF", 0, 0.5), ("GRF", 1, 0.75), ("none", 0, 0.25), ("none", 1, 0.25)]
    ... ]
    >>> differences(rows, "GRF", "none")[0].values
    [0.25, 0.5]
    """
    found: dict[str, list[float]] = {}
    partners = {
        (row["dataset"], row["repeat"]): row["test"] for row in rows if row["encoding"] == second
    }
    for row in rows:
        place = (row["dataset"], row["repeat"])
        if row["encoding"] == first and place in partners:
            found.setdefault(row["dataset"], []).append(row["test"] - partners[place])
    return [Difference(name, values) for name, values in found.items()]


def sign_test(found: Sequence[Difference]) -> tuple[int, int, float]:
    """How many of all pairs the first wins, how many are no tie, and how likely that is by chance.

    Examples
    --------
    >>> n_won, n_pairs, p = sign_test([Difference("mnist", [0.1, 0.2, -0.1, 0.0, 0.3])])
    >>> n_won, n_pairs, round(p, 3)
    (3, 4, 0.312)
    """
    values = [value for each in found for value in each.values if value != 0]
    if not values:
        return 0, 0, 1.0
    from scipy.stats import binomtest

    n_won = sum(value > 0 for value in values)
    return n_won, len(values), float(binomtest(n_won, len(values), alternative="greater").pvalue)
