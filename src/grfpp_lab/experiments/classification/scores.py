"""From rows of single folds to accuracies of methods, and to differences between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grfpp_lab.experiments.experiment import Row, Rows
from grfpp_lab.experiments.verdicts import NOISE

DIFFUSION, SQUARED = "diffusion:1", "squared-diffusion:1"
EXACT, GRF, GRFPP = "exact", "GRF", "GRF++"
#: What becomes a feature; see `grfpp.tasks.graphs.candidates`.
SPECTRUM, LABEL_FEATURES = "spectrum", ("same-label", "both-spectra", "label-pairs")
GRAPH_KERNEL = "graph-kernel"

#: A cross-validation and one of its folds.
Place = tuple[int, int]


@dataclass(frozen=True)
class Scores:
    """Accuracies of one method on one data set, in per cent, by repeat and fold."""

    by_fold: dict[Place, float]

    @property
    def mean(self) -> float:
        """Over all folds."""
        return float(np.mean(list(self.by_fold.values())))

    @property
    def deviation(self) -> float:
        """Standard deviation over folds, as tables of accuracies have it."""
        return float(np.std(list(self.by_fold.values())))

    @property
    def standard_error(self) -> float:
        """Of the mean, as if folds were independent."""
        return self.deviation / math.sqrt(max(1, len(self.by_fold) - 1))

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.deviation:.1f}"


@dataclass(frozen=True)
class Difference:
    """By how many points one method is above another, fold by fold."""

    mean: float
    standard_error: float

    @property
    def is_noise(self) -> bool:
        """Whether it is too small to be told from chance."""
        return abs(self.mean) <= NOISE * self.standard_error

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ± {self.standard_error:.1f}"


def difference(a: Scores, b: Scores) -> Difference:
    """`a` minus `b` on the folds that both have.

    Examples
    --------
    >>> str(difference(Scores({(0, 0): 80.0, (0, 1): 90.0}), Scores({(0, 0): 79.0, (0, 1): 87.0})))
    '+2.0 ± 1.0'
    """
    common = sorted(set(a.by_fold) & set(b.by_fold))
    points = [a.by_fold[place] - b.by_fold[place] for place in common]
    spread = np.std(points, ddof=1) / np.sqrt(len(points)) if len(points) > 1 else 0.0
    return Difference(float(np.mean(points)), float(spread))


def scores(rows: Rows, **wanted: Any) -> Scores | None:
    """Accuracies of the rows that have these values.

    Where several are left for a fold, which differ in what the call does not name (such as the
    number of walks), the one counts that did best in the choice made on the other folds.
    """
    best: dict[Place, Row] = {}
    for row in rows:
        if "accuracy" not in row or row["accuracy"] is None:
            continue
        if any(row.get(name) != value for name, value in wanted.items()):
            continue
        place = (row["repeat"], row["fold"])
        if place not in best or row["inner"] > best[place]["inner"]:
            best[place] = row
    if not best:
        return None
    return Scores({place: 100 * row["accuracy"] for place, row in sorted(best.items())})


def data_sets(rows: Rows, where: Callable[[Row], bool] = lambda row: True) -> list[str]:
    """The data sets of these rows, in their order."""
    return list(dict.fromkeys(row["dataset"] for row in rows if where(row)))


def of_kernel(rows: Rows, kernel: str) -> Rows:
    """Rows of plain spectra of one kernel."""
    return [row for row in rows if row.get("kernel") == kernel and row["features"] == SPECTRUM]


def with_labels(rows: Rows, dataset: str, method: str) -> Rows:
    """Rows with and without labels, of the number of walks that both were run with."""
    own = [
        row
        for row in rows
        if (row["dataset"], row["method"], row.get("kernel")) == (dataset, method, DIFFUSION)
    ]
    walks = {row["n_walks"] for row in own if row["features"] in LABEL_FEATURES}
    return [row for row in own if row["n_walks"] in walks]
