"""Where a walker steps, and what that does to its load."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.linalg.sparse import csr
from grfpp.typing import FloatArray

_NOTHING = np.empty(0)
#: Where a series of powers of W counts as summed.
_RESOLVENT_ERROR = 1e-4


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
    def on(cls, graph: Graph) -> Self:
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
    def carrying(cls, graph: Graph) -> Self:
        """Walkers that carry their loads, whether these telescope or not."""
        return cls(graph, 1.0, _NOTHING)

    @classmethod
    def on_equal_weights(cls, graph: Graph, scale: float) -> Self:
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

    def symmetrizer(self) -> FloatArray:
        """``v`` such that ``diag(v)^-1 M diag(v)`` is symmetric where ``W`` is."""
        return np.sqrt(np.maximum(self.inverse_probability, 1.0))

    def second_moment_bound(self, unit: float = 1.0) -> float:
        """The largest row sum of `second_moments`, for less work."""
        graph = self.graph
        squares = csr((graph.weights / unit) ** 2, graph.indices, graph.indptr, graph.n_nodes)
        return float(np.max(squares.sum(axis=1) * self.inverse_probability))


@dataclass(frozen=True, eq=False)
class ProportionalSteps(UniformSteps):
    """Steps in proportion to the weights, as the edges of a pool's light nodes are picked.

    ``p(i → j) = W[i, j] / r(i)`` with the row sums ``r``. Where loads telescope, masses are counted
    in the walk's own measure, and every edge of a node has the same weight. Elsewhere they are
    those of ``W``, or counted in a measure ``φ``: then ``W[i, j] φ(j) / φ(i)`` stands for the
    weights.
    """

    #: ``φ``; empty where masses are those of ``W``.
    measure: FloatArray = field(default_factory=lambda: _NOTHING)

    def measured(self, radius: float) -> ProportionalSteps:
        """Count masses so that no step lets them grow by more than `radius`.

        ``φ = Σ_k (W / radius)^k 1`` has ``W φ < radius · φ`` at every node, for every radius above
        the spectral one.
        """
        return replace(self, measure=resolvent_of_ones(self.graph, radius))

    def weights(self) -> FloatArray:
        """The weights in the measure."""
        graph = self.graph
        if not len(self.measure):
            return graph.weights
        sources = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
        return graph.weights * (self.measure[graph.indices] / self.measure[sources])

    def second_moments(self, unit: float = 1.0) -> sp.csr_array:
        """``M[i, j] = (W[i, j] / unit)² / p(i → j)``."""
        if self.telescopes:
            return super().second_moments(unit)
        W = self._matrix(unit)
        W.data *= np.repeat(W.sum(axis=1), self.graph.out_degree)
        return W

    def symmetrizer(self) -> FloatArray:
        """``v`` such that ``diag(v)^-1 M diag(v)`` is symmetric where ``W`` is."""
        if self.telescopes:
            return super().symmetrizer()
        sums = self._matrix(1.0).sum(axis=1)
        root = np.sqrt(np.where(sums > 0, sums, 1.0))
        return np.asarray(root / self.measure if len(self.measure) else root)

    def second_moment_bound(self, unit: float = 1.0) -> float:
        """The largest row sum of `second_moments`, or more."""
        if self.telescopes:
            return super().second_moment_bound(unit)
        return float(np.max(self._matrix(unit).sum(axis=1)) ** 2)

    def _matrix(self, unit: float) -> sp.csr_array:
        graph = self.graph
        return csr(self.weights() / unit, graph.indices, graph.indptr, graph.n_nodes)


def resolvent_of_ones(graph: Graph, radius: float) -> FloatArray:
    """``(I − W / radius)^-1 1`` for a radius above the spectral one, by its series.

    The number of terms depends on the radii alone: what is found for a node does not depend on
    other components of the graph.
    """
    ratio = min(max(graph.spectral_radius() / radius, 0.1), 1 - 1e-3)
    W, term = graph.adjacency / radius, np.ones(graph.n_nodes)
    total = term.copy()
    for _ in range(int(np.log(_RESOLVENT_ERROR) / np.log(ratio)) + 1):
        term = W @ term
        total += term
    return total


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
    with np.errstate(over="ignore"):  # at the end of the range of float64
        return float(np.median(factors)) if len(factors) else 1.0
