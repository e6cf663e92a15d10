"""Other ways to the nearest nodes of one node, each as a user would call it.

A peer is a function of a node that gives the nodes it finds nearest. What it can prepare once for
a graph is prepared before: conversion, normalisation where it takes a matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.typing import FloatArray, IntArray

Peer = Callable[[int], IntArray]


def largest(values: FloatArray, k: int) -> IntArray:
    """Where the `k` largest values are, in no order."""
    if len(values) <= k:
        return np.arange(len(values))
    return np.asarray(np.argpartition(values, len(values) - k)[-k:])


def sparse_taylor(W: Graph, n_terms: int = 4, k: int = 10) -> Peer:
    """``Σ W^j/j!`` on a sparse unit vector by scipy, so many terms beyond the first."""
    weights, n = W.adjacency, W.n_nodes

    def nearest(node: int) -> IntArray:
        term = sp.csr_array(([1.0], [node], [0, 1]), shape=(1, n))
        total = term
        for j in range(1, n_terms + 1):
            term = (term @ weights) / j
            total = total + term
        return np.asarray(total.indices[largest(total.data, k)])

    return nearest


def applied(W: Graph, kernel: Kernel, k: int = 10) -> Peer:
    """`kernel.apply` on a unit vector; for symmetric weights."""

    def nearest(node: int) -> IntArray:
        unit = np.zeros(W.n_nodes)
        unit[node] = 1.0
        return largest(kernel.apply(W, unit), k)

    return nearest


def scikit_network(graph: Graph, alpha: float, k: int = 10) -> Peer:
    """`sknetwork.ranking.PageRank`: power iteration, 10 steps."""
    ranking = import_module("sknetwork.ranking").PageRank(damping_factor=1 - alpha)
    adjacency = sp.csr_matrix(graph.adjacency)

    def nearest(node: int) -> IntArray:
        return largest(ranking.fit_predict(adjacency, weights={node: 1.0}), k)

    return nearest


def bare_steps(graph: Graph, alpha: float, n_steps: int = 10, k: int = 10) -> Peer:
    """The same steps with the matrix made once: what is left of it is ten products."""
    steps = (sp.csr_matrix(graph.normalized("rw").adjacency).T * (1 - alpha)).tocsr()

    def nearest(node: int) -> IntArray:
        scores = np.zeros(graph.n_nodes)
        scores[node] = 1.0
        for _ in range(n_steps):
            scores = steps @ scores
            scores[node] += alpha
        return largest(scores, k)

    return nearest


def networkx(graph: Graph, alpha: float, k: int = 10) -> Peer:
    """`networkx.pagerank`."""
    nx = import_module("networkx")
    network = nx.from_scipy_sparse_array(graph.adjacency)

    def nearest(node: int) -> IntArray:
        ranks = nx.pagerank(network, alpha=1 - alpha, personalization={node: 1})
        return largest(np.fromiter(ranks.values(), float, graph.n_nodes), k)

    return nearest


def igraph(graph: Graph, alpha: float, k: int = 10) -> Peer | None:
    """`igraph.Graph.personalized_pagerank`, by PRPACK; ``None`` where igraph is not installed."""
    if find_spec("igraph") is None:
        return None
    upper: Any = sp.triu(graph.adjacency).tocoo()
    ends: npt.NDArray[np.int64] = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    network = import_module("igraph").Graph(graph.n_nodes, ends)

    def nearest(node: int) -> IntArray:
        ranks = network.personalized_pagerank(damping=1 - alpha, reset_vertices=[node])
        return largest(np.asarray(ranks), k)

    return nearest
