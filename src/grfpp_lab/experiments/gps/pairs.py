"""Two encodings compared seed by seed: both have the same graphs in the same order."""

from __future__ import annotations

from collections.abc import Mapping

from grfpp_lab.experiments.gps.data import TASKS
from grfpp_lab.experiments.paired import Difference, paired
from grfpp_lab.experiments.views import distinct, select
from grfpp_lab.harness.experiment import Rows


def differences(rows: Rows, first: str, second: str) -> dict[str, Difference]:
    """By how much the first encoding is better than the second, by data set.

    Test metric of the first less that of the second; the other way round where it is an error.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": "mnist", "encoding": e, "repeat": r, "test": t}
    ...     for e, r, t in [("GRF", 0, 0.5), ("GRF", 1, 0.75), ("none", 0, 0.25), ("none", 1, 0.25)]
    ... ]
    >>> differences(rows, "GRF", "none")
    {'mnist': Difference(values=[0.25, 0.5])}
    """
    found = {}
    for name in distinct(rows, "dataset"):
        ours, theirs = (
            {row["repeat"]: row["test"] for row in select(rows, dataset=name, encoding=each)}
            for each in (first, second)
        )
        found[name] = paired(theirs, ours) if TASKS[name].is_error else paired(ours, theirs)
    return {name: each for name, each in found.items() if each.n}


def sign_test(found: Mapping[str, Difference]) -> tuple[int, int, float]:
    """How many of all pairs the first wins, how many are no tie, and how likely that is by chance.

    Examples
    --------
    >>> n_won, n_pairs, p = sign_test({"mnist": Difference([0.1, 0.2, -0.1, 0.0, 0.3])})
    >>> n_won, n_pairs, round(p, 3)
    (3, 4, 0.312)
    """
    values = [value for each in found.values() for value in each.values if value != 0]
    if not values:
        return 0, 0, 1.0
    from scipy.stats import binomtest

    n_won = sum(value > 0 for value in values)
    return n_won, len(values), float(binomtest(n_won, len(values), alternative="greater").pvalue)
