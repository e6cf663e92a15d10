"""Lists of edges -> weight matrices, by one rule about edges that are listed twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.io.edges import arcs, undirected
from grfpp.io.tables.options import Duplicates
from grfpp.typing import AnyInts, FloatArray, IntArray


def _sum(weights: FloatArray, starts: IntArray) -> FloatArray:
    with np.errstate(over="ignore"):  # what is infinite is refused with its place
        return np.add.reduceat(weights, starts)


#: From weights and where those of an edge begin to one weight an edge.
MERGED: dict[str, Callable[[FloatArray, IntArray], FloatArray]] = {
    "sum": _sum,
    "max": np.maximum.reduceat,
    "first": lambda weights, starts: weights[starts],
}


@dataclass(frozen=True)
class EdgeTable:
    """Edges as somebody has listed them.

    Parameters
    ----------
    ends
        Of shape ``(2, n_edges)``: the numbers of the nodes that each joins.
    weights
        Finite and not negative.
    n_nodes
        How many nodes there are.
    labels
        What they are called, or ``None`` where they are simply numbered.
    origin, place
        What was read, and where in it entry ``i`` stands, for messages.
    """

    ends: AnyInts
    weights: FloatArray
    n_nodes: int
    labels: Sequence[Any] | None
    origin: str
    place: Callable[[int], str]

    def matrix(self, *, directed: bool, duplicates: Duplicates | None) -> sp.coo_array:
        """The weights of edges in both directions or, if `directed`, of arcs.

        In an undirected list both orders of an edge are the same. ``duplicates=None`` sums them,
        with a warning where all are listed in both orders, since that doubles every weight.
        """
        # Lists are long, and so there is one copy of each array at a time.
        keys = self._keys(directed)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        new = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=new[1:])
        weights = self.weights[order]
        if not new.all():
            if duplicates == "error":
                raise self._refusal(self._keys(directed), int(order[~new].min()))
            if duplicates is None and not directed and self._is_mirrored(self._keys(directed)):
                warn_of_mirrored(self.origin)
            weights = MERGED[duplicates or "sum"](weights, np.flatnonzero(new))
            keys = keys[new]
        del order, new
        rows = (keys // self.n_nodes).astype(np.int32)
        columns = (keys % self.n_nodes).astype(np.int32)
        del keys
        return (arcs if directed else undirected)(rows, columns, weights, self.n_nodes)

    def _keys(self, directed: bool) -> IntArray:
        """A number for each edge, the same for both orders unless `directed`."""
        first, second = self.ends
        if not directed:
            first, second = np.minimum(first, second), np.maximum(first, second)
        keys: IntArray = first.astype(np.int64)
        keys *= self.n_nodes
        keys += second
        return keys

    def _refusal(self, keys: IntArray, again: int) -> InputError:
        before = int(np.flatnonzero(keys == keys[again])[0])
        names = range(self.n_nodes) if self.labels is None else self.labels
        u, v = (names[node] for node in self.ends[:, again].tolist())
        return InputError(
            f"{self.origin}, {self.place(again)}: the edge {u!r} - {v!r} is listed again, after "
            f"{self.place(before)}",
            option=("duplicates", "sum", "max", "first"),
        )

    def _is_mirrored(self, keys: IntArray) -> bool:
        """Whether every edge is listed in either order as often, with the same weights."""
        source, target = self.ends
        up, down = np.flatnonzero(source < target), np.flatnonzero(source > target)
        if len(up) != len(down) or not len(up):
            return False
        weights = self.weights
        up, down = (each[np.lexsort((weights[each], keys[each]))] for each in (up, down))
        return np.array_equal(keys[up], keys[down]) and np.array_equal(weights[up], weights[down])


def warn_of_mirrored(origin: str) -> None:
    """Warn that every edge is listed in both orders, so that sums double all weights."""
    warn_user(
        InputWarning(
            f"{origin} lists every edge in both orders with the same weight, and the two "
            "are summed: 'max' counts each edge once, 'sum' says that this is meant",
            option=("duplicates", "max", "sum"),
        )
    )
