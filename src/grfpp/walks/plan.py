"""`WalkPlan`: everything that determines a factor, as an immutable, picklable value."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import ldexp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp._memory import require_bytes
from grfpp.graph import Graph
from grfpp.options import DEFAULT_STEP, StepOptions
from grfpp.series import exp, log, power
from grfpp.termination import Matched, Termination
from grfpp.typing import FloatArray, WordArray
from grfpp.walks.pool_arrays import PoolLayout
from grfpp.walks.streams import factor_key
from grfpp.walks.transition import ProportionalSteps, UniformSteps, WalkLayout


@dataclass(frozen=True, eq=False)
class WalkPlan:
    """All inputs of `sample_rows`, independent of threads, processes and machines."""

    #: The graph that is walked, and the transition probabilities on it.
    steps: UniformSteps
    #: ``f(k)`` for every length in the table.
    modulation: FloatArray
    #: The walk-length law of independent walkers, or the budget of a pool.
    lengths: LengthTable | Budget
    #: Number of walks that start at each node; the budget of a pool is `n_walks · lengths.mean`.
    n_walks: int
    #: Seed of the random streams, with the factor, the node and the walk (pools: the step).
    seed: int
    #: The word from which the random streams of this factor are derived.
    key: int
    #: What the compiled step of a pool reads of the options.
    step: StepOptions = DEFAULT_STEP
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
        step: StepOptions = DEFAULT_STEP,
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
        return cls(steps, f, table, n_walks, seed, factor_key(seed, factor), step)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the layout, which is larger than the graph and is rebuilt by the receiver.
        names = [field.name for field in fields(self) if field.name != "layout"]
        return WalkPlan, tuple(getattr(self, name) for name in names)

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
        # Multiplied by two square roots: one factor could overflow where the product does not.
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


#: Share of a factor's series that a table may omit: far below `NEGLIGIBLE_BIAS`.
NEGLIGIBLE_TAIL = 1e-18
#: Factor, besides ``1 / k``, by which the budget of a learned modulation falls to the last length:
#: the last lengths, which matter least, get few steps.
_LAST_SHARE = 0.01
#: Bits of the uniform number that decides a length: survival below ``2^-128`` never happens.
LENGTH_BITS = 128
#: Leading bits that index the guide table: 1,024 cells of four bytes fit into the first cache.
GUIDE_BITS = 10
#: Longest table; a geometric law of this length has a `p_halt` below 1e-5.
MAX_TABLE = 1 << 23


class LengthTable(NamedTuple):
    """A walk-length law as integer thresholds on 128 random bits ``u``.

    A walk has at least ``k`` steps when ``u < threshold(k)``. The thresholds are the survival of
    the law, rounded down to multiples of ``2^-128``. `survival` has the rounded values, so deposits
    are divided by the probabilities with which walks are simulated.
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
    """The split of a pool's budget of edges over its steps.

    `grfpp.walks.planning.share_steps` chooses it, the compiled `grfpp.walks.pool.step` spends it.
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
        """A split in proportion to importances, one for each step, which must not increase.

        Of ``B`` edges in all, step ``k`` gets ``B importance_k / Σ_j importance_j``.
        """
        later = np.cumsum(importance[::-1])[::-1]
        with np.errstate(invalid="ignore"):
            share = np.append(0.0, importance / later)
            rest = np.append(0.0, np.append(later[1:], 0.0) / later)
        # Always a float: numba would compile the loops again for an integer.
        return cls(share, rest, float(mean) if len(importance) else 0.0)

    @classmethod
    def by_law(cls, law: Termination, max_length: int) -> Budget:
        """``n_walks · τ(k)`` edges for step ``k``: the steps of independent walkers of this law."""
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
        """Shares for a modulation of `n_lengths` values that is still to be learned.

        They are ``0.01^(k / n_lengths) / k``: every octave of lengths gets about the same budget,
        except for the last ones. Walks do not depend on the initial modulation, and every length
        that may become important has steps (`docs/torch.md` has figures).
        """
        k = np.arange(1, n_lengths)
        return cls.by_importance(power(_LAST_SHARE, k / n_lengths) / k, law.mean)

    @property
    def max_length(self) -> int:
        """Number of steps of a pool that survives to the end."""
        return len(self.share) - 1

    @property
    def survival(self) -> FloatArray:
        """Expected edges of each step, per walk; one at index 0."""
        left = np.cumprod(np.append(1.0, self.rest[1:-1]))
        return np.append(1.0, self.mean * self.share[1:] * left)

    def divided(self, amounts: FloatArray, n_walks: int) -> FloatArray:
        """Deposits of a mass: the amounts themselves, since masses need no division."""
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
    """The smallest length that draws with the same leading bits can have, for all such bits."""
    cells = 1 << GUIDE_BITS
    tops = np.arange(1, cells, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
    reached = len(high) - np.searchsorted(high[::-1], tops, side="left")
    return np.append(reached, 0).astype(np.int32)
