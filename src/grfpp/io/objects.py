"""Graphs of other libraries, arrays, frames and files -> weight matrices and names of nodes.

Objects of networkx, igraph, torch and PyTorch Geometric are recognised by the names and methods of
their types: none of these packages is imported here.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.io import matrices
from grfpp.io.files import known_file, load_mesh, read_file
from grfpp.io.markup import from_networkx
from grfpp.io.matrices import as_array, check_node_count, packages, require_real, tensor_to_numpy
from grfpp.io.meshes import SUFFIXES, Mesh, MeshWeights, as_mesh
from grfpp.io.table_options import EdgeListOptions, ListRequest
from grfpp.io.tables import is_edge_tuples, is_frame, read_edge_tuples, read_frame
from grfpp.io.text import errors_about
from grfpp.linalg.symmetrize import rounding

_SOURCES = (
    "a scipy sparse matrix, a square array, a networkx or igraph graph, a PyG Data, a torch "
    "tensor, a pair (edge_index, weights), a list of edges (u, v) or (u, v, w), a data frame, a "
    "mesh, or the path of a file"
)
_Read = tuple[Any, Sequence[Any] | None]


def read_adjacency(
    source: Any,
    *,
    directed: bool | None = None,
    n_nodes: int | None = None,
    mesh_weights: MeshWeights | None = None,
    options: EdgeListOptions | None = None,
) -> _Read:
    """Read the weight matrix of a graph, and the names of its nodes where they have any.

    The matrix is a scipy one in CSR or COO form, in float64; `Graph` checks its shape and its
    entries.

    Parameters
    ----------
    source
        Any source of `Graph`.
    directed
        Whether the edges of an edge list are arcs. Other sources determine it; ``False`` requires
        that they are undirected.
    n_nodes
        Number of nodes, for edge lists. That of other sources must be equal.
    mesh_weights
        Weights of a mesh's edges; see `grfpp.io.meshes.Mesh.adjacency`.
    options
        Options of edge lists, which other sources must not have.

    Returns
    -------
    matrix, node_ids
        ``node_ids`` is ``None`` if nodes are numbered from 0.

    Examples
    --------
    >>> matrix, node_ids = read_adjacency(([[0, 1], [1, 2]], [0.5, 2.0]))
    >>> matrix.toarray()
    array([[0. , 0.5, 0. ],
           [0. , 0. , 2. ],
           [0. , 0. , 0. ]])
    """
    options = options or EdgeListOptions()
    request = ListRequest.of(directed, n_nodes, options)
    origin = str(source) if isinstance(source, str | os.PathLike) else "the source"
    with np.errstate(invalid="ignore"):  # signalling NaN of float32, which raise an error later
        if mesh_weights is None:
            matrix, node_ids = _read(source, request)
        else:
            options.require_only((), "a mesh")
            mesh = mesh_of(source, "mesh_weights")
            matrix, node_ids = mesh.adjacency(mesh_weights), mesh.labels()
        if matrix.ndim != 2:
            raise InputError(f"a weight matrix must have two dimensions, found {matrix.shape}")
        if n_nodes is not None and matrix.shape[0] != n_nodes:
            raise InputError(f"n_nodes is {n_nodes}, but {origin} has {matrix.shape[0]} nodes")
        check_node_count(max(matrix.shape), origin)
        with errors_about(origin):
            matrix = matrices.checked(matrix)  # compiled code relies on valid indices
    if directed is False and matrix.shape[0] == matrix.shape[1]:
        _require_symmetric(sp.csr_array(matrix), origin)
    return matrix, node_ids


def declares_direction(source: Any) -> bool:
    """Whether a source declares edges as directed or undirected, whatever its numbers."""
    if isinstance(source, str | os.PathLike):
        name = Path(source).name.lower().removesuffix(".gz").removesuffix(".zip")
        return name.endswith((".gml", ".graphml"))
    return _is_networkx(source) or _is_igraph(source)


def _read(source: Any, request: ListRequest) -> _Read:
    if isinstance(source, str | os.PathLike):
        return read_file(source, request)
    if is_frame(source):
        return read_frame(source, request)
    if is_edge_tuples(source):
        return read_edge_tuples(source, request)
    n_nodes = request.n_nodes
    request.options.require_only((), f"a graph from {type(source).__name__}")
    if sp.issparse(source):
        return source, None
    origin = packages(source)
    if "torch" in origin and hasattr(source, "layout"):
        is_dense = str(source.layout) == "torch.strided"
        return _dense(source) if is_dense else _sparse_tensor(source), None
    if "torch_geometric" in origin:
        return _from_pyg(source, n_nodes), None
    if _is_networkx(source):
        return from_networkx(source)
    if _is_igraph(source):
        return _from_igraph(source)
    if isinstance(source, tuple) and len(source) == 2 and not _are_faces(source[1]):
        return _from_edge_index(*source, n_nodes), None
    if (mesh := as_mesh(source)) is not None:
        return mesh.adjacency(), mesh.labels()
    if isinstance(source, tuple) and any(isinstance(each, tuple) for each in source):
        advice = "pass a list of tuples for a list of edges, an array for a weight matrix"
        raise InputError("a tuple of tuples is ambiguous", advice=advice)
    if isinstance(source, np.ndarray | list | tuple) or hasattr(source, "__array__"):
        return _dense(source), None
    raise InputError(f"cannot read a graph from {type(source).__name__}; pass {_SOURCES}")


def mesh_of(source: Any, argument: str = "mesh") -> Mesh:
    """The mesh that an object or a file holds; `argument` is for those that do not."""
    if isinstance(source, str | os.PathLike):
        mesh = load_mesh(source) if known_file(source)[1] in SUFFIXES else None
    else:
        mesh = as_mesh(source)
    if mesh is None:
        raise InputError(f"is for meshes, found {shown(source)}", argument=argument)
    return mesh


def _are_faces(second: Any) -> bool:
    """Whether a pair is ``(vertices, faces)``, not ``(edge_index, weights)`` with one axis."""
    if isinstance(second, list):
        if not second or not all(isinstance(face, list) for face in second):
            return False
        if len({len(face) for face in second}) > 1:
            return True
    faces = as_array(second, "the second of the pair")
    return faces.ndim == 2 and faces.shape[1] >= 3 and faces.dtype.kind in "iu"


def _dense(source: Any) -> sp.csr_array:
    array = as_array(source, "the weight matrix")
    if not array.size:
        raise InputError("the graph has no nodes; at least one is needed")
    if array.ndim != 2:
        raise InputError(f"a weight matrix must have two dimensions, found shape {array.shape}")
    advice = "pass edges as a list of tuples (u, v) or (u, v, weight)"
    if array.dtype.kind in "OU":
        raise InputError(f"weights must be real numbers, found dtype {array.dtype}", advice=advice)
    require_real(array.dtype)
    n_rows, n_columns = array.shape
    if n_rows != n_columns and (n_rows == 2 or n_columns in (2, 3)) and array.dtype.kind in "iu":
        pair = "pass the pair (edge_index, None) if it is an edge_index"
        advice = pair if n_rows == 2 else advice
        problem = f"a weight matrix must be square, found shape {array.shape}"
        raise InputError(problem, advice=advice)
    # A copy, and the indices of its entries.
    require_bytes(9 * array.size, f"a dense matrix of {array.shape[0]} x {array.shape[1]} numbers")
    return sp.csr_array(array.astype(np.float64) if array.dtype.kind == "f" else array)


def _from_edge_index(edge_index: Any, weights: Any, n_nodes: int | None) -> sp.coo_array:
    """Read ``(edge_index, weights)``: column ``k`` of `edge_index` is the k-th arc.

    Without `weights` all are 1; without `n_nodes` the largest index is that of the last node.
    """
    index = as_array(edge_index, "edge_index")
    if index.ndim != 2 or index.shape[0] != 2:
        problem = f"edge_index, the first of a pair, must have shape (2, n), found {index.shape}"
        raise InputError(problem, advice="transpose it, or pass a matrix as an array")
    if index.dtype.kind not in "iu" and index.size:
        raise InputError(f"edge_index must hold whole numbers, found dtype {index.dtype}")
    least, largest = (int(index.min()), int(index.max())) if index.size else (0, -1)
    if least < 0 or (n_nodes is not None and largest >= n_nodes):
        wrong = least if least < 0 else largest
        raise InputError(f"edge_index names node {wrong}, but nodes are numbered from 0 to n - 1")
    n = largest + 1 if n_nodes is None else n_nodes
    check_node_count(n, f"node {largest} in edge_index")
    values = np.ones(index.shape[1]) if weights is None else as_array(weights, "weights")
    if values.shape != index.shape[1:]:
        shape = f"one number for each of the {index.shape[1]} edges"
        raise InputError(f"weights must have {shape}, found shape {values.shape}")
    require_real(values.dtype)
    rows, columns = index.astype(np.int64)
    return matrices.arcs(rows, columns, values.astype(np.float64), n)


def _is_networkx(source: Any) -> bool:
    return "networkx" in packages(source) and hasattr(source, "edges")


def _is_igraph(source: Any) -> bool:
    """Recognise an igraph graph by its methods: igraph (GPL) is never imported."""
    return all(hasattr(source, name) for name in ("is_directed", "get_edgelist", "vcount", "es"))


def _from_igraph(graph: Any) -> tuple[sp.coo_array, list[Any] | None]:
    """Read an igraph graph, with the edge attribute ``weight`` and vertex attribute ``name``."""
    edges = graph.get_edgelist()
    rows, columns = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    listed = graph.es["weight"] if "weight" in graph.es.attributes() else [1.0] * len(edges)
    weights = matrices.real_numbers(listed, lambda i: f"edge {tuple(edges[i])}")
    names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    if names is not None and len(set(names)) < len(names):
        names = None  # ambiguous
    matrix = matrices.arcs if graph.is_directed() else matrices.undirected
    return matrix(rows, columns, weights, int(graph.vcount())), names


def _sparse_tensor(tensor: Any) -> Any:
    """Read a sparse torch tensor of any layout (COO, CSR, CSC, BSR, BSC)."""
    layout = str(tensor.layout).removeprefix("torch.sparse_")
    if tensor.dim() != 2 or tensor.dense_dim():
        found = f"shape {tuple(tensor.shape)} with {tensor.dense_dim()} dense dimensions"
        raise InputError(f"a weight matrix must have two sparse dimensions, found {found}")
    tensor, shape = tensor.detach(), tuple(tensor.shape)
    check_node_count(max(shape), "the torch tensor")
    if layout == "coo":
        # Not coalesced: torch would sum in the tensor's type, and does not check indices.
        rows, columns = tensor_to_numpy(tensor._indices())
        return matrices.coordinates(tensor_to_numpy(tensor._values()), rows, columns, shape)
    by_row = layout in ("csr", "bsr")
    indptr = tensor.crow_indices() if by_row else tensor.ccol_indices()
    indices = tensor.col_indices() if by_row else tensor.row_indices()
    values, indices, indptr = map(tensor_to_numpy, (tensor.values(), indices, indptr))
    return matrices.compressed(values, indices, indptr, shape, by_row=by_row)


def _from_pyg(data: Any, n_nodes: int | None) -> Any:
    """Read a PyTorch Geometric ``Data``, whose edges are arcs.

    Weights are ``edge_weight``, else ``edge_attr`` if it has one number per edge, else ones; an
    ``edge_attr`` with several columns holds features, not weights.
    """
    kind = type(data).__name__
    if hasattr(data, "node_types"):
        advice = "pass data.to_homogeneous(), or the (edge_index, weights) of one type"
        raise InputError(f"{kind} holds nodes or edges of several types", advice=advice)
    if getattr(data, "edge_index", None) is None:
        raise InputError(f"{kind} has no edge_index", advice="pass a pair (edge_index, weights)")
    weights = getattr(data, "edge_weight", None)
    features = getattr(data, "edge_attr", None)
    if weights is None and features is not None and features.ndim == 1:
        weights = features
    if n_nodes is None:
        # PyG warns if it has only edge_index to count nodes by.
        with warnings.catch_warnings(action="ignore"):
            n_nodes = data.num_nodes
    return _from_edge_index(data.edge_index, weights, n_nodes)


def _require_symmetric(matrix: sp.csr_array, origin: str) -> None:
    largest = rounding(matrix.data) * matrix.maximum(matrix.T)
    differ = (abs(matrix - matrix.T) > largest).tocoo()
    if differ.nnz:
        u, v = int(differ.row[0]), int(differ.col[0])
        found = f"the weight from {u} to {v} is {matrix[u, v]}, back it is {matrix[v, u]}"
        advice = "list both directions, or pass symmetrize='max' or 'mean'"
        raise InputError(f"directed=False, but {origin} is directed: {found}", advice=advice)
