"""Torch tensors and PyTorch Geometric data -> weight matrices.

Nothing here imports torch: whoever holds a tensor has done so.
"""

from __future__ import annotations

import warnings
from typing import Any

import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.arrays import tensor_to_numpy
from grfpp.io.edges import from_edge_index


def is_sparse_tensor(tensor: Any) -> bool:
    """Tell a torch tensor of a sparse layout (COO, CSR, CSC, BSR, BSC) from a dense one."""
    return str(tensor.layout) != "torch.strided"


def from_sparse_tensor(tensor: Any) -> Any:
    """Read a sparse tensor of any layout as the scipy array of the same layout."""
    layout = str(tensor.layout).removeprefix("torch.sparse_")
    if tensor.dim() != 2 or tensor.dense_dim():
        raise InputError(
            f"a weight matrix must have two sparse dimensions and one number an entry, found a "
            f"sparse tensor of shape {tuple(tensor.shape)} with {tensor.sparse_dim()} sparse and "
            f"{tensor.dense_dim()} dense dimensions"
        )
    tensor, shape = tensor.detach(), tuple(tensor.shape)
    if layout == "coo":
        tensor = tensor.coalesce()
        rows, columns = tensor_to_numpy(tensor.indices())
        return sp.coo_array((tensor_to_numpy(tensor.values()), (rows, columns)), shape=shape)
    by_row = layout in ("csr", "bsr")
    pointers, indices = (
        (tensor.crow_indices(), tensor.col_indices())
        if by_row
        else (tensor.ccol_indices(), tensor.row_indices())
    )
    values = tensor_to_numpy(tensor.values())
    parts = (tensor_to_numpy(indices), tensor_to_numpy(pointers))
    if layout in ("csr", "csc"):
        return (sp.csr_array if by_row else sp.csc_array)((values, *parts), shape=shape)
    if by_row:
        return sp.bsr_array((values, *parts), shape=shape)
    # scipy has no blocks by column: read the transpose by rows, block by block.
    return sp.bsr_array((values.transpose(0, 2, 1), *parts), shape=shape[::-1]).T


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
