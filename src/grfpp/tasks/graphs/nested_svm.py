"""Support vector machines in nested cross-validation, beside the forests of `nested`.

The same folds; features and the penalty ``C`` are chosen for each of them by cross-validation
within the other folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.arguments import listed, positive, whole
from grfpp.errors import InputError
from grfpp.memory import require_bytes
from grfpp.parallel import in_order, split, thread_count
from grfpp.tasks.graphs.nested import FoldScore, check_candidates, class_array, stratified_folds
from grfpp.typing import FloatArray

#: Penalties that are chosen among.
PENALTIES = (0.1, 1.0, 10.0, 100.0)
#: Parts that the training graphs are cut into, and from how many of them on into fewer.
_INNER, _FEWER, _MANY = 5, 3, 1500
#: Megabytes of kernel rows that libsvm keeps.
_CACHE = 500


class SupportVectors(NamedTuple):
    """What is chosen: features by their name, and a penalty."""

    features: Any
    penalty: float


def nested_svm_scores(
    candidates: Mapping[Any, Any],
    classes: npt.ArrayLike,
    *,
    n_folds: int = 10,
    seed: int = 0,
    penalties: Sequence[float] = PENALTIES,
    n_jobs: int = 1,
) -> list[FoldScore]:
    """Accuracy of support vector machines on each fold, features and penalty chosen on the others.

    The kernel is the cosine: inner products of rows scaled to length one, as is usual for the
    histograms of graph kernels.

    Parameters
    ----------
    candidates
        Features of all graphs, dense or sparse, a row a graph, by whatever names them. They must
        not have been made with the help of the classes.
    classes, n_folds, seed
        As for `nested_forest_scores`, which has the same folds.
    penalties
        Values of ``C`` to choose among.
    n_jobs
        Threads; the result is the same for any number of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> good = np.column_stack([1 - y, y]) + rng.normal(0, 0.2, (60, 2))
    >>> scores = nested_svm_scores({"bad": rng.normal(size=(60, 2)), "good": good}, y, n_folds=3)
    >>> [(score.chosen.features, score.accuracy) for score in scores]
    [('good', 1.0), ('good', 1.0), ('good', 1.0)]
    """
    y = class_array(classes)
    n_threads = thread_count(1 if n_jobs is None else n_jobs)
    seed = whole(seed, "seed", 0) % 2**32
    grid = [positive(each, "penalty") for each in listed(penalties, "penalties")]
    if not grid:
        raise InputError("penalties must have a value at least")
    check_candidates(candidates, y)
    folds = stratified_folds(y, n_folds, seed)
    inner = [_inner_splits(train, y, seed) for train, _ in folds]
    require_bytes(8 * (1 + 2 * n_threads) * len(y) ** 2, f"kernels of {len(y)} graphs")
    best: list[FoldScore] = []
    for name, X in candidates.items():
        K = cosine_kernel(X)

        def score(part: range, K: FloatArray = K, name: Any = name) -> FoldScore:
            (fold,) = part
            train, test = folds[fold]
            trials = np.mean([_accuracies(K, y, grid, *each) for each in inner[fold]], axis=0)
            # Equal scores: the smallest penalty, the simplest machine.
            place = int(np.argmax(trials))
            (accuracy,) = _accuracies(K, y, grid[place : place + 1], train, test)
            chosen = SupportVectors(name, grid[place])
            return FoldScore(fold, chosen, float(trials[place]), accuracy)

        found = list(in_order(score, split(len(folds), len(folds)), n_threads))
        best = best_of(best, found) if best else found
    return best


def best_of(*found: Sequence[FoldScore]) -> list[FoldScore]:
    """For every fold what did best on the other folds; where several did, the first."""
    return [max(each, key=lambda score: score.inner) for each in zip(*found, strict=True)]


def cosine_kernel(X: Any) -> FloatArray:
    """Cosines between all rows; zero where a row is zero, but for one with itself."""
    rows = sp.csr_array(X, dtype=np.float64)
    # By the largest entry first: squares neither overflow nor vanish.
    for norm in (abs(rows).max(axis=1).toarray().ravel(), None):
        length = np.sqrt((rows * rows).sum(axis=1)) if norm is None else norm
        rows = sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1.0)) @ rows)
    K = (rows @ rows.T).toarray()
    np.fill_diagonal(K, 1.0)
    return np.asarray(K)


def _inner_splits(
    train: npt.NDArray[np.intp], y: npt.NDArray[Any], seed: int
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Parts of the training graphs, to fit on and to judge by."""
    names, counts = np.unique(y[train], return_counts=True)
    if counts.min() < 2:
        raise InputError(
            f"class {names[counts.argmin()]} has too few graphs to choose a penalty within the "
            "folds; it needs two outside each fold at least"
        )
    n_parts = min(int(counts.min()), _INNER if len(train) <= _MANY else _FEWER)
    splits = stratified_folds(y[train], n_parts, seed)
    return [(train[fitted], train[judged]) for fitted, judged in splits]


def _accuracies(
    K: FloatArray,
    y: npt.NDArray[Any],
    penalties: Sequence[float],
    fitted: npt.NDArray[np.intp],
    judged: npt.NDArray[np.intp],
) -> list[float]:
    from sklearn.svm import SVC

    own, across = K[np.ix_(fitted, fitted)], K[np.ix_(judged, fitted)]
    machines = (SVC(C=each, kernel="precomputed", cache_size=_CACHE) for each in penalties)
    return [float(each.fit(own, y[fitted]).score(across, y[judged])) for each in machines]
