"""How weights are scaled, as the compiled loops want to know it. Nothing is computed from edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grfpp.graph import Graph
from grfpp.linalg.sparse import readonly
from grfpp.typing import FloatArray, IntArray

#: The kinds of `grfpp.scaled_weights.ScaledWeights`, numbered as in `grfpp.local.pools.table`.
KINDS: dict[str | None, int] = {None: 0, "rw": 1, "sym": 2, "rw_reversed": 3}
PLAIN, RW, SYM, RW_REVERSED = range(4)

_NOTHING = np.empty(0)
_NOTHING.flags.writeable = False


class LocalWeights(NamedTuple):
    """``W[i, j] = value · a[i, j] · …``, see `grfpp.scaled_weights.ScaledWeights`."""

    kind: int
    value: float
    #: ``a`` of every edge, and the strengths of nodes; empty where they are 1, and degrees.
    base: FloatArray
    out: FloatArray
    into: FloatArray
    #: Whether the edges into a node are those out of it, with the same ``a``.
    is_reversible: bool

    @classmethod
    def of(cls, graph: Graph) -> LocalWeights:
        """Those of a graph."""
        scaled = graph.scaled
        arrays = (scaled.base, scaled.out_strength, scaled.in_strength)
        kind = KINDS[scaled.kind]
        base, out, into = (_NOTHING if each is None else readonly(each) for each in arrays)
        if kind == PLAIN:
            out = into = _NOTHING
            is_reversible = not graph.is_directed
        else:
            is_reversible = scaled.in_strength is None
            if kind == RW:
                into = _NOTHING
        return cls(kind, float(scaled.value), base, out, into, is_reversible)

    @property
    def keeps_mass(self) -> bool:
        """Whether masses are in the walk's own measure: a step hands on what there is."""
        return self.kind == RW or (self.kind != PLAIN and not len(self.into))

    def turned(self, graph: Graph, rows: IntArray, columns: IntArray) -> FloatArray:
        """``K[rows, columns] / K[columns, rows]ᵀ`` where the weights are reversible.

        That is 1 for symmetric ones; for the others a ratio of strengths.
        """
        if self.kind in (PLAIN, SYM):
            return np.ones((1, 1))
        by_row, by_column = (self._strength(graph, nodes) for nodes in (rows, columns))
        ratio = by_column[np.newaxis] / by_row[:, np.newaxis]
        return np.asarray(ratio if self.kind == RW else 1.0 / ratio)

    def _strength(self, graph: Graph, nodes: IntArray) -> FloatArray:
        if len(self.out):
            strength = self.out[nodes]
        else:
            strength = (graph.indptr[nodes + 1] - graph.indptr[nodes]).astype(np.float64)
        return np.where(strength > 0, strength, 1.0)
