"""Numbered edges -> weight matrices: each entry an arc, or an edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.arrays import as_array, require_real
from grfpp.memory import require_bytes
from grfpp.typing import AnyInts, FloatArray

# The row pointers of the graph, of its transpose and of what is made on the way, eight bytes each.
_BYTES_PER_NODE = 32


def check_node_count(n_nodes: int, origin: str) -> None:
    """Raise when `n_nodes` nodes cannot be numbered or held; `origin` says who asks for them."""
    if n_nodes > np.iinfo(np.int32).max:
        raise InputError(
            f"{origin} asks for {n_nodes:,} nodes, more than this version can number (2^31 - 1); "
            "nodes must be numbered from 0 without gaps"
        )
    require_bytes(n_nodes * _BYTES_PER_NODE, f"{origin} asks for {n_nodes:,} nodes, which")


def arcs(rows: AnyInts, columns: AnyInts, weights: FloatArray, n_nodes: int) -> sp.coo_array:
    """Take each entry as one arc; entries of one arc are summed later."""
    return sp.coo_array((weights, (rows, columns)), shape=(n_nodes, n_nodes))


def undirected(rows: AnyInts, columns: AnyInts, weights: FloatArray, n_nodes: int) -> sp.coo_array:
    """Take each entry as one edge, present in both directions; a self-loop counts once."""
    back = rows != columns
    return arcs(
        np.concatenate([rows, columns[back]]),
        np.concatenate([columns, rows[back]]),
        np.concatenate([weights, weights[back]]),
        n_nodes,
    )


def unweighted(ends: npt.NDArray[Any], n_nodes: int) -> sp.csr_array:
    """Take each row of `ends` as one edge of weight 1, however often it is listed."""
    rows, columns = ends.T.ravel(), ends[:, ::-1].T.ravel()
    joined = np.ones(len(rows), dtype=bool)  # what is listed twice stays true
    matrix = sp.csr_array((joined, (rows, columns)), shape=(n_nodes, n_nodes))
    return matrix.astype(np.float64)


def from_edge_index(edge_index: Any, weights: Any, n_nodes: int | None) -> sp.coo_array:
    """Read ``(edge_index, weights)``: column ``k`` of `edge_index` is the k-th arc.

    Nothing is mirrored. Without `weights` all are one; without `n_nodes` the largest number is that
    of the last node.
    """
    index = as_array(edge_index, "edge_index")
    if index.ndim != 2 or index.shape[0] != 2:
        hint = "; transpose it" if index.ndim == 2 and index.shape[1] == 2 else ""
        raise InputError(
            f"edge_index must have shape (2, n_edges), one column an edge, found "
            f"{index.shape}{hint} (a pair of objects is read as (edge_index, weights); pass a "
            "weight matrix as an array or a list of rows)"
        )
    if index.dtype.kind not in "iu" and index.size:
        raise InputError(f"edge_index must hold whole numbers, found dtype {index.dtype}")
    least, largest = (int(index.min()), int(index.max())) if index.size else (0, -1)
    if least < 0:
        raise InputError(f"edge_index must not be negative, found {least}")
    if n_nodes is not None and largest >= n_nodes:
        raise InputError(
            f"edge_index names node {largest}, but there are {n_nodes} nodes, numbered from 0"
        )
    n = largest + 1 if n_nodes is None else n_nodes
    check_node_count(n, f"node {largest} in edge_index")
    rows, columns = index.astype(np.int64)
    return arcs(rows, columns, _weights(weights, len(rows)), n)


def _weights(weights: Any, n_arcs: int) -> FloatArray:
    if weights is None:
        return np.ones(n_arcs)
    values = as_array(weights, "weights")
    if values.shape != (n_arcs,):
        raise InputError(
            f"weights must have one number for each of the {n_arcs} edges, shape ({n_arcs},), "
            f"found shape {values.shape}"
        )
    require_real(values.dtype)
    return values.astype(np.float64)
