"""From rows of single folds to accuracies of methods, and to differences between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from grfpp.options import WalkOptions
from grfpp_lab.experiments.paired import Difference, paired
from grfpp_lab.experiments.views import POOLED, distinct, select
from grfpp_lab.harness.experiment import Row, Rows

DIFFUSION, SQUARED = "diffusion:1", "squared-diffusion:1"
EXACT, GRF, GRFPP = "exact", "GRF", "GRF++"
#: Of pooled walks, where one number is asked for: the library's default.
DEFAULT_WALKS = WalkOptions().n_walks
#: What becomes a feature; see `grfpp.tasks.graphs.candidates`.
SPECTRUM, LABEL_FEATURES = "spectrum", ("same-label", "both-spectra", "spectrum-and-pairs")
GRAPH_KERNEL = "graph-kernel"
#: Features from walks by length and labels, of which the set and the learner are chosen in the
#: folds; see `grfpp.tasks.graphs.walk_candidates`.
WALKS, WALK_METHOD = "walk-labels", "walks by length"
#: What they are to be compared with.
RIVAL = "WL-VH"

#: A cross-validation and one of its folds.
Place = tuple[int, int]


@dataclass(frozen=True)
class Scores:
    """Accuracies of one method on one data set, in per cent, by repeat and fold.

    Examples
    --------
    >>> found = Scores({(0, 0): 80.0, (0, 1): 90.0})
    >>> str(found), found.above(Scores({(0, 0): 79.0, (0, 1): 87.0})).words()
    ('85.0 ± 5.0', '+2.0 ± 1.0')
    """

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

    def above(self, other: Scores) -> Difference:
        """By how many points it is above another method, fold by fold."""
        return paired(self.by_fold, other.by_fold)

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.deviation:.1f}"


def scores(rows: Rows, **wanted: Any) -> Scores | None:
    """Accuracies of the rows that have these values.

    Where several are left for a fold, which differ in what the call does not name (such as the
    number of walks), the one counts that did best in the choice made on the other folds.
    """
    best: dict[Place, Row] = {}
    for row in select(rows, **wanted):
        if row.get("accuracy") is None:
            continue
        place = (row["repeat"], row["fold"])
        if place not in best or row["inner"] > best[place]["inner"]:
            best[place] = row
    if not best:
        return None
    return Scores({place: 100 * row["accuracy"] for place, row in sorted(best.items())})


def of_method(rows: Rows, dataset: str, method: str) -> Scores | None:
    """Accuracies of a method: the number of walks chosen within the folds, but for pooled walks.

    Those have the library's default.
    """
    fixed = {"n_walks": DEFAULT_WALKS} if method == POOLED else {}
    return scores(rows, dataset=dataset, method=method, **fixed)


def above(rows: Rows, method: str, rival: str) -> dict[str, Difference]:
    """By how much one method is above another, by data set, where both were run."""
    found = {}
    for name in distinct(rows, "dataset"):
        ours, other = (of_method(rows, name, each) for each in (method, rival))
        if ours is not None and other is not None:
            found[name] = ours.above(other)
    return found


def of_kernel(rows: Rows, kernel: str) -> Rows:
    """Rows of plain spectra of one kernel."""
    return select(rows, kernel=kernel, features=SPECTRUM)


def beside_rival(rows: Rows) -> dict[str, tuple[Scores, Scores]]:
    """Accuracies of walks by length and of Weisfeiler–Lehman, by data set, where both were run."""
    found = {}
    for name in distinct(select(rows, features=WALKS), "dataset"):
        ours = scores(rows, dataset=name, features=WALKS)
        rival = scores(rows, dataset=name, features=GRAPH_KERNEL, method=RIVAL)
        if ours is not None and rival is not None:
            found[name] = (ours, rival)
    return found


def labelled_sets(rows: Rows) -> list[str]:
    """The data sets that were run with labels."""
    return distinct([row for row in rows if row["features"] in LABEL_FEATURES], "dataset")


def with_labels(rows: Rows, dataset: str, method: str) -> Rows:
    """Rows with and without labels, of the number of walks that both were run with."""
    own = select(rows, dataset=dataset, method=method, kernel=DIFFUSION)
    walks = {row["n_walks"] for row in own if row["features"] in LABEL_FEATURES}
    return [row for row in own if row["n_walks"] in walks]
