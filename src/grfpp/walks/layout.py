"""A graph laid out for walking: what a step needs lies in one place.

Every node owns a run of *slots*, one for each out-edge (a node without out-edges owns one that is
never used), and the node is named by a 64-bit *word*: the number of its first slot and its degree.
A slot holds the word of the node that its edge leads to. A step is then one random access: from the
word and a random number to a slot, from the slot to the next word. Which node a word names is
looked up once for every entry of the result, not at every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.transition import UniformSteps

#: Low bits of a word that hold the degree; the others hold the number of the first slot.
DEGREE_BITS = 30
#: A slot holds its word and, where loads do not telescope, the factor of its edge.
PLAIN, WITH_FACTOR = 1, 2


class GraphArrays(NamedTuple):
    """What the compiled loops take of a layout; names as there."""

    word: IntArray
    slots: IntArray
    factors: FloatArray
    node: npt.NDArray[np.int32]
    potential: FloatArray
    inverse_potential: FloatArray


@dataclass(frozen=True, eq=False)
class WalkLayout:
    """Arrays for the compiled loops.

    Attributes
    ----------
    word
        The word of every node.
    slots
        The word that each slot leads to, in steps of `stride`.
    stride
        1, or 2 where slots hold factors.
    node
        The node that owns each slot.
    potential
        ``x`` of every node where loads telescope, else empty.
    inverse_potential
        ``1 / x`` by degree (``x`` is a function of the degree).
    rate
        What every step multiplies the load with, beside that.
    """

    word: IntArray
    slots: IntArray
    stride: int
    node: npt.NDArray[np.int32]
    potential: FloatArray
    inverse_potential: FloatArray
    rate: float

    @property
    def factors(self) -> FloatArray:
        """The slots' memory as numbers: the factor of slot ``s`` stands at ``2 s + 1``.

        Empty where loads telescope.
        """
        numbers = self.slots.view(np.float64)
        return numbers if self.stride == WITH_FACTOR else numbers[:0]

    @property
    def arrays(self) -> GraphArrays:
        """For the compiled loops."""
        return GraphArrays(
            self.word,
            self.slots,
            self.factors,
            self.node,
            self.potential,
            self.inverse_potential,
        )

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
        stride = PLAIN if telescopes else WITH_FACTOR
        slots = np.zeros(stride * int(n_slots.sum()), np.int64)
        if len(edges) == len(slots) // stride:
            used: slice | npt.NDArray[np.int64] = slice(None)
        else:
            used = np.flatnonzero(np.repeat(degree, n_slots))
        slots[::stride][used] = word[edges]
        if not telescopes:
            slots.view(np.float64)[1::2][used] = steps.loads()
        inverse = np.ones(int(degree.max()) + 1)
        if telescopes:
            inverse[degree] = 1.0 / steps.potential
        return cls(
            word=word,
            slots=slots,
            stride=stride,
            node=np.repeat(np.arange(graph.n_nodes, dtype=np.int32), n_slots),
            potential=steps.potential,
            inverse_potential=inverse,
            rate=steps.rate,
        )
