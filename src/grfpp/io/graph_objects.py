"""Graph objects of networkx and igraph -> weight matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.io.arrays import real_numbers
from grfpp.io.edges import arcs, undirected
from grfpp.typing import IntArray


def from_networkx(graph: Any, weight: str = "weight") -> tuple[sp.coo_array, list[Any]]:
    """Read a networkx graph of any class; parallel edges are summed later.

    Edges without the attribute `weight` weigh 1. Nodes keep their order and their labels.
    """
    labels = list(graph)
    position = {label: i for i, label in enumerate(labels)}
    edges = list(graph.edges(data=weight, default=1))
    rows, columns = _ends((position[u], position[v]) for u, v, _ in edges)
    weights = real_numbers(
        [w for *_, w in edges], lambda i: f"edge ({edges[i][0]!r}, {edges[i][1]!r})"
    )
    matrix = arcs if graph.is_directed() else undirected
    return matrix(rows, columns, weights, len(labels)), labels


def is_igraph(source: Any) -> bool:
    """Tell an igraph graph by its methods: igraph is never imported (its licence is the GPL)."""
    methods = ("is_directed", "get_edgelist", "vcount")
    return all(callable(getattr(source, name, None)) for name in methods) and hasattr(source, "es")


def from_igraph(graph: Any) -> tuple[sp.coo_array, list[Any] | None]:
    """Read an igraph graph: edge attribute ``weight``, vertex attribute ``name``, if there."""
    edges = graph.get_edgelist()
    rows, columns = _ends(edges)
    if "weight" in graph.es.attributes():
        weights = real_numbers(list(graph.es["weight"]), lambda i: f"edge {tuple(edges[i])}")
    else:
        weights = np.ones(len(edges))
    labels = list(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    if labels is not None and len(set(labels)) < len(labels):
        labels = None  # names that do not tell nodes apart are no labels
    matrix = arcs if graph.is_directed() else undirected
    return matrix(rows, columns, weights, int(graph.vcount())), labels


def _ends(pairs: Any) -> IntArray:
    """Turn pairs of node numbers into an array of shape ``(2, n_edges)``."""
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2).T
