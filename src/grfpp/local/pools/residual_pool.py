"""A row of a geometric series by one pool for all steps, in compiled form. It trusts its arrays.

``Σ_k γ^k P^k`` treats the masses of all steps alike: a node leaves what it holds, the residual, in
the row, and hands ``γ`` of it on to its neighbours, whenever that is. So nodes can wait until much
has come together. Where each edge of a node would carry the threshold ``τ`` or more, the node is
pushed: all its edges are followed. ``τ`` falls as long as the budget lets it. What waits in the end
is handed on by single edges that carry ``τ`` each, picked from a line as in a step of any pool, and
so on until nothing is left. The mean is the row, whatever ``τ`` and the order are.

The budget holds in the mean: a push of ``d`` edges takes at least ``τ d / γ`` from the residual and
gives ``γ`` of it back, so ``edges + R γ / ((1 − γ) τ)`` never grows, with the residual ``R`` of all
nodes.
"""

from __future__ import annotations

from typing import Any

from numba import int64, njit, uint64

from grfpp.local.pools.series_pool import gather
from grfpp.local.pools.spread import NO_ROOM, add_run, pick_equal, pick_weighted
from grfpp.local.pools.table import (
    UNKNOWN,
    arrive,
    clear,
    divisor,
    look_up,
    node_at,
    number_in,
    shift_of,
)
from grfpp.walks.pools.pool import random_point

#: What the threshold begins with, in units of the one that the budget alone would allow; its fall.
_FIRST, _FALL = 64.0, 0.5
#: A residual that is nothing.
_NOTHING = 1e-18


@njit(inline="always")
def _push(
    tau: Any,
    ratio: Any,
    graph: Any,
    kind: Any,
    buffers: Any,
    n_pool: Any,
    n_waiting: Any,
) -> Any:
    """List the edges of the nodes above the threshold in the pool; let the others wait.

    Gives the numbers of runs, of their edges, and of nodes that wait.
    """
    table, reached, pool, movers, runs, _, _ = buffers
    keys, masses = table
    _, at_degree, _, at_total, at_wait, is_waiting = reached
    waiting = movers[0]
    n_runs = 0
    n_edges = 0
    for a in range(n_pool):
        cell = uint64(pool[uint64(a)])
        number = number_in(cell, keys)
        node = keys[cell] >> 32
        amount = masses[cell + uint64(1)]
        masses[cell + uint64(1)] = 0.0
        if at_degree[number] == UNKNOWN:
            at_total[number] = 0.0
            is_waiting[number] = 0
        else:
            amount += at_wait[number]
        degree = look_up(number, node, graph, reached)
        at_wait[number] = 0.0
        if degree == 0:
            at_total[number] += amount
        elif ratio * amount >= tau * degree:
            at_total[number] += amount
            carries = ratio * amount / divisor(node, degree, graph, kind, 1.0)
            n_runs = add_run(number, degree, carries, graph, reached, runs, n_runs)
            n_edges += degree
        else:
            at_wait[number] = amount
            if not is_waiting[number]:
                is_waiting[number] = 1
                waiting[uint64(n_waiting)] = number
                n_waiting += 1
    return n_runs, n_edges, n_waiting


@njit(inline="always")
def _push_waiting(tau: Any, ratio: Any, graph: Any, kind: Any, buffers: Any, n_waiting: Any) -> Any:
    """The same among the nodes that wait."""
    table, reached, _, movers, runs, _, _ = buffers
    _, at_degree, _, at_total, at_wait, is_waiting = reached
    waiting = movers[0]
    n_runs = 0
    n_edges = 0
    before = n_waiting
    n_waiting = 0
    for a in range(before):
        number = uint64(waiting[uint64(a)])
        amount = at_wait[number]
        degree = int64(at_degree[number])
        if amount > 0.0 and ratio * amount >= tau * degree:
            at_wait[number] = 0.0
            at_total[number] += amount
            node = node_at(number, table, reached)
            carries = ratio * amount / divisor(node, degree, graph, kind, 1.0)
            n_runs = add_run(number, degree, carries, graph, reached, runs, n_runs)
            n_edges += degree
        if at_wait[number] > 0.0:
            waiting[uint64(n_waiting)] = number
            n_waiting += 1
        else:
            is_waiting[number] = 0
    return n_runs, n_edges, n_waiting


@njit(inline="always")
def _flush(
    tau: Any, ratio: Any, point: Any, graph: Any, kind: Any, buffers: Any, n_waiting: Any
) -> Any:
    """List edges that hand on all that waits, each carrying `tau`; gives their number.

    Of unequal weights those that carry more by themselves are followed with that.
    """
    table, reached, _, movers, _, picks, _ = buffers
    _, at_degree, _, at_total, at_wait, is_waiting = reached
    waiting = movers[0]
    weighted = len(graph[2]) > 0
    inverse = 1.0 / tau
    n_picks = int64(0)
    start = 0.0
    for a in range(n_waiting):
        number = uint64(waiting[uint64(a)])
        amount = at_wait[number]
        is_waiting[number] = 0
        if not amount > 0.0:
            continue
        at_wait[number] = 0.0
        at_total[number] += amount
        degree = int64(at_degree[number])
        handed = ratio * amount
        stop = start + handed * inverse
        if weighted and (handed >= tau or point < stop):
            node = node_at(number, table, reached)
            carried = handed / divisor(node, degree, graph, kind, 1.0)
            n_picks, start, point = pick_weighted(
                number, degree, carried, tau, start, point, graph, reached, picks, n_picks
            )
        else:
            if point < stop:
                n_picks, point = pick_equal(
                    number, degree, start, stop, point, tau, graph, reached, picks, n_picks
                )
            start = stop
        if n_picks < 0:
            break
    return n_picks


@njit(_nrt=False)
def residual_row(graph: Any, law: Any, key: Any, row: int, buffers: Any, push_only: bool) -> Any:
    """Push from a node, and pick the rest; gives the number of nodes reached, or `NO_ROOM`.

    `law` are how weights are scaled, ``γ``, the budget, and how many rounds there are at most. With
    `push_only` the rest stays where it is, waiting.
    """
    kind, ratio, budget, most_rounds = law
    table, reached, pool, movers = buffers[0], buffers[1], buffers[2], buffers[3]
    at_degree, at_wait = reached[1], reached[4]
    waiting = movers[0]
    shift = shift_of(table[0])
    n_used, n_pool = arrive(row, 1.0, shift, graph, table, reached, 0, pool, 0)
    n_waiting = 0
    n_flushes = 0
    edges = 0.0
    cost = ratio / (1.0 - ratio)
    tau = _FIRST * cost / budget
    falling = True
    for round_ in range(most_rounds):
        n_runs, n_followed, n_waiting = _push(tau, ratio, graph, kind, buffers, n_pool, n_waiting)
        if round_ + 1 == most_rounds:  # nothing to speak of is left
            break
        n_picks = int64(0)
        if n_runs == 0:
            left = 0.0
            for a in range(n_waiting):
                left += at_wait[uint64(waiting[uint64(a)])]
            if not left > _NOTHING:
                break
            while falling and n_runs == 0:
                falling = edges + left * cost / (_FALL * tau) <= budget
                if falling:
                    tau *= _FALL
                elif budget > edges:
                    tau = min(tau, left * cost / (budget - edges))
                n_runs, n_followed, n_waiting = _push_waiting(
                    tau, ratio, graph, kind, buffers, n_waiting
                )
            if n_runs == 0:
                if push_only:
                    break
                n_flushes += 1
                point = random_point(key, row, n_flushes)
                n_picks = _flush(tau, ratio, point, graph, kind, buffers, n_waiting)
                n_waiting = 0
        edges += n_followed
        if n_picks < 0 or n_used + n_followed + n_picks > len(at_degree):
            clear(table, reached, n_used)
            return int64(NO_ROOM)
        n_used, n_pool = gather(graph, shift, buffers, n_used, n_runs, n_picks)
    return int64(n_used)
