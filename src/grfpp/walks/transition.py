"""Where a walker steps, and what that does to its load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.linalg.sparse import csr
from grfpp.typing import FloatArray

_NOTHING = np.empty(0)


@dataclass(frozen=True, eq=False)
class UniformSteps:
    """The paper's rule: every out-neighbour with the same probability, ``p(i → j) = 1/degree(i)``.

    A step multiplies the walker's load by ``W[i, j] / p(i → j)``. Where that is
    ``rate · x[i] / x[j]`` on every edge, the product telescopes to ``rate^k · x[start] / x[now]``,
    and nothing has to be fetched or carried on the way. That is so for equal weights under the
    symmetric (``x = √degree``) and the random-walk normalisation (``x = 1``).
    """

    #: The graph that is walked.
    graph: Graph
    #: Of the telescoping product, ``x`` the potential; empty where there is none.
    rate: float
    potential: FloatArray

    @classmethod
    def on(cls, graph: Graph) -> UniformSteps:
        """Find out whether loads telescope on `graph`."""
        degree = graph.out_degree.astype(np.float64)
        for exponent in (0.5, 0.0):
            potential = degree**exponent
            rate = _telescoping_rate(graph, potential)
            if rate is not None:
                # Only nodes without an edge have x = 0, and no deposit divides by theirs.
                return cls(graph, rate, np.where(degree > 0, potential, 1.0))
        return cls.carrying(graph)

    @classmethod
    def carrying(cls, graph: Graph) -> UniformSteps:
        """Walkers that carry their loads, whether these telescope or not."""
        return cls(graph, 1.0, _NOTHING)

    @classmethod
    def on_equal_weights(cls, graph: Graph, scale: float) -> UniformSteps:
        """For ``scale · D^-1/2 A D^-1/2`` of equal weights: what `on` finds, without rounding."""
        degree = graph.out_degree.astype(np.float64)
        return cls(graph, scale, np.where(degree > 0, np.sqrt(degree), 1.0))

    @property
    def telescopes(self) -> bool:
        """Whether loads telescope."""
        return len(self.potential) > 0

    @property
    def inverse_probability(self) -> FloatArray:
        """``1 / p(i → ·)`` of every node."""
        return self.graph.out_degree.astype(np.float64)

    def loads(self) -> FloatArray:
        """``W[i, j] / p(i → j)`` of every edge."""
        graph = self.graph
        return np.asarray(graph.weights * np.repeat(self.inverse_probability, graph.out_degree))

    def second_moments(self, unit: float = 1.0) -> sp.csr_array:
        """``M[i, j] = (W[i, j] / unit)² / p(i → j)``, whose powers tell how squared loads grow."""
        graph = self.graph
        squares = (graph.weights / unit) ** 2
        values = squares * np.repeat(self.inverse_probability, graph.out_degree)
        return csr(values, graph.indices, graph.indptr, graph.n_nodes)

    def second_moment_bound(self, unit: float = 1.0) -> float:
        """The largest row sum of `second_moments`, for less work."""
        graph = self.graph
        squares = csr((graph.weights / unit) ** 2, graph.indices, graph.indptr, graph.n_nodes)
        return float(np.max(squares.sum(axis=1) * self.inverse_probability))


class ProportionalSteps(UniformSteps):
    """Steps in proportion to the weights, as the edges of a pool's light nodes are picked.

    ``p(i → j) = W[i, j] / r(i)`` with the row sums ``r``. Where loads telescope, masses are counted
    in the walk's own measure, and every edge of a node has the same weight.
    """

    def second_moments(self, unit: float = 1.0) -> sp.csr_array:
        """``M[i, j] = (W[i, j] / unit)² / p(i → j)``."""
        if self.telescopes:
            return super().second_moments(unit)
        graph = self.graph
        values = graph.weights / unit * np.repeat(self._row_sums(unit), graph.out_degree)
        return csr(values, graph.indices, graph.indptr, graph.n_nodes)

    def second_moment_bound(self, unit: float = 1.0) -> float:
        """The largest row sum of `second_moments`."""
        if self.telescopes:
            return super().second_moment_bound(unit)
        return float(np.max(self._row_sums(unit)) ** 2)

    def _row_sums(self, unit: float) -> FloatArray:
        sums: FloatArray = self.graph.adjacency.sum(axis=1) / unit
        return sums


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
