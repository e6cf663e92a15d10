"""What meets in the middle, in compiled form: two pools that spread from both ends of an entry.

They take plain arrays and trust them. A side is a list of places with amounts, and an entry of the
kernel is the sum, over the places that both sides have, of the products. On undirected graphs the
pool of ``j`` tells of walks that end there: ``Q^b[v, j] = Q^b[j, v] · π(j) / π(v)``, where ``π`` is
what masses are divided by (`grfpp.local.pools.table.divisor`).

- Any series: a place is a node and a step. ``Σ_k α_k Q^k = Σ_k α_k Q^⌈k/2⌉ Q^⌊k/2⌋``, so the left
  side has ``x_a`` at step ``a``, the right one ``α_{2a} y_a + α_{2a-1} y_{a-1}``.
- A geometric series: the left side is pushed only. What it has left in its row is there already, at
  the place "step 1" of a node; its residual ``r`` waits at "step 0", for the right side's rows:
  ``G[i, j] = left[j] + Σ_v r[v] G[v, j]``.
"""

from __future__ import annotations

import math
from typing import Any

from numba import int64, njit, uint64

from grfpp.linalg.compiled import compiled
from grfpp.local.pools.loops import DONE, NO_BUFFER, NO_OUTPUT
from grfpp.local.pools.residual_pool import residual_row
from grfpp.local.pools.series_pool import series_row
from grfpp.local.pools.table import clear, divisor, look_up, node_at, squared_potential

#: Bits of a place that hold the step.
STEP_BITS = 20


@njit(inline="always")
def _place(node: Any, step: Any) -> Any:
    return (int64(node) << STEP_BITS) | int64(step)


@njit(inline="always")
def _measure(node: Any, degree: Any, graph: Any, law: Any) -> Any:
    """``π``, and 1 for a node without edges."""
    return divisor(node, degree, graph, law[0], law[1]) if degree else 1.0


@njit(inline="always")
def _potential(node: Any, degree: Any, graph: Any, law: Any) -> Any:
    return math.sqrt(squared_potential(node, degree, graph, law[0]))


@njit(inline="always")
def _of_series(
    row: Any, law: Any, right: Any, graph: Any, trace: Any, places: Any, amounts: Any, n_out: Any
) -> Any:
    """Write what a pool held at each step."""
    trace_end, trace_node, trace_mass = trace
    indptr, deposits = graph[0], law[5]
    own_degree = indptr[uint64(row) + uint64(1)] - indptr[uint64(row)]
    scale = _potential(row, own_degree, graph, law)
    if right:
        scale = _measure(row, own_degree, graph, law) / scale
    first = 0
    for step in range(len(trace_end)):
        for a in range(first, trace_end[step]):
            node = trace_node[uint64(a)]
            amount = scale * trace_mass[uint64(a)]
            if not right:
                places[uint64(n_out)] = _place(node, step)
                amounts[uint64(n_out)] = law[2] * amount
                n_out += 1
                continue
            degree = indptr[uint64(node) + uint64(1)] - indptr[uint64(node)]
            amount /= _measure(node, degree, graph, law)
            for k in range(2 * step, min(2 * step + 2, len(deposits))):
                if deposits[k] != 0.0:
                    places[uint64(n_out)] = _place(node, (k + 1) // 2)
                    amounts[uint64(n_out)] = deposits[k] * amount
                    n_out += 1
        first = trace_end[step]
    return n_out


@njit(inline="always")
def _of_residual(
    row: Any,
    law: Any,
    right: Any,
    graph: Any,
    table: Any,
    reached: Any,
    n_used: Any,
    places: Any,
    amounts: Any,
    n_out: Any,
) -> Any:
    """Write what a row has left, and on the left what still waits."""
    at_total, at_wait = reached[3], reached[4]
    own_degree = look_up(0, row, graph, reached)
    scale = _potential(row, own_degree, graph, law)
    if right:
        scale = _measure(row, own_degree, graph, law) / scale
        places[uint64(n_out)] = _place(row, 1)
        amounts[uint64(n_out)] = 1.0 / _potential(row, own_degree, graph, law)
        n_out += 1
    for a in range(n_used):
        number = uint64(a)
        node = node_at(a, table, reached)
        degree = look_up(a, node, graph, reached)
        if right:
            places[uint64(n_out)] = _place(node, 0)
            amounts[uint64(n_out)] = scale * at_total[number] / _measure(node, degree, graph, law)
            n_out += 1
            continue
        places[uint64(n_out)] = _place(node, 1)
        amounts[uint64(n_out)] = law[2] * scale * at_total[number]
        n_out += 1
        if at_wait[number] > 0.0:
            places[uint64(n_out)] = _place(node, 0)
            amounts[uint64(n_out)] = law[2] * scale * at_wait[number]
            n_out += 1
    return n_out


@compiled(_nrt=False)
def write_side(
    graph: Any,
    law: Any,
    key: Any,
    rows: Any,
    buffers: Any,
    trace: Any,
    right: bool,
    end: Any,
    places: Any,
    amounts: Any,
) -> tuple[int, int, int]:
    """Write one side for each row: how many are done, the places written, and why it ended.

    The `law` of a series shares the steps of half of it, and its deposits are those of all.
    """
    kind, unit, _, share, rest, deposits, budget, ratio, most_rounds = law
    table, reached = buffers[0], buffers[1]
    trace_end = trace[0]
    n_out = 0
    for b in range(len(rows)):
        row = rows[b]
        if ratio > 0.0:
            lawful = (kind, ratio, budget, most_rounds)
            n_used = residual_row(graph, lawful, key, row, buffers, not right)
            n_more = 2 * n_used + 1
        else:
            lawful_ = (kind, unit, share, rest, deposits, budget)
            n_used = series_row(graph, lawful_, key, row, buffers, trace)
            n_more = 2 * trace_end[len(trace_end) - 1]
        if n_used < 0:
            return b, n_out, NO_BUFFER
        fits = n_out + n_more <= len(places)
        if fits and ratio > 0.0:
            n_out = _of_residual(
                row, law, right, graph, table, reached, n_used, places, amounts, n_out
            )
        elif fits:
            n_out = _of_series(row, law, right, graph, trace, places, amounts, n_out)
        clear(table, reached, n_used)
        if not fits:
            return b, n_out, NO_OUTPUT
        end[b] = n_out
    return len(rows), n_out, DONE
