"""Accuracies of whole trainings, and differences between pairs of them with the same seed."""

from __future__ import annotations

from grfpp_lab.experiments.paired import Difference, paired
from grfpp_lab.experiments.views import select
from grfpp_lab.harness.experiment import Row, Rows


def final(rows: Rows) -> list[Row]:
    """The rows after the last epoch."""
    return [row for row in rows if row["epoch"] == row["epochs"]]


def accuracies(rows: Rows, dataset: str, method: str) -> dict[int, float]:
    """Accuracy in per cent after training, by repeat."""
    own = select(final(rows), dataset=dataset, method=method)
    return {row["repeat"]: 100 * row["accuracy"] for row in own}


def gain(rows: Rows, dataset: str, method: str, over: str) -> Difference:
    """By how many points a method is above another on a data set, seed by seed."""
    return paired(accuracies(rows, dataset, method), accuracies(rows, dataset, over))
