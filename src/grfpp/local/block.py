"""Blocks of a kernel, from one side or from both."""

from __future__ import annotations

from typing import Any

import numpy as np

from grfpp.local.plan import LocalPlan
from grfpp.local.rows import pool_rows
from grfpp.local.threads import in_parts
from grfpp.local.walker import Side, walker
from grfpp.typing import FloatArray, IntArray

#: Two sides take so many times the pools of one, and their error is lower by more than that. Beyond
#: it they are not taken.
MOST_POOLS = 16
#: Places of the right side that are held at a time.
_MOST_PLACES = 1 << 24


def kernel_block(
    plan: LocalPlan, rows: IntArray, columns: IntArray, n_threads: int = 1
) -> FloatArray:
    """``K[rows, columns]``: a function of the plan, the nodes and how many of them there are."""
    result = np.empty((len(rows), len(columns)))
    if not result.size:
        return result
    two_sided = meets_in_the_middle(plan, len(rows), len(columns))
    size = max(1, int(_MOST_PLACES / (2 * plan.budget + 64))) if two_sided else len(columns)
    for start in range(0, len(columns), size):
        part = slice(start, min(start + size, len(columns)))
        if two_sided:
            _meet(plan, rows, columns[part], result[:, part], n_threads)
        else:
            _read_rows(plan, rows, columns[part], result[:, part], n_threads)
    return result


def meets_in_the_middle(plan: LocalPlan, n_rows: int, n_columns: int) -> bool:
    """Whether pools spread from both sides: on undirected graphs, unless one has far more nodes."""
    many = n_rows + n_columns > MOST_POOLS * min(n_rows, n_columns)
    return plan.weights.is_reversible and not many


def _meet(
    plan: LocalPlan, rows: IntArray, columns: IntArray, result: FloatArray, n_threads: int
) -> None:
    sides = list(in_parts(lambda part: pool_side(plan.right, part), plan, columns, n_threads))
    meeting = Meeting(joined(sides))
    _fill(result, plan, rows, n_threads, lambda part: meeting.products(pool_side(plan, part)))


def _read_rows(
    plan: LocalPlan, rows: IntArray, columns: IntArray, result: FloatArray, n_threads: int
) -> None:
    """Rows from the fewer nodes, looked at where the others are."""
    if len(rows) > len(columns) and plan.weights.is_reversible:
        turned = np.empty((len(columns), len(rows)))
        _read_rows(plan, columns, rows, turned, n_threads)
        result[:] = turned.T * plan.weights.turned(plan.graph, rows, columns)
        return
    n = len(columns)
    meeting = Meeting(Side(np.arange(1, n + 1), columns, np.ones(n)))

    def products(part: IntArray) -> FloatArray:
        block = pool_rows(plan, part)
        return meeting.products(Side(block.end, block.columns.astype(np.int64), block.values))

    _fill(result, plan, rows, n_threads, products)


def _fill(result: FloatArray, plan: LocalPlan, rows: IntArray, n_threads: int, work: Any) -> None:
    done = 0
    for part in in_parts(work, plan, rows, n_threads):
        result[done : done + len(part)] = part
        done += len(part)


def pool_side(plan: LocalPlan, nodes: IntArray) -> Side:
    """What pools of `nodes` bring to the middle; of the right side where the plan is one of it."""
    return walker().side(plan, np.ascontiguousarray(nodes, np.int64))


def joined(sides: list[Side]) -> Side:
    """The sides of some nodes after those of others."""
    if len(sides) == 1:
        return sides[0]
    starts = np.cumsum([0, *(len(side.places) for side in sides[:-1])])
    return Side(
        np.concatenate([side.end + start for side, start in zip(sides, starts, strict=True)]),
        np.concatenate([side.places for side in sides]),
        np.concatenate([side.amounts for side in sides]),
    )


class Meeting:
    """The right side of entries, by place, for left sides to be multiplied with."""

    def __init__(self, right: Side) -> None:
        from grfpp.local.pools.meeting import number_places, sort_by_number

        n = len(right.places)
        self._n_columns = len(right.end)
        self._cells = np.full(4 << max(3, int(n).bit_length()), -1)
        numbers = np.empty(n, np.int64)
        n_places = number_places(right.places, self._cells, numbers)
        self._first = np.zeros(n_places + 2, np.int64)
        self._columns, self._amounts = np.empty(n, np.int32), np.empty(n)
        sort_by_number(right.end, right.amounts, numbers, self._first, self._columns, self._amounts)

    def products(self, left: Side) -> FloatArray:
        """Entries between the nodes of both sides."""
        from grfpp.local.pools.meeting import add_products

        result = np.zeros((len(left.end), self._n_columns))
        add_products(
            left.end,
            left.places,
            left.amounts,
            self._cells,
            self._first,
            self._columns,
            self._amounts,
            result,
        )
        return result
