"""Features from walks by length and labels; the set and the learner are chosen in the folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grfpp_lab.experiments.classification.graph_sets import load_set
from grfpp_lab.experiments.classification.planning import fold_seed
from grfpp_lab.experiments.measuring import pick
from grfpp_lab.harness.experiment import Cell, Row

if TYPE_CHECKING:
    from grfpp.tasks.graphs.nested_svm import SupportVectors
    from grfpp.tasks.graphs.walk_candidates import WalkSetting


def run_walks(cell: Cell) -> list[Row]:
    """Accuracy on every fold, with what was chosen on the others."""
    from grfpp.tasks.graphs.walk_candidates import walk_candidates

    data = load_set(cell["dataset"])
    found = walk_candidates(data.graphs, n_jobs=1).nested_scores(
        data.classes,
        n_folds=cell["n_folds"],
        n_trees=cell["n_trees"],
        seed=fold_seed(cell["dataset"], cell["seed"], cell["repeat"]),
    )
    return [
        {
            **pick(cell, "dataset", "features", "method", "repeat"),
            "fold": score.fold,
            "chosen": chosen_words(score.chosen),
            "inner": score.inner,
            "accuracy": score.accuracy,
        }
        for score in found
    ]


def chosen_words(chosen: WalkSetting | SupportVectors) -> str:
    """Features and learner, without the penalty."""
    is_machine = hasattr(chosen, "penalty")
    setting: WalkSetting = chosen.features if is_machine else chosen  # type: ignore[assignment]
    return setting.words
