"""Every setting that was looked at, on the collections that settings were chosen on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from grfpp.tasks.graphs.candidates import PAIRS, SPECTRUM, candidate_features
from grfpp.tasks.graphs.nested import FoldScore, nested_forest_scores
from grfpp.tasks.graphs.nested_svm import nested_svm_scores
from grfpp.tasks.graphs.signatures import count_levels
from grfpp.tasks.graphs.walk_candidates import walk_candidates
from grfpp.tasks.graphs.walk_labels import WalkLabelFeatures
from grfpp_lab.experiments.classification.graph_kernels import kernel_matrix, svm_scores
from grfpp_lab.experiments.classification.scores import RIVAL
from grfpp_lab.studies.classification.settling import SETTLING

_TREES = 120
_LENGTHS = (1, 2, 3, 5)
#: Normalisations, and bins for each.
_BINS: dict[str | None, tuple[float, ...]] = {
    "sym": (1e-4, 0.3),
    "rw": (1e-4, 0.1),
    None: (0.5, 1.5),
}
_SUMS = {
    "counts": 1,
    "counts pairs": 3,
    "counts pairs returns": 3,
    "counts pairs returns signatures": 3,
}


def show(names: Sequence[str], n_folds: int, seed: int) -> None:
    """Print accuracies, and those of the choice within the folds, in per cent."""
    for name in names:
        data = SETTLING[name]()
        graphs, y = data.graphs, data.classes
        shared: dict[str, Any] = {"n_folds": n_folds, "seed": seed}
        print(f"{name}: {len(graphs)} graphs")
        rival = svm_scores(kernel_matrix(graphs, RIVAL), y, n_folds, seed)
        print(f"  {RIVAL:34} {100 * np.mean([each['accuracy'] for each in rival]):5.1f}")
        for label, X in signatures(graphs):
            _line(f"svm, {label}", nested_svm_scores({label: X}, y, **shared))
        for label, X in sums(graphs):
            _line(f"forest, {label}", nested_forest_scores({label: X}, y, n_trees=_TREES, **shared))
        chosen = walk_candidates(graphs).nested_scores(y, n_trees=_TREES, **shared)
        _line("chosen in the folds", chosen)


def signatures(graphs: Any) -> Iterator[tuple[str, Any]]:
    """Signatures of several normalisations, lengths and bins."""
    for normalization, width in ((norm, each) for norm, bins in _BINS.items() for each in bins):
        own = WalkLabelFeatures(
            "signatures", max(_LENGTHS), width=width, normalization=normalization
        )
        counts = own.fit_transform(graphs)
        for n_lengths in _LENGTHS:
            end = sum(map(len, own.signatures_[: n_lengths + 1]))
            label = f"signatures of {n_lengths}, {normalization}, bins of {width:g}"
            yield label, counts[:, :end]
            yield f"{label}, levels", count_levels(counts[:, :end])


def sums(graphs: Any) -> Iterator[tuple[str, Any]]:
    """Sets for forests."""
    for names, n_lengths in _SUMS.items():
        features = WalkLabelFeatures(tuple(names.split()), n_lengths, width=0.1)
        yield f"{names}, {n_lengths}", features.fit_transform(graphs)
    longer = WalkLabelFeatures(n_lengths=6)
    yield "counts pairs returns, 6", longer.fit_transform(graphs)
    for kind in (SPECTRUM, PAIRS):
        (X,) = candidate_features(
            graphs, scales=[0.81], n_walks=[1], n_eigenvalues=[32], kind=kind, estimate="exact"
        ).values()
        yield kind, X


def _line(name: str, scores: Sequence[FoldScore]) -> None:
    accuracy, inner = (
        100 * np.mean([getattr(score, each) for score in scores]) for each in ("accuracy", "inner")
    )
    print(f"  {name:46} {accuracy:5.1f}  (inner {inner:.1f})", flush=True)
