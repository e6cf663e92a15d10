"""How well a classifier does that is chosen anew in every fold: nested cross-validation.

As in "A fair comparison of graph neural networks" (Errica et al. 2020): the graphs are cut into
folds of equal shares of each class; each fold is predicted by a classifier that was chosen and
trained on the other folds only. The choice among candidates is made by the out-of-bag accuracy of
their forests: every tree judges the training graphs that it was not grown from. That is the
cross-validation that forests have within them; no graph of the fold takes part in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.arguments import array_of, whole
from grfpp.errors import InputError, shown
from grfpp.parallel import thread_count

#: Trees of the forests that candidates are compared by, and of the one that is chosen.
TRIAL_TREES, TREES = 48, 200
#: More trees take hours and change nothing.
_MOST_TREES = 100_000


@dataclass(frozen=True)
class FoldScore:
    """What came of one fold."""

    fold: int
    #: The candidate that was chosen on the other folds, and its out-of-bag accuracy there.
    chosen: Any
    inner: float
    accuracy: float


def nested_forest_scores(
    candidates: Mapping[Any, Any],
    classes: npt.ArrayLike,
    *,
    n_folds: int = 10,
    seed: int = 0,
    n_trees: int = TREES,
    n_jobs: int = 1,
) -> list[FoldScore]:
    """Accuracy of random forests on each fold, the features chosen on the other folds.

    Parameters
    ----------
    candidates
        Features of all graphs, dense or sparse, a row a graph, by whatever names them. They must
        not have been made with the help of the classes.
    classes
        The class of each graph.
    n_folds, seed
        The folds are a function of both and of the classes, so that several methods are compared
        on the same folds.
    n_trees
        Of the forest that predicts.
    n_jobs
        Threads; the result is the same for any number of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> good, bad = y[:, np.newaxis] + rng.normal(0, 0.2, (60, 1)), rng.normal(size=(60, 1))
    >>> scores = nested_forest_scores({"bad": bad, "good": good}, y, n_folds=3, n_trees=20)
    >>> [(score.chosen, score.accuracy) for score in scores]
    [('good', 1.0), ('good', 1.0), ('good', 1.0)]
    """
    from sklearn.ensemble import RandomForestClassifier

    y = class_array(classes)
    n_jobs = thread_count(1 if n_jobs is None else n_jobs)
    n_trees = whole(n_trees, "n_trees", 1, _MOST_TREES)
    seed = whole(seed, "seed", 0) % 2**32
    check_candidates(candidates, y)
    features = {name: _single(X) for name, X in candidates.items()}
    forest = partial(RandomForestClassifier, random_state=seed, n_jobs=n_jobs)
    scores = []
    for fold, (train, test) in enumerate(stratified_folds(y, n_folds, seed)):
        inner = {
            name: forest(TRIAL_TREES, oob_score=True).fit(X[train], y[train]).oob_score_
            for name, X in features.items()
        }
        # Equal scores: the first, so that candidates can be given with the simplest first.
        best = max(inner, key=lambda name: inner[name])
        fitted = forest(n_trees).fit(features[best][train], y[train])
        accuracy = float(np.mean(fitted.predict(features[best][test]) == y[test]))
        scores.append(FoldScore(fold, best, float(inner[best]), accuracy))
    return scores


def stratified_folds(
    classes: npt.ArrayLike, n_folds: int, seed: int = 0
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Numbers of the training and of the test graphs of each fold, with all classes in each."""
    from sklearn.model_selection import StratifiedKFold

    y = class_array(classes)
    n_folds = whole(n_folds, "n_folds", 2)
    names, counts = np.unique(y, return_counts=True)
    if len(names) < 2:
        raise InputError(
            f"all {len(y)} graphs are of one class; classification needs at least two classes"
        )
    if counts.min() < n_folds:
        raise InputError(
            f"class {names[counts.argmin()]} has {counts.min()} graphs, too few for {n_folds} "
            f"folds; use at most {counts.min()} folds"
            if counts.min() > 1
            else f"class {names[counts.argmin()]} has a single graph: it cannot be in two folds"
        )
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=whole(seed, "seed", 0) % 2**32)
    return list(folds.split(np.zeros(len(y)), y))


def _single(X: Any) -> Any:
    """In the precision of forests."""
    return X.astype(np.float32) if sp.issparse(X) else np.asarray(X, dtype=np.float32)


def class_array(classes: npt.ArrayLike) -> npt.NDArray[Any]:
    """The class of each graph, checked."""
    y: npt.NDArray[Any] = array_of(classes, "classes")
    if y.ndim != 1 or y.dtype.kind not in "biufUS" or (y.dtype.kind == "f" and np.isnan(y).any()):
        raise InputError(
            f"must be numbers or texts in a list, found {shown(classes)}", argument="classes"
        )
    return y


def check_candidates(candidates: Mapping[Any, Any], y: npt.NDArray[Any]) -> None:
    """Refuse features that have not a row of sound numbers for each graph."""
    if not isinstance(candidates, Mapping):
        raise InputError(f"must be a dict, found {shown(candidates)}", argument="candidates")
    if not candidates:
        raise InputError("there are no candidates to choose from")
    for name, X in candidates.items():
        shape = X.shape if sp.issparse(X) else np.shape(X)
        if len(shape) != 2 or shape[0] != len(y):
            raise InputError(
                f"features must have a row for each of the {len(y)} graphs, found shape "
                f"{shape} for {name!r}"
            )
        if not (np.abs(X.data if sp.issparse(X) else X) <= np.finfo(np.float32).max).all():
            raise InputError(
                f"features of {name!r} are not finite, or too large for a forest; use a smaller "
                "scale"
            )
