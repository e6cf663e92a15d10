"""Cross-validation splits of nodes: ``cv`` for scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

import numpy as np
from sklearn import model_selection as cv
from sklearn.utils.validation import _num_samples

from grfpp._checks import array_of, one_of, whole
from grfpp.errors import InputError
from grfpp.tasks.base import class_numbers, node_column, seed_of
from grfpp.typing import IntArray


class NodeKFold(cv.BaseCrossValidator):  # type: ignore[misc]  # untyped base
    """K-fold cross-validation of the nodes of a graph: each node is in one test fold.

    Samples are node indices, and the graph is a parameter of the estimator: ``X`` is
    ``np.arange(n_nodes)``, or the indices of the labelled nodes. The graph stays whole; only labels
    are held out. Nodes are shuffled, since files often list them class by class.

    Parameters
    ----------
    n_splits
        Number of folds, at least 2.
    stratify
        Whether every fold has the class shares of ``y``. ``None``: if ``y`` holds classes of at
        least `n_splits` nodes each.
    random_state
        Seed of the shuffle; ``None`` draws one for every split.

    Notes
    -----
    `split` takes ``groups`` too: nodes of one group, such as one person or one connected component,
    stay in one fold.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from grfpp.tasks import GraphRandomFeatures, NodeKFold
    >>> club = nx.karate_club_graph()
    >>> parties = [club.nodes[node]["club"] for node in club]
    >>> features = GraphRandomFeatures(graph=club, scale=4.0, random_state=0)
    >>> model = make_pipeline(features, LogisticRegression(C=100))
    >>> scores = cross_val_score(model, np.arange(34), parties, cv=NodeKFold(5))
    >>> len(scores), bool(scores.mean() > 0.85)
    (5, True)
    """

    def __init__(
        self, n_splits: int = 5, *, stratify: bool | None = None, random_state: Any = 0
    ) -> None:
        self.n_splits = whole(n_splits, "n_splits", 2)
        self.stratify = one_of(stratify, "stratify", (None, True, False))
        seed_of(random_state)
        self.random_state = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield positions in `X` of the training and of the test nodes.

        Parameters
        ----------
        X
            Indices or names of nodes, each once, of shape ``(n,)`` or ``(n, 1)``.
        y
            Their labels, for `stratify`.
        groups
            The group of each node: nodes of one group are in one fold.
        """
        nodes = node_column(X)
        if len(set(nodes.tolist())) < len(nodes):
            raise InputError("must have each node once", argument="X")
        group = None if groups is None else class_numbers(_entries(groups, "groups", len(nodes)))
        classes = None if y is None else self._classes(_entries(y, "y", len(nodes)))
        if self.stratify and classes is None:
            problem = f"needs the class of each node as y, and {self.n_splits} nodes of each class"
            advice = "leave small classes out, or use stratify=False"
            raise InputError(problem, argument="stratify", advice=advice)
        n_units = len(nodes) if group is None else int(group.max()) + 1
        whole(self.n_splits, "n_splits", 2, n_units)
        if group is None:
            splitter = cv.KFold if classes is None else cv.StratifiedKFold
        else:
            splitter = cv.GroupKFold if classes is None else cv.StratifiedGroupKFold
        seed = seed_of(self.random_state)
        seed = None if seed is None else seed % 2**32
        folds = splitter(self.n_splits, shuffle=True, random_state=seed)
        yield from folds.split(nodes, classes, group)

    def _classes(self, labels: Any) -> IntArray | None:
        """Class numbers to stratify by; ``None`` if some class is small or `stratify` is false."""
        if labels.ndim != 1 or self.stratify is False:
            return None
        values = labels.tolist()
        if any(value is None or (isinstance(value, float) and isnan(value)) for value in values):
            advice = "leave nodes without a label out of X and y"
            raise InputError("must have a label for every node", argument="y", advice=advice)
        classes = class_numbers(labels)
        return classes if np.bincount(classes).min() >= self.n_splits else None

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits


class WholeGraph(cv.BaseCrossValidator):  # type: ignore[misc]  # untyped base
    """One "split" whose training and test nodes are all nodes: for clustering only.

    Clustering uses no labels and does not generalise to unseen nodes, so its parameters are
    compared on the graph itself, against known classes, by ``score``. `GridSearchCV`, which indexes
    ``X``, needs the adjacency matrix for it.

    Warnings
    --------
    A model that learns from labels has seen all test labels here. Use `NodeKFold` for such models.

    Examples
    --------
    >>> import networkx as nx
    >>> from sklearn.model_selection import GridSearchCV
    >>> from grfpp.tasks import SpectralKernelClustering, WholeGraph
    >>> club = nx.karate_club_graph()
    >>> A = nx.to_scipy_sparse_array(club, weight=None)
    >>> parties = [club.nodes[node]["club"] for node in club]
    >>> clustering = SpectralKernelClustering(n_clusters=2, random_state=0)
    >>> search = GridSearchCV(clustering, {"scale": [0.25, 1.0], "degree": [1, 2]}, cv=WholeGraph())
    >>> bool(search.fit(A, parties).best_score_ > 0.85)
    True
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, ...]]:
        """Yield all nodes, twice."""
        nodes = np.arange(_num_samples(X))
        yield nodes, nodes

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1


def _entries(values: Any, argument: str, n: int) -> Any:
    array = array_of(values, argument)
    if array.ndim not in (1, 2) or len(array) != n:
        raise InputError(f"must have one entry for each of the {n} nodes of X", argument=argument)
    return array
