"""Nested cross-validation of graph classifiers, and the candidates of ``grfpp classify``.

Each fold is predicted by a classifier that was chosen and trained on the other folds: forests by
their out-of-bag accuracy, support vector machines by cross-validation within these folds.

References
----------
Errica, Podda, Bacciu, Micheli: A fair comparison of graph neural networks for graph classification.
ICLR 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._checks import array_of, one_of, positive, whole
from grfpp._memory import require_bytes
from grfpp._parallel import in_order, split, thread_count
from grfpp.errors import InputError
from grfpp.kernels import Diffusion, SquaredDiffusion, kernel_of
from grfpp.tasks.graphs import walk_labels
from grfpp.tasks.graphs.kernels import KernelSpectrumFeatures, LabelPairFeatures
from grfpp.typing import FloatArray

#: Features by kernels: the spectrum; that of walks between equal labels; both; the sums over pairs
#: of labels; the spectrum and the sums.
SPECTRUM, SAME_LABEL, BOTH = "spectrum", "same-label", "both-spectra"
PAIRS, UNION = "label-pairs", "spectrum-and-pairs"
KINDS = (SPECTRUM, SAME_LABEL, BOTH, PAIRS, UNION)
_WITHIN = {"restrict": "same-label"}
#: The spectra of each kind.
_SPECTRA: dict[str, list[dict[str, Any]]] = {SAME_LABEL: [_WITHIN], BOTH: [{}, _WITHIN], PAIRS: []}
#: Features by walks: masses for forests; the others are kernels of support vector machines. The
#: last is the mean of kernels of colours, by histogram intersection, and of masses. Lengths and
#: bins were chosen by ``python -m grfpp_lab.studies.classification --settling``.
MASSES, SIGNATURES, COLOURS, AUTO = "walk-masses", "signatures", "colours", "auto"
WALK_KINDS = (MASSES, SIGNATURES, COLOURS, AUTO)
#: Number of trees of the forests that are compared, and only ranked.
TRIAL_TREES = 24
#: Number of trees of the forest that predicts, twice scikit-learn's default.
TREES = 200
#: Candidates for the penalty ``C``.
PENALTIES = (1.0, 10.0, 100.0)
#: Number of inner folds.
_INNER_FOLDS = 5
#: Number of training graphs above which a third of them is held out once instead, and trees see as
#: many graphs, to bound the time.
_MANY_GRAPHS = 1500


class Setting(NamedTuple):
    """Parameters of features by kernels; 0 walks where the kernel is exact."""

    scale: float
    n_walks: int
    n_eigenvalues: int

    @property
    def words(self) -> str:
        """As tables name it."""
        walks = f"{self.n_walks} walks, " if self.n_walks else ""
        return f"scale {self.scale:g}, {walks}{self.n_eigenvalues} eigenvalues"


@dataclass(frozen=True)
class FoldScore:
    """The candidate chosen on the other folds, and its accuracies there and on this fold."""

    fold: int
    chosen: Any
    inner: float
    accuracy: float
    #: The penalty of a support vector machine, which is chosen too.
    penalty: float | None = None


def candidate_features(
    graphs: Any,
    *,
    scales: Sequence[float],
    n_walks: Sequence[int],
    n_eigenvalues: Sequence[int],
    kind: str = SPECTRUM,
    **options: Any,
) -> dict[Any, FloatArray]:
    """Features for every scale, number of walks and number of eigenvalues.

    Parameters
    ----------
    graphs
        As for `KernelSpectrumFeatures`.
    scales, n_walks, n_eigenvalues
        The candidates.
    kind
        One of `KINDS`. All but the first need labelled graphs.
    options
        Other parameters of `KernelSpectrumFeatures`. With ``estimate="exact"``, `n_walks` is
        ignored. Only the last scale is used where the kernel is ``exp(λ W)`` or ``exp(λ W²)`` and
        features are spectra: those of other scales are monotone functions of them, to which forests
        are invariant.

    Examples
    --------
    >>> import networkx as nx
    >>> graphs = [nx.cycle_graph(5), nx.path_graph(3)]
    >>> candidates = candidate_features(
    ...     graphs, scales=[0.25, 0.81], n_walks=[4], n_eigenvalues=[2, 3], random_state=0
    ... )
    >>> [(tuple(setting), X.shape) for setting, X in candidates.items()][:2]
    [((0.25, 4, 2), (2, 2)), ((0.25, 4, 3), (2, 3))]
    """
    one_of(kind, "kind", KINDS)
    lengths = sorted({whole(k, "n_eigenvalues", 1) for k in n_eigenvalues})
    scales = [positive(scale, "scale") for scale in scales]
    n_walks = [whole(n, "n_walks", 1) for n in n_walks]
    if not (scales and n_walks and lengths):
        raise InputError("scales, n_walks and n_eigenvalues must not be empty")
    has_sums = kind in (PAIRS, UNION)
    if options.get("estimate") == "exact":
        n_walks, kernel = [0], kernel_of(options.get("kernel", "diffusion"))
        if not has_sums and isinstance(kernel, Diffusion | SquaredDiffusion):
            scales = scales[-1:]
    candidates = {}
    for scale, walks in product(scales, n_walks):
        parameters = {**options, "scale": scale, "n_walks": max(walks, 1)}
        # Each spectrum once, with the largest number of eigenvalues.
        spectra = [
            KernelSpectrumFeatures(lengths[-1], **which, **parameters).fit_transform(graphs)
            for which in _SPECTRA.get(kind, [{}])
        ]
        sums = [LabelPairFeatures(**parameters).fit_transform(graphs)] if has_sums else []
        for k in lengths if spectra else [0]:
            columns = [spectrum[:, :k] for spectrum in spectra] + sums
            candidates[Setting(scale, walks, k)] = np.hstack(columns)
    if not all((np.abs(X) <= np.finfo(np.float32).max).all() for X in candidates.values()):
        problem = "make features too large for a forest"
        raise InputError(problem, argument="scales", advice="use smaller scales")
    return candidates


def walk_candidates(graphs: Any, kind: str = AUTO, **options: Any) -> dict[Any, FloatArray]:
    """Walk masses for forests, or kernels between graphs for support vector machines, by name.

    Counts of colours of one round, by their cosines, are for rules about neighbours; levels of
    counts are the optimal assignment kernel of Kriege, Giscard and Wilson, NIPS 2016.

    Parameters
    ----------
    graphs
        As for `WalkLabelFeatures`.
    kind
        One of `WALK_KINDS`.
    options
        Parameters of `WalkLabelFeatures` about walks.

    Examples
    --------
    >>> from grfpp.tasks import LabelledGraph
    >>> graphs = [LabelledGraph([[0, 1], [1, 0]], list(pair)) for pair in ("CC", "CO")]
    >>> ((name, K),) = walk_candidates(graphs).items()
    >>> name, K.round(2).tolist()
    ('colours of 5 steps and walk-masses of 3 steps', [[1.0, 0.18], [0.18, 1.0]])
    """
    one_of(kind, "kind", WALK_KINDS)
    if kind in (MASSES, AUTO):
        sums = walk_labels.WalkLabelFeatures(n_lengths=3, **options)
        masses = sums.fit_transform(graphs).toarray()
        if kind == MASSES:
            return {"walk-masses of 3 steps": masses}
    require_bytes(48 * len(graphs) ** 2, f"kernels of {len(graphs)} graphs")
    name, n_rounds = (SIGNATURES, 3) if kind == SIGNATURES else (COLOURS, 5)
    # Bins that separate all numbers of walks: signatures of one step are Weisfeiler-Lehman colours.
    options |= {"normalization": None, "width": 0.5}
    nodes = walk_labels.WalkLabelFeatures(name, n_rounds, **options)
    counts = nodes.fit_transform(graphs)
    ends = np.cumsum([len(words) for words in nodes.signatures_ or nodes.colours_])

    def shared(rounds: int) -> FloatArray:
        return cosine_kernel(walk_labels.count_levels(counts[:, : ends[rounds]]))

    if kind == SIGNATURES:
        return {"signatures of 1 step": shared(1), "signatures of 3 steps": shared(3)}
    if kind == COLOURS:
        few = cosine_kernel(counts[:, : ends[1]])
        return {"colours of 1 step": few, "colour-levels of 5 steps": shared(5)}
    mean = sum(map(shared, range(n_rounds + 1))) / (n_rounds + 1)
    kernel = 0.5 * (mean + gaussian_kernel(masses))
    return {"colours of 5 steps and walk-masses of 3 steps": kernel}


def nested_scores(
    candidates: Any, classes: npt.ArrayLike, kind: str = AUTO, n_trees: int = TREES, **options: Any
) -> list[FoldScore]:
    """Scores of candidates of one kind, by forests or, for kernels, support vector machines."""
    if kind in (*KINDS, MASSES):
        return nested_forest_scores(candidates, classes, n_trees=n_trees, **options)
    return nested_svm_scores(candidates, classes, kernel="precomputed", **options)


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
        Features of all graphs by name, dense or sparse, one row per graph; computed without
        classes.
    classes
        The class of each graph.
    n_folds, seed
        The folds are a function of both and of the classes, so that several methods are compared
        on the same folds.
    n_trees
        Number of trees of the forest that predicts.
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

    y = array_of(classes, "classes")
    # In the precision of forests.
    features = {name: X.astype(np.float32) for name, X in candidates.items()}
    forest = partial(RandomForestClassifier, random_state=seed % 2**32, n_jobs=n_jobs)
    scores = []
    for fold, (train, test) in enumerate(stratified_folds(y, n_folds, seed)):
        share = min(1.0, _MANY_GRAPHS / len(train))
        trial = forest(TRIAL_TREES, oob_score=True, max_samples=share)
        inner = {name: trial.fit(X[train], y[train]).oob_score_ for name, X in features.items()}
        # The first of equal scores: the simplest candidates are first.
        best = max(inner, key=inner.__getitem__)
        fitted = forest(n_trees).fit(features[best][train], y[train])
        accuracy = float(fitted.score(features[best][test], y[test]))
        scores.append(FoldScore(fold, best, float(inner[best]), accuracy))
    return scores


def nested_svm_scores(
    candidates: Mapping[Any, Any],
    classes: npt.ArrayLike,
    *,
    n_folds: int = 10,
    seed: int = 0,
    penalties: Sequence[float] = PENALTIES,
    kernel: str = "cosine",
    n_jobs: int = 1,
) -> list[FoldScore]:
    """Accuracy of support vector machines on each fold, features and penalty chosen on the others.

    Parameters are those of `nested_forest_scores`, which has the same folds, and:

    Parameters
    ----------
    kernel
        The cosine of rows, as is usual for the histograms of graph kernels, or ``"precomputed"``
        if the candidates are kernels.
    penalties
        Values of ``C`` to choose among.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> good = np.column_stack([1 - y, y]) + rng.normal(0, 0.2, (60, 2))
    >>> scores = nested_svm_scores({"bad": rng.normal(size=(60, 2)), "good": good}, y, n_folds=3)
    >>> [(score.chosen, score.accuracy) for score in scores]
    [('good', 1.0), ('good', 1.0), ('good', 1.0)]
    """
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import SVC

    y, n_threads = array_of(classes, "classes"), thread_count(n_jobs)
    folds = stratified_folds(y, n_folds, seed)
    n_kernels = len(candidates) + 1 + 2 * n_threads
    require_bytes(8 * n_kernels * len(y) ** 2, f"kernels of {len(y)} graphs")
    one_of(kernel, "kernel", ("cosine", "precomputed"))
    made = cosine_kernel if kernel == "cosine" else np.asarray
    kernels = {name: made(X) for name, X in candidates.items()}

    # Not `GridSearchCV`, which resets the filters of warnings for all threads.
    def accuracy(K: FloatArray, penalty: float, train: Any, test: Any) -> float:
        machine = SVC(kernel="precomputed", C=penalty, cache_size=500)
        machine.fit(K[np.ix_(train, train)], y[train])
        return float(machine.score(K[np.ix_(test, train)], y[test]))

    def score(part: range) -> FoldScore:
        (fold,) = part
        train, test = folds[fold]
        fewest = int(np.unique(y[train], return_counts=True)[1].min())
        is_large = len(train) > _MANY_GRAPHS
        n_inner = min(fewest, 3 if is_large else _INNER_FOLDS)
        inner = StratifiedKFold(n_inner, shuffle=True, random_state=seed % 2**32)
        splits = [(train[a], train[b]) for a, b in inner.split(train, y[train])]
        splits = splits[:1] if is_large else splits

        def mean(name: Any, penalty: float) -> float:
            return float(np.mean([accuracy(kernels[name], penalty, *part) for part in splits]))

        trials = {each: mean(*each) for each in product(kernels, penalties)}
        name, penalty = best = max(trials, key=trials.__getitem__)
        tested = accuracy(kernels[name], penalty, train, test)
        return FoldScore(fold, name, trials[best], tested, penalty)

    return list(in_order(score, split(len(folds), len(folds)), n_threads))


def stratified_folds(
    classes: npt.ArrayLike, n_folds: int, seed: int = 0
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Indices of the training and of the test graphs of each fold, with all classes in each."""
    from sklearn.model_selection import StratifiedKFold

    y, n_folds = array_of(classes, "classes"), whole(n_folds, "n_folds", 2)
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < n_folds:
        problem = f"must be at least two of {n_folds} graphs each, one per fold, found "
        problem += f"{len(counts)}, the smallest of {counts.min()} graphs"
        raise InputError(problem, argument="classes", advice="use fewer n_folds")
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=whole(seed, "seed", 0) % 2**32)
    return list(folds.split(np.zeros(len(y)), y))


def cosine_kernel(X: Any) -> FloatArray:
    """Cosines between all rows; zero where a row is zero, except on the diagonal."""
    from sklearn.metrics.pairwise import cosine_similarity
    from sklearn.preprocessing import normalize

    # Divide by the largest entry first, so that squares neither overflow nor vanish.
    K = cosine_similarity(normalize(sp.csr_array(X, dtype=np.float64), "max"))
    np.fill_diagonal(K, 1.0)
    return np.asarray(K)


def gaussian_kernel(X: FloatArray) -> FloatArray:
    """``exp(−d²)`` for distances ``d`` between all rows, in units of their median.

    Roots are taken, which makes counts of equal variance, and columns have unit variance.
    """
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.preprocessing import StandardScaler

    roots = np.copysign(np.sqrt(np.abs(X)), X)
    squares = euclidean_distances(StandardScaler().fit_transform(roots), squared=True)
    return np.asarray(np.exp(-squares / (np.median(squares) or 1.0)))
