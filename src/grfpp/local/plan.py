"""`LocalPlan`: everything that determines local queries, as an immutable value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.csr import readonly
from grfpp.options import DEFAULT_STEP, StepOptions
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.plan import NEGLIGIBLE_TAIL, Budget
from grfpp.walks.pool_arrays import (
    PLAIN,
    RW,
    RW_REVERSED,
    SYM,
    PoolLayout,
    PoolResidual,
    PoolSeries,
)
from grfpp.walks.streams import factor_key

#: Largest initial room of the buffers, in nodes: they fit into a core's cache, and grow.
_MAX_FIRST_ROOM = 1 << 12
#: Largest file of neighbours, in bytes, that entries and blocks read through a memory map. Pools
#: touch almost every page, which then counts as memory of this process; larger files are read by
#: `pread`, in 2.6 times the time.
_MAX_MAPPED_BYTES = 1 << 27
#: Longest table of coefficients; pools do not take more steps.
_MAX_TABLE = 1 << 16
#: Relative difference, for rounding, up to which the ratios of a series are taken as equal.
_RATIO_TOLERANCE = 1e-12
#: Rounds of a residual pool in units of ``1 / (1 − γ)``; ``γ^rounds`` is then far below rounding.
_ROUNDS = 256
#: Budgets of the pools that are averaged for a certain answer, in units of a query's: a second one
#: to know the error, and growth to 16.5 times in all.
_STAGES = (1.0, 0.5, 1.0, 2.0, 4.0, 8.0)
#: Edges along which candidates are recomputed, relative to the budget: those of hubs are many, and
#: are read in order, several times as fast as pools follow edges.
_PULL_SHARE = 4.0
_NOTHING = readonly(np.empty(0))
_ONE_TABLE = readonly(np.empty((1, 0)))
#: The kinds of `grfpp.normalization.ScaledWeights`.
_KINDS: dict[str | None, int] = {None: PLAIN, "rw": RW, "sym": SYM, "rw_reversed": RW_REVERSED}


class LocalWeights(NamedTuple):
    """``W[i, j] = value · a[i, j] · …``, see `grfpp.normalization.ScaledWeights`."""

    kind: int
    value: float
    #: ``a`` of every edge, empty where it is 1; strengths of nodes, empty where they are degrees.
    base: FloatArray
    out: FloatArray
    into: FloatArray
    #: Whether every edge has a reverse edge with the same ``a``.
    is_reversible: bool

    @classmethod
    def of(cls, graph: Graph) -> LocalWeights:
        """The weights of a graph; nothing is computed from its edges."""
        scaled = graph.walked.scaled
        arrays = (scaled.base, scaled.out_strength, scaled.in_strength)
        kind = _KINDS[scaled.kind]
        base, out, into = (_NOTHING if array is None else readonly(array) for array in arrays)
        is_reversible = scaled.in_strength is None
        if kind == PLAIN:
            out = into = _NOTHING
            is_reversible = not graph.is_directed
        elif kind == RW:
            into = _NOTHING
        return cls(kind, float(scaled.value), base, out, into, is_reversible)

    @property
    def keeps_mass(self) -> bool:
        """Whether masses are counted in the measure of the walk, where a step keeps their sum."""
        return self.kind == RW or (self.kind != PLAIN and not len(self.into))

    def ratio_to_transpose(self, graph: Graph, rows: IntArray, columns: IntArray) -> FloatArray:
        """``K[rows, columns] / K[columns, rows]ᵀ`` where the weights are reversible.

        It is 1 for symmetric weights, and a ratio of strengths for others.
        """
        if self.kind in (PLAIN, SYM):
            return np.ones((1, 1))
        by_row, by_column = (self._strength(graph, nodes) for nodes in (rows, columns))
        ratio = by_column[np.newaxis] / by_row[:, np.newaxis]
        return np.asarray(ratio if self.kind == RW else 1.0 / ratio)

    def inverse_potential(self, graph: Graph, nodes: IntArray) -> FloatArray:
        """The inverse of the measure of masses at nodes, as `grfpp.walks.pool` has it."""
        if self.kind in (PLAIN, RW):
            return np.ones(np.shape(nodes))
        arriving = self._replace(out=self.into) if len(self.into) else self
        strength = arriving._strength(graph, nodes)
        return 1.0 / (np.sqrt(strength) if self.kind == SYM else strength)

    def _strength(self, graph: Graph, nodes: IntArray) -> FloatArray:
        if len(self.out):
            strength = self.out[nodes]
        else:
            strength = graph.walked.degrees(nodes).astype(np.float64)
        return np.where(strength > 0, strength, 1.0)


class Series(NamedTuple):
    """``scale · Σ_k deposits[k] x_k`` with pools ``x_k``, or ``scale · Σ_k ratio^k x_k``."""

    #: Power of two by which masses are divided at each step, to stay in the range of float64.
    unit: float
    #: A factor of the series.
    scale: float
    #: ``α_k`` times the power of `unit` that masses were divided by, followed by a zero.
    deposits: FloatArray
    #: The split of a budget over the steps.
    steps: Budget
    #: The same for two sides with half of the steps each.
    half_steps: Budget
    #: ``γ`` of a geometric series, for which one pool serves all steps; else 0.
    ratio: float
    #: Mean number of steps, weighted by the bounds ``|α_k| ρ^k``.
    mean_steps: float

    @classmethod
    def of(cls, graph: Graph, kernel: Kernel) -> Series:
        """The series of a kernel on a graph; refused where it diverges."""
        weights = LocalWeights.of(graph)
        radius = _radius(graph, kernel, weights)
        unit = _unit(radius, weights)
        deposits, tail = _deposits(kernel, radius, weights.value * unit)
        n = len(tail)
        # Twice the terms that are summed: a series that ends later is not geometric.
        ratio = _ratio(kernel.coefficients(2 * n, scale=radius)) if weights.keeps_mass else 0.0
        return cls(
            unit=unit,
            scale=float(deposits[0]) if ratio else 1.0,
            deposits=deposits,
            steps=Budget.by_importance(tail[1:], 1.0),
            half_steps=Budget.by_importance(tail[1::2], 1.0),
            ratio=ratio,
            mean_steps=float(tail[1:].sum() / tail[0]),
        )

    @classmethod
    def of_several(cls, graph: Graph, kernels: Sequence[Kernel]) -> tuple[Series, FloatArray]:
        """A series for the pool of several kernels, and the deposits of each.

        The budget is split by the sum of the kernels' tails, each relative to its whole. The
        deposits of the series are the largest of the kernels.
        """
        weights = LocalWeights.of(graph)
        radius = min(_radius(graph, kernel, weights) for kernel in kernels)
        unit = _unit(radius, weights)
        parts = [_deposits(kernel, radius, weights.value * unit) for kernel in kernels]
        n = max(len(tail) for _, tail in parts)
        tables = np.array([np.pad(table, (0, n + 1 - len(table))) for table, _ in parts])
        tail = sum((np.pad(tail / tail[0], (0, n - len(tail))) for _, tail in parts), np.zeros(n))
        series = cls(
            unit=unit,
            scale=1.0,
            deposits=np.abs(tables).max(axis=0),
            steps=Budget.by_importance(tail[1:], 1.0),
            half_steps=Budget.by_importance(tail[1::2], 1.0),
            ratio=0.0,
            mean_steps=max(float(tail[1:].sum() / tail[0]) for _, tail in parts),
        )
        return series, readonly(tables)


def _unit(radius: float, weights: LocalWeights) -> float:
    """The power of two by which masses are divided at each step."""
    is_plain = weights.kind == PLAIN
    return float(2.0 ** np.round(np.log2(radius / weights.value))) if is_plain else 1.0


def _deposits(kernel: Kernel, radius: float, rate: float) -> tuple[FloatArray, FloatArray]:
    """``α_k rate^k``, followed by a zero, and the sums ``Σ_{j ≥ k} |α_j| radius^j``."""
    terms = _terms(kernel, radius)
    tail = np.cumsum(np.abs(terms)[::-1])[::-1]
    n = int(np.flatnonzero(tail > NEGLIGIBLE_TAIL * tail[0])[-1]) + 1
    # Masses are counted in units of the rate; the coefficients were those for the radius.
    deposits = terms[:n] if rate == radius else kernel.coefficients(n, scale=rate)
    return np.append(deposits, 0.0), tail[:n]


def _radius(graph: Graph, kernel: Kernel, weights: LocalWeights) -> float:
    """The growth of powers of ``W``, from the normalisation where that determines it."""
    bound = weights.value if weights.kind != PLAIN else math.inf
    if bound < kernel.radius * (1 - 1e-7):
        return bound
    radius = graph.spectral_radius()
    kernel.check_radius(radius)
    # Zero without cycles: any other radius at which the series converges.
    return radius or min(1.0, 0.5 * kernel.radius)


def _terms(kernel: Kernel, radius: float) -> FloatArray:
    """``α_k radius^k`` up to negligible terms."""
    n = 64
    while True:
        terms = np.abs(kernel.coefficients(n, scale=radius))
        total, late = float(terms.sum()), float(terms[n // 2 :].sum())
        is_whole = late <= 0.01 * NEGLIGIBLE_TAIL * total and n // 2 > min(kernel.longest_gap, 256)
        if not math.isfinite(total) or total == 0.0:
            raise InputError(f"{kernel!r}: its series leaves the range of float64 on this graph")
        if is_whole:
            return kernel.coefficients(n, scale=radius)
        if n >= _MAX_TABLE:
            raise InputError(
                f"{kernel!r} takes more than {n} terms of its series on this graph (spectral "
                f"radius {radius:.6g}), too many for walks",
                advice="use grfpp.kernel_operator(W, kernel)",
            )
        n *= 2


def _ratio(terms: FloatArray) -> float:
    """The ratio of a geometric series of positive ratio, else 0."""
    if len(terms) < 3 or not terms[0]:
        return 0.0
    ratio = float(terms[1] / terms[0])
    if not 0.0 < ratio < 1.0:
        return 0.0
    expected = terms[0] * ratio ** np.arange(len(terms))
    is_geometric = np.all(np.abs(terms - expected) <= _RATIO_TOLERANCE * np.abs(expected))
    return ratio if is_geometric else 0.0


@dataclass(frozen=True, eq=False)
class LocalPlan:
    """All inputs of local queries, independent of threads, processes and machines.

    Picklable; `local_rows` and `local_top_k` are pure functions of it.
    """

    #: The graph that is walked.
    graph: Graph
    #: The power series of the kernel.
    series: Series
    #: Number of edges that a row may follow.
    budget: float
    #: Seed of the random streams, with the replicate, the node and the step.
    seed: int
    #: Index of one of several independent estimates.
    replicate: int = 0
    #: Whether random streams are those of the right side of a product.
    is_right: bool = False
    #: What the compiled step of a pool reads of the options.
    step: StepOptions = DEFAULT_STEP
    #: Deposits of several kernels that share a pool, one in each row; without columns for the
    #: series itself.
    tables: FloatArray = field(default_factory=lambda: _ONE_TABLE)

    @classmethod
    def of(cls, graph: Graph, kernel: Kernel, budget: float, seed: int) -> LocalPlan:
        """Plan rows of a kernel; refuse series that diverge."""
        return cls(graph, Series.of(graph, kernel), budget, seed)

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: self.__dict__[own.name] for own in fields(self)}

    def with_replicate(self, replicate: int) -> LocalPlan:
        """The same plan with independent random streams."""
        return self._with_cache(replace(self, replicate=replicate))

    @cached_property
    def right(self) -> LocalPlan:
        """The plan of the right side of products, independent of this one."""
        return self._with_cache(replace(self, is_right=True))

    @cached_property
    def stages(self) -> tuple[LocalPlan, ...]:
        """Independent plans for answers that grow until they are certain, this one first."""
        budgets = [self.budget * growth for growth in _STAGES[1:]]
        later = [self.with_budget(budget).with_replicate(r) for r, budget in enumerate(budgets, 1)]
        return (self, *later)

    def with_budget(self, budget: float) -> LocalPlan:
        """The same plan with another budget."""
        return self._with_cache(replace(self, budget=budget))

    def with_kernels(self, kernels: Sequence[Kernel]) -> LocalPlan:
        """The plan of several kernels whose rows are sums over the same pool."""
        series, tables = Series.of_several(self.graph, kernels)
        plan = self._with_cache(replace(self, series=series, tables=tables))
        if series.unit != self.series.unit:
            for name in ("layout", "read_layout"):
                plan.__dict__.pop(name, None)
        return plan

    @property
    def n_traced(self) -> int:
        """Number of steps whose masses several kernels need; 0 for one kernel."""
        return len(self.series.steps.share) if self.tables.shape[1] else 0

    def _with_cache(self, plan: LocalPlan) -> LocalPlan:
        """Copy the cached arrays to another plan of the same graph."""
        shared = ("weights", "layout", "read_layout", "_room")
        plan.__dict__.update({key: value for key, value in vars(self).items() if key in shared})
        return plan

    @property
    def room(self) -> int:
        """Number of nodes that buffers have room for, a power of two; it grows with demand."""
        if "_room" not in self.__dict__:
            expected = min(self.budget + 64, self.graph.n_nodes + 64, _MAX_FIRST_ROOM)
            self.__dict__["_room"] = 1 << int(expected).bit_length()
        return int(self.__dict__["_room"])

    def enlarge_room(self) -> None:
        """Double the room, for a row that needs more."""
        self.__dict__["_room"] = 2 * self.room

    @property
    def pull_edges(self) -> float:
        """Number of edges along which candidates may be recomputed."""
        return _PULL_SHARE * self.budget if self.weights.is_reversible else 0.0

    def list_length(self, k: int) -> int:
        """Number of nodes whose errors decide whether the `k` nearest are certain."""
        return 2 * k + 16

    def candidates(self, k: int) -> int:
        """Number of candidates for the `k` nearest nodes."""
        return self.list_length(k) if self.weights.is_reversible else k

    @cached_property
    def weights(self) -> LocalWeights:
        """How the weights are scaled."""
        return LocalWeights.of(self.graph)

    @cached_property
    def key(self) -> Any:
        """The word from which the random streams are derived."""
        return np.uint64(factor_key(self.seed, 2 * self.replicate + self.is_right))

    @cached_property
    def layout(self) -> PoolLayout:
        """The graph as the compiled loops read it."""
        rows = self.graph.walked
        return PoolLayout(
            readonly(rows.indptr),
            readonly(rows.indices),
            self.weights.base,
            more=rows.more,
            out_strength=self.weights.out,
            in_strength=self.weights.into,
            kind=self.weights.kind,
            rate=self.series.unit,
        )

    @cached_property
    def read_layout(self) -> PoolLayout:
        """The same, with neighbours of a large graph on disk read from its file."""
        is_large = self.graph.walked.indices.nbytes > _MAX_MAPPED_BYTES
        file = self.graph.indices_file() if is_large else None
        return self.layout if file is None else self.layout._replace(file=np.array([file, 0]))

    def require_read(self) -> None:
        """Raise `InputError` where neighbours could not be read."""
        if self.read_layout.file is not None and self.read_layout.file[1]:
            raise InputError(
                f"the neighbours of {self.graph!r} cannot be read from its folder any more",
                advice="open it again",
            )

    @cached_property
    def pool_series(self) -> PoolSeries:
        """The deposits and the budget of the pools of rows."""
        return self._pool_series(self.series.steps)

    @cached_property
    def half_series(self) -> PoolSeries:
        """The same for one of two sides with half of the steps each."""
        return self._pool_series(self.series.half_steps)

    def _pool_series(self, steps: Budget) -> PoolSeries:
        shares = (steps.share, steps.rest, float(self.budget))
        return PoolSeries(self.series.deposits, *shares, with_ahead=True, options=self.step or None)

    @cached_property
    def residual(self) -> PoolResidual | None:
        """The series if it is geometric, so that one pool serves all steps."""
        ratio = self.series.ratio
        if not ratio:
            return None
        return PoolResidual(ratio, float(self.budget), int(_ROUNDS / (1.0 - ratio)) + _ROUNDS)
