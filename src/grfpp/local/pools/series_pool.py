"""A row of any series by one pool, in compiled form. It takes plain arrays and trusts them.

``K[i, :] = Σ_k α_k (W^k)[i, :]``: a pool that begins at ``i`` leaves ``α_k`` times its masses after
``k`` steps. `grfpp.local.reference` has the same in plain Python.
"""

from __future__ import annotations

from typing import Any

from numba import int64, njit, uint64

from grfpp.local.pools.fetch import fetch
from grfpp.local.pools.spread import NO_ROOM, add_run, spread_equal, spread_weighted
from grfpp.local.pools.table import (
    UNKNOWN,
    arrive,
    clear,
    divisor,
    home,
    look_up,
    number_in,
    shift_of,
)
from grfpp.walks.pools.pool import random_point
from grfpp.walks.steps import prefetch

#: Edges ahead of the one that is followed whose cells are asked for.
_AHEAD = 12


@njit(inline="always")
def gather(graph: Any, shift: Any, buffers: Any, n_used: Any, n_runs: Any, n_picks: Any) -> Any:
    """Follow the listed edges; gives the number of nodes reached and of those in the pool."""
    base = graph[2]
    table, reached, pool, _, runs, picks, targets = buffers
    keys = table[0]
    run_first, run_end, run_mass = runs
    pick_mass = picks[1]
    last = fetch(graph, runs, n_runs, picks, n_picks, targets) - 1
    at = 0
    n_pool = 0
    weighted = len(base) > 0
    for a in range(n_runs):
        amount = run_mass[uint64(a)]
        for slot in range(run_first[uint64(a)], run_end[uint64(a)]):
            prefetch(keys, int64(home(targets[uint64(min(at + _AHEAD, last))], shift)))
            carries = amount * base[uint64(slot)] if weighted else amount
            if carries > 0.0:
                n_used, n_pool = arrive(
                    targets[uint64(at)],
                    carries,
                    shift,
                    graph,
                    table,
                    reached,
                    n_used,
                    pool,
                    n_pool,
                )
            at += 1
    for a in range(n_picks):
        prefetch(keys, int64(home(targets[uint64(min(at + _AHEAD, last))], shift)))
        n_used, n_pool = arrive(
            targets[uint64(at)],
            pick_mass[uint64(a)],
            shift,
            graph,
            table,
            reached,
            n_used,
            pool,
            n_pool,
        )
        at += 1
    return n_used, n_pool


@njit(_nrt=False)
def series_row(graph: Any, law: Any, key: Any, row: int, buffers: Any, trace: Any) -> Any:
    """Let a pool spread from a node; gives the number of nodes reached, or `NO_ROOM`.

    `law` are how weights are scaled, the shares of the steps, the deposits of this step and of the
    next, and the budget. What the pool has left lies in `buffers`, which are free again after
    `clear`; what it holds at each step goes to `trace`, if there is room for any.
    """
    kind, unit, share, rest, deposits, budget = law
    table, reached, pool, movers, runs, picks, _ = buffers
    keys, masses = table
    _, at_degree, _, at_total, at_next, _ = reached
    mover, carried = movers[0], movers[1]
    trace_end, trace_node, trace_mass = trace
    shift = shift_of(keys)
    weighted = len(graph[2]) > 0
    n_used, n_pool = arrive(row, 1.0, shift, graph, table, reached, 0, pool, 0)
    n_trace = 0
    left = budget
    alive = 1.0
    for k in range(len(share)):
        deposit = deposits[k]
        following = deposits[k + 1]
        is_last = k + 1 == len(share)
        if len(trace_end):
            if n_trace + n_pool > len(trace_node):
                clear(table, reached, n_used)
                return int64(NO_ROOM)
            for a in range(n_pool):
                cell = uint64(pool[uint64(a)])
                trace_node[uint64(n_trace)] = keys[cell] >> 32
                trace_mass[uint64(n_trace)] = masses[cell + uint64(1)]
                n_trace += 1
            trace_end[k] = n_trace
        n_movers = 0
        n_edges = 0
        total = 0.0
        for a in range(n_pool):
            cell = uint64(pool[uint64(a)])
            number = number_in(cell, keys)
            node = keys[cell] >> 32
            amount = masses[cell + uint64(1)]
            masses[cell + uint64(1)] = 0.0
            if at_degree[number] == UNKNOWN:
                at_total[number] = deposit * amount
                at_next[number] = following * amount
            else:
                at_total[number] += deposit * amount
                at_next[number] += following * amount
            degree = look_up(number, node, graph, reached)
            if degree:
                carries = amount / divisor(node, degree, graph, kind, unit)
                mover[uint64(n_movers)] = number
                carried[uint64(n_movers)] = carries
                total += carries * degree
                n_edges += degree
                n_movers += 1
        if n_movers == 0 or is_last:
            break
        fair = left * share[k + 1]
        allowed = fair / alive
        n_runs = 0
        n_followed = 0
        n_picks = int64(0)
        if n_edges <= allowed:
            left = left * rest[k + 1] + (fair - alive * n_edges)
            n_followed = n_edges
            for a in range(n_movers):
                number = mover[uint64(a)]
                degree = int64(at_degree[uint64(number)])
                n_runs = add_run(number, degree, carried[uint64(a)], graph, reached, runs, n_runs)
        elif not allowed > 0.0:
            break
        else:
            left *= rest[k + 1]
            alive *= min(1.0, allowed)
            point = random_point(key, row, k + 1)
            if weighted:
                n_picks = spread_weighted(graph, reached, movers, n_movers, allowed, point, picks)
            else:
                n_runs, n_followed, n_picks = spread_equal(
                    graph, reached, movers, n_movers, total, allowed, point, runs, picks
                )
        if n_picks < 0 or n_used + n_followed + n_picks > len(at_degree):
            clear(table, reached, n_used)
            return int64(NO_ROOM)
        n_used, n_pool = gather(graph, shift, buffers, n_used, n_runs, n_picks)
    for later in range(k + 1, len(trace_end)):
        trace_end[later] = n_trace
    return int64(n_used)
