"""What a factor's walks will do, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from grfpp.graph import Graph
from grfpp.termination import Termination
from grfpp.walks.layout import WalkLayout
from grfpp.walks.lengths import LengthTable
from grfpp.walks.rule import LoadRule
from grfpp.walks.streams import factor_key

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WalkPlan:
    """Everything that `sample_rows` needs, and nothing about where or how it runs.

    Parameters
    ----------
    graph
        The graph that is walked.
    modulation
        ``f(k)`` for every length in the table.
    lengths
        The walk-length law.
    n_walks
        Walks that start at each node.
    seed, factor
        What the random streams derive from, beside the node and the walk.
    layout
        The graph as the compiled loops want it; made by `WalkPlan.of`, shared by all factors.
    """

    graph: Graph
    modulation: FloatArray
    lengths: LengthTable
    n_walks: int
    seed: int
    factor: int
    layout: WalkLayout

    @classmethod
    def of(
        cls,
        graph: Graph,
        modulation: FloatArray,
        law: Termination,
        n_walks: int,
        seed: int,
        factor: int = 0,
    ) -> WalkPlan:
        """Plan walks whose lengths follow `law`, up to where the modulation table ends."""
        lengths = LengthTable.of(law, len(modulation) - 1)
        modulation = np.asarray(modulation, dtype=np.float64)[: lengths.max_length + 1]
        layout = WalkLayout.of(graph, LoadRule.of(graph))
        return cls(graph, modulation, lengths, n_walks, seed, factor, layout)

    def with_factor(self, factor: int) -> WalkPlan:
        """The same walks' law with other random streams."""
        return replace(self, factor=factor)

    def with_lengths(self, law: Termination, longest: int) -> WalkPlan:
        """The same deposits by walks that go on to `longest` steps, where they leave nothing."""
        lengths = LengthTable.of(law, longest)
        modulation = np.zeros(lengths.max_length + 1)
        modulation[: len(self.modulation)] = self.modulation
        return replace(self, lengths=lengths, modulation=modulation)

    @property
    def key(self) -> int:
        """The word that the streams of this factor start from."""
        return factor_key(self.seed, self.factor)

    @property
    def deposits(self) -> FloatArray:
        """What a walker of load one leaves after ``k`` steps: ``f(k) / τ(k) / n_walks``."""
        return np.asarray(self.modulation / self.lengths.survival / self.n_walks)

    @property
    def expected_steps(self) -> float:
        """Expected steps of all walks of one node (where no dead end stops them)."""
        return self.n_walks * self.lengths.mean
