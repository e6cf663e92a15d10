"""Whatever holds a graph -> a weight matrix and the labels of its nodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.io import graph_objects
from grfpp.io.arrays import as_array, packages, require_real
from grfpp.io.edge_tuples import is_edge_tuples, read_edge_tuples
from grfpp.io.edges import check_node_count, from_edge_index
from grfpp.io.files import read_file
from grfpp.io.frames import is_frame, read_frame
from grfpp.io.meshes.mesh import from_mesh
from grfpp.io.options import EdgeListOptions

_WANTED = (
    "a scipy sparse matrix, a square array, a networkx or igraph graph, a PyG Data, a torch "
    "tensor, a pair (edge_index, weights), a list of edges (u, v) or (u, v, w), a frame, a mesh, "
    "or the path of a file"
)


def read_adjacency(
    source: Any,
    *,
    directed: bool | None = None,
    n_nodes: int | None = None,
    options: EdgeListOptions | None = None,
) -> tuple[Any, Sequence[Any] | None]:
    """Read the weight matrix of a graph, and the labels of its nodes where they have any.

    The matrix is a scipy one of any format; `Graph` checks its shape and its entries.

    Parameters
    ----------
    source
        Any of what `Graph` takes.
    directed
        Whether the edges of a list are arcs. Other sources know; ``False`` refuses one that is
        directed.
    n_nodes
        Number of nodes, for sources that list edges only. Others must agree.
    options
        How lists of edges are read. Other sources are refused with any.

    Returns
    -------
    matrix, node_ids
        ``node_ids`` is ``None`` where nodes are simply numbered.

    Examples
    --------
    >>> matrix, node_ids = read_adjacency(([[0, 1], [1, 2]], [0.5, 2.0]))
    >>> matrix.toarray()
    array([[0. , 0.5, 0. ],
           [0. , 0. , 2. ],
           [0. , 0. , 0. ]])
    """
    if not (directed is None or isinstance(directed, bool | np.bool_)):
        raise InputError(f"directed must be True, False or None, not {directed!r}")
    if n_nodes is not None:
        n_nodes = whole(n_nodes, "n_nodes", 1)
        check_node_count(n_nodes, "n_nodes")
    matrix, node_ids = _read(source, directed, n_nodes, options or EdgeListOptions())
    if matrix.ndim != 2:
        raise InputError(f"a weight matrix must have two dimensions, found shape {matrix.shape}")
    origin = str(source) if isinstance(source, str | os.PathLike) else "the source"
    if n_nodes is not None and matrix.shape[0] != n_nodes:
        raise InputError(f"n_nodes is {n_nodes}, but {origin} has {matrix.shape[0]} nodes")
    check_node_count(max(matrix.shape), origin)
    if matrix.format in ("csr", "csc", "bsr"):
        try:  # C code will trust the indices from here on
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise InputError(f"{origin} is a malformed sparse matrix: {error}") from None
    if directed is False:
        _require_symmetric(matrix, origin)
    return matrix, node_ids


def _read(
    source: Any, directed: bool | None, n_nodes: int | None, options: EdgeListOptions
) -> tuple[Any, Sequence[Any] | None]:
    if isinstance(source, str | os.PathLike):
        return read_file(source, directed=directed, n_nodes=n_nodes, options=options)
    if is_frame(source):
        return read_frame(source, directed=directed, n_nodes=n_nodes, options=options)
    if is_edge_tuples(source):
        return read_edge_tuples(source, directed=directed, n_nodes=n_nodes, options=options)
    options.require_only((), f"a graph from {type(source).__name__}")
    if sp.issparse(source):
        return source, None
    origin = packages(source)
    if "torch" in origin and hasattr(source, "layout"):
        if graph_objects.is_sparse_tensor(source):
            return graph_objects.from_sparse_tensor(source), None
        return _dense(source), None
    if "torch_geometric" in origin:
        return graph_objects.from_pyg(source, n_nodes), None
    if "networkx" in origin and hasattr(source, "edges"):
        return graph_objects.from_networkx(source)
    if graph_objects.is_igraph(source):
        return graph_objects.from_igraph(source)
    if isinstance(source, tuple) and len(source) == 2:
        return _pair(*source, n_nodes=n_nodes)
    if "trimesh" in origin and hasattr(source, "to_mesh"):
        source = source.to_mesh()  # a scene: its parts become one mesh
    if hasattr(source, "vertices") and hasattr(source, "faces"):
        return from_mesh(source.vertices, source.faces)
    if isinstance(source, tuple) and any(isinstance(each, tuple) for each in source):
        raise InputError(
            "a tuple of tuples is not plain: pass a list of tuples for a list of edges, a list of "
            "lists or an array for a weight matrix"
        )
    if isinstance(source, np.ndarray | list | tuple) or hasattr(source, "__array__"):
        return _dense(source), None
    raise InputError(f"cannot read a graph from {type(source).__name__}; pass {_WANTED}")


def _pair(first: Any, second: Any, n_nodes: int | None) -> tuple[Any, Sequence[Any] | None]:
    """Tell ``(vertices, faces)`` from ``(edge_index, weights)``: weights are never a table."""
    if second is not None:
        faces = as_array(second, "the second of the pair")
        if faces.ndim == 2 and faces.shape[1] == 3 and faces.dtype.kind in "iu":
            return from_mesh(first, faces)
    return from_edge_index(first, second, n_nodes), None


def _dense(source: Any) -> sp.csr_array:
    array = as_array(source, "the weight matrix")
    if array.ndim != 2:
        raise InputError(
            f"a weight matrix must have two dimensions, a row and a column a node, found shape "
            f"{array.shape}"
        )
    require_real(array.dtype)
    if array.shape[0] == 2 and array.shape[1] != 2 and array.dtype.kind in "iu":
        raise InputError(
            f"a weight matrix must be square, found shape {array.shape}; if this is an "
            "edge_index, pass the pair (edge_index, None) or (edge_index, weights)"
        )
    return sp.csr_array(array.astype(np.float64) if array.dtype.kind == "f" else array)


def _require_symmetric(matrix: Any, origin: str) -> None:
    if matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "buif":
        return  # Graph tells what is wrong
    values = sp.csr_array(matrix)
    # Not the difference: unsigned numbers wrap round in it.
    differ = (values != values.T).tocoo()
    if differ.nnz:
        u, v = int(differ.row[0]), int(differ.col[0])
        raise InputError(
            f"directed=False, but {origin} is directed: the weight from {u} to {v} is "
            f"{values[u, v]}, from {v} to {u} it is {values[v, u]}; list both directions"
        )
