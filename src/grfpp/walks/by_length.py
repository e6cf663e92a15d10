"""Factors by walk length: one set of walks for every modulation.

A factor is linear in its modulation, ``Φ(f) = Σ_k f(k) Φ_k``. All ``Φ_k`` are sampled at once, with
the random streams of the factors: for every ``f``, ``Φ(f)`` is the factor that `sample` would give.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import int64, uint64

from grfpp._compiled import compiled
from grfpp._memory import require_bytes
from grfpp._parallel import in_order, thread_count
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.linalg.csr import csr
from grfpp.normalization import Normalization
from grfpp.options import WalkOptions
from grfpp.termination import Matched
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import BatchPlans, GraphBatch, stream_key
from grfpp.walks.hash_table import clear, probe
from grfpp.walks.plan import Budget, WalkPlan, resolvable_length
from grfpp.walks.pool import inverse_potential, series_pool
from grfpp.walks.pool_arrays import FREE, NO_OUTPUT, NO_ROOM, WorkBuffers, hash_table
from grfpp.walks.sampling import pool_room, pool_series, require_finite
from grfpp.walks.steps import (
    choose_slot,
    degree_of,
    draw_length,
    next_draw,
    node_stream,
    walk_stream,
)
from grfpp.walks.transition import DEGREE_BITS

#: Largest number of lengths: they are stored in two bytes.
MAX_LENGTHS = np.iinfo(np.int16).max
#: Steps of one task of a thread: enough to hide the overhead of Python calls.
_TASK_STEPS = 100_000
#: Largest number of pilot rows in a forecast of memory, whose margin is then an eighth.
_PILOT_ROWS = 64
#: Largest number of steps of all pilot rows: a fraction of a second.
_PILOT_STEPS = 2e6
#: Bytes of an entry: column, end of its deposits.
_ENTRY_BYTES = 12
#: Bytes of a deposit: length, amount.
_DEPOSIT_BYTES = 10
#: Bytes of a deposit in the matrices of `BatchLengths` and in the parts that are joined to them.
_BATCH_DEPOSIT_BYTES = 48
#: Low bits of a key of the hash table that hold the number of the entry: half of a word.
_NUMBER_BITS = 32


def plan_by_length(graph: Graph, n_lengths: int, options: WalkOptions) -> WalkPlan:
    """Plan walks for any modulation with `n_lengths` values; they may end earlier, by their law."""
    law, ones = options.termination, np.ones(n_lengths)
    if options.walks == "independent":
        return WalkPlan.of(graph, ones, law, options.n_walks, options.seed)
    if isinstance(law, Matched):
        budget = Budget.for_learning(law, n_lengths)
    else:
        budget = Budget.by_law(law, resolvable_length(law, n_lengths - 1))
    return WalkPlan.of(graph, ones, budget, options.n_walks, options.seed, step=options.step)


@dataclass(frozen=True, eq=False)
class LengthDeposits:
    """The matrices ``Φ_k`` on one common pattern."""

    #: The pattern of ``Φ(f)`` in CSR form, with columns in the order of their first visit.
    indptr: IntArray
    columns: npt.NDArray[np.int32]
    #: End of the deposits of each entry; those of entry ``e`` begin at ``ends[e - 1]``.
    ends: IntArray
    #: Length ``k`` of every deposit; amount: mean over walks of ``load / τ(k)``, or a pool's mass.
    lengths: npt.NDArray[np.int16]
    amounts: FloatArray
    #: The lengths are ``0 … n_lengths - 1``.
    n_lengths: int

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return len(self.indptr) - 1

    def factor(self, modulation: npt.ArrayLike) -> sp.csr_array:
        """``Φ(f)`` for one modulation ``f(0) … f(n_lengths - 1)``."""
        f = np.asarray(modulation, dtype=np.float64)
        if f.shape != (self.n_lengths,):
            problem = f"must hold {self.n_lengths} numbers, found the shape {f.shape}"
            raise InputError(problem, argument="modulation")
        begins = np.concatenate([[0], self.ends[:-1]])
        values = np.add.reduceat(f[self.lengths] * self.amounts, begins)
        return csr(values, self.columns, self.indptr, self.n_nodes)


def sample_by_length(plan: WalkPlan, *, n_jobs: int = -1) -> LengthDeposits:
    """Walk from every node, on `n_jobs` threads, with separate deposits for every length.

    Only the number of values of the plan's modulation matters. The result is the same to the last
    bit for any number of threads.
    """
    n, n_lengths = plan.graph.n_nodes, plan.lengths.max_length + 1
    require_deposits(plan, 1)
    size = max(1, int(_TASK_STEPS / (plan.expected_steps + 1)))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]
    local = threading.local()

    def work(task: range) -> LengthRows:
        if not hasattr(local, "walker"):
            local.walker = LengthWalker(plan)
        rows: LengthRows = local.walker.walk(task)
        return rows

    parts = list(in_order(work, tasks, min(thread_count(n_jobs), len(tasks))))
    return LengthDeposits(
        indptr=_joined_ends([part.row_end for part in parts], leading_zero=True),
        columns=np.concatenate([part.columns for part in parts]),
        ends=_joined_ends([part.entry_end for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
        amounts=np.concatenate([part.amounts for part in parts]),
        n_lengths=n_lengths,
    )


def require_deposits(plan: WalkPlan, n_factors: int) -> None:
    """Refuse deposits of `n_factors` factors, sampled one after another, that exceed the memory."""
    n, n_lengths = plan.graph.n_nodes, plan.lengths.max_length + 1
    if n_lengths > MAX_LENGTHS:
        raise InputError(f"at most {MAX_LENGTHS} lengths are kept apart, found {n_lengths}")
    largest = n * (1 + int(plan.expected_steps)) * (_ENTRY_BYTES + _DEPOSIT_BYTES)
    walker, sampled = LengthWalker(plan), 0
    n_pilots = min(n, max(4, int(min(_PILOT_ROWS, _PILOT_STEPS / (plan.expected_steps + 1)))))
    pilots = np.linspace(0, n - 1, n_pilots).astype(np.int64).tolist()
    for row in pilots:
        part = walker.walk(range(row, row + 1))
        sampled += _ENTRY_BYTES * len(part.columns) + _DEPOSIT_BYTES * len(part.amounts)
    forecast = min(largest, int((1 + len(pilots) ** -0.5) * sampled * n / len(pilots)))
    require_bytes(
        # The parts of the last factor and the arrays that they are joined to exist together.
        (n_factors + 1) * forecast,
        f"deposits by length of {n} nodes with {plan.n_walks} walks each, for {n_factors} factors,",
        advice="use fewer walks (n_walks)",
    )


def _joined_ends(parts: list[IntArray], leading_zero: bool = False) -> IntArray:
    """Ends of consecutive parts, shifted from the start of each part to the start of the first."""
    offsets = np.cumsum([0, *(int(part[-1]) for part in parts)])
    shifted = [part + offset for part, offset in zip(parts, offsets, strict=False)]
    return np.concatenate([np.zeros(int(leading_zero), np.int64), *shifted])


class LengthRows(NamedTuple):
    """Deposits of consecutive rows."""

    #: End of every row, in entries.
    row_end: IntArray
    #: Column of every entry.
    columns: npt.NDArray[np.int32]
    #: End of the deposits of every entry.
    entry_end: IntArray
    #: Length and amount of every deposit.
    lengths: npt.NDArray[np.int16]
    amounts: FloatArray


class LengthBuffers(NamedTuple):
    """Work buffers for one row of independent walks by length."""

    n_walks: int
    #: Hash table from a node to the number of its entry.
    cells: Any
    #: Shift that hashes to a cell.
    shift: Any
    #: Node word and table cell of every entry.
    entry_word: IntArray
    entry_cell: IntArray
    #: Sum of the deposits of every entry at every length.
    sums: FloatArray


class LengthWalker:
    """A plan's arrays and the work buffers of one thread."""

    def __init__(self, plan: WalkPlan, capacity: int = int(1.2 * _TASK_STEPS)) -> None:
        self._plan, self._capacity = plan, capacity
        if plan.is_pooled:
            self._series = pool_series(plan, np.ones(plan.lengths.max_length + 1))
            self._pools, self._room = WorkBuffers(), pool_room(plan)
            return
        n_lengths, n_walks = plan.lengths.max_length + 1, plan.n_walks
        max_entries = min(n_walks * plan.lengths.max_length + 1, plan.graph.n_nodes)
        size = 1 << max(4, (2 * max_entries).bit_length())
        n_bytes = 8 * max_entries * (n_lengths + 2) + 16 * size
        require_bytes(n_bytes, f"one row of {n_walks} walks, by length")
        entries = (np.empty(max_entries, np.int64), np.empty(max_entries, np.int64))
        sums = np.empty((max_entries, n_lengths))
        self._buffers = LengthBuffers(n_walks, *hash_table(size), *entries, sums)

    def walk(self, rows: range, key: int | None = None) -> LengthRows:
        """Walk from consecutive rows, with random streams of `key` or of the plan's key."""
        plan = self._plan
        start = (np.uint64(plan.key if key is None else key), rows.start)
        row_end = np.empty(len(rows), np.int64)
        while True:
            types = (np.int32, np.int64, np.int16, np.float64)
            arrays = [np.empty(self._capacity, dtype) for dtype in types]
            out = LengthRows._make([row_end, *arrays])
            if plan.is_pooled:
                buffers = self._pools.of(self._room, plan.lengths.max_length + 1)
                n_entries, n_deposits = _pool_rows(
                    plan.layout, self._series, plan.scales, *start, buffers, out
                )
            else:
                law = (plan.layout.arrays, plan.lengths, plan.scales)
                n_entries, n_deposits = _walk_rows(*law, *start, self._buffers, out)
            if n_entries == NO_ROOM:
                self._room *= 2
            elif n_entries == NO_OUTPUT:
                self._capacity *= 2
            else:
                break
        sizes = (n_entries, n_entries, n_deposits, n_deposits)
        parts = (array[:size].copy() for array, size in zip(arrays, sizes, strict=True))
        rows_by_length = LengthRows._make([row_end, *parts])
        require_finite(rows_by_length.amounts)
        return rows_by_length


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def _pool_rows(
    graph: Any, series: Any, scales: Any, key: Any, first_row: Any, buffers: Any, out: Any
) -> Any:
    """Write the pools of consecutive rows to `out`, a `LengthRows`.

    Returns the number of entries and the number of deposits, or `NO_ROOM` or `NO_OUTPUT` twice.
    """
    row_end, columns, entry_end, lengths, amounts = out
    trace, trace_end, reached = buffers.trace, buffers.trace_end, buffers.reached
    n_entries = int64(0)
    n_deposits = int64(0)
    for r in range(len(row_end)):
        row = first_row + r
        n_used = series_pool(graph, series, key, row, buffers)
        if n_used < 0:
            return int64(NO_ROOM), int64(NO_ROOM)
        n_traced = trace_end[len(trace_end) - 1]
        if n_entries + n_used > len(columns) or n_deposits + n_traced > len(amounts):
            clear(buffers.cells, reached, n_used)
            return int64(NO_OUTPUT), int64(NO_OUTPUT)
        # A counting sort by entry; within an entry the trace is ordered by length. The counts are
        # stored in `first`, which is not needed any more.
        for number in range(n_used):
            reached[uint64(number)].first = 0
        for a in range(n_traced):
            reached[uint64(trace[uint64(a)].number)].first += 1
        for number in range(n_used):
            columns[uint64(n_entries)] = reached[uint64(number)].node
            begin = n_deposits
            n_deposits += reached[uint64(number)].first
            reached[uint64(number)].first = begin
            entry_end[uint64(n_entries)] = n_deposits
            n_entries += 1
        scale = 1.0 / inverse_potential(graph, row, int64(reached[0].degree))
        k = int64(0)
        for a in range(n_traced):
            while trace_end[uint64(k)] <= a:
                k += 1
            node = reached[uint64(trace[uint64(a)].number)]
            inverse = inverse_potential(graph, node.node, int64(node.degree))
            at = uint64(node.first)
            node.first += 1
            lengths[at] = k
            amounts[at] = trace[uint64(a)].mass * scales[uint64(k)] * scale * inverse
        clear(buffers.cells, reached, n_used)
        row_end[r] = n_entries
    return n_entries, n_deposits


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def _walk_rows(
    graph: Any, law: Any, scale: Any, key: Any, first_row: Any, buffers: Any, out: Any
) -> Any:
    """Write independent walks from consecutive rows to `out`, a `LengthRows`.

    Returns the number of entries and the number of deposits, or `NO_OUTPUT` twice.
    """
    row_end, columns, entry_end, lengths, amounts = out
    words, slots, factors, nodes, potential, inverse_potentials = graph
    n_walks, cells, shift, entry_word, entry_cell, sums = buffers
    weighted = len(factors) > 0
    n_out = int64(0)
    n_deposits = int64(0)
    for r in range(len(row_end)):
        row = first_row + r
        node_key = node_stream(key, row)
        n_entries = int64(0)
        for walk in range(-1, n_walks):
            # Iteration -1 enters the start node into the table.
            state = walk_stream(node_key, max(walk, 0))
            length = int64(0)
            if walk >= 0 and degree_of(words[row]):
                length = draw_length(state, law)
            word = words[row]
            load = 1.0
            for k in range(0 if walk < 0 else 1, length + 1):
                if k > 0:
                    if degree_of(word) == 0:
                        break
                    state = next_draw(state)
                    slot = choose_slot(word, state)
                    if weighted:
                        word = slots[2 * slot]
                        load *= factors[2 * slot + 1]
                    else:
                        word = slots[slot]
                node = int64(nodes[word >> DEGREE_BITS])
                at = probe(cells, shift, node, _NUMBER_BITS)
                if cells[at].key == FREE:
                    cells[at].key = (node << _NUMBER_BITS) | n_entries
                    entry_word[n_entries] = word
                    entry_cell[n_entries] = at
                    sums[n_entries, :] = 0.0
                    n_entries += 1
                entry = cells[at].key & ((1 << _NUMBER_BITS) - 1)
                sums[entry, k] += scale[k] * load * (n_walks if k == 0 else 1)
        for entry in range(n_entries):
            cells[uint64(entry_cell[entry])].key = FREE
        if n_out + n_entries > len(columns):
            return int64(NO_OUTPUT), int64(NO_OUTPUT)
        for entry in range(n_entries):
            word = entry_word[entry]
            columns[n_out] = nodes[word >> DEGREE_BITS]
            share = 1.0
            if not weighted:
                share = potential[row] * inverse_potentials[degree_of(word)]
            for k in range(sums.shape[1]):
                if sums[entry, k] != 0.0:
                    if n_deposits == len(amounts):
                        return int64(NO_OUTPUT), int64(NO_OUTPUT)
                    lengths[n_deposits] = k
                    amounts[n_deposits] = sums[entry, k] * share
                    n_deposits += 1
            entry_end[n_out] = n_deposits
            n_out += 1
        row_end[r] = n_out
    return n_out, n_deposits


def with_exact_head(
    deposits: LengthDeposits, graph: Graph, n_exact: int, *, n_jobs: int = -1
) -> LengthDeposits:
    """Replace the first `n_exact` lengths by exact powers of ``W``.

    ``h(W) = Σ_{k<q} f(k) W^k + W^q G`` with ``G = Σ_k f(k + q) W^k``: only ``G`` is random. The
    mean is the same, and the later lengths of a row average the walks from all nodes at ``q``
    steps. The length ``k`` of a deposit becomes ``k + n_exact``.
    """
    from grfpp.linalg.csr import sparse_product

    if n_exact == 0:
        return deposits
    n, n_lengths = deposits.n_nodes, deposits.n_lengths + n_exact
    if n * n_lengths > np.iinfo(np.int32).max:
        problem = f"{n} nodes and {n_lengths} lengths are too many for an exact head"
        raise InputError(problem, advice="use n_exact=0")
    W = graph.adjacency
    powers = [sp.csr_array(sp.eye_array(n, format="csr"))]
    for _ in range(n_exact):
        powers.append(sparse_product(powers[-1], W, n_jobs))
    last = powers[n_exact]
    indptr = np.concatenate([[0], deposits.ends])[deposits.indptr]
    n_bytes = int(36 * np.diff(indptr)[last.indices].sum())
    require_bytes(n_bytes, f"an exact head of {n_exact} lengths for {n} nodes")
    # One matrix with a column for every node and length.
    shape = (n, n * n_lengths)
    columns = np.repeat(deposits.columns, np.diff(deposits.ends, prepend=0)) * n_lengths
    columns = (columns + deposits.lengths + n_exact).astype(np.int32)
    sampled = sp.csr_array((deposits.amounts, columns, indptr.astype(np.int32)), shape=shape)
    total = sparse_product(last, sampled, n_jobs)
    head = sp.csr_array(shape)
    for k, power in enumerate(powers[:n_exact]):
        columns = (power.indices * n_lengths + k).astype(np.int32)
        head = head + sp.csr_array((power.data, columns, power.indptr), shape=shape)
    return _deposits(sp.csr_array(total + head), n_lengths)


def _deposits(matrix: sp.csr_array, n_lengths: int) -> LengthDeposits:
    """Deposits from a matrix with a column for every node and length."""
    matrix.sum_duplicates()  # sorts the columns too: by node, then by length
    columns: npt.NDArray[np.int32] = (matrix.indices // n_lengths).astype(np.int32)
    is_first = np.ones(len(columns), bool)
    is_first[1:] = columns[1:] != columns[:-1]
    is_first[matrix.indptr[:-1][np.diff(matrix.indptr) > 0]] = True
    before = np.concatenate([[0], np.cumsum(is_first)])
    ends = np.append(np.flatnonzero(is_first)[1:], len(columns))
    return LengthDeposits(
        indptr=before[matrix.indptr].astype(np.int64),
        columns=columns[is_first],
        ends=ends.astype(np.int64),
        lengths=(matrix.indices % n_lengths).astype(np.int16),
        amounts=matrix.data,
        n_lengths=n_lengths,
    )


@dataclass(frozen=True, eq=False)
class BatchLengths:
    """Estimates of ``W^1 … W^n_lengths`` of all graphs of a batch, one matrix for every length.

    ``W^k`` is linear in the walks, so these matrices are unbiased without stitching. Walks on a
    graph are a function of the seed and the graph, as in `grfpp.walks.batch.BatchWalks`.

    Examples
    --------
    >>> batch = GraphBatch.of([[[0, 1], [1, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]])
    >>> walks = BatchLengths.of(batch, 2, WalkOptions(seed=0))
    >>> [power.toarray().tolist() for power in walks.powers(range(1))]
    [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]
    """

    batch: GraphBatch
    plans: BatchPlans

    @classmethod
    def of(
        cls,
        batch: GraphBatch,
        n_lengths: int,
        options: WalkOptions,
        normalization: Normalization = "sym",
    ) -> BatchLengths:
        """Plan walks of up to `n_lengths` steps on normalised weights.

        Raises
        ------
        InputError
            When walks of the law of lengths are shorter.
        """
        plan = plan_by_length(batch.graph.normalized(normalization), n_lengths + 1, options)
        longest = plan.lengths.max_length
        if longest < n_lengths:
            raise InputError(
                f"is {n_lengths}, but walks of {options.termination} have at most {longest} steps",
                argument="n_lengths",
                advice=f"use longer walks or n_lengths={longest}",
            )
        batch.words  # noqa: B018 - computed here once, not by several threads
        return cls(batch, BatchPlans.of(batch, plan, normalization, 1.0))

    def powers(self, graphs: range) -> list[sp.csr_array]:
        """Estimates of ``W^1 … W^n_lengths`` of some consecutive graphs, block-diagonal."""
        plan = self.plans.equal
        starts = self.batch.starts[graphs.start : graphs.stop + 1]
        first, n_rows = int(starts[0]), int(starts[-1] - starts[0])
        n_deposits = n_rows * (1 + int(plan.expected_steps))
        require_bytes(_BATCH_DEPOSIT_BYTES * n_deposits, f"walks by length of {n_rows} nodes")
        walkers = [LengthWalker(branch) for branch in self.plans[:2]]
        parts = []
        for graph, (start, stop) in zip(graphs, pairwise(starts.tolist()), strict=True):
            key = stream_key(plan.key, self.batch.words[graph], start)
            walker = walkers[0 if self.plans.telescopes[graph] else 1]
            part = walker.walk(range(start, stop), key)
            per_entry = np.diff(part.entry_end, prepend=0)
            rows = np.repeat(np.arange(start, stop), np.diff(part.row_end, prepend=0))
            entries = (np.repeat(rows, per_entry), np.repeat(part.columns, per_entry))
            parts.append((*entries, part.lengths, part.amounts))
        rows, columns, lengths, amounts = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        shape = (n_rows, n_rows)
        matrices = []
        for k in range(1, plan.lengths.max_length + 1):
            chosen = lengths == k
            entries = (rows[chosen] - first, columns[chosen] - first)
            matrices.append(sp.csr_array((amounts[chosen], entries), shape=shape))
        return matrices
