"""From PyG ``Data``, whole batches or anything that `grfpp.Graph` takes to one `GraphBatch`.

Edge lists are concatenated first and normalised together: to build a `grfpp.Graph` for every graph
would take longer than to encode them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
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

require("torch_geometric")

# Below the check, so that a missing package is named.
from torch_geometric.data import Batch, Data  # noqa: E402 - below the check above

#: The attribute of edge weights in PyG, the only one that may be missing.
_USUAL_WEIGHTS = "edge_weight"
#: Node indices of the engine are int32.
_MAX_NODES = int(np.iinfo(np.int32).max)


class EdgeList(NamedTuple):
    """One graph of a list."""

    #: Source and target of each edge, of shape ``(2, n_edges)``.
    ends: npt.NDArray[np.int64]
    #: One number per edge.
    weights: FloatArray
    n_nodes: int
    #: Features of the nodes, one row each, where they are needed.
    features: FloatArray | None
    #: In the list of graphs, for messages.
    position: int


def as_list(graphs: Any) -> list[Any]:
    """The graphs of a list, of a PyG data set, or of any other iterable."""
    is_iterable = hasattr(graphs, "__iter__") or hasattr(graphs, "__getitem__")
    if not is_iterable or isinstance(graphs, Data | Graph | str | bytes):
        raise InputError(f"must be a list of graphs, found {shown(graphs)}", argument="graphs")
    return list(graphs)


def read_graphs(
    graphs: Sequence[Any], weight_attr: str | None, with_features: bool = False
) -> list[EdgeList]:
    """Read PyG ``Data``; also anything that `grfpp.Graph` takes, if no features are needed."""
    lists = []
    with warnings.catch_warnings():
        # PyG warns when it has only the edges to count nodes by.
        warnings.filterwarnings("ignore", message="Unable to accurately infer 'num_nodes'")
        for index, graph in enumerate(graphs):
            try:
                if isinstance(graph, Batch):
                    raise InputError("a Batch of several graphs", advice="pass its to_data_list()")
                if isinstance(graph, Data):
                    lists.append(_read_data(index, graph, weight_attr, with_features))
                    continue
                if with_features:
                    raise InputError("has no node features", advice="pass a Data with x")
                W = as_graph(graph)
                rows = np.repeat(np.arange(W.n_nodes), W.out_degree)
                ends = np.stack([rows, W.indices.astype(np.int64)])
                lists.append(EdgeList(ends, W.weights, W.n_nodes, None, index))
            except InputError as error:
                raise InputError(f"graph {index}: {error}") from None
    return lists


def read_batch(batch: Any, weight_attr: str | None, with_features: bool = False) -> list[EdgeList]:
    """Read the graphs of a PyG ``Batch``, each as it was before they were put together."""
    if "ptr" not in batch:
        raise InputError("the batch has no ptr, where its graphs begin")
    ends, weights, _, features, _ = _read_data(0, batch, weight_attr, with_features)
    starts = tensor_to_numpy(batch.ptr)
    graph_of, target_graph = np.searchsorted(starts, ends, side="right") - 1
    if (graph_of != target_graph).any():
        raise InputError("must not join two graphs of the batch", argument="edge_index")
    # Stable, so that edges of one graph keep their order.
    order = np.argsort(graph_of, kind="stable")
    cuts = np.searchsorted(graph_of[order], np.arange(1, len(starts) - 1))
    parts = np.split(ends[:, order] - starts[graph_of[order]], cuts, axis=1)
    loads, sizes = np.split(weights[order], cuts), np.diff(starts).tolist()
    rows = [None] * len(sizes) if features is None else np.split(features, starts[1:-1])
    return list(map(EdgeList, parts, loads, sizes, rows, range(len(sizes))))


def _read_data(index: int, data: Any, weight_attr: str | None, with_features: bool) -> EdgeList:
    if data.edge_index is None:
        raise InputError(
            f"{type(data).__name__} has no edge_index", advice="encode it before ToSparseTensor"
        )
    ends, n = tensor_to_numpy(data.edge_index), int(data.num_nodes or 0)
    if ends.ndim != 2 or len(ends) != 2 or (ends.size and ends.dtype.kind not in "iu"):
        problem = f"must be integers of shape (2, n), found {ends.dtype} {ends.shape}"
        raise InputError(problem, argument="edge_index")
    if n < 1 or (ends.size and not 0 <= ends.min() <= ends.max() < n):
        raise InputError(f"must hold nodes of the graph, which has {n}", argument="edge_index")
    weights = np.ones(ends.shape[1])
    if weight_attr in data:
        weights = tensor_to_numpy(data[weight_attr])
        is_real = weights.shape == ends.shape[1:] and weights.dtype.kind in "buif"
        if not is_real or not ((weights >= 0) & (weights < np.inf)).all():
            raise InputError("weights must be one finite number per edge, not negative")
        weights = weights.astype(np.float64)
    elif weight_attr not in (None, _USUAL_WEIGHTS):
        raise InputError(f"{type(data).__name__} has no edge weights {weight_attr}")
    features = _features(data, n) if with_features else None
    return EdgeList(ends.astype(np.int64, copy=False), weights, n, features, index)


def _features(data: Any, n_nodes: int) -> FloatArray:
    """The features ``x`` of the nodes in float64, one row each."""
    x = tensor_to_numpy(data.x) if hasattr(data.x, "detach") else np.array(None)
    rows = x.reshape(-1, 1) if x.ndim == 1 else x
    is_table = rows.ndim == 2 and rows.dtype.kind in "buif" and rows.shape[1] > 0
    if not is_table or len(rows) != n_nodes or not np.isfinite(rows).all():
        raise InputError(
            f"must have a row of finite real numbers for each of {n_nodes} nodes, found "
            f"{shown(data.x)}",
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
    """Put the graphs side by side in one block-diagonal graph, which must be undirected."""
    if not lists:
        raise InputError("must hold at least one graph, found none", argument="graphs")
    starts = np.cumsum([0, *(graph.n_nodes for graph in lists)])
    n = int(starts[-1])
    if n > _MAX_NODES:
        raise InputError(f"{n} nodes are too many for one batch", advice="encode fewer graphs")
    ends = np.concatenate([graph.ends for graph in lists], axis=1)
    ends += np.repeat(starts[:-1], [graph.ends.shape[1] for graph in lists])
    weights = np.concatenate([graph.weights for graph in lists])
    matrix = sp.csr_array((weights, (ends[0], ends[1])), shape=(n, n))
    if symmetrize:
        matrix = (matrix + matrix.T) / 2
    batch = GraphBatch(Graph(matrix), starts)
    if batch.graph.is_directed:
        nodes, _ = (batch.graph.adjacency != batch.graph.adjacency.T).nonzero()
        position = lists[batch.graph_of[nodes.min()]].position
        problem = f"graph {position} is directed: an edge has no opposite, or one of another weight"
        raise InputError(problem, advice="use symmetrize=True for the mean of both directions")
    return batch
