"""A graph laid out for walking: what a step needs lies in one place.

Every node owns a run of *slots*, one for each out-edge (a node without out-edges owns one that is
never used), and the node is named by a 64-bit *word*: the number of its first slot and its degree.
A slot holds the word of the node that its edge leads to. A step is then one random access: from the
word and a random number to a slot, from the slot to the next word. Which node a word names is
looked up once for every entry of the result, not at every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.walks.rule import LoadRule

FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.int64]

#: Low bits of a word that hold the degree; the others hold the number of the first slot.
DEGREE_BITS = 30
#: A slot holds its word and, where loads do not telescope, the factor of its edge.
PLAIN, WITH_FACTOR = 1, 2


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

    word: WordArray
    slots: WordArray
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

    @classmethod
    def of(cls, graph: Graph, rule: LoadRule) -> WalkLayout:
        """Lay `graph` out for walks whose loads follow `rule`."""
        degree = graph.out_degree
        if degree.max() >= 1 << DEGREE_BITS:
            raise InputError(f"a node has {degree.max()} neighbours, more than 2^{DEGREE_BITS}")
        n_slots = np.maximum(degree, 1)
        first = np.cumsum(n_slots) - n_slots
        word = (first << DEGREE_BITS) | degree
        edges = graph.indices
        telescopes = len(rule.per_edge) == 0
        stride = PLAIN if telescopes else WITH_FACTOR
        slots = np.zeros(stride * int(n_slots.sum()), np.int64)
        if len(edges) == len(slots) // stride:
            used: slice | npt.NDArray[np.int64] = slice(None)
        else:
            used = np.flatnonzero(np.repeat(degree, n_slots))
        slots[::stride][used] = word[edges]
        if not telescopes:
            slots.view(np.float64)[1::2][used] = rule.per_edge
        inverse = np.ones(int(degree.max()) + 1)
        if telescopes:
            inverse[degree] = 1.0 / rule.potential
        return cls(
            word=word,
            slots=slots,
            stride=stride,
            node=np.repeat(np.arange(graph.n_nodes, dtype=np.int32), n_slots),
            potential=rule.potential,
            inverse_potential=inverse,
            rate=rule.rate,
        )
