"""Walks by length and labels: what forests and support vector machines choose among.

What is offered was settled on collections that are generated and on peptides (``python -m
grfpp_lab.studies.classification --settling``), on none that it is judged by: counts of signatures
as levels (above plain counts on contacts and peptides, equal on molecules), masses of three steps
(six brought nothing), lengths of one and three steps for signatures. That their weights are not
normalised was settled by reasoning: of one step they are Weisfeiler–Lehman's colours then, while
normalised weights know the degrees of neighbours too, and were too fine on molecules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy.typing as npt

from grfpp.arguments import one_of
from grfpp.tasks.graphs.nested import TREES, FoldScore, nested_forest_scores
from grfpp.tasks.graphs.nested_svm import best_of, nested_svm_scores
from grfpp.tasks.graphs.signatures import count_levels
from grfpp.tasks.graphs.walk_labels import COUNTS, PAIRS, RETURNS, WalkLabelFeatures
from grfpp.tasks.graphs.walk_labels import SIGNATURES as SIGNATURE_SET

#: Counts, masses between labels and what comes back, for forests; signatures, for support vector
#: machines.
MASSES, SIGNATURES = "walk-masses", "signatures"
WALK_KINDS = (MASSES, SIGNATURES)
#: Walks of masses.
MASS_LENGTHS = 3
#: Walks of signatures, whose counts are taken as levels.
SIGNATURE_LENGTHS = (1, 3)
#: Bins of signatures: numbers of walks are told apart.
WIDTH = 0.5


class WalkSetting(NamedTuple):
    """What a choice is made among."""

    features: str
    n_lengths: int

    @property
    def words(self) -> str:
        """As tables name it."""
        return f"{self.features} of {self.n_lengths} step{'s' if self.n_lengths > 1 else ''}"


@dataclass(frozen=True)
class Candidates:
    """Features by what they are called: for forests, and for support vector machines."""

    forests: dict[Any, Any] = field(default_factory=dict)
    machines: dict[Any, Any] = field(default_factory=dict)

    def with_forests(self, more: dict[Any, Any]) -> Candidates:
        """The same with further ones for forests."""
        return Candidates({**self.forests, **more}, self.machines)

    def nested_scores(
        self, classes: npt.ArrayLike, *, n_trees: int = TREES, **options: Any
    ) -> list[FoldScore]:
        """Accuracy on each fold; features, learner and penalty are chosen on the other folds.

        Options are those of `nested_forest_scores` and `nested_svm_scores`.
        """
        found = []
        if self.forests:
            found.append(nested_forest_scores(self.forests, classes, n_trees=n_trees, **options))
        if self.machines:
            found.append(nested_svm_scores(self.machines, classes, **options))
        return best_of(*found)


def walk_candidates(graphs: Any, kinds: tuple[str, ...] = WALK_KINDS, **options: Any) -> Candidates:
    """Features from walks by length and labels, to choose among.

    Parameters
    ----------
    graphs
        As for `WalkLabelFeatures`.
    kinds
        Which of `WALK_KINDS`.
    options
        Of `WalkLabelFeatures`: how walks are made.

    Examples
    --------
    >>> from grfpp.tasks import LabelledGraph
    >>> graphs = [LabelledGraph([[0, 1], [1, 0]], list(pair)) for pair in ("CC", "CO")]
    >>> candidates = walk_candidates(graphs)
    >>> [(name.features, X.shape) for name, X in candidates.forests.items()]
    [('walk-masses', (2, 17))]
    >>> {name.features for name in candidates.machines}
    {'signatures'}
    """
    for kind in kinds:
        one_of(kind, "kind", WALK_KINDS)
    found = Candidates()
    if MASSES in kinds:
        sums = WalkLabelFeatures((COUNTS, PAIRS, RETURNS), MASS_LENGTHS, **options)
        found.forests[WalkSetting(MASSES, MASS_LENGTHS)] = sums.fit_transform(graphs).toarray()
    if SIGNATURES in kinds:
        own = WalkLabelFeatures(
            SIGNATURE_SET, max(SIGNATURE_LENGTHS), width=WIDTH, normalization=None, **options
        )
        counts = own.fit_transform(graphs)
        for n_lengths in SIGNATURE_LENGTHS:
            end = sum(map(len, own.signatures_[: n_lengths + 1]))
            found.machines[WalkSetting(SIGNATURES, n_lengths)] = count_levels(counts[:, :end])
    return found
