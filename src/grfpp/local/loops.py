"""The compiled loops of local queries, on the pools of `grfpp.walks.pool`.

`residual_pool` makes a row of a geometric series by one pool for all steps. The others write the
largest entries of rows, or chosen ones.
"""

from __future__ import annotations

from typing import Any

from numba import float64, int64, uint64

from grfpp._compiled import compiled, inlined
from grfpp.walks.hash_table import clear, find, home, take
from grfpp.walks.pool import (
    SLACK,
    add_run,
    begin,
    gather,
    inverse_potential,
    random_point,
    sample_edges,
    series_pool,
    write_reached,
)
from grfpp.walks.pool_arrays import DONE, NO_OUTPUT, NO_ROOM
from grfpp.walks.steps import prefetch

#: The first threshold, in units of the one that would exhaust the budget at once.
_FIRST_THRESHOLD = 64.0
#: Factor by which the threshold falls.
_FALL = 0.5
#: A residual that is negligible relative to the initial mass of one.
_NEGLIGIBLE = 1e-18
#: Distance, in neighbours, at which cells are prefetched.
_AHEAD = 12
#: The node of a missing entry.
_NO_NODE = -1


@inlined
def _push_or_keep(
    graph: Any, buffers: Any, number: Any, amount: Any, tau: Any, ratio: Any, n_runs: Any
) -> Any:
    """Push a residual along all edges of its node, or keep it there.

    Returns the number of runs, and of edges that are followed.
    """
    reached = buffers.reached[uint64(number)]
    degree = int64(reached.degree)
    reached.ahead = 0.0
    if degree == 0:
        reached.total += amount
    elif ratio * amount >= tau * degree:
        reached.total += amount
        first = reached.first
        carried = ratio * amount * reached.share
        return add_run(graph.indices, buffers.runs, first, first + degree, carried, n_runs), degree
    else:
        reached.ahead = amount
    return n_runs, int64(0)


@inlined
def _push(graph: Any, buffers: Any, tau: Any, ratio: Any, n_pool: Any, n_kept: Any) -> Any:
    """Push the residuals of the pool that are above the threshold; the others are kept.

    Returns the numbers of runs, of their edges, and of nodes that keep a residual.
    """
    n_runs = int64(0)
    n_edges = int64(0)
    for a in range(n_pool):
        number, amount = take(buffers.cells, buffers.pool, a)
        reached = buffers.reached[uint64(number)]
        amount += reached.ahead
        n_runs, degree = _push_or_keep(graph, buffers, number, amount, tau, ratio, n_runs)
        n_edges += degree
        if reached.ahead > 0.0 and not reached.has_residual:
            reached.has_residual = 1
            buffers.movers[uint64(n_kept)].number = number
            n_kept += 1
    return n_runs, n_edges, n_kept


@inlined
def _push_kept(graph: Any, buffers: Any, tau: Any, ratio: Any, n_kept: Any) -> Any:
    """The same among the nodes that keep a residual."""
    n_runs = int64(0)
    n_edges = int64(0)
    n_left = int64(0)
    for a in range(n_kept):
        number = buffers.movers[uint64(a)].number
        reached = buffers.reached[uint64(number)]
        if reached.ahead > 0.0:
            n_runs, degree = _push_or_keep(
                graph, buffers, number, reached.ahead, tau, ratio, n_runs
            )
            n_edges += degree
        if reached.ahead > 0.0:
            buffers.movers[uint64(n_left)].number = number
            n_left += 1
        else:
            reached.has_residual = 0
    return n_runs, n_edges, n_left


@inlined
def _flush(graph: Any, buffers: Any, tau: Any, ratio: Any, point: Any, n_kept: Any) -> Any:
    """Move all kept residuals by a systematic sample of edges that carry `tau` each.

    Edges of unequal weights that carry more do so. Returns the numbers of runs and of picks.
    """
    n_movers = int64(0)
    for a in range(n_kept):
        number = buffers.movers[uint64(a)].number
        reached = buffers.reached[uint64(number)]
        reached.has_residual = 0
        amount = reached.ahead
        if amount > 0.0:
            reached.ahead = 0.0
            reached.total += amount
            mover, light = buffers.movers[uint64(n_movers)], buffers.light[uint64(n_movers)]
            mover.number, mover.degree = number, reached.degree
            mover.carried = ratio * amount * reached.share
            light.sum = ratio * amount
            light.n_heavy = light.sum >= tau  # there may be some
            n_movers += 1
    return sample_edges(graph, buffers, n_movers, tau, point, int64(0))


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True)
def residual_pool(
    graph: Any, residual: Any, key: Any, row: Any, buffers: Any, push_only: Any
) -> Any:
    """Leave ``Σ_k γ^k x_k`` in ``reached.total``, by one pool for all steps.

    A node adds its residual to the row and sends ``γ`` of it along its edges, in any order of the
    nodes and at any time. Where each edge carries the threshold ``τ`` or more, the node is
    pushed: all its edges are followed. ``τ`` falls as long as the budget allows. Then a systematic
    sample of edges that carry ``τ`` each moves the residuals, and so on until none is left. With
    `push_only` they stay in ``reached.ahead``. The mean is the row for any ``τ``.

    The budget holds in the mean: a push of ``d`` edges takes at least ``τ d / γ`` from the residual
    ``R`` of all nodes and returns ``γ`` of it, so ``edges + R γ / ((1 − γ) τ)`` never grows.

    Returns the number of nodes reached, or `NO_ROOM`.
    """
    ratio, budget = residual.ratio, residual.budget
    room = len(buffers.reached)
    begin(graph, buffers, row)
    n_used = int64(1)
    n_pool = int64(1)
    n_kept = int64(0)
    n_flushes = int64(0)
    edges = 0.0
    cost = ratio / (1.0 - ratio)
    tau = _FIRST_THRESHOLD * cost / budget
    falling = True
    for round_ in range(residual.max_rounds):
        n_runs, n_followed, n_kept = _push(graph, buffers, tau, ratio, n_pool, n_kept)
        if round_ + 1 == residual.max_rounds:
            break
        n_sampled = 0.0
        n_picks = int64(0)
        if n_runs == 0:
            left = 0.0
            for a in range(n_kept):
                left += buffers.reached[uint64(buffers.movers[uint64(a)].number)].ahead
            if not left > _NEGLIGIBLE:
                break
            while falling and n_runs == 0:
                falling = edges + left * cost / (_FALL * tau) <= budget
                if falling:
                    tau *= _FALL
                elif budget > edges:
                    tau = min(tau, left * cost / (budget - edges))
                n_runs, n_followed, n_kept = _push_kept(graph, buffers, tau, ratio, n_kept)
            if n_runs == 0:
                if push_only:
                    break
                n_sampled = ratio * left / tau + SLACK
                if n_used + n_sampled <= room:
                    n_flushes += 1
                    point = random_point(key, row, n_flushes)
                    n_runs, n_picks = _flush(graph, buffers, tau, ratio, point, n_kept)
                    n_kept = int64(0)
        edges += n_followed
        if n_used + n_followed + n_sampled > room:
            clear(buffers.cells, buffers.reached, n_used)
            return int64(NO_ROOM)
        n_used, n_pool = gather(graph, buffers, n_runs, n_picks, tau, n_used)
    return n_used


@inlined
def _pool(graph: Any, series: Any, residual: Any, key: Any, row: Any, buffers: Any) -> Any:
    """One row, whatever its series; returns the number of nodes reached, or `NO_ROOM`."""
    # Numba compiles one branch, by the type of `residual`.
    if residual is None:
        return series_pool(graph, series, key, row, buffers)
    return residual_pool(graph, residual, key, row, buffers, False)


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_residual_rows(
    graph: Any, residual: Any, scale: Any, key: Any, rows: Any, buffers: Any, out: Any
) -> Any:
    """As `grfpp.walks.pool.write_rows`, for geometric series."""
    end, columns, values = out
    n_out = int64(0)
    for b in range(len(rows)):
        n_used = residual_pool(graph, residual, key, rows[b], buffers, False)
        if n_used < 0:
            return b, n_out, NO_ROOM
        if n_out + n_used > len(columns):
            clear(buffers.cells, buffers.reached, n_used)
            return b, n_out, NO_OUTPUT
        n_out = write_reached(graph, buffers, n_used, scale, columns, values, n_out)
        end[b] = n_out
    return len(rows), n_out, DONE


@inlined
def _pull(
    graph: Any, series: Any, residual: Any, buffers: Any, first: Any, degree: Any, is_row: Any
) -> Any:
    """What the pool would have deposited at a node, the last step taken exactly.

    In ``row[j] = α_0 [i = j] + Σ_v (Σ_k α_{k+1} x_k[v]) W[v, j]`` the inner sums are known where
    the pool has been. The sum over the edges out of ``j``, which are those into it on undirected
    graphs, replaces a sampled step.
    """
    first_deposit = series.deposits[0] if residual is None else 1.0
    total = first_deposit if is_row else 0.0
    last = first + degree - 1
    for slot in range(first, last + 1):
        ahead = graph.indices[uint64(min(slot + _AHEAD, last))]
        prefetch(buffers.cells, int64(home(ahead, buffers.shift)))
        number = find(buffers.cells, buffers.shift, graph.indices[uint64(slot)])
        if number >= 0:
            reached = buffers.reached[uint64(number)]
            amount = reached.ahead if residual is None else residual.ratio * reached.total
            carried = amount * reached.share
            total += carried * graph.weights[uint64(slot)] if len(graph.weights) else carried
    return total


@inlined
def _precedes(value: Any, node: Any, other_value: Any, other: Any) -> Any:
    """Whether an entry comes before another: the larger first, of equal ones the lower node."""
    return value > other_value or (value == other_value and node < other)


@inlined
def _sift(nodes: Any, values: Any, length: Any, node: Any, value: Any) -> None:
    """Put an entry at the root of a heap whose root is the last of all entries."""
    at = int64(0)
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        right = child + 1
        if right < length and _precedes(values[child], nodes[child], values[right], nodes[right]):
            child = right
        if not _precedes(value, node, values[child], nodes[child]):
            break
        nodes[at] = nodes[child]
        values[at] = values[child]
        at = child
    nodes[at] = node
    values[at] = value


@inlined
def _insert(nodes: Any, values: Any, n_held: Any, node: Any, value: Any) -> Any:
    """Insert an entry into a heap of the largest ones; returns the size of the heap."""
    if n_held < len(nodes):
        at = n_held
        while at > 0:
            parent = (at - 1) // 2
            if not _precedes(values[parent], nodes[parent], value, node):
                break
            nodes[at] = nodes[parent]
            values[at] = values[parent]
            at = parent
        nodes[at] = node
        values[at] = value
        return n_held + 1
    if _precedes(value, node, values[0], nodes[0]):
        _sift(nodes, values, n_held, node, value)
    return n_held


@inlined
def _sort_heap(nodes: Any, values: Any, n_held: Any) -> None:
    """Sort the entries of a heap, the largest first, and fill the rest with `_NO_NODE`."""
    for length in range(n_held - 1, 0, -1):
        node, value = nodes[length], values[length]
        nodes[length], values[length] = nodes[0], values[0]
        _sift(nodes, values, length, node, value)
    for a in range(n_held, len(nodes)):
        nodes[a] = _NO_NODE
        values[a] = 0.0


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def select_largest(
    law: Any, residual: Any, rows: Any, buffers: Any, choice: Any, candidates: Any, out: Any
) -> Any:
    """Write the largest entries of rows to `out`: nodes, values. Returns how many rows are done.

    `law` holds the graph, the series, its scale and the key of the random streams, `choice` whether
    a row may hold its own node and `pull_edges`.

    The candidates are the largest deposits of the pool. Those with few enough edges, `pull_edges`
    in all, are recomputed from their neighbours.
    """
    graph, series, scale, key = law
    with_self, pull_edges = choice
    held_node, held_value = candidates
    nodes, values = out
    for b in range(len(rows)):
        row = rows[b]
        n_used = _pool(graph, series, residual, key, row, buffers)
        if n_used < 0:
            return b
        row_scale = scale / inverse_potential(graph, row, int64(buffers.reached[0].degree))
        n_held = int64(0)
        for a in range(0 if with_self else 1, n_used):
            reached = buffers.reached[uint64(a)]
            inverse = inverse_potential(graph, reached.node, int64(reached.degree))
            value = row_scale * reached.total * inverse
            n_held = _insert(held_node, held_value, n_held, int64(reached.node), value)
        _sort_heap(held_node, held_value, n_held)
        left = pull_edges
        if left > 0.0:
            for a in range(n_held):
                reached = buffers.reached[uint64(find(buffers.cells, buffers.shift, held_node[a]))]
                prefetch(graph.indices, reached.first)
        n_best = int64(0)
        for a in range(n_held):
            node, value = held_node[a], held_value[a]
            if left > 0.0:
                reached = buffers.reached[uint64(find(buffers.cells, buffers.shift, node))]
                degree = int64(reached.degree)
                if degree <= left:
                    left -= degree
                    total = _pull(
                        graph, series, residual, buffers, reached.first, degree, node == row
                    )
                    value = row_scale * total * inverse_potential(graph, node, degree)
            n_best = _insert(nodes[b], values[b], n_best, node, value)
        _sort_heap(nodes[b], values[b], n_best)
        clear(buffers.cells, buffers.reached, n_used)
    return len(rows)


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_values(
    law: Any, residual: Any, rows: Any, buffers: Any, pull_edges: Any, out: Any
) -> Any:
    """Write entries of rows at the columns in `out`, as `select_largest` computes them.

    Columns below zero have none. Returns how many rows are done.
    """
    graph, series, scale, key = law
    columns, values = out
    for b in range(len(rows)):
        row = rows[b]
        n_used = _pool(graph, series, residual, key, row, buffers)
        if n_used < 0:
            return b
        row_scale = scale / inverse_potential(graph, row, int64(buffers.reached[0].degree))
        left = pull_edges
        for c in range(columns.shape[1]):
            node = columns[b, c]
            values[b, c] = 0.0
            if node < 0:
                continue
            first = graph.indptr[uint64(node)]
            degree = graph.indptr[uint64(node) + uint64(1)] - first
            total = float64(0.0)
            if degree <= left:
                left -= degree
                total = _pull(graph, series, residual, buffers, first, degree, node == row)
            else:
                number = find(buffers.cells, buffers.shift, node)
                if number >= 0:
                    total = buffers.reached[uint64(number)].total
            values[b, c] = row_scale * total * inverse_potential(graph, node, degree)
        clear(buffers.cells, buffers.reached, n_used)
    return len(rows)
