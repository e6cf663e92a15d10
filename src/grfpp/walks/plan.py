"""What a factor's walks will do, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ldexp

import numpy as np
import numpy.typing as npt

from grfpp.graph import Graph
from grfpp.termination import Termination
from grfpp.walks.streams import factor_key

FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]

#: Bits of the uniform number that decides a length: survival below ``2^-128`` never happens.
LENGTH_BITS = 128
#: Cells of the guide table: a power of two, so that a cell is named by leading bits.
GUIDE_BITS = 10
#: No table is longer; at this length `p_halt` is below 1e-5.
MAX_TABLE = 1 << 23


@dataclass(frozen=True, eq=False)
class LengthTable:
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


def resolvable_length(law: Termination, at_most: int = MAX_TABLE) -> int:
    """Longest walk of this law that 128 random bits can bring about, `at_most` as it is."""
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
    """For every value of the leading bits, the length that all such draws reach at least."""
    cells = 1 << GUIDE_BITS
    tops = np.arange(1, cells, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
    reached = len(high) - np.searchsorted(high[::-1], tops, side="left")
    return np.append(reached, 0).astype(np.int32)


@dataclass(frozen=True, eq=False)
class LoadRule:
    """How a walker's load ``Π W[i, j] · degree(i)`` grows along its way.

    Where ``W[i, j] · degree(i) = rate · x[i] / x[j]`` on every edge, the product telescopes to
    ``rate^k · x[start] / x[now]`` and nothing has to be fetched or carried on the way. That is so
    for equal weights under the symmetric (``x = √degree``) and the random-walk normalisation
    (``x = 1``). Elsewhere `per_edge` holds the factor of each edge.
    """

    rate: float
    potential: FloatArray
    per_edge: FloatArray

    @classmethod
    def of(cls, graph: Graph) -> LoadRule:
        """Find the rule for uniform steps on `graph`."""
        degree = graph.out_degree.astype(np.float64)
        nothing = np.empty(0)
        for exponent in (0.5, 0.0):
            potential = degree**exponent
            rate = _telescoping_rate(graph, potential)
            if rate is not None:
                # Only nodes without an edge have x = 0, and no deposit divides by theirs.
                return cls(rate, np.where(degree > 0, potential, 1.0), nothing)
        return cls(1.0, nothing, graph.weights * np.repeat(degree, graph.out_degree))


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
    rule
        How loads grow; found from the graph by `WalkPlan.of`.
    """

    graph: Graph
    modulation: FloatArray
    lengths: LengthTable
    n_walks: int
    seed: int
    factor: int
    rule: LoadRule

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
        return cls(graph, modulation, lengths, n_walks, seed, factor, LoadRule.of(graph))

    def with_factor(self, factor: int) -> WalkPlan:
        """The same walks' law with other random streams."""
        return replace(self, factor=factor)

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
