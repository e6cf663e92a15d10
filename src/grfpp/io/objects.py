"""Whatever holds a graph -> a weight matrix and the labels of its nodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.io import graph_objects, structure
from grfpp.io.arrays import as_array, packages, require_real
from grfpp.io.edges import check_node_count, from_edge_index
from grfpp.io.files import known_file, load_mesh, read_file
from grfpp.io.meshes.mesh import SUFFIXES, as_mesh
from grfpp.io.meshes.weights import MeshWeights
from grfpp.io.tables.edge_tuples import is_edge_tuples, read_edge_tuples
from grfpp.io.tables.frames import is_frame, read_frame
from grfpp.io.tables.options import EdgeListOptions
from grfpp.io.text import naming
from grfpp.linalg.symmetrize import rounding
from grfpp.memory import require_bytes

_WANTED = (
    "a scipy sparse matrix, a square array, a networkx or igraph graph, a PyG Data, a torch "
    "tensor, a pair (edge_index, weights), a list of edges (u, v) or (u, v, w), a frame, a mesh, "
    "or the path of a file"
)

#: Files that do not number their points, so that there are no labels to keep.
_STL = (".stl", ".stl.gz", ".stl.zip")


def read_adjacency(
    source: Any,
    *,
    directed: bool | None = None,
    n_nodes: int | None = None,
    mesh_weights: MeshWeights | None = None,
    options: EdgeListOptions | None = None,
) -> tuple[Any, Sequence[Any] | None]:
    """Read the weight matrix of a graph, and the labels of its nodes where they have any.

    The matrix is a scipy one in CSR or COO form, in float64; `Graph` checks its shape and its
    entries.

    Parameters
    ----------
    source
        Any of what `Graph` takes.
    directed
        Whether the edges of a list are arcs. Other sources know; ``False`` refuses one that is
        directed.
    n_nodes
        Number of nodes, for sources that list edges only. Others must agree.
    mesh_weights
        Weights of a mesh's edges; see `grfpp.io.meshes.weights.mesh_matrix`.
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
    options = options or EdgeListOptions()
    with np.errstate(invalid="ignore"):  # signalling NaN of float32: refused later, not warned of
        if mesh_weights is None:
            matrix, node_ids = _read(source, directed, n_nodes, options)
        else:
            options.require_only((), "a mesh")
            matrix, node_ids = _read_mesh(source, mesh_weights)
    if matrix.ndim != 2:
        raise InputError(f"a weight matrix must have two dimensions, found shape {matrix.shape}")
    origin = str(source) if isinstance(source, str | os.PathLike) else "the source"
    if n_nodes is not None and matrix.shape[0] != n_nodes:
        raise InputError(f"n_nodes is {n_nodes}, but {origin} has {matrix.shape[0]} nodes")
    check_node_count(max(matrix.shape), origin)
    with naming(origin), np.errstate(invalid="ignore"):
        matrix = structure.checked(matrix)  # C code will trust the indices from here on
    if directed is False:
        _require_symmetric(matrix, origin)
    return matrix, node_ids


def says_direction(source: Any) -> bool:
    """Whether a source is directed because somebody said so, not because of its numbers."""
    if isinstance(source, str | os.PathLike):
        name = Path(source).name.lower().removesuffix(".gz").removesuffix(".zip")
        return name.endswith((".gml", ".graphml"))
    is_networkx = "networkx" in packages(source) and hasattr(source, "edges")
    return is_networkx or graph_objects.is_igraph(source)


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
    if (surface := as_mesh(source)) is not None:
        return surface.adjacency(), surface.labels()
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
    if _are_faces(second) and (surface := as_mesh((first, second))) is not None:
        return surface.adjacency(), surface.labels()
    return from_edge_index(first, second, n_nodes), None


def _are_faces(second: Any) -> bool:
    if isinstance(second, list) and second and all(isinstance(face, list) for face in second):
        return len({len(face) for face in second}) > 1 or _are_faces(np.asarray(second))
    if second is None or isinstance(second, list):
        return False
    faces = as_array(second, "the second of the pair")
    return faces.ndim == 2 and faces.shape[1] >= 3 and faces.dtype.kind in "iu"


def _read_mesh(source: Any, weights: MeshWeights) -> tuple[Any, Sequence[Any] | None]:
    """A mesh whose edges are weighted as is asked for."""
    if isinstance(source, str | os.PathLike):
        if (suffix := known_file(source)[1]) not in SUFFIXES:
            raise InputError(f"is for meshes, not for {suffix} files", argument="mesh_weights")
        surface = load_mesh(source)
        names = None if Path(source).name.lower().endswith(_STL) else surface.labels()
        return surface.adjacency(weights), names
    found = as_mesh(source)
    if found is None:
        raise InputError(
            f"mesh_weights={weights!r} is for meshes, found {type(source).__name__}; the weights "
            "of other sources come with them"
        )
    return found.adjacency(weights), found.labels()


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
    # A copy of it, and at least where its entries are.
    require_bytes(9 * array.size, f"a dense matrix of {array.shape[0]} x {array.shape[1]} numbers")
    return sp.csr_array(array.astype(np.float64) if array.dtype.kind == "f" else array)


def _require_symmetric(matrix: Any, origin: str) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        return  # Graph tells what is wrong
    values = sp.csr_array(matrix)
    most = rounding(values.data) * values.maximum(values.T)
    differ = (abs(values - values.T) > most).tocoo()
    if differ.nnz:
        u, v = int(differ.row[0]), int(differ.col[0])
        raise InputError(
            f"directed=False, but {origin} is directed: the weight from {u} to {v} is "
            f"{values[u, v]}, from {v} to {u} it is {values[v, u]}; list both directions, or pass "
            "symmetrize='max' or 'mean'"
        )
