"""Pools that keep the lengths apart: the steps of `walks.pools.pool`, logged and not summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from grfpp.linalg.compiled import compiled
from grfpp.memory import require_bytes
from grfpp.walks.budget import Budget
from grfpp.walks.by_length.rows import LengthOutput, LengthRows
from grfpp.walks.layout import DEGREE_BITS
from grfpp.walks.plan import WalkPlan
from grfpp.walks.pools.pool import FREE, place, step
from grfpp.walks.pools.walker import PoolBuffers
from grfpp.walks.steps import degree_of


class PoolLengthWalker:
    """One thread's hands: the plan's arrays and the room that a row needs."""

    def __init__(self, plan: WalkPlan, task_steps: int) -> None:
        budget = plan.lengths
        assert isinstance(budget, Budget)
        self._plan_arrays = (
            plan.layout.arrays,
            (budget.share, budget.rest),
            plan.scales,
        )
        self._key, self._steps = plan.key, plan.expected_steps
        self._buffers = PoolBuffers(plan)
        # No more than one deposit for an edge that is followed, and one at the start.
        most = int(plan.expected_steps) + 2 * budget.max_length + 4
        require_bytes(14 * most, f"one row of a pool of {plan.n_walks} walks, by length")
        self._log = (np.empty(most, np.uint32), np.empty(most, np.int16), np.empty(most))
        self._output = LengthOutput(int(1.2 * task_steps) + most)

    def walk(self, rows: range, key: int | None = None) -> LengthRows:
        """Walk from consecutive rows; the streams start from `key`, or from the plan's own."""
        start = (np.uint64(self._key if key is None else key), self._steps, rows.start)
        return self._output.collect(
            len(rows),
            lambda *output: _pool_rows(
                *self._plan_arrays, *start, *self._buffers.arrays, self._log, *output
            ),
        )


# Nothing is allocated here, so nobody has to count references to arrays, which takes its time.
@compiled(_nrt=False)
def _pool_rows(
    graph: Any,
    shares: Any,
    scales: Any,
    key: Any,
    budget: float,
    first_row: int,
    cells: Any,
    lists: Any,
    movers: Any,
    runs: Any,
    picks: Any,
    log: Any,
    row_end: Any,
    columns: Any,
    entry_end: Any,
    lengths: Any,
    amounts: Any,
) -> tuple[int, int]:
    """Let pools spread from as many rows as `row_end` has room for.

    The table is free before and after. Returns (-1, -1) where the output is too small.
    """
    words, _, _, weights, _, potential, inverse_potential = graph
    share, rest = shares
    cell_word, cell_mass, cell_count = cells
    used, pool = lists
    mover_word, mover_mass, _ = movers
    log_cell, log_length, log_mass = log
    n_entries = 0
    n_deposits = 0
    for r in range(len(row_end)):
        if n_entries + len(used) > len(columns) or n_deposits + len(log_mass) > len(amounts):
            return -1, -1
        row = first_row + r
        used[0] = pool[0] = place(words[row], cells)
        n_used = 1
        n_pool = 1
        n_logged = 0
        left = budget
        alive = 1.0
        for k in range(len(share)):
            n_movers = 0
            n_edges = 0
            for a in range(n_pool):
                cell = pool[uint64(a)]
                amount = cell_mass[cell]
                cell_mass[cell] = 0.0
                cell_count[cell] += 1.0
                log_cell[uint64(n_logged)] = cell
                log_length[uint64(n_logged)] = k
                log_mass[uint64(n_logged)] = amount
                n_logged += 1
                word = cell_word[cell]
                degree = degree_of(word)
                if degree:
                    mover_word[uint64(n_movers)] = word
                    mover_mass[uint64(n_movers)] = amount
                    n_edges += degree
                    n_movers += 1
            if n_movers == 0 or k + 1 == len(share):
                break
            n_used, n_pool, left, alive = step(
                graph,
                share[k + 1],
                rest[k + 1],
                (left, alive),
                key,
                row,
                k + 1,
                movers,
                n_movers,
                n_edges,
                cells,
                lists,
                n_used,
                runs,
                picks,
            )
        # Entry by entry, and in each by length, which is the order of the log: a counting sort.
        for a in range(n_used):
            cell = used[uint64(a)]
            columns[uint64(n_entries)] = cell_word[cell] >> DEGREE_BITS
            begin = n_deposits
            n_deposits += int(cell_count[cell])
            cell_count[cell] = begin
            entry_end[uint64(n_entries)] = n_deposits
            n_entries += 1
        for a in range(n_logged):
            cell = log_cell[uint64(a)]
            k = log_length[uint64(a)]
            amount = log_mass[uint64(a)] * scales[uint64(k)]
            if len(potential):
                # By degree where all edges of a node weigh the same, else by node.
                word = cell_word[cell]
                at = word >> DEGREE_BITS if len(weights) else degree_of(word)
                amount *= potential[row] * inverse_potential[uint64(at)]
            slot = uint64(cell_count[cell])
            cell_count[cell] += 1.0
            lengths[slot] = k
            amounts[slot] = amount
        for a in range(n_used):
            cell_word[used[uint64(a)]] = FREE
        row_end[r] = n_entries
    return n_entries, n_deposits
