"""Graphs as the ``X`` of scikit-learn estimators, whose samples and features are the nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, check_non_negative, validate_data

from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.tasks.kernels import OneGraphParameters
from grfpp.typing import IntArray


def read_graph(estimator: Any, X: Any, *, reset: bool) -> Graph:
    """Take a graph at the door of an estimator.

    Arrays, lists, sparse matrices and data frames are adjacency matrices and pass scikit-learn's
    own checks. Everything else is what `Graph` takes. Unless this is a fit (`reset`), the graph
    must be the one of the fit: nodes are known by their places in one graph, so that a part of its
    rows, or another graph, would give numbers that mean nothing.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> estimator = BaseEstimator()
    >>> read_graph(estimator, [[0, 1], [1, 0]], reset=True), estimator.n_features_in_
    (Graph(n_nodes=2, n_edges=1, undirected), 2)
    """
    if _is_matrix(X):
        matrix = validate_data(
            estimator, X, accept_sparse="csr", dtype=np.float64, reset=reset, ensure_min_features=1
        )
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"X must be the adjacency matrix of a graph, with one row and one column a node, "
                f"found shape {matrix.shape[0]} x {matrix.shape[1]}; cross-validation that takes "
                "some of the rows needs cv=WholeGraph()"
            )
        check_non_negative(matrix, f"X in {type(estimator).__name__}")
        graph = Graph(matrix)
    else:
        graph = as_graph(X)
        if reset:
            estimator.n_features_in_ = graph.n_nodes
            estimator.__dict__.pop("feature_names_in_", None)
    if reset:
        estimator._graph_digest = _digest(graph)
    elif estimator._graph_digest != _digest(graph):
        raise InputError(
            f"X, with {graph.n_nodes} nodes, is not the graph that {type(estimator).__name__} was "
            f"fitted on, with {estimator.n_features_in_} nodes: fit it to this one; "
            "cross-validation that takes some of the nodes needs cv=WholeGraph()"
        )
    return graph


class GraphEstimator(OneGraphParameters, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Estimators whose ``X`` is a square matrix of weights, dense or sparse."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class WholeGraph:
    """One "split" whose training and test nodes are all nodes.

    Clustering does not generalise to nodes that it has not seen, so its parameters are compared on
    the graph itself: against known classes, by ``score``. For `GridSearchCV` and its like, which
    index ``X``: give them the adjacency matrix.

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

    def __repr__(self) -> str:
        return "WholeGraph()"


def _digest(graph: Graph) -> str:
    """A name for a graph that no other graph has."""
    total = hashlib.blake2b(digest_size=16)
    for array in (graph.indptr, graph.indices, graph.weights):
        total.update(array.data)
    return total.hexdigest()


def _is_matrix(X: Any) -> bool:
    if isinstance(X, np.ndarray | list) or sp.issparse(X):
        return True
    # Tensors are arrays too, but sparse ones are not for numpy: `Graph` knows both.
    return hasattr(X, "__array__") and not type(X).__module__.startswith("torch")
