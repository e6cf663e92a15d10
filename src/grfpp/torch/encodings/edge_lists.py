"""Graphs as a pipeline holds them (PyG ``Data``, whole batches, anything else) -> one block graph.

Reading graph by graph through `grfpp.Graph` would take longer than walking them; so the lists of
arcs are joined first and checked together.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError, shown
from grfpp.graph import Graph, as_graph
from grfpp.imports.optional import require
from grfpp.io.arrays import tensor_to_numpy
from grfpp.typing import FloatArray
from grfpp.walks.batch import GraphBatch

#: Where PyG keeps weights of edges; it is the only name that may be missing.
USUAL_WEIGHTS = "edge_weight"
#: Keeps numbers of nodes below what the engine can number, and their sums from overflowing.
_MOST_NODES = int(np.iinfo(np.int32).max)


class EdgeList(NamedTuple):
    """One graph as it was found, not checked yet."""

    #: Source and target of each arc, of shape ``(2, n_arcs)``.
    ends: npt.NDArray[Any]
    #: One number an arc, or ``None`` for ones.
    weights: npt.NDArray[Any] | None
    n_nodes: int
    #: Features of the nodes, a row each, where they are asked for.
    features: FloatArray | None = None


def listed(graphs: Any) -> list[Any]:
    """The graphs of a list, of a PyG data set, or of any other iterable."""
    data_type = require("torch_geometric").data.Data
    if not isinstance(graphs, data_type | Graph | str | bytes):
        if isinstance(graphs, Iterable):
            return list(graphs)
        if hasattr(graphs, "__len__") and hasattr(graphs, "__getitem__"):
            return [graphs[number] for number in range(len(graphs))]
    raise InputError(
        f"a list of graphs is needed, found {type(graphs).__name__}; put a single graph into a list"
    )


def read_graphs(
    graphs: Sequence[Any], weight_attr: str | None, with_features: bool = False
) -> list[EdgeList]:
    """Read PyG ``Data``, or anything that `grfpp.Graph` takes, if no features are needed."""
    types = require("torch_geometric").data
    found = []
    with warnings.catch_warnings():
        # PyG warns when it has only the edges to count nodes by.
        warnings.filterwarnings("ignore", message="Unable to accurately infer 'num_nodes'")
        for number, each in enumerate(graphs):
            try:
                if isinstance(each, types.Batch):
                    raise InputError(
                        "a Batch of several graphs; pass its to_data_list(), or call AddGRFPE"
                    )
                if isinstance(each, types.Data):
                    found.append(_of_data(each, weight_attr, with_features))
                elif with_features:
                    raise InputError("has no features of nodes to smooth: pass a Data with x")
                else:
                    found.append(_of_graph(as_graph(each)))
            except InputError as error:
                raise InputError(f"graph {number}: {error}") from None
    return found


def read_batch(batch: Any, weight_attr: str | None, with_features: bool = False) -> list[EdgeList]:
    """Read the graphs of a PyG ``Batch``, each as it was before they were put together."""
    if "ptr" not in batch:
        raise InputError("the batch does not say where its graphs begin (it has no ptr)")
    together = _of_data(batch, weight_attr, with_features)
    starts = tensor_to_numpy(batch.ptr)
    of_node = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ends = together.ends
    if ends.size and not 0 <= ends.min() <= ends.max() < len(of_node):
        raise InputError(f"edge_index must name nodes from 0 to {len(of_node) - 1}")
    owners = of_node[ends]
    if (owners[0] != owners[1]).any():
        raise InputError("the batch has an edge between two of its graphs")
    # Stable: arcs of one graph keep their order.
    order = np.argsort(owners[0], kind="stable")
    cuts = np.searchsorted(owners[0][order], np.arange(1, len(starts) - 1))
    weights = together.weights
    parts = np.split(ends[:, order] - starts[owners[0][order]], cuts, axis=1)
    loads = [None] * len(parts) if weights is None else np.split(weights[order], cuts)
    columns = together.features
    own = [None] * len(parts) if columns is None else np.split(columns, starts[1:-1])
    return [
        EdgeList(part, load, int(n), features)
        for part, load, n, features in zip(parts, loads, np.diff(starts), own, strict=True)
    ]


def _of_data(data: Any, weight_attr: str | None, with_features: bool) -> EdgeList:
    if data.edge_index is None:
        raise InputError(
            f"{type(data).__name__} has no edge_index (one that was turned into adj_t by "
            "ToSparseTensor has none any more: encode it before)"
        )
    has_weights = weight_attr in data
    weights = data[weight_attr] if has_weights else None
    if not has_weights and weight_attr not in (None, USUAL_WEIGHTS):
        raise InputError(f"{type(data).__name__} has no {weight_attr} to take weights from")
    n_nodes = data.num_nodes
    return EdgeList(
        tensor_to_numpy(data.edge_index),
        None if weights is None else tensor_to_numpy(weights),
        0 if n_nodes is None else int(n_nodes),
        _features(data) if with_features else None,
    )


def _features(data: Any) -> FloatArray:
    """The features ``x`` of the nodes as real numbers, one row each."""
    if data.x is None:
        raise InputError(f"{type(data).__name__} has no features x of its nodes to smooth")
    if not hasattr(data.x, "detach"):
        raise InputError(f"x must be a tensor of real numbers, found {shown(data.x)}")
    x = tensor_to_numpy(data.x)
    rows = x.reshape(-1, 1) if x.ndim == 1 else x
    if rows.ndim != 2 or len(rows) != data.num_nodes or rows.dtype.kind not in "buif":
        raise InputError(
            f"x must hold real numbers, a row for each of the {data.num_nodes} nodes, found "
            f"{rows.dtype} of shape {x.shape}"
        )
    if not rows.shape[1]:
        raise InputError("x must have a feature at least, found none")
    features = rows.astype(np.float64)
    if not np.isfinite(features).all():
        raise InputError("x must hold finite numbers, found others")
    return features


def joined_features(lists: Sequence[EdgeList]) -> FloatArray:
    """Features of all graphs, one below the other."""
    found = [each.features for each in lists if each.features is not None]
    widths = sorted({each.shape[1] for each in found})
    if len(widths) > 1:
        raise InputError(
            "the graphs must have equally many features of their nodes, found "
            f"{widths[0]} and {widths[-1]}; encode them apart"
        )
    return np.concatenate(found)


def _of_graph(graph: Graph) -> EdgeList:
    rows = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
    return EdgeList(np.stack([rows, graph.indices.astype(np.int64)]), graph.weights, graph.n_nodes)


def joined(lists: Sequence[EdgeList], symmetrize: bool) -> GraphBatch:
    """Check the graphs and put them side by side in one block-diagonal graph."""
    if not lists:
        raise InputError("the list of graphs is empty; at least one is needed")
    sizes = np.array([each.n_nodes for each in lists], dtype=np.int64)
    if sizes.sum() > _MOST_NODES:
        raise InputError(f"{sizes.sum()} nodes in all are too many for one batch: take fewer")
    if sizes.min() < 1 or not all(_is_well_formed(each) for each in lists):
        raise _complaint(lists)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    counts = [each.ends.shape[1] for each in lists]
    ends = np.concatenate([each.ends.astype(np.int64, copy=False) for each in lists], axis=1)
    if (ends < 0).any() or (ends >= np.repeat(sizes, counts)).any():
        raise _complaint(lists)
    ends += np.repeat(starts[:-1], counts)
    weights = np.concatenate(
        [
            np.ones(count) if each.weights is None else each.weights.astype(np.float64)
            for each, count in zip(lists, counts, strict=True)
        ]
    )
    n = int(starts[-1])
    matrix = sp.csr_array((weights, (ends[0], ends[1])), shape=(n, n))
    if symmetrize:
        matrix = (matrix + matrix.T) / 2
    try:
        batch = GraphBatch(Graph(matrix), starts)
    except InputError:
        raise _complaint(lists) from None
    if batch.graph.is_directed:
        raise _one_way(batch)
    return batch


def _is_well_formed(each: EdgeList) -> bool:
    ends, weights = each.ends, each.weights
    return (
        ends.ndim == 2
        and ends.shape[0] == 2
        and (ends.dtype.kind in "iu" or not ends.size)
        and (weights is None or (weights.shape == ends.shape[1:] and weights.dtype.kind in "buif"))
    )


def _complaint(lists: Sequence[EdgeList]) -> InputError:
    """What `Graph` says about the first graph that it refuses."""
    for number, (ends, weights, n_nodes, _) in enumerate(lists):
        if n_nodes < 1:
            return InputError(f"graph {number} has no nodes; at least one is needed")
        try:
            Graph((ends, weights), n_nodes=n_nodes)
        except InputError as error:
            return InputError(f"graph {number}: {error}")
    return InputError("the graphs cannot be read")


def _one_way(batch: GraphBatch) -> InputError:
    difference = (batch.graph.adjacency - batch.graph.adjacency.T).tocsr()
    node = int(np.flatnonzero(np.diff(difference.indptr))[0])
    return InputError(
        f"graph {batch.graph_of[node]} is directed: it has edges without their opposite, or with "
        "another weight; pass symmetrize=True for the mean of both directions, or make it "
        "undirected first (torch_geometric.transforms.ToUndirected)"
    )
