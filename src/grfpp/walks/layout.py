"""A graph laid out for walking: what a step needs lies in one place.

Every node owns a run of *slots*, one for each out-edge (a node without out-edges owns one that is
never used), and the node is named by a 64-bit *word*: the number of its first slot and its degree.
A slot holds the word of the node that its edge leads to. A step is then one random access: from the
word and a random number to a slot, from the slot to the next word. Which node a word names is
looked up once for every entry of the result, not at every step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.scaled_weights import BLOCK_EDGES, row_blocks
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.transition import ProportionalSteps, UniformSteps

#: Low bits of a word that hold the degree; the others hold the number of the first slot.
DEGREE_BITS = 30


class WalkLayout(NamedTuple):
    """Arrays for the compiled loops."""

    #: The word of every node.
    word: IntArray
    #: The word that each slot leads to; in steps of two where slots hold factors.
    slots: IntArray
    #: The node that owns each slot.
    node: npt.NDArray[np.int32]
    #: ``x`` of every node where loads telescope, else empty.
    potential: FloatArray
    #: ``1 / x`` by degree (``x`` is a function of the degree).
    inverse_potential: FloatArray
    #: What every step multiplies the load with, beside that.
    rate: float

    @property
    def factors(self) -> FloatArray:
        """The slots' memory as numbers, the factor of slot ``s`` at ``2 s + 1``.

        Empty where loads telescope.
        """
        return self.slots.view(np.float64)[: 0 if len(self.potential) else None]

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """All of them, as the compiled loops want them."""
        of_nodes = (self.node, self.potential, self.inverse_potential)
        return (self.word, self.slots, self.factors, *of_nodes)

    @classmethod
    def of(cls, steps: UniformSteps) -> WalkLayout:
        """Lay a graph out for the steps on it."""
        graph, telescopes = steps.graph, steps.telescopes
        degree = graph.out_degree
        _require_degrees(degree)
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


class PoolLayout(NamedTuple):
    """Arrays for the compiled loops of pooled walks.

    Here a node's word holds its number and its degree, and leads to its slots by one more look:
    a pool looks at many nodes and follows the edges of few.
    """

    #: The word of every node.
    word: IntArray
    #: The first slot of every node.
    first: IntArray
    #: The word that each slot leads to; where weights differ, the heaviest edges come first.
    slots: IntArray
    #: The weight of each slot over `rate`, and the sum of those from it to the node's last one;
    #: empty where loads telescope.
    weights: FloatArray
    tails: FloatArray
    #: As for `WalkLayout` where loads telescope; else the measure, if there is one, and its
    #: inverse by node.
    potential: FloatArray
    inverse_potential: FloatArray
    #: What every step multiplies the masses with, beside that.
    rate: float

    @property
    def degree(self) -> IntArray:
        """Number of slots of every node."""
        return self.word & ((1 << DEGREE_BITS) - 1)

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """All of them, as the compiled loops want them."""
        return tuple(self[:-1])

    @classmethod
    def of(cls, steps: ProportionalSteps) -> PoolLayout:
        """Lay a graph out for pools on it."""
        from grfpp.linalg.products import row_tails

        graph = steps.graph
        degree = graph.out_degree
        _require_degrees(degree)
        word = (np.arange(graph.n_nodes, dtype=np.int64) << DEGREE_BITS) | degree
        first = graph.indptr[:-1].astype(np.int64)
        nothing = np.empty(0)
        if steps.telescopes:
            inverse = _inverse_potential(steps)
            slots = word[graph.indices]
            layout = (word, first, slots, nothing, nothing, steps.potential, inverse)
            return cls(*layout, steps.rate)
        # A power of two, so that it rounds nothing; masses then stay in the range of numbers.
        rate = float(2.0 ** np.round(np.log2(graph.spectral_radius() or 1.0)))
        weights = steps.weights() / rate
        slots = np.empty(len(weights), np.int64)
        for rows in row_blocks(graph.indptr, BLOCK_EDGES):
            begin, end = (int(graph.indptr[row]) for row in rows)
            here, sources = weights[begin:end], np.repeat(np.arange(*rows), degree[slice(*rows)])
            order = np.lexsort((-_rounded(here), sources))  # stable: equal ones keep their order
            weights[begin:end] = here[order]
            slots[begin:end] = word[graph.indices[begin:end][order]]
        tails = row_tails(weights, graph.indptr)
        layout = (word, first, slots, weights, tails, steps.measure, 1.0 / steps.measure)
        return cls(*layout, rate)


def _rounded(weights: FloatArray) -> FloatArray:
    """To 40 bits: weights that are equal but for rounding stay in the order of their edges."""
    mantissa, exponent = np.frexp(weights)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, 40)), exponent - 40))


def _require_degrees(degree: IntArray) -> None:
    if degree.max() >= 1 << DEGREE_BITS:
        raise InputError(f"a node has {degree.max()} neighbours, more than 2^{DEGREE_BITS}")


def _inverse_potential(steps: UniformSteps) -> FloatArray:
    """``1 / x`` by degree, of which ``x`` is a function."""
    degree = steps.graph.out_degree
    inverse = np.ones(int(degree.max()) + 1)
    if steps.telescopes:
        inverse[degree] = 1.0 / steps.potential
    return inverse
