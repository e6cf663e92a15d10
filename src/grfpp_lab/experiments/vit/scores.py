"""Accuracies of whole trainings, and differences between pairs of them with the same seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grfpp_lab.experiments.experiment import Rows
from grfpp_lab.experiments.paired import LEVEL, paired_test


@dataclass(frozen=True)
class PairedDifference:
    """By how much one method is above another, seed by seed.

    Attributes
    ----------
    mean, standard_error
        Of the differences.
    n
        How many there are.
    p
        Probability of a difference as large, either way, if there were none: the paired t-test.
    """

    mean: float
    standard_error: float
    n: int
    p: float

    @property
    def is_noise(self) -> bool:
        """Whether it cannot be told from chance."""
        return not self.p < LEVEL

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.standard_error:.2f}, p = {self.p:.2g}"


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> PairedDifference | None:
    """Compare two methods on the seeds that both have; nothing for fewer than two of them.

    Examples
    --------
    >>> paired({0: 80.0, 1: 83.0, 2: 82.0}, {0: 79.0, 1: 81.0, 2: 82.0})
    PairedDifference(mean=1.0, standard_error=0.577..., n=3, p=0.225...)
    """
    both = sorted(set(ours) & set(theirs))
    if len(both) < 2:
        return None
    found = paired_test([ours[seed] - theirs[seed] for seed in both])
    return PairedDifference(found.mean, found.standard_error, len(both), found.p)


def final(rows: Rows) -> Rows:
    """The rows after the last epoch."""
    return [row for row in rows if row["epoch"] == row["epochs"]]


def accuracies(rows: Rows, dataset: str, method: str) -> dict[int, float]:
    """Accuracy in per cent after training, by repeat."""
    return {
        row["repeat"]: 100 * row["accuracy"]
        for row in final(rows)
        if (row["dataset"], row["method"]) == (dataset, method)
    }


def data_sets(rows: Rows) -> list[str]:
    """The data sets, in the order of the rows."""
    return list(dict.fromkeys(row["dataset"] for row in rows))


def gain(rows: Rows, dataset: str, method: str, over: str) -> PairedDifference | None:
    """By how many points a method is above another on a data set."""
    return paired(accuracies(rows, dataset, method), accuracies(rows, dataset, over))
