"""One thread's hands for pools: the buffers that the compiled loops work in."""

from __future__ import annotations

from typing import Any

import numpy as np

from grfpp.linalg.growing import Block
from grfpp.memory import require_bytes
from grfpp.typing import IntArray
from grfpp.walks.budget import Budget
from grfpp.walks.plan import WalkPlan
from grfpp.walks.walker import Output, require_finite

#: Bytes of a row's buffers for every entry that it may have.
ENTRY_BYTES = 4 * 24 + 2 * 4 + 3 * 8
#: And for each edge that a step follows.
EDGE_BYTES = 40


def pool_bytes(plan: WalkPlan) -> int:
    """Bytes of `PoolBuffers`."""
    most, n_edges = _most(plan)
    return ENTRY_BYTES * most + EDGE_BYTES * n_edges


def _most(plan: WalkPlan) -> tuple[int, int]:
    """Entries that a row can have, and edges that one step can follow."""
    # A step follows at most one edge more than it may; the last ones follow one each.
    followed = plan.expected_steps + 2 * plan.lengths.max_length + 2
    n_edges = int(min(followed, len(plan.graph.indices))) + 2
    return int(min(followed + 1, plan.graph.n_nodes)), n_edges


class PoolBuffers:
    """Room for the pool of one row."""

    def __init__(self, plan: WalkPlan) -> None:
        #: Entries that a row can have.
        self.most, n_edges = _most(plan)
        require_bytes(pool_bytes(plan), f"one row of a pool of {plan.n_walks} walks")
        n_cells = 1 << max(4, (2 * self.most - 1).bit_length())
        most = self.most
        #: A hash table: nodes, the masses that arrive, what has been left there.
        self.cells = (np.full(n_cells, -1), np.empty(n_cells), np.empty(n_cells))
        #: Cells that are in use, in the order of their first visit, and those of the pool.
        self.lists = (np.empty(most, np.uint32), np.empty(most, np.uint32))
        #: Nodes of the pool that have edges: word, mass, first light edge.
        self.movers = (np.empty(most, np.int64), np.empty(most), np.empty(most, np.int64))
        #: Edges that are all followed: first, end, mass.
        self.runs = (np.empty(n_edges, np.int64), np.empty(n_edges, np.int64), np.empty(n_edges))
        #: Edges that are picked: node, edge.
        self.picks = (np.empty(n_edges, np.int64), np.empty(n_edges, np.int64))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All of them, as the compiled loops want them."""
        return self.cells, self.lists, self.movers, self.runs, self.picks


class PoolWalker:
    """A plan's arrays and the buffers of one pool."""

    def __init__(self, plan: WalkPlan) -> None:
        self._plan = plan
        self._graph = plan.layout.arrays
        self._deposits = plan.deposits
        self._buffers = PoolBuffers(plan)

    def walk(self, rows: IntArray, output: Output, key: int | None = None) -> Block:
        """Let pools spread from `rows`; the block lies in `output`.

        The random streams start from `key`, or from the plan's own.
        """
        from grfpp.walks.pools.pool import pool_block

        plan = self._plan
        budget = plan.lengths
        assert isinstance(budget, Budget)
        stream = np.uint64(plan.key if key is None else key)
        end = np.empty(len(rows), np.int64)
        done = written = 0
        # Compiled for float64 alone; it takes its time.
        single = output.values.dtype != np.float64
        room = Output(len(output.columns), np.dtype(np.float64)) if single else output
        while True:
            n_rows, n_entries = pool_block(
                self._graph,
                (budget.share, budget.rest),
                self._deposits,
                stream,
                plan.expected_steps,
                rows[done:],
                *self._buffers.arrays,
                end[done:],
                room.columns[written:],
                room.values[written:],
            )
            end[done : done + n_rows] += written
            done += n_rows
            written += n_entries
            if done == len(rows):
                break
            room.enlarge(written, written + self._buffers.most + len(room.columns) // 2)
        columns, values = room.columns[:written], room.values[:written]
        require_finite(values)
        if single:
            with np.errstate(over="ignore"):
                values = values.astype(output.values.dtype)
            require_finite(values)
        return Block(end, columns, values)
