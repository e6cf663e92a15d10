"""How loads grow along a walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grfpp.graph import Graph

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LoadRule:
    """How a walker's load ``Π W[i, j] · degree(i)`` grows along its way.

    Where ``W[i, j] · degree(i) = rate · x[i] / x[j]`` on every edge, the product telescopes to
    ``rate^k · x[start] / x[now]`` and nothing has to be fetched or carried on the way. That is so
    for equal weights under the symmetric (``x = √degree``) and the random-walk normalisation
    (``x = 1``). Elsewhere `per_edge` holds the factor of each edge.
    """

    rate: float
    potential: FloatArray
    per_edge: FloatArray

    @classmethod
    def of(cls, graph: Graph) -> LoadRule:
        """Find the rule for uniform steps on `graph`."""
        degree = graph.out_degree.astype(np.float64)
        nothing = np.empty(0)
        for exponent in (0.5, 0.0):
            potential = degree**exponent
            rate = _telescoping_rate(graph, potential)
            if rate is not None:
                # Only nodes without an edge have x = 0, and no deposit divides by theirs.
                return cls(rate, np.where(degree > 0, potential, 1.0), nothing)
        return cls(1.0, nothing, graph.weights * np.repeat(degree, graph.out_degree))


def _telescoping_rate(graph: Graph, potential: FloatArray) -> float | None:
    """The common value of ``W[i, j] · degree(i) · x[j] / x[i]``, if there is one."""
    n_head = min(graph.n_nodes, 64)
    factors = np.empty(0)
    for n_rows in (n_head, graph.n_nodes):  # a short look first: most weighted graphs end there
        edges = slice(0, int(graph.indptr[n_rows]))
        sources = np.repeat(np.arange(n_rows), graph.out_degree[:n_rows])
        targets = graph.indices[edges]
        factors = (
            graph.weights[edges]
            * graph.out_degree[sources]
            * (potential[targets] / potential[sources])
        )
        # Both bounds of an empty selection are 1: no edge, no contradiction.
        top = float(factors.max(initial=0.0)) or 1.0
        if top - float(factors.min(initial=top)) > 8 * np.finfo(np.float64).eps * top:
            return None
    return float(np.median(factors)) if len(factors) else 1.0
