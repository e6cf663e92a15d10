"""Model selection where nodes cannot be left out: every candidate sees the whole graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from grfpp.typing import IntArray


class WholeGraph:
    """One "split" whose training and test nodes are all nodes.

    Clustering does not generalise to nodes that it has not seen, so its parameters are compared on
    the graph itself: against known classes, by ``score``. For `GridSearchCV` and its like, which
    index ``X``: give them the adjacency matrix.

    Examples
    --------
    >>> import networkx as nx
    >>> from sklearn.model_selection import GridSearchCV
    >>> from grfpp.tasks import SpectralKernelClustering
    >>> from grfpp.tasks.nodes.whole_graph import WholeGraph
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

    def __repr__(self) -> str:
        return "WholeGraph()"
