"""Blocks of rows, in compiled form: what each row has left goes out as a row, or the largest of it.

They take plain arrays and trust them. A row that needs larger buffers ends the block early.

A `law` is how weights are scaled (the kind, the unit), the scale of the whole, the shares of the
steps, the deposits, the budget, the ratio of a geometric series or 0, the most rounds.
"""

from __future__ import annotations

import math
from typing import Any

from numba import njit, uint64

from grfpp.linalg.compiled import compiled
from grfpp.local.pools.pull import pulled
from grfpp.local.pools.residual_pool import residual_row
from grfpp.local.pools.selection import offer, settle
from grfpp.local.pools.series_pool import series_row
from grfpp.local.pools.table import clear, find, look_up, node_at, shift_of, squared_potential
from grfpp.walks.steps import prefetch

#: Why a block ended before its last row.
DONE, NO_OUTPUT, NO_BUFFER = range(3)
#: What may come before the last by rounding.
_NEARLY = 1 - 1e-9


@njit(inline="always")
def _row(graph: Any, law: Any, key: Any, row: Any, buffers: Any, trace: Any) -> Any:
    """One row, whatever its series; gives the number of nodes reached."""
    kind, unit, _, share, rest, deposits, budget, ratio, most_rounds = law
    if ratio > 0.0:
        return residual_row(graph, (kind, ratio, budget, most_rounds), key, row, buffers, False)
    return series_row(graph, (kind, unit, share, rest, deposits, budget), key, row, buffers, trace)


@njit(inline="always")
def _scale(row: Any, law: Any, graph: Any, reached: Any) -> Any:
    """What all of a row is multiplied with."""
    degree = look_up(0, row, graph, reached)
    return law[2] * math.sqrt(squared_potential(row, degree, graph, law[0]))


@njit(inline="always")
def _direct(scale: Any, total: Any, node: Any, degree: Any, graph: Any, law: Any) -> Any:
    """An entry, from what the pool has left at its node or what is left by its neighbours."""
    return scale * total / math.sqrt(squared_potential(node, degree, graph, law[0]))


@njit(inline="always")
def _by_pull(
    node: Any, row: Any, first: Any, degree: Any, graph: Any, law: Any, shift: Any, buffers: Any
) -> Any:
    """What the pool would have left at a node, the last step taken exactly."""
    kind, unit, _, _, _, deposits, _, ratio, _ = law
    total = pulled(first, degree, graph, kind, unit, ratio, shift, buffers)
    if node == row:
        total += 1.0 if ratio > 0.0 else deposits[0]
    return total


@compiled(_nrt=False)
def write_rows(
    graph: Any,
    law: Any,
    key: Any,
    rows: Any,
    buffers: Any,
    trace: Any,
    end: Any,
    columns: Any,
    values: Any,
) -> tuple[int, int, int]:
    """Write whole rows: how many are done, the entries written, and why it ended."""
    table, reached = buffers[0], buffers[1]
    at_total = reached[3]
    n_out = 0
    for b in range(len(rows)):
        n_used = _row(graph, law, key, rows[b], buffers, trace)
        if n_used < 0:
            return b, n_out, NO_BUFFER
        fits = n_out + n_used <= len(columns)
        if fits:
            scale = _scale(rows[b], law, graph, reached)
            for a in range(n_used):
                node = node_at(a, table, reached)
                degree = look_up(a, node, graph, reached)
                columns[uint64(n_out)] = node
                values[uint64(n_out)] = _direct(
                    scale, at_total[uint64(a)], node, degree, graph, law
                )
                n_out += 1
        clear(table, reached, n_used)
        if not fits:
            return b, n_out, NO_OUTPUT
        end[b] = n_out
    return len(rows), n_out, DONE


@compiled(_nrt=False)
def select_largest(
    graph: Any,
    law: Any,
    key: Any,
    rows: Any,
    buffers: Any,
    trace: Any,
    with_self: bool,
    pull_edges: float,
    candidates: Any,
    nodes: Any,
    values: Any,
) -> tuple[int, int]:
    """Write the largest entries of rows: how many are done, and why it ended.

    The largest by what pools have left are the candidates; those of them with few enough edges,
    `pull_edges` in all, are looked at anew from their neighbours.
    """
    table, reached = buffers[0], buffers[1]
    at_first, at_total = reached[2], reached[3]
    held_node, held_value = candidates
    shift = shift_of(table[0])
    for b in range(len(rows)):
        row = rows[b]
        n_used = _row(graph, law, key, row, buffers, trace)
        if n_used < 0:
            return b, NO_BUFFER
        scale = _scale(row, law, graph, reached)
        n_held = 0
        for a in range(0 if with_self else 1, n_used):
            total = scale * at_total[uint64(a)]
            node = node_at(a, table, reached)
            degree = look_up(a, node, graph, reached)
            if n_held == len(held_node) and held_value[0] > 0.0:
                # Most are far from it, which is seen without a root.
                square = squared_potential(node, degree, graph, law[0])
                least = held_value[0] * _NEARLY
                if not total > 0.0 or total * total < least * least * square:
                    continue
            value = _direct(scale, at_total[uint64(a)], node, degree, graph, law)
            n_held = offer(held_node, held_value, n_held, node, value)
        settle(held_node, held_value, n_held)
        left = pull_edges
        if left > 0.0:
            for a in range(n_held):
                number = find(held_node[a], shift, table[0])
                prefetch(graph[1], at_first[uint64(number)])
        n_best = 0
        for a in range(n_held):
            node = held_node[a]
            value = held_value[a]
            if left > 0.0:
                number = find(node, shift, table[0])
                degree = look_up(number, node, graph, reached)
                if degree <= left:
                    left -= degree
                    first = at_first[uint64(number)]
                    total = _by_pull(node, row, first, degree, graph, law, shift, buffers)
                    value = _direct(scale, total, node, degree, graph, law)
            n_best = offer(nodes[b], values[b], n_best, node, value)
        settle(nodes[b], values[b], n_best)
        clear(table, reached, n_used)
    return len(rows), DONE


@compiled(_nrt=False)
def write_values(
    graph: Any,
    law: Any,
    key: Any,
    rows: Any,
    buffers: Any,
    trace: Any,
    pull_edges: float,
    columns: Any,
    values: Any,
) -> tuple[int, int]:
    """Write entries of rows at columns of their own, as `select_largest` finds them.

    Columns below zero have none. Gives how many rows are done, and why it ended.
    """
    indptr = graph[0]
    table, reached = buffers[0], buffers[1]
    at_total = reached[3]
    shift = shift_of(table[0])
    for b in range(len(rows)):
        row = rows[b]
        n_used = _row(graph, law, key, row, buffers, trace)
        if n_used < 0:
            return b, NO_BUFFER
        scale = _scale(row, law, graph, reached)
        left = pull_edges
        for c in range(columns.shape[1]):
            node = columns[b, c]
            values[b, c] = 0.0
            if node < 0:
                continue
            first = indptr[uint64(node)]
            degree = indptr[uint64(node) + uint64(1)] - first
            total = 0.0
            if degree <= left:
                left -= degree
                total = _by_pull(node, row, first, degree, graph, law, shift, buffers)
            else:
                number = find(node, shift, table[0])
                if number >= 0:
                    total = at_total[uint64(number)]
            values[b, c] = _direct(scale, total, node, degree, graph, law)
        clear(table, reached, n_used)
    return len(rows), DONE
