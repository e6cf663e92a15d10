"""What a factor's walks will do, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grfpp.elementary import power
from grfpp.graph import Graph
from grfpp.termination import Termination
from grfpp.typing import FloatArray
from grfpp.walks.budget import Budget
from grfpp.walks.layout import PoolLayout, WalkLayout
from grfpp.walks.lengths import LengthTable
from grfpp.walks.streams import factor_key
from grfpp.walks.transition import ProportionalSteps, UniformSteps


@dataclass(frozen=True, eq=False)
class WalkPlan:
    """Everything that `sample_rows` needs, and nothing about where or how it runs."""

    #: The graph that is walked, and where walkers step.
    steps: UniformSteps
    #: ``f(k)`` for every length in the table.
    modulation: FloatArray
    #: The walk-length law of independent walkers, or how a pool shares its steps.
    lengths: LengthTable | Budget
    #: Walks that start at each node: how many, or the size of the pool.
    n_walks: int
    #: What the random streams derive from, beside the factor, the node and the walk.
    seed: int
    #: The word that the streams of this factor start from.
    key: int
    #: The graph as the compiled loops want it; made by `WalkPlan.of`, shared by all factors.
    layout: WalkLayout | PoolLayout

    @classmethod
    def of(
        cls,
        steps: Graph | UniformSteps,
        modulation: FloatArray,
        law: Termination,
        n_walks: int,
        seed: int,
        factor: int = 0,
    ) -> WalkPlan:
        """Plan walks whose lengths follow `law`, up to where the modulation table ends."""
        if isinstance(steps, Graph):
            steps = UniformSteps.on(steps)
        lengths = LengthTable.of(law, len(modulation) - 1)
        modulation = np.asarray(modulation, dtype=np.float64)[: lengths.max_length + 1]
        key = factor_key(seed, factor)
        return cls(steps, modulation, lengths, n_walks, seed, key, WalkLayout.of(steps))

    @classmethod
    def pooled(
        cls,
        steps: Graph | ProportionalSteps,
        modulation: FloatArray,
        budget: Budget,
        n_walks: int,
        seed: int,
        factor: int = 0,
    ) -> WalkPlan:
        """Plan pools that share their steps by `budget`."""
        if isinstance(steps, Graph):
            steps = ProportionalSteps.on(steps)
        modulation = np.asarray(modulation, dtype=np.float64)[: budget.max_length + 1]
        key = factor_key(seed, factor)
        return cls(steps, modulation, budget, n_walks, seed, key, PoolLayout.of(steps))

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the layout, which is larger than the graph and is made anew where it arrives.
        parts = (self.steps, self.modulation, self.lengths, self.n_walks, self.seed, self.key)
        return _restored, parts

    @property
    def is_pooled(self) -> bool:
        """Whether the walkers of a row move together."""
        return isinstance(self.lengths, Budget)

    @property
    def graph(self) -> Graph:
        """The graph that is walked."""
        return self.steps.graph

    def with_factor(self, factor: int) -> WalkPlan:
        """The same walks' law with the random streams of another factor."""
        return replace(self, key=factor_key(self.seed, factor))

    def with_steps(self, steps: UniformSteps) -> WalkPlan:
        """The same walks with other steps on the same graph."""
        return replace(self, steps=steps, layout=_layout_of(steps))

    def with_lengths(self, law: Termination, longest: int) -> WalkPlan:
        """The same deposits by walks that go on to `longest` steps, where they leave nothing."""
        lengths = LengthTable.of(law, longest)
        modulation = np.zeros(lengths.max_length + 1)
        modulation[: len(self.modulation)] = self.modulation
        return replace(self, lengths=lengths, modulation=modulation)

    @property
    def scales(self) -> FloatArray:
        """``rate^k / τ(k) / n_walks`` for every length: what `loads` and ``f(k)`` leave out.

        For pools ``rate^k``: their masses need no division.
        """
        # Multiplied in halves, so that neither overflows where the product does not; what does
        # overflow is found in the rows of the walks that come so far.
        with np.errstate(over="ignore", invalid="ignore"):
            half_power = power(self.layout.rate, np.arange(self.lengths.max_length + 1) / 2)
            return np.asarray(half_power * self.lengths.divided(half_power, self.n_walks))

    @property
    def deposits(self) -> FloatArray:
        """What a walker of load one leaves after ``k`` steps: ``f(k) rate^k / τ(k) / n_walks``."""
        with np.errstate(over="ignore", invalid="ignore"):
            half_power = power(self.layout.rate, np.arange(len(self.modulation)) / 2)
            amounts = self.lengths.divided(self.modulation, self.n_walks)
            return np.asarray(amounts * half_power * half_power)

    @property
    def measure(self) -> FloatArray:
        """What masses at each node are counted in: the potential, or ones."""
        potential = self.layout.potential
        return potential if len(potential) else np.ones(self.graph.n_nodes)

    @property
    def expected_steps(self) -> float:
        """Expected steps of all walks of one node (where no dead end stops them)."""
        return self.n_walks * self.lengths.mean


def _layout_of(steps: UniformSteps) -> WalkLayout | PoolLayout:
    return PoolLayout.of(steps) if isinstance(steps, ProportionalSteps) else WalkLayout.of(steps)


def _restored(
    steps: UniformSteps,
    modulation: FloatArray,
    lengths: LengthTable | Budget,
    n_walks: int,
    seed: int,
    key: int,
) -> WalkPlan:
    """A plan that was pickled."""
    return WalkPlan(steps, modulation, lengths, n_walks, seed, key, _layout_of(steps))
