"""A factor kept apart by walk length: one set of walks for every modulation.

A factor is linear in its modulation, ``Φ(f) = Σ_k f(k) Φ_k``. Here the ``Φ_k`` are walked for, all
at once and with the streams of the engine: whatever ``f`` will be, ``Φ(f)`` is the factor that the
engine samples for it. Independent walks go one after the other, which is simpler and slower than in
lock-step; they are walked once for all that is learned from them. Pools are in
`grfpp.walks.by_length.pools`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import uint64

from grfpp.errors import InputError
from grfpp.linalg.compiled import compiled
from grfpp.linalg.sparse import csr
from grfpp.memory import require_bytes
from grfpp.parallel import in_order, thread_count
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.by_length.pools import PoolLengthWalker
from grfpp.walks.by_length.rows import MOST_LENGTHS, LengthOutput, LengthRows
from grfpp.walks.layout import DEGREE_BITS
from grfpp.walks.plan import WalkPlan
from grfpp.walks.steps import (
    choose_slot,
    degree_of,
    draw_length,
    home,
    next_draw,
    node_stream,
    table_bits,
    walk_stream,
)

#: Steps that one task of a thread walks.
_TASK_STEPS = 100_000
#: Rows that tell how much the others leave, and steps that they take in all.
_PILOT_ROWS, _PILOT_STEPS = 64, 2e6
#: Bytes of an entry (its column, where its deposits end) and of a deposit (its length and amount).
_ENTRY_BYTES, _DEPOSIT_BYTES = 12, 10


@dataclass(frozen=True, eq=False)
class LengthDeposits:
    """The matrices ``Φ_k`` on one common pattern."""

    #: The pattern of ``Φ(f)`` in CSR form; columns stand in the order of their first visit.
    indptr: IntArray
    columns: npt.NDArray[np.int32]
    #: Where the deposits of each entry end; those of entry ``e`` begin at ``ends[e - 1]``.
    ends: IntArray
    #: Of every deposit: ``k``, and the mean over walks of ``load / τ(k)``, or the mass of a pool.
    lengths: npt.NDArray[np.int16]
    amounts: FloatArray
    #: Lengths ``0 … n_lengths - 1`` are told apart.
    n_lengths: int

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return len(self.indptr) - 1

    def factor(self, modulation: npt.ArrayLike) -> sp.csr_array:
        """``Φ(f)`` for one modulation ``f(0) … f(n_lengths - 1)``."""
        f = np.asarray(modulation, dtype=np.float64)
        if f.shape != (self.n_lengths,):
            raise InputError(f"modulation must hold {self.n_lengths} numbers, found {f.shape}")
        begins = np.concatenate([[0], self.ends[:-1]])
        values = np.add.reduceat(f[self.lengths] * self.amounts, begins)
        return csr(values, self.columns, self.indptr, self.n_nodes)


def sample_by_length(plan: WalkPlan, *, n_jobs: int = -1) -> LengthDeposits:
    """Walk from every node, on `n_jobs` threads, and keep the lengths apart.

    The plan's modulation counts only by its number of lengths.

    The result is the same to the last bit for any number of threads.
    """
    n, n_lengths = plan.graph.n_nodes, plan.lengths.max_length + 1
    require_deposits(plan, 1)
    size = max(1, int(_TASK_STEPS / (plan.expected_steps + 1)))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]
    local = threading.local()

    def work(task: range) -> LengthRows:
        if not hasattr(local, "walker"):
            local.walker = length_walker(plan)
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
    """Refuse deposits of several factors, walked one after the other, that do not fit together."""
    n, n_lengths = plan.graph.n_nodes, plan.lengths.max_length + 1
    if n_lengths > MOST_LENGTHS:
        raise InputError(f"at most {MOST_LENGTHS} lengths are told apart, found {n_lengths}")
    each = n * (1 + int(plan.expected_steps)) * (_ENTRY_BYTES + _DEPOSIT_BYTES)
    # A few rows tell how many there really are of so many at most.
    walker, found = length_walker(plan), 0
    n_pilots = min(n, max(4, int(min(_PILOT_ROWS, _PILOT_STEPS / (plan.expected_steps + 1)))))
    pilots = np.linspace(0, n - 1, n_pilots).astype(np.int64).tolist()
    for row in pilots:
        part = walker.walk(range(row, row + 1))
        found += _ENTRY_BYTES * len(part.columns) + _DEPOSIT_BYTES * len(part.amounts)
    each = min(each, int((1 + len(pilots) ** -0.5) * found * n / len(pilots)))
    require_bytes(
        # What the tasks of the last one found and the whole they are joined to are side by side.
        (n_factors + 1) * each,
        f"deposits by length of {n} nodes with {plan.n_walks} walks each, for {n_factors} factors,",
        most_walks=lambda room: int(plan.n_walks * room / ((n_factors + 1) * each)),
    )


def length_walker(plan: WalkPlan) -> PoolLengthWalker | _Walker:
    """What walks a plan and keeps the lengths apart."""
    return (PoolLengthWalker if plan.is_pooled else _Walker)(plan, _TASK_STEPS)


def _joined_ends(parts: list[IntArray], leading_zero: bool = False) -> IntArray:
    """Ends that each part counts from its own beginning, counted from the very first."""
    offsets = np.cumsum([0, *(int(part[-1]) for part in parts)])
    shifted = [part + offset for part, offset in zip(parts, offsets, strict=False)]
    return np.concatenate([np.zeros(int(leading_zero), np.int64), *shifted])


class _Walker:
    """One thread's hands: the plan's arrays and the room that a row needs."""

    def __init__(self, plan: WalkPlan, task_steps: int) -> None:
        n_lengths = plan.lengths.max_length + 1
        self._plan_arrays = (
            plan.layout.arrays,
            tuple(plan.lengths),
            plan.scales,
        )
        self._key = plan.key
        self._output = LengthOutput(int(1.2 * task_steps) + 64)
        most_steps = plan.n_walks * plan.lengths.max_length
        most_found = min(most_steps + 1, plan.graph.n_nodes)
        require_bytes(
            8 * most_found * (n_lengths + 1) + 8 * most_steps,
            f"one row of {plan.n_walks} walks, by length",
        )
        self._buffers = (
            np.empty(plan.n_walks, np.int64),
            np.empty(1 << max(4, (2 * most_steps + 1).bit_length()), np.int32),
            np.empty(most_found, np.int64),
            np.empty((most_found, n_lengths)),
        )

    def walk(self, rows: range, key: int | None = None) -> LengthRows:
        """Walk from consecutive rows; the streams start from `key`, or from the plan's own."""
        stream = np.uint64(self._key if key is None else key)
        return self._output.collect(
            len(rows),
            lambda *output: _walk_rows(
                *self._plan_arrays, stream, rows.start, *self._buffers, *output
            ),
        )


@compiled()
def _walk_rows(
    graph: Any,
    lengths_of_walks: Any,
    scale: Any,
    key: Any,
    first_row: int,
    n_steps: Any,
    table: Any,
    found_word: Any,
    sums: Any,
    row_end: Any,
    columns: Any,
    entry_end: Any,
    lengths: Any,
    amounts: Any,
) -> tuple[int, int]:
    """Walk as many rows as `row_end` has room for; (-1, -1) where the output is too small."""
    words, slots, factors, nodes, potential, inverse_potential = graph
    weighted = len(factors) > 0
    n_walks = len(n_steps)
    n_entries = 0
    n_deposits = 0
    for r in range(len(row_end)):
        row = first_row + r
        home_word = words[row]
        node_key = node_stream(key, row)
        total = 0
        for walk in range(n_walks):
            n_steps[walk] = 0
            if degree_of(home_word):
                state = walk_stream(node_key, walk)
                n_steps[walk] = draw_length(state, lengths_of_walks)
            total += n_steps[walk]

        # A small hash table from nodes to the row's entries, as in the engine.
        bits = table_bits(total + 1)
        mask = (1 << bits) - 1
        shift = uint64(32 - bits)
        for cell in range(mask + 1):
            table[cell] = -1
        table[home(home_word, shift)] = 0
        found_word[0] = home_word
        sums[0] = 0.0
        sums[0, 0] = scale[0] * n_walks
        found = 1

        for walk in range(n_walks):
            state = walk_stream(node_key, walk)
            word = home_word
            load = 1.0
            for k in range(1, n_steps[walk] + 1):
                if degree_of(word) == 0:
                    break
                state = next_draw(state)
                slot = choose_slot(word, state)
                if weighted:
                    word = slots[2 * slot]
                    load *= factors[2 * slot + 1]
                else:
                    word = slots[slot]
                cell = home(word, shift)
                while table[cell] >= 0 and found_word[table[cell]] != word:
                    cell = (cell + 1) & mask
                entry = table[cell]
                if entry < 0:
                    entry = found
                    table[cell] = found
                    found_word[found] = word
                    sums[found] = 0.0
                    found += 1
                sums[entry, k] += scale[k] * load

        if n_entries + found > len(columns):
            return -1, -1
        for entry in range(found):
            word = found_word[entry]
            columns[n_entries + entry] = nodes[word >> DEGREE_BITS]
            share = 1.0
            if not weighted:
                share = potential[row] * inverse_potential[degree_of(word)]
            for k in range(sums.shape[1]):
                amount = sums[entry, k]
                if amount != 0.0:
                    if n_deposits == len(amounts):
                        return -1, -1
                    lengths[n_deposits] = k
                    amounts[n_deposits] = amount * share
                    n_deposits += 1
            entry_end[n_entries + entry] = n_deposits
        n_entries += found
        row_end[r] = n_entries
    return n_entries, n_deposits
