"""Graphs as the ``X`` of scikit-learn estimators, whose samples and features are the nodes."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_non_negative, validate_data

from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph


def read_graph(estimator: Any, X: Any, *, reset: bool) -> Graph:
    """Take a graph at the door of an estimator.

    Arrays, lists, sparse matrices and data frames are adjacency matrices and pass scikit-learn's
    own checks. Everything else is what `Graph` takes.

    Parameters
    ----------
    estimator
        Remembers the number of nodes as its ``n_features_in_``.
    X
        The graph.
    reset
        Whether this is a fit; if not, the graph must be the one of the fit. Nodes are known by
        their places in one graph, so that a part of its rows, or another graph, would give numbers
        that mean nothing.

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


def set_graph_tags(tags: Any) -> Any:
    """Tell scikit-learn that ``X`` is a square matrix of weights, dense or sparse."""
    tags.input_tags.pairwise = True
    tags.input_tags.sparse = True
    tags.input_tags.positive_only = True
    return tags


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
