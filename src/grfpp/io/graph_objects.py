"""Graph objects of networkx, igraph, torch and PyTorch Geometric -> weight matrices.

Nothing here imports any of them: whoever holds an object has done so.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io import structure
from grfpp.io.arrays import real_numbers, tensor_to_numpy
from grfpp.io.edges import arcs, check_node_count, from_edge_index, undirected
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


def is_sparse_tensor(tensor: Any) -> bool:
    """Tell a torch tensor of a sparse layout (COO, CSR, CSC, BSR, BSC) from a dense one."""
    return str(tensor.layout) != "torch.strided"


def from_sparse_tensor(tensor: Any) -> Any:
    """Read a sparse tensor of any layout."""
    layout = str(tensor.layout).removeprefix("torch.sparse_")
    if tensor.dim() != 2 or tensor.dense_dim():
        raise InputError(
            f"a weight matrix must have two sparse dimensions and one number an entry, found a "
            f"sparse tensor of shape {tuple(tensor.shape)} with {tensor.sparse_dim()} sparse and "
            f"{tensor.dense_dim()} dense dimensions"
        )
    tensor, shape = tensor.detach(), tuple(tensor.shape)
    check_node_count(max(shape), "the torch tensor")
    if layout == "coo":
        # Not coalesced: torch would sum in the tensor's own type, and trust indices to be right.
        rows, columns = tensor_to_numpy(tensor._indices())
        return structure.coordinates(tensor_to_numpy(tensor._values()), rows, columns, shape)
    by_row = layout in ("csr", "bsr")
    pointers, indices = (
        (tensor.crow_indices(), tensor.col_indices())
        if by_row
        else (tensor.ccol_indices(), tensor.row_indices())
    )
    values, indices, pointers = map(tensor_to_numpy, (tensor.values(), indices, pointers))
    return structure.compressed(values, indices, pointers, shape, by_row=by_row)


def from_pyg(data: Any, n_nodes: int | None) -> Any:
    """Read a PyTorch Geometric ``Data``: its arcs as they are listed.

    Weights are ``edge_weight``, else ``edge_attr`` where that has one number an edge, else ones;
    an ``edge_attr`` with several columns holds features, not weights.
    """
    kind = type(data).__name__
    if hasattr(data, "node_types"):
        raise InputError(
            f"{kind} holds nodes or edges of several types; pass data.to_homogeneous(), or the "
            "(edge_index, weights) of one type"
        )
    if getattr(data, "edge_index", None) is None:
        raise InputError(
            f"{kind} has no edge_index; pass one that has, or a pair (edge_index, weights)"
        )
    weights = getattr(data, "edge_weight", None)
    if weights is None:
        features = getattr(data, "edge_attr", None)
        weights = features if features is not None and features.ndim == 1 else None
    if n_nodes is None:
        with warnings.catch_warnings():
            # It warns when it has only edge_index to count by, as has every edge_index.
            warnings.simplefilter("ignore")
            n_nodes = data.num_nodes
    return from_edge_index(data.edge_index, weights, n_nodes)
