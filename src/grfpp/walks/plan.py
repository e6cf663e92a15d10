"""`WalkPlan`: everything that determines a factor, as one immutable, picklable value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ldexp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp._memory import require_bytes
from grfpp.graph import Graph
from grfpp.series import exp, log, power
from grfpp.termination import Matched, Termination
from grfpp.typing import FloatArray, WordArray
from grfpp.walks.pool_arrays import PoolLayout
from grfpp.walks.streams import factor_key
from grfpp.walks.transition import ProportionalSteps, UniformSteps, WalkLayout


@dataclass(frozen=True, eq=False)
class WalkPlan:
    """Everything that `sample_rows` needs, and nothing about where or how it runs."""

    #: The graph that is walked, and the transition probabilities on it.
    steps: UniformSteps
    #: ``f(k)`` for every length in the table.
    modulation: FloatArray
    #: The walk-length law of independent walkers, or the budget of a pool.
    lengths: LengthTable | Budget
    #: Number of walks that start at each node; for pools, the factor of the budget.
    n_walks: int
    #: Random streams are a function of the seed, the factor, the node and the walk (pools: step).
    seed: int
    #: The word that the streams of this factor start from.
    key: int
    #: The graph as the compiled loops read it; shared by the plans of all factors.
    layout: WalkLayout | PoolLayout = None  # type: ignore[assignment]  # made from the steps

    def __post_init__(self) -> None:
        if self.layout is None:
            kind = PoolLayout if isinstance(self.steps, ProportionalSteps) else WalkLayout
            object.__setattr__(self, "layout", kind.of(self.steps))

    @classmethod
    def of(
        cls,
        steps: Graph | UniformSteps,
        modulation: FloatArray,
        lengths: Termination | Budget,
        n_walks: int,
        seed: int,
        factor: int = 0,
    ) -> WalkPlan:
        """Plan independent walks of a law of lengths, or pools that share a budget.

        They end where the modulation table does.
        """
        if isinstance(lengths, Budget):
            table: LengthTable | Budget = lengths
            kind: type[UniformSteps] = ProportionalSteps
        else:
            table, kind = LengthTable.of(lengths, len(modulation) - 1), UniformSteps
        if isinstance(steps, Graph):
            steps = kind.on(steps)
        f = np.asarray(modulation, dtype=np.float64)[: table.max_length + 1]
        return cls(steps, f, table, n_walks, seed, factor_key(seed, factor))

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the layout, which is larger than the graph and is rebuilt by the receiver.
        parts = (self.steps, self.modulation, self.lengths, self.n_walks, self.seed, self.key)
        return WalkPlan, parts

    @property
    def is_pooled(self) -> bool:
        """Whether the walkers of a row move together."""
        return isinstance(self.lengths, Budget)

    @property
    def graph(self) -> Graph:
        """The graph that is walked."""
        return self.steps.graph

    def with_factor(self, factor: int) -> WalkPlan:
        """The same plan with the random streams of another factor."""
        return replace(self, key=factor_key(self.seed, factor))

    def with_steps(self, steps: UniformSteps) -> WalkPlan:
        """The same walks with other steps on the same graph."""
        return WalkPlan(steps, *self.__reduce__()[1][1:])

    def with_lengths(self, law: Termination, longest: int) -> WalkPlan:
        """The same plan for walks of up to `longest` steps; further ones have ``f(k) = 0``."""
        lengths = LengthTable.of(law, longest)
        modulation = np.zeros(lengths.max_length + 1)
        modulation[: len(self.modulation)] = self.modulation
        return replace(self, lengths=lengths, modulation=modulation)

    @property
    def scales(self) -> FloatArray:
        """``rate^k / τ(k) / n_walks`` for every length: deposits without loads and ``f(k)``.

        For pools ``rate^k``: their masses need no division.
        """
        # Multiplied in halves, so that neither overflows where the product does not.
        with np.errstate(over="ignore", invalid="ignore"):
            half_power = power(self.layout.rate, np.arange(self.lengths.max_length + 1) / 2)
            return np.asarray(half_power * self.lengths.divided(half_power, self.n_walks))

    @property
    def deposits(self) -> FloatArray:
        """Deposit of a walker of load one after ``k`` steps: ``f(k) rate^k / τ(k) / n_walks``."""
        with np.errstate(over="ignore", invalid="ignore"):
            half_power = power(self.layout.rate, np.arange(len(self.modulation)) / 2)
            amounts = self.lengths.divided(self.modulation, self.n_walks)
            return np.asarray(amounts * half_power * half_power)

    @property
    def measure(self) -> FloatArray:
        """The measure in which masses at each node are counted: the potential, or ones."""
        potential = self.layout.potential
        return potential if len(potential) else np.ones(self.graph.n_nodes)

    @property
    def expected_steps(self) -> float:
        """Expected steps of all walks of one node (where no dead end stops them)."""
        return self.n_walks * self.lengths.mean


#: Share of a factor's series that a table may leave out: far below what counts as a bias.
NEGLIGIBLE_TAIL = 1e-18
#: Shares of a learned modulation fall to this, times ``1 / k``, at the last length.
_FALL = 0.01
#: Bits of the uniform number that decides a length: survival below ``2^-128`` never happens.
LENGTH_BITS = 128
#: The guide table has a cell for every value of this many leading bits.
GUIDE_BITS = 10
#: No table is longer; at this length `p_halt` is below 1e-5.
MAX_TABLE = 1 << 23


class LengthTable(NamedTuple):
    """A walk-length law as integer thresholds on 128 random bits ``u``.

    A walk has at least ``k`` steps when ``u < threshold(k)``. The thresholds are the law's survival
    rounded down to a multiple of ``2^-128``, and `survival` holds that rounded value, so what is
    simulated and what deposits are divided by are the same numbers.
    """

    high: WordArray
    low: WordArray
    survival: FloatArray
    guide: npt.NDArray[np.int32]

    @classmethod
    def of(cls, law: Termination, max_length: int) -> LengthTable:
        """Tabulate `law` for lengths up to `max_length`, or to the resolution if that is less."""
        require_bytes(150 * max_length, f"a table of {max_length} walk lengths")
        thresholds = []
        for survival in law.survival(np.arange(1, max_length + 1)).tolist():
            threshold = min(int(ldexp(survival, LENGTH_BITS)), (1 << LENGTH_BITS) - 1)
            if threshold == 0:
                break
            thresholds.append(threshold)
        word = (1 << 64) - 1
        high = np.array([t >> 64 for t in thresholds], dtype=np.uint64)
        low = np.array([t & word for t in thresholds], dtype=np.uint64)
        return cls(
            high=high,
            low=low,
            survival=np.array([1.0, *(ldexp(float(t), -LENGTH_BITS) for t in thresholds)]),
            guide=_guide(high),
        )

    @property
    def max_length(self) -> int:
        """Steps of the longest walk."""
        return len(self.high)

    @property
    def mean(self) -> float:
        """Expected number of steps."""
        return float(self.survival[1:].sum())

    def divided(self, amounts: FloatArray, n_walks: int) -> FloatArray:
        """Deposits of one walker: ``amounts / τ(k) / n_walks``."""
        return amounts / self.survival / n_walks


class Budget(NamedTuple):
    """How the edges that a pool may follow are split over its steps.

    An exact step may need less than its share; the remainder goes to later steps.
    """

    #: ``share[k]`` is the fraction of the remaining budget for step ``k``.
    share: FloatArray
    #: ``rest[k] = 1 − share[k]``, the fraction that is kept for later steps.
    rest: FloatArray
    #: Expected edges of all steps together, per walk.
    mean: float

    @classmethod
    def by_importance(cls, importance: FloatArray, mean: float) -> Budget:
        """Shares in proportion to numbers that do not grow, one for each step."""
        later = np.cumsum(importance[::-1])[::-1]
        with np.errstate(invalid="ignore"):
            share = np.append(0.0, importance / later)
            rest = np.append(0.0, np.append(later[1:], 0.0) / later)
        # A float: numba would compile the loops again for an integer.
        return cls(share, rest, float(mean) if len(importance) else 0.0)

    @classmethod
    def by_law(cls, law: Termination, max_length: int) -> Budget:
        """``n_walks · τ(k)`` for step ``k``: as many as walkers of this law would take."""
        survival = law.survival(np.arange(1, max_length + 1))
        return cls.by_importance(survival, float(survival.sum()))

    @classmethod
    def matched(cls, law: Matched, modulation: FloatArray, log_growth: FloatArray) -> Budget:
        """Shares by the remaining terms: ``t_k = Σ_{j ≥ k} |f(j)| ‖W^j‖``.

        The table ends where ``t_k`` is below `NEGLIGIBLE_TAIL` of the whole.
        """
        logs = log(np.abs(modulation)) + log_growth[: len(modulation)]
        terms = exp(logs - logs.max())
        tail = np.cumsum(terms[::-1])[::-1]
        n = int(np.flatnonzero(tail > NEGLIGIBLE_TAIL * tail[0])[-1])
        return cls.by_importance(tail[1 : n + 1], law.mean)

    @classmethod
    def for_learning(cls, law: Matched, n_lengths: int) -> Budget:
        """Shares for a modulation of so many lengths that is still to be learned.

        They are ``0.01^(k / n_lengths) / k``: every doubling of the lengths gets about as much as
        the one before, but for the last ones. Walks do not depend on the initial modulation, and
        every length that may become important has steps (`docs/torch.md` has figures).
        """
        k = np.arange(1, n_lengths)
        return cls.by_importance(power(_FALL, k / n_lengths) / k, law.mean)

    @property
    def max_length(self) -> int:
        """Steps of a pool that goes on to the end."""
        return len(self.share) - 1

    @property
    def survival(self) -> FloatArray:
        """Edges that may be followed in each step, for every walk; one at index 0."""
        left = np.cumprod(np.append(1.0, self.rest[1:-1]))
        return np.append(1.0, self.mean * self.share[1:] * left)

    def divided(self, amounts: FloatArray, n_walks: int) -> FloatArray:
        """Deposits of a mass: the amounts, since masses are expectations already."""
        return amounts


def resolvable_length(law: Termination, at_most: int = MAX_TABLE) -> int:
    """Longest walk of this law that 128 random bits can draw, or `at_most`."""
    if law.max_length is not None:
        return min(law.max_length, at_most)
    low, high = 0, 1
    while high <= at_most and law.survival(high) >= ldexp(1.0, -LENGTH_BITS):
        low, high = high, 2 * high
    high = min(high, at_most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if law.survival(middle) >= ldexp(1.0, -LENGTH_BITS):
            low = middle
        else:
            high = middle
    return low


def _guide(high: WordArray) -> npt.NDArray[np.int32]:
    """For every value of the leading bits, the least length of such draws."""
    cells = 1 << GUIDE_BITS
    tops = np.arange(1, cells, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
    reached = len(high) - np.searchsorted(high[::-1], tops, side="left")
    return np.append(reached, 0).astype(np.int32)
