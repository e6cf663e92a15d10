"""From PyG ``Data``, whole batches or anything that `grfpp.Graph` takes to one `GraphBatch`.

Edge lists are concatenated first and checked together: to build a `grfpp.Graph` for every graph
would take longer than to encode them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._imports import require
from grfpp.errors import InputError, shown
from grfpp.graph import Graph, as_graph
from grfpp.io.matrices import tensor_to_numpy
from grfpp.typing import FloatArray
from grfpp.walks.batch import GraphBatch

#: The attribute of edge weights in PyG, the only one that may be missing.
_USUAL_WEIGHTS = "edge_weight"
#: Node indices of the engine are int32.
_MAX_NODES = int(np.iinfo(np.int32).max)


class EdgeList(NamedTuple):
    """One graph as it was given, not checked yet."""

    #: Position in the list of graphs, for messages.
    position: int
    #: Source and target of each edge, of shape ``(2, n_edges)``.
    ends: npt.NDArray[Any]
    #: One number per edge, or ``None`` for ones.
    weights: npt.NDArray[Any] | None
    n_nodes: int
    #: Features of the nodes, one row each, where they are needed.
    features: FloatArray | None = None


def as_list(graphs: Any) -> list[Any]:
    """The graphs of a list, of a PyG data set, or of any other iterable."""
    data_type = require("torch_geometric").data.Data
    if not isinstance(graphs, data_type | Graph | str | bytes):
        if isinstance(graphs, Iterable):
            return list(graphs)
        if hasattr(graphs, "__len__") and hasattr(graphs, "__getitem__"):
            return [graphs[index] for index in range(len(graphs))]
    raise InputError(f"must be a list of graphs, found {shown(graphs)}", argument="graphs")


def read_graphs(
    graphs: Sequence[Any], weight_attr: str | None, with_features: bool = False
) -> list[EdgeList]:
    """Read PyG ``Data``; also anything that `grfpp.Graph` takes, if no features are needed."""
    types = require("torch_geometric").data
    lists = []
    with warnings.catch_warnings():
        # PyG warns when it has only the edges to count nodes by.
        warnings.filterwarnings("ignore", message="Unable to accurately infer 'num_nodes'")
        for index, graph in enumerate(graphs):
            try:
                if isinstance(graph, types.Batch):
                    raise InputError("a Batch of several graphs", advice="pass its to_data_list()")
                if isinstance(graph, types.Data):
                    lists.append(_read_data(index, graph, weight_attr, with_features))
                    continue
                if with_features:
                    raise InputError("has no node features", advice="pass a Data with x")
                W = as_graph(graph)
                rows = np.repeat(np.arange(W.n_nodes), W.out_degree)
                ends = np.stack([rows, W.indices.astype(np.int64)])
                lists.append(EdgeList(index, ends, W.weights, W.n_nodes))
            except InputError as error:
                raise InputError(f"graph {index}: {error}") from None
    return lists


def read_batch(batch: Any, weight_attr: str | None, with_features: bool = False) -> list[EdgeList]:
    """Read the graphs of a PyG ``Batch``, each as it was before they were put together."""
    if "ptr" not in batch:
        raise InputError("the batch has no ptr, where its graphs begin")
    _, ends, weights, _, features = _read_data(0, batch, weight_attr, with_features)
    starts = tensor_to_numpy(batch.ptr)
    sizes = np.diff(starts)
    graph_of = np.repeat(np.arange(len(sizes)), sizes)
    if ends.size and not 0 <= ends.min() <= ends.max() < len(graph_of):
        raise InputError(f"must hold nodes from 0 to {len(graph_of) - 1}", argument="edge_index")
    sources, targets = graph_of[ends]
    if (sources != targets).any():
        raise InputError("must not join two graphs of the batch", argument="edge_index")
    # Stable, so that edges of one graph keep their order.
    order = np.argsort(sources, kind="stable")
    cuts = np.searchsorted(sources[order], np.arange(1, len(sizes)))
    parts = np.split(ends[:, order] - starts[sources[order]], cuts, axis=1)
    nothing = [None] * len(parts)
    loads = nothing if weights is None else np.split(weights[order], cuts)
    rows = nothing if features is None else np.split(features, starts[1:-1])
    graphs = zip(parts, loads, sizes.tolist(), rows, strict=True)
    return [EdgeList(index, *graph) for index, graph in enumerate(graphs)]


def _read_data(index: int, data: Any, weight_attr: str | None, with_features: bool) -> EdgeList:
    if data.edge_index is None:
        raise InputError(
            f"{type(data).__name__} has no edge_index", advice="encode it before ToSparseTensor"
        )
    has_weights = weight_attr in data
    weights = data[weight_attr] if has_weights else None
    if not has_weights and weight_attr not in (None, _USUAL_WEIGHTS):
        raise InputError(f"{type(data).__name__} has no edge weights {weight_attr}")
    return EdgeList(
        index,
        tensor_to_numpy(data.edge_index),
        None if weights is None else tensor_to_numpy(weights),
        int(data.num_nodes or 0),
        _features(data) if with_features else None,
    )


def _features(data: Any) -> FloatArray:
    """The features ``x`` of the nodes in float64, one row each."""
    if not hasattr(data.x, "detach"):
        raise InputError(f"must be a tensor of node features, found {shown(data.x)}", argument="x")
    x = tensor_to_numpy(data.x)
    rows = x.reshape(-1, 1) if x.ndim == 1 else x
    if rows.ndim != 2 or rows.dtype.kind not in "buif" or not rows.shape[1]:
        raise InputError(f"must hold real numbers, found {x.dtype} {x.shape}", argument="x")
    if len(rows) != data.num_nodes or not np.isfinite(rows).all():
        raise InputError(
            f"must have a row of finite numbers for each of the {data.num_nodes} nodes, found "
            f"shape {x.shape}",
            argument="x",
        )
    return rows.astype(np.float64)


def joined_features(lists: Sequence[EdgeList]) -> FloatArray:
    """Features of all graphs, one below the other."""
    features = [graph.features for graph in lists if graph.features is not None]
    widths = sorted({rows.shape[1] for rows in features})
    if len(widths) > 1:
        raise InputError(
            f"must have one width in all graphs, found {widths[0]} and {widths[-1]}", argument="x"
        )
    return np.concatenate(features)


def joined(lists: Sequence[EdgeList], symmetrize: bool) -> GraphBatch:
    """Check the graphs and put them side by side in one block-diagonal graph."""
    if not lists:
        raise InputError("must hold at least one graph, found none", argument="graphs")
    sizes = np.array([graph.n_nodes for graph in lists], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n = int(starts[-1])
    if n > _MAX_NODES:
        raise InputError(f"{n} nodes are too many for one batch", advice="encode fewer graphs")
    parts = [_checked_ends(graph) for graph in lists]
    ends = np.concatenate(parts, axis=1)
    ends += np.repeat(starts[:-1], [part.shape[1] for part in parts])
    loads = (np.ones(g.ends.shape[1]) if g.weights is None else g.weights for g in lists)
    weights = np.concatenate([load.astype(np.float64) for load in loads])
    matrix = sp.csr_array((weights, (ends[0], ends[1])), shape=(n, n))
    if symmetrize:
        matrix = (matrix + matrix.T) / 2
    batch = GraphBatch(Graph(matrix), starts)
    if batch.graph.is_directed:
        difference = (batch.graph.adjacency - batch.graph.adjacency.T).tocsr()
        node = int(np.flatnonzero(np.diff(difference.indptr))[0])
        position = lists[batch.graph_of[node]].position
        raise InputError(
            f"graph {position} is directed: an edge has no opposite, or one of another weight",
            advice="use symmetrize=True for the mean of both directions",
        )
    return batch


def _checked_ends(graph: EdgeList) -> npt.NDArray[np.int64]:
    """The ends of the edges, if they are nodes of the graph and weights fit."""
    ends, weights, n = graph.ends, graph.weights, graph.n_nodes
    problem = ""
    if n < 1:
        problem = "has no nodes"
    elif ends.ndim != 2 or len(ends) != 2 or (ends.size and ends.dtype.kind not in "iu"):
        problem = f"edge_index must be integers of shape (2, n), found {ends.dtype} {ends.shape}"
    elif ends.size and not 0 <= ends.min() <= ends.max() < n:
        problem = f"edge_index must hold nodes from 0 to {n - 1}"
    elif weights is not None and not (
        weights.shape == ends.shape[1:]
        and weights.dtype.kind in "buif"
        and ((weights >= 0) & (weights < np.inf)).all()
    ):
        problem = "weights must be one finite number per edge, not negative"
    if problem:
        raise InputError(f"graph {graph.position}: {problem}")
    return ends.astype(np.int64, copy=False)
