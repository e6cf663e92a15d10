"""`NodeEncoding`, the base class of all positional encodings: a PyG transform with a cache.

A subclass is a dataclass that names its `kind`, checks its options in ``__post_init__`` and
implements `_encoder`. The functions below read graphs: their edge lists are concatenated first and
normalised together, since building a `grfpp.Graph` for every graph takes longer than encoding it.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
import warnings
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from grfpp._checks import between, truth
from grfpp._imports import require
from grfpp._memory import require_bytes
from grfpp._parallel import in_order, thread_count
from grfpp.errors import InputError, shown
from grfpp.graph import Graph, as_graph
from grfpp.io.matrices import tensor_to_numpy
from grfpp.torch.arguments import floating
from grfpp.typing import FloatArray
from grfpp.walks.batch import TASK_NODES, GraphBatch

require("torch_geometric")

# Below the check, so that a missing package is named.
from torch_geometric.data import Batch, Data  # noqa: E402 - below the check above
from torch_geometric.transforms import BaseTransform  # noqa: E402 - below the check above

#: The encodings by `kind`.
KINDS: dict[str, type[NodeEncoding]] = {}
#: Default of `attr_name`: the kind and ``_pe``, such as ``smooth_pe``.
KIND_NAME = "<kind>_pe"
#: Smallest scale: powers of smaller ones underflow in float64.
_MIN_SCALE = 1e-300
#: Largest scale: powers of larger ones overflow in float64.
_MAX_SCALE = 1e100
#: Megabytes; more than any memory, and few enough to be counted in bytes.
_MAX_CACHE_MB = 1e12
#: The attribute of edge weights in PyG, the only one that may be missing.
_USUAL_WEIGHTS = "edge_weight"
#: Node indices of the engine are int32.
_MAX_NODES = int(np.iinfo(np.int32).max)

Encoder = Callable[[range], FloatArray]


@dataclass(kw_only=True, eq=False, repr=False)
class NodeEncoding(BaseTransform, ABC):  # type: ignore[misc]  # untyped base
    """A positional encoding of nodes, as a transform of PyG.

    Use it like PyG's ``AddRandomWalkPE``: as ``transform`` or ``pre_transform`` of a data set, in
    ``Compose``, in a ``DataLoader`` with any number of workers, on a ``Data`` or on a whole
    ``Batch``. The encoding of a graph is the same to the last bit in all of these.

    Parameters
    ----------
    attr_name
        The attribute that gets the encoding; ``None`` to append it to ``data.x``.
    scale
        The weights are ``scale · D^-1/2 A D^-1/2``.
    symmetrize
        Use the mean of both directions of every edge, instead of refusing directed graphs.
    weight_attr
        The attribute of a ``Data`` that holds edge weights; ``None`` for weights of one.
        ``edge_weight`` may be missing, which is the same.
    dtype
        Of the encodings, which are computed in float64.
    cache_mb
        Megabytes of cached encodings, so that a graph is encoded once and not once an epoch. Every
        worker process has its own cache.
    """

    kind: ClassVar[str]
    attr_name: str | None = KIND_NAME
    scale: float = 1.0
    symmetrize: bool = False
    weight_attr: str | None = "edge_weight"
    dtype: torch.dtype = torch.float32
    cache_mb: float = 64.0

    # Without annotations, so that these are no parameters.
    #: Whether the encoding depends on features ``x`` of the nodes.
    needs_features = False
    #: Number of columns that do not depend on features.
    _n_columns = 0
    #: Number of further columns for every feature.
    _n_columns_per_feature = 0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        name = self.attr_name
        if name is not None and (not isinstance(name, str) or not name):
            raise InputError(f"must be a name or None, found {shown(name)}", argument="attr_name")
        self.attr_name = f"{self.kind}_pe" if name == KIND_NAME else name
        self.scale = between(self.scale, "scale", _MIN_SCALE, _MAX_SCALE)
        self.symmetrize = truth(self.symmetrize, "symmetrize")
        self.dtype = floating(self.dtype)
        cache_mb = between(self.cache_mb, "cache_mb", 0.0, _MAX_CACHE_MB)
        self.cache = EncodingCache(int(1e6 * cache_mb))

    @abstractmethod
    def _encoder(self, batch: GraphBatch, features: FloatArray | None) -> Encoder:
        """Function from indices of graphs of a batch to the rows of their nodes, on one thread.

        The rows of a graph must be the same to the last bit in every batch.
        """

    def _encode(self, batch: GraphBatch, features: FloatArray | None, n_jobs: int) -> FloatArray:
        """Encodings of all nodes of a batch, one row each."""
        n_threads, n, width = thread_count(n_jobs), batch.graph.n_nodes, self._n_columns
        if features is not None:
            width += self._n_columns_per_feature * features.shape[1]
        # The result, its parts and a copy in another type, and blocks of the running tasks.
        n_numbers = width * (3 * n + 6 * n_threads * min(n, TASK_NODES))
        require_bytes(8 * n_numbers, f"encodings of {width} numbers for {n} nodes")
        tasks = batch.tasks()
        parts = in_order(self._encoder(batch, features), tasks, min(n_threads, len(tasks)))
        return np.concatenate(list(parts))

    def forward(self, data: Any) -> Any:
        """Add the encoding to a ``Data`` or a ``Batch``, which PyG has copied already."""
        if not isinstance(data, Data):
            problem = f"{type(self).__name__} takes a Data or a Batch of them, found {shown(data)}"
            advice = "use data.to_homogeneous() for several types of nodes or edges"
            raise InputError(problem, advice=advice)
        if isinstance(data, Batch):
            graphs = read_batch(data, self.weight_attr, self.needs_features)
        else:
            graphs = read_graphs([data], self.weight_attr, self.needs_features)
        return self._add(data, torch.cat(self._cached(graphs, n_jobs=1)))

    def transform_all(self, graphs: Iterable[Any], n_jobs: int = -1) -> list[Any]:
        """Encode many ``Data`` together, and return copies that have their encodings.

        Many times faster than graph by graph.

        Parameters
        ----------
        graphs
            A list or a PyG data set.
        n_jobs
            Threads; -1 for all cores.

        Examples
        --------
        >>> import torch
        >>> from grfpp.torch import AddGRFPE
        >>> from torch_geometric.data import Data
        >>> edge = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> [data.grf_pe.shape for data in AddGRFPE(dim=4).transform_all([edge, edge])]
        [torch.Size([2, 4]), torch.Size([2, 4])]
        """
        thread_count(n_jobs)
        given = as_list(graphs)
        for index, graph in enumerate(given):
            if not isinstance(graph, Data):  # the reader refuses a Batch
                problem = f"graph {index} must be a Data, found {shown(graph)}"
                raise InputError(problem, advice="use grf_pe for other graphs")
        lists = read_graphs(given, self.weight_attr, self.needs_features)
        encodings = self._cached(lists, n_jobs)
        return [self._add(copy(graph), pe) for graph, pe in zip(given, encodings, strict=True)]

    def encode_all(self, graphs: Iterable[Any], n_jobs: int = -1) -> list[Tensor]:
        """Encodings of many graphs, without the cache: see `grf_pe`."""
        thread_count(n_jobs)
        given = as_list(graphs)
        lists = read_graphs(given, self.weight_attr, self.needs_features)
        encodings = self._encoded(lists, n_jobs)
        return [pe.to(_device(graph)) for pe, graph in zip(encodings, given, strict=True)]

    def _cached(self, lists: Sequence[EdgeList], n_jobs: int) -> list[Tensor]:
        """Encodings from the cache; the missing ones are computed together."""
        keys = [_key(graph) for graph in lists]
        encodings = [self.cache.get(key) for key in keys]
        missing = [index for index, pe in enumerate(encodings) if pe is None]
        if missing:
            computed = self._encoded([lists[index] for index in missing], n_jobs)
            for index, pe in zip(missing, computed, strict=True):
                encodings[index] = pe
                self.cache.put(keys[index], pe)
        return encodings

    def _encoded(self, lists: Sequence[EdgeList], n_jobs: int) -> list[Tensor]:
        """Encode graphs together; the tensors share no memory."""
        batch = joined(lists, self.symmetrize)
        features = joined_features(lists) if self.needs_features else None
        rows = torch.from_numpy(self._encode(batch, features, n_jobs)).to(self.dtype)
        if not rows.isfinite().all():
            problem = f"encodings exceed the range of {self.dtype}"
            raise InputError(problem, advice="scale features and weights down")
        return [rows[start:stop].clone() for start, stop in pairwise(batch.starts.tolist())]

    def _add(self, data: Any, encoding: Tensor) -> Any:
        """Put a copy of an encoding into a graph."""
        x = data.x if self.attr_name is None else None
        if x is None:
            data[self.attr_name or "x"] = encoding.to(_device(data), copy=True)
            return data
        columns = x.view(-1, 1) if x.dim() == 1 else x
        if not x.is_floating_point() or columns.dim() != 2 or len(columns) != len(encoding):
            problem = f"must be floating-point numbers of shape ({len(encoding)}, n), found "
            problem += f"{x.dtype} of shape {tuple(x.shape)}"
            raise InputError(problem, argument="x", advice="use attr_name for another attribute")
        data.x = torch.cat([columns, encoding.to(x.device, x.dtype)], dim=-1)
        return data

    def __repr__(self) -> str:
        options = {"kind": self.kind} | vars(self)
        names = (name for name in options if not name.startswith(("_", "cache")))
        text = ", ".join(f"{name}={options[name]!r}" for name in names)
        return f"{type(self).__name__}({text})"


class EncodingCache:
    """A bounded, thread-safe store of encodings; the least recently used are dropped.

    A copy for another process (a pickle) is empty: computing an encoding again, with the same bits,
    is faster than sending it.
    """

    def __init__(self, max_bytes: int) -> None:
        #: Of all encodings together; 0 keeps none.
        self.max_bytes = max_bytes
        self.n_bytes = 0
        self._encodings: OrderedDict[bytes, Tensor] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._encodings)

    def __reduce__(self) -> tuple[Any, ...]:
        return EncodingCache, (self.max_bytes,)

    def get(self, key: bytes) -> Any:
        """The encoding of this key, or ``None``."""
        with self._lock:
            if key in self._encodings:
                self._encodings.move_to_end(key)
            return self._encodings.get(key)

    def put(self, key: bytes, encoding: Tensor) -> None:
        """Store an encoding, which nobody may change, and drop old ones if need be."""
        with self._lock:
            if encoding.nbytes > self.max_bytes or key in self._encodings:
                return
            self._encodings[key] = encoding
            self.n_bytes += encoding.nbytes
            while self.n_bytes > self.max_bytes:
                _, oldest = self._encodings.popitem(last=False)
                self.n_bytes -= oldest.nbytes


def _key(graph: EdgeList) -> bytes:
    """A hash of 128 bits of all but the position."""
    return hashlib.blake2b(pickle.dumps(graph[:-1]), digest_size=16).digest()


def _device(graph: Any) -> Any:
    """The device of a graph's edges."""
    edges = graph.edge_index if isinstance(graph, Data) else None
    return torch.device("cpu") if edges is None else edges.device


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
    """Read the graphs of a PyG ``Batch``, with the node indices that they had before batching."""
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
        problem = f"{type(data).__name__} has no edge_index"
        raise InputError(problem, advice="encode it before ToSparseTensor")
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
        problem = f"must have a row of finite real numbers for each of {n_nodes} nodes"
        raise InputError(f"{problem}, found {shown(data.x)}", argument="x")
    return rows.astype(np.float64)


def joined_features(lists: Sequence[EdgeList]) -> FloatArray:
    """Features of all graphs, one below the other."""
    features = [graph.features for graph in lists if graph.features is not None]
    widths = sorted({rows.shape[1] for rows in features})
    if len(widths) > 1:
        problem = f"must have one width in all graphs, found {widths[0]} and {widths[-1]}"
        raise InputError(problem, argument="x")
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
