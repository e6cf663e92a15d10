"""`NodeEncoding`, the base class of all positional encodings: a PyG transform with a cache.

A subclass names its `kind`, checks its options in ``__init__`` and implements `_encoder`.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from grfpp._checks import between, truth
from grfpp._memory import require_bytes
from grfpp._parallel import in_order, thread_count
from grfpp.errors import InputError, shown
from grfpp.torch.arguments import floating
from grfpp.torch.encodings.graphs import (
    EdgeList,
    as_list,
    joined,
    joined_features,
    read_batch,
    read_graphs,
)
from grfpp.typing import FloatArray
from grfpp.walks.batch import TASK_NODES, GraphBatch

from torch_geometric.data import Batch, Data  # isort: skip - graphs requires it
from torch_geometric.transforms import BaseTransform  # isort: skip

#: The encodings by `kind`.
KINDS: dict[str, type[NodeEncoding]] = {}
#: Default of `attr_name`: the kind and ``_pe``, such as ``smooth_pe``.
KIND_NAME = "<kind>_pe"
#: Powers of other scales leave the range of float64.
_MIN_SCALE, _MAX_SCALE = 1e-300, 1e100
#: More than any memory.
_MAX_CACHE_MB = 1e12

Encoder = Callable[[range], FloatArray]


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
        Megabytes of encodings that are kept, so that a graph is encoded once and not once an
        epoch. Every worker process has its own cache.
    """

    kind: ClassVar[str]
    #: Whether the encoding depends on features ``x`` of the nodes.
    needs_features: bool = False
    #: Numbers per node, and more of them per feature.
    _n_columns: int = 0
    _n_columns_per_feature: int = 0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    def __init__(
        self,
        *,
        attr_name: str | None = KIND_NAME,
        scale: float = 1.0,
        symmetrize: bool = False,
        weight_attr: str | None = "edge_weight",
        dtype: torch.dtype = torch.float32,
        cache_mb: float = 64.0,
    ) -> None:
        if attr_name is not None and (not isinstance(attr_name, str) or not attr_name):
            raise InputError(f"must be a name or None, found {attr_name!r}", argument="attr_name")
        self.attr_name = f"{self.kind}_pe" if attr_name == KIND_NAME else attr_name
        self.scale = between(scale, "scale", _MIN_SCALE, _MAX_SCALE)
        self.symmetrize = truth(symmetrize, "symmetrize")
        self.weight_attr = weight_attr
        self.dtype = floating(dtype)
        self.cache = EncodingCache(int(1e6 * between(cache_mb, "cache_mb", 0.0, _MAX_CACHE_MB)))

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
            raise InputError(
                f"{type(self).__name__} takes a Data or a Batch of them, found {shown(data)}",
                advice="use data.to_homogeneous() for several types of nodes or edges",
            )
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
            raise InputError(
                f"must be floating-point numbers of shape ({len(encoding)}, n), found {x.dtype} of "
                f"shape {tuple(x.shape)}",
                argument="x",
                advice="use attr_name for another attribute",
            )
        data.x = torch.cat([columns, encoding.to(x.device, x.dtype)], dim=-1)
        return data

    def __repr__(self) -> str:
        options = {"kind": self.kind} | vars(self)
        shown_ones = (name for name in options if name != "cache" and not name.startswith("_"))
        text = ", ".join(f"{name}={options[name]!r}" for name in shown_ones)
        return f"{type(self).__name__}({text})"


class EncodingCache:
    """A bounded, thread-safe store of encodings; the least recently used are dropped.

    A copy for another process (a pickle) is empty: to compute an encoding again, with the same
    bits, is faster than to send it.
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
        """Keep an encoding, which nobody may change, and drop old ones if need be."""
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
