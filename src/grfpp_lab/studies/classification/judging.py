"""Six collections beside GraKeL's Weisfeiler–Lehman kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from grfpp.tasks.graphs.candidates import PAIRS, UNION, candidate_features
from grfpp.tasks.graphs.nested import FoldScore, nested_forest_scores
from grfpp.tasks.graphs.walk_candidates import MASSES, SIGNATURES, Candidates, walk_candidates
from grfpp_lab.experiments.classification.graph_kernels import scores as kernel_scores
from grfpp_lab.experiments.classification.graph_sets import load_set
from grfpp_lab.experiments.classification.planning import fold_seed
from grfpp_lab.experiments.classification.scores import RIVAL
from grfpp_lab.experiments.classification.walks import chosen_words

_TREES = 120


def show(names: Sequence[str], n_folds: int, seed: int) -> None:
    """Print a line a collection and method."""
    for name in names:
        data = load_set(name)
        folds = fold_seed(name, seed, 0)
        shared = {"n_folds": n_folds, "seed": folds}
        began = perf_counter()
        candidates = walk_candidates(data.graphs, n_jobs=1)
        made = perf_counter() - began
        print(f"{name}: {len(data.graphs)} graphs, features in {made:.1f} s on one thread")
        parts = {
            MASSES: Candidates(candidates.forests, {}),
            SIGNATURES: Candidates({}, candidates.machines),
        }
        began = perf_counter()
        found = candidates.nested_scores(data.classes, n_trees=_TREES, **shared)
        chosen = Counter(chosen_words(score.chosen) for score in found).most_common()
        told = ", ".join(f"{what} {count}x" for what, count in chosen)
        _line("chosen in the folds", _percent(found), perf_counter() - began, told)
        for kind, part in parts.items():
            began = perf_counter()
            alone = part.nested_scores(data.classes, n_trees=_TREES, **shared)
            _line(f"{kind} alone", _percent(alone), perf_counter() - began)
        for kind in (PAIRS, UNION):
            began = perf_counter()
            features = candidate_features(
                data.graphs,
                scales=[0.25, 0.81],
                n_walks=[1],
                n_eigenvalues=[32],
                kind=kind,
                estimate="exact",
                n_jobs=1,
            )
            forests = nested_forest_scores(features, data.classes, n_trees=_TREES, **shared)
            _line(
                f"{kind} alone" if kind == PAIRS else kind,
                _percent(forests),
                perf_counter() - began,
            )
        began = perf_counter()
        rival = kernel_scores(
            {"dataset": name, "method": RIVAL, "n_folds": n_folds, "fold_seed": folds}
        )
        accuracies = [100 * score["accuracy"] for score in rival]
        _line(f"{RIVAL} of GraKeL", accuracies, perf_counter() - began)
        gaps = np.array(_percent(found)) - accuracies
        error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
        words = f"{np.mean(gaps):+.1f} ± {error:.1f} points"
        print(f"  chosen in the folds − {RIVAL}: {words}, fold by fold", flush=True)


def _percent(scores: Sequence[FoldScore]) -> list[float]:
    return [100 * score.accuracy for score in scores]


def _line(name: str, accuracies: Sequence[float], seconds: float, more: str = "") -> None:
    mean, deviation = np.mean(accuracies), np.std(accuracies)
    print(f"  {name:26} {mean:5.1f} ± {deviation:4.1f}  {seconds:6.1f} s  {more}", flush=True)
