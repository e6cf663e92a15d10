"""Graphs as the ``X`` of scikit-learn estimators, whose samples and features are the nodes."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_non_negative, validate_data

from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.nodes import NodeNames
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
    >>> from grfpp.tasks import GraphRandomFeatures
    >>> estimator = GraphRandomFeatures()
    >>> read_graph(estimator, [[0, 1], [1, 0]], reset=True), estimator.n_features_in_
    (Graph(n_nodes=2, n_edges=1, undirected), 2)
    """
    if _is_matrix(X):
        if reset and getattr(X, "ndim", 2) == 1:
            raise InputError(
                f"X must be a graph, found {len(X)} numbers or names; {estimator._splitting}"
            )
        matrix = validate_data(
            estimator, X, accept_sparse="csr", dtype=np.float64, reset=reset, ensure_min_features=1
        )
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"X must be the adjacency matrix of a graph, with one row and one column a node, "
                f"found shape {matrix.shape[0]} x {matrix.shape[1]}; {estimator._splitting}"
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
            f"{estimator._splitting}"
        )
    return graph


class GraphEstimator(OneGraphParameters, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Estimators whose ``X`` is a square matrix of weights, dense or sparse.

    They do not say that they are "pairwise": scikit-learn would cut training nodes out of the
    graph by rows and columns, which can be fitted, and fail only when it scores, with NaN.
    """

    #: What to do instead of cross-validation that cuts the graph.
    _splitting: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def read_nodes(X: Any, names: NodeNames, name: str = "X") -> IntArray:
    """Take nodes, by number or by name, at the door of an estimator that holds the graph itself.

    Examples
    --------
    >>> read_nodes([[2], [0]], NodeNames(3))
    array([2, 0])
    >>> read_nodes(["Ben", "Anna"], NodeNames(2, ["Anna", "Ben"]))
    array([1, 0])
    """
    nodes = node_column(X, name)
    # The list itself where it is one: numpy would make text of the numbers beside names.
    return names.numbers(X if isinstance(X, list) and np.ndim(X) == 1 else nodes, name)


def node_column(X: Any, name: str = "X") -> npt.NDArray[Any]:
    """The nodes that an estimator or a splitter is given, as one axis."""
    try:
        nodes = X if sp.issparse(X) else np.asarray(X)
    except ValueError:  # lists of different lengths
        nodes = np.zeros(())
    if nodes.ndim == 2 and nodes.shape[1] == 1 and not sp.issparse(X):
        nodes = nodes[:, 0]
    if nodes.ndim != 1 or not len(nodes) or nodes.dtype.kind in "fcb":
        raise InputError(
            f"{name} must hold whole numbers or names of nodes, of shape (n,) or (n, 1), found "
            f"shape {nodes.shape} of {nodes.dtype}: the graph is a parameter of the estimator"
        )
    return np.asarray(nodes)


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
