"""How much memory walks take: of the one who walks, and of what a few of them leave behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from grfpp.linalg.growing import Block
from grfpp.memory import require_bytes
from grfpp.parallel import thread_count
from grfpp.typing import IntArray
from grfpp.walks.plan import WalkPlan
from grfpp.walks.pools.walker import EDGE_BYTES, ENTRY_BYTES, PoolWalker, pool_bytes
from grfpp.walks.walker import Output, Walker

#: Steps that one batch walks in lock-step: its buffers then stay in a core's second-level cache.
BATCH_STEPS = 16_000
#: Rows that are walked to learn how many entries a row has: a share of all, and at most so many.
PILOT_SHARE = 1 / 64
PILOT_ROWS = 512
#: Steps that they take in all, but for the first ones.
_PILOT_STEPS = 2e7
#: So few tell whether a request is out of all proportion, before more are walked.
_FIRST_ROWS = 8
#: Entries of a matrix that is worth a pilot of so few rows.
_PILOT_WORTH = 1 << 23
#: Entries of the pilot's first room, which grows.
_PILOT_ENTRIES = 1 << 16


def walker_of(plan: WalkPlan, batch_steps: int) -> Walker | PoolWalker:
    """What walks a plan, on one thread."""
    return PoolWalker(plan) if plan.is_pooled else Walker(plan, batch_steps)


def require_walkers(plan: WalkPlan, n_jobs: int) -> None:
    """Refuse a number of walks whose buffers cannot fit, before anything is walked."""
    pool = f"a pool of {plan.n_walks} walks" if plan.is_pooled else f"{plan.n_walks} walks"
    n_threads = thread_count(n_jobs)
    require_bytes(
        n_threads * walker_bytes(plan),
        f"walking {pool} from one node, on each of {n_threads} threads,",
        most_walks=lambda room: _walks_within(plan, room / n_threads),
    )


def walker_bytes(plan: WalkPlan) -> int:
    """Bytes of the buffers of one thread."""
    if plan.is_pooled:
        return pool_bytes(plan)
    return int(plan.n_walks * (40 + 30 * plan.lengths.mean))


def _walks_within(plan: WalkPlan, n_bytes: float) -> int:
    """Walks whose buffers fit into so many bytes, whatever the graph: `walker_bytes` solved."""
    if plan.is_pooled:
        followed = n_bytes / (ENTRY_BYTES + EDGE_BYTES) - 2 * plan.lengths.max_length - 5
        return max(0, int(followed / plan.lengths.mean))
    return int(n_bytes / (40 + 30 * plan.lengths.mean))


def factor_bytes(n_entries: int, n_rows: int, dtype: np.dtype[Any]) -> int:
    """Bytes of a sparse matrix with so many entries."""
    return n_entries * (np.dtype(np.int32).itemsize + dtype.itemsize) + 8 * n_rows


def most_entries(plan: WalkPlan) -> float:
    """Entries that a row of a factor has at most, but for chance."""
    bound = 1.2 * plan.expected_steps + 10 * plan.n_walks**0.5 + _last_steps(plan)
    return float(min(bound, plan.graph.n_nodes))


def most_walks(plan: WalkPlan, n_entries: float) -> int:
    """Walks whose rows have at most so many entries, whatever the graph: `most_entries` solved."""
    mean, left = 1.2 * plan.lengths.mean, n_entries - _last_steps(plan)
    if left <= 0 or mean == 0:
        return 0
    return int(((np.sqrt(25 + mean * left) - 5) / mean) ** 2)


def _last_steps(plan: WalkPlan) -> int:
    """Entries of a row beside those of its budget: the start, and late steps by chance."""
    return 1 + (2 * plan.lengths.max_length if plan.is_pooled else 0)


def expected_entries(plan: WalkPlan, rows: IntArray | None = None) -> int:
    """A good guess, on the high side, of how many entries all rows of a factor have, or some.

    Many walks meet: a few rows tell how many distinct nodes they really reach.
    """
    n = plan.graph.n_nodes if rows is None else len(rows)
    affordable = max(_FIRST_ROWS, int(_PILOT_STEPS / (plan.expected_steps + 1)))
    n_pilots = min(PILOT_ROWS, int(PILOT_SHARE * n), affordable)
    few = n_pilots < 4 * _FIRST_ROWS
    if n < _FIRST_ROWS or (few and n * most_entries(plan) < _PILOT_WORTH):
        return int(n * most_entries(plan)) + 1
    require_walkers(plan, 1)
    walker, room = walker_of(plan, BATCH_STEPS), Output(_PILOT_ENTRIES, np.dtype(np.float64))
    per_row = 0.0
    for n_rows in (_FIRST_ROWS, max(_FIRST_ROWS, n_pilots)):
        chosen = np.linspace(0, n - 1, n_rows).astype(np.int64)
        found: Block = walker.walk(chosen if rows is None else rows[chosen], room)
        per_row = (1 + n_rows**-0.5) * len(found.columns) / n_rows
        # A quarter of what a factor takes, since so few rows may be unusual ones.
        require_bytes(
            int(3 * n * per_row),
            f"what {plan.n_walks} walks from each of {n} nodes leave",
            most_walks=lambda bytes_left: most_walks(plan, bytes_left / (12 * n)),
        )
    return int(n * per_row) + 1
