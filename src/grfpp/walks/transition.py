"""Transition probabilities of walks, the loads of their steps, and the graph's layout for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.linalg.csr import csr
from grfpp.normalization import BLOCK_EDGES, row_blocks
from grfpp.typing import FloatArray, IntArray

_NOTHING = np.empty(0)
#: Relative size of the last term of the series for a measure, which need not be exact.
_RESOLVENT_ERROR = 1e-4


@dataclass(frozen=True, eq=False)
class UniformSteps:
    """The paper's rule: every out-neighbour with the same probability, ``p(i → j) = 1/degree(i)``.

    A step multiplies the walker's load by ``W[i, j] / p(i → j)``. Where that is
    ``rate · x[i] / x[j]`` on every edge, the product telescopes to ``rate^k · x[start] / x[now]``,
    and no weights are read during the walk. That is the case for equal weights under the symmetric
    (``x = √degree``) and the random-walk normalisation (``x = 1``).
    """

    #: The graph that is walked.
    graph: Graph
    #: Rate of the telescoping product; 1 where there is none.
    rate: float
    #: Its potential ``x``; empty where there is none.
    potential: FloatArray

    @classmethod
    def on(cls, graph: Graph) -> Self:
        """Steps on `graph`, with the potential where loads telescope."""
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
        """Steps that multiply the load at each step, whether loads telescope or not."""
        return cls(graph, 1.0, _NOTHING)

    @classmethod
    def on_equal_weights(cls, graph: Graph, scale: float, *, by_degree: bool = True) -> Self:
        """The result of `on`, without rounding, for ``scale · D^-1/2 A D^-1/2`` of equal weights.

        With ``by_degree=False`` for ``scale · D^-1 A``, whose potential is constant.
        """
        degree = graph.out_degree.astype(np.float64)
        return cls(graph, scale, np.where((degree > 0) & by_degree, np.sqrt(degree), 1.0))

    @property
    def telescopes(self) -> bool:
        """Whether loads telescope."""
        return len(self.potential) > 0

    def loads(self) -> FloatArray:
        """``W[i, j] / p(i → j)`` of every edge."""
        degree = self.graph.out_degree
        return np.asarray(self.graph.weights * np.repeat(degree.astype(np.float64), degree))

    def second_moments(self, unit: float = 1.0) -> sp.csr_array:
        """``M[i, j] = (W[i, j] / unit)² / p(i → j)``, which governs squared loads."""
        graph = self.graph
        squares = (graph.weights / unit) ** 2
        values = squares * np.repeat(graph.out_degree.astype(np.float64), graph.out_degree)
        return csr(values, graph.indices, graph.indptr, graph.n_nodes)

    def symmetrizer(self) -> FloatArray:
        """``v`` such that ``diag(v)^-1 M diag(v)`` is symmetric where ``W`` is."""
        return np.sqrt(np.maximum(self.graph.out_degree, 1.0))


@dataclass(frozen=True, eq=False)
class ProportionalSteps(UniformSteps):
    """Steps in proportion to the weights, as pools sample their light edges.

    ``p(i → j) = W[i, j] / r(i)`` with the row sums ``r``. Where loads telescope, masses are counted
    in the measure of the walk, and all edges of a node have the same weight. Elsewhere masses are
    those of ``W``, or counted in a measure ``φ``, which replaces the weights by
    ``W[i, j] φ(j) / φ(i)``.
    """

    #: The measure ``φ``; empty where masses are those of ``W``.
    measure: FloatArray = field(default_factory=lambda: _NOTHING)

    def measured(self, radius: float) -> ProportionalSteps:
        """Count masses in a measure in which no step lets them grow by more than `radius`.

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

    def _matrix(self, unit: float) -> sp.csr_array:
        graph = self.graph
        return csr(self.weights() / unit, graph.indices, graph.indptr, graph.n_nodes)


def resolvent_of_ones(graph: Graph, radius: float) -> FloatArray:
    """``(I − W / radius)^-1 1`` for a radius above the spectral one, by its series.

    The number of terms depends on the radii only, so the value at a node does not depend on other
    components of the graph.
    """
    ratio = min(max(graph.spectral_radius() / radius, 0.1), 1 - 1e-3)
    W, term = graph.adjacency / radius, np.ones(graph.n_nodes)
    total = term.copy()
    for _ in range(int(np.log(_RESOLVENT_ERROR) / np.log(ratio)) + 1):
        term = W @ term
        total += term
    return total


def _telescoping_rate(graph: Graph, potential: FloatArray) -> float | None:
    """The common value of ``W[i, j] · degree(i) · x[j] / x[i]`` (the median), if there is one.

    Computed by blocks of rows, since the factors of all edges may not fit into memory.
    """
    top, least = 0.0, np.inf
    counts: Counter[float] = Counter()
    # The first rows are probed before all others: most weighted graphs fail there.
    n_head = min(graph.n_nodes, 64)
    head = [(0, n_head)] if n_head < graph.n_nodes else []
    for first, last in [*head, *row_blocks(graph.indptr, BLOCK_EDGES)]:
        degree = np.diff(graph.indptr[first : last + 1])
        sources = np.repeat(np.arange(first, last), degree)
        targets = graph.indices[int(graph.indptr[first]) : int(graph.indptr[last])]
        factors = (
            graph.weights_of_rows(first, last)
            * np.repeat(degree, degree)
            * (potential[targets] / potential[sources])
        )
        if not len(factors):
            continue
        top, least = max(top, float(factors.max())), min(least, float(factors.min()))
        # The factor is zero where all edges lead to dead ends, whose potential is zero.
        if not (0 < top < np.inf and top - least <= 8 * np.finfo(np.float64).eps * top):
            return None
        if (first, last) not in head:
            # The bits of adjacent floating-point numbers are adjacent integers.
            bits = np.ascontiguousarray(factors).view(np.int64)
            number = np.bincount(bits - bits.min())
            values = (bits.min() + np.flatnonzero(number)).view(np.float64)
            counts.update(dict(zip(values.tolist(), number[number > 0].tolist(), strict=True)))
    return _median(counts) if counts else 1.0


def _median(counts: Counter[float]) -> float:
    values = np.array(sorted(counts))
    ends = np.cumsum([counts[value] for value in values.tolist()])
    middle = np.array([(ends[-1] - 1) // 2, ends[-1] // 2])
    with np.errstate(over="ignore"):  # at the end of the range of float64
        return float(np.median(values[np.searchsorted(ends, middle, side="right")]))


#: Low bits of a node's word that hold its degree; the other 34 hold the index of its first slot.
DEGREE_BITS = 30


class WalkLayout(NamedTuple):
    """A graph laid out for independent walks: a slot for every edge and every isolated node."""

    #: The word of every node.
    word: IntArray
    #: The word of the node that each slot leads to, at even positions where slots have factors.
    slots: IntArray
    #: The node that each slot belongs to.
    node: npt.NDArray[np.int32]
    #: ``x`` of every node where loads telescope, else empty.
    potential: FloatArray
    #: ``1 / x`` by degree (``x`` is a function of the degree).
    inverse_potential: FloatArray
    #: A further factor of every step's load.
    rate: float

    @property
    def factors(self) -> FloatArray:
        """The memory of `slots` as floats, with the factor of slot ``s`` at ``2 s + 1``.

        Empty where loads telescope.
        """
        return self.slots.view(np.float64)[: 0 if len(self.potential) else None]

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays in the order in which the compiled loops unpack them."""
        of_nodes = (self.node, self.potential, self.inverse_potential)
        return (self.word, self.slots, self.factors, *of_nodes)

    @classmethod
    def of(cls, steps: UniformSteps) -> WalkLayout:
        """Lay a graph out for the steps on it."""
        graph, telescopes = steps.graph, steps.telescopes
        degree = graph.out_degree
        if degree.max() >= 1 << DEGREE_BITS:
            raise InputError(f"a node has {degree.max()} neighbours, more than 2^{DEGREE_BITS}")
        n_slots = np.maximum(degree, 1)
        first = np.cumsum(n_slots) - n_slots
        word = (first << DEGREE_BITS) | degree
        edges = graph.indices
        stride = 1 if telescopes else 2
        slots = np.zeros(stride * int(n_slots.sum()), np.int64)
        if len(edges) == len(slots) // stride:
            used: slice | npt.NDArray[np.int64] = slice(None)
        else:
            used = np.flatnonzero(np.repeat(degree, n_slots))
        slots[::stride][used] = word[edges]
        if not telescopes:
            slots.view(np.float64)[1::2][used] = steps.loads()
        return cls(
            word=word,
            slots=slots,
            node=np.repeat(np.arange(graph.n_nodes, dtype=np.int32), n_slots),
            potential=steps.potential,
            inverse_potential=_inverse_potential(steps),
            rate=steps.rate,
        )


def _inverse_potential(steps: UniformSteps) -> FloatArray:
    """``1 / x`` by degree, of which ``x`` is a function."""
    degree = steps.graph.out_degree
    inverse = np.ones(int(degree.max()) + 1)
    if steps.telescopes:
        inverse[degree] = 1.0 / steps.potential
    return inverse
