"""Encodings that were made before, by what their graphs are; the oldest make room for new ones."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Any

from grfpp.torch.encodings.edge_lists import EdgeList


class EncodingCache:
    """A bounded store of encodings.

    A copy for another process (a pickle) is empty: whoever needs an encoding there makes it again,
    with the same bits, for less than sending them all would take.
    """

    def __init__(self, max_bytes: int) -> None:
        #: Of all encodings together; 0 keeps none.
        self.max_bytes = max_bytes
        self.n_bytes = 0
        self._known: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def __reduce__(self) -> tuple[Any, ...]:
        return EncodingCache, (self.max_bytes,)

    def get(self, key: bytes) -> Any:
        """The encoding of this key, or ``None``."""
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
            return found

    def put(self, key: bytes, encoding: Any) -> None:
        """Keep an encoding (a tensor that nobody changes), and drop old ones if need be."""
        size = encoding.nbytes
        if size > self.max_bytes:
            return
        with self._lock:
            if key in self._known:
                return
            self._known[key] = encoding
            self.n_bytes += size
            while self.n_bytes > self.max_bytes:
                _, oldest = self._known.popitem(last=False)
                self.n_bytes -= oldest.nbytes


def key_of(graph: EdgeList) -> bytes:
    """128 bits of what a graph is: arcs in their order, weights, number of nodes, features."""
    text = hashlib.blake2b(graph.ends.tobytes(), digest_size=16)
    text.update(f"{graph.ends.dtype} {graph.ends.shape} {graph.n_nodes}".encode())
    if graph.weights is not None:
        text.update(str(graph.weights.dtype).encode())
        text.update(graph.weights.tobytes())
    if graph.features is not None:
        text.update(f"x {graph.features.shape}".encode())
        text.update(graph.features.tobytes())
    return text.digest()
