"""The compiled loops of local queries, on the pools of `grfpp.walks.pool`.

`residual_pool` samples a row of a geometric series with one pool for all steps. The other loops
write the largest entries of rows, or selected ones.
"""

from __future__ import annotations

import math
from typing import Any

from numba import float64, int64, uint64

from grfpp._compiled import compiled, inlined
from grfpp.walks.hash_table import clear, find, home_cell, pop_mass
from grfpp.walks.pool import (
    SLACK,
    add_run,
    follow_edges,
    inverse_potential,
    prefetch_end,
    row_edges,
    row_ends,
    row_weights,
    sample_edges,
    sample_stream,
    series_pool,
    start_pool,
    write_reached,
)
from grfpp.walks.pool_arrays import DONE, NO_OUTPUT, NO_ROOM
from grfpp.walks.steps import prefetch

#: The first threshold, relative to the one at which pushing from the start may exhaust the budget:
#: high enough that large residuals are pushed first.
_FIRST_THRESHOLD = 64.0
#: Factor by which the threshold falls: few rounds, and at most twice the final threshold.
_FALL = 0.5
#: Sum of residuals that is negligible: below rounding, relative to the initial mass of one.
_NEGLIGIBLE = 1e-18
#: Distance, in neighbours, at which table cells are prefetched, which hides the latency of memory.
_AHEAD = 12
#: Fills the nodes of rows with fewer entries than asked for.
_NO_NODE = -1


@inlined
def _push_or_defer(
    graph: Any, buffers: Any, number: Any, amount: Any, tau: Any, ratio: Any, n_runs: Any
) -> Any:
    """Push a residual along all edges of its node if it exceeds the threshold, else store it.

    Returns the number of runs and the number of edges pushed along.
    """
    reached = buffers.reached[uint64(number)]
    degree = int64(reached.degree)
    reached.ahead = 0.0
    if degree == 0:
        reached.total += amount
    elif ratio * amount >= tau * degree:
        reached.total += amount
        first, edge_mass = reached.first, ratio * amount * reached.share
        end = first + degree
        return add_run(graph, buffers.runs, first, end, edge_mass, n_runs), degree
    else:
        reached.ahead = amount
    return n_runs, int64(0)


# Numbers of deferred nodes are stored in `buffers.picks`, which only `_sample` needs otherwise; it
# reads them all before it stores picks.


@inlined
def _push(graph: Any, buffers: Any, tau: Any, ratio: Any, n_pool: Any, n_deferred: Any) -> Any:
    """Push the residuals of the pool that exceed the threshold, and defer the others.

    Returns the number of runs, the number of their edges, and the number of deferred nodes.
    """
    n_runs = int64(0)
    n_edges = int64(0)
    for a in range(n_pool):
        number, amount = pop_mass(buffers.reached, buffers.pool, a)
        reached = buffers.reached[uint64(number)]
        amount += reached.ahead
        n_runs, degree = _push_or_defer(graph, buffers, number, amount, tau, ratio, n_runs)
        n_edges += degree
        if reached.ahead > 0.0 and not reached.has_residual:
            reached.has_residual = 1
            buffers.picks[uint64(n_deferred)] = number
            n_deferred += 1
    return n_runs, n_edges, n_deferred


@inlined
def _push_rest(graph: Any, buffers: Any, tau: Any, ratio: Any, n_deferred: Any) -> Any:
    """The same for the deferred nodes."""
    n_runs = int64(0)
    n_edges = int64(0)
    n_left = int64(0)
    for a in range(n_deferred):
        number = buffers.picks[uint64(a)]
        reached = buffers.reached[uint64(number)]
        if reached.ahead > 0.0:
            n_runs, degree = _push_or_defer(
                graph, buffers, number, reached.ahead, tau, ratio, n_runs
            )
            n_edges += degree
        if reached.ahead > 0.0:
            buffers.picks[uint64(n_left)] = number
            n_left += 1
        else:
            reached.has_residual = 0
    return n_runs, n_edges, n_left


@inlined
def _sample(graph: Any, buffers: Any, tau: Any, ratio: Any, stream: Any, n_deferred: Any) -> Any:
    """Move all residuals along a sample of edges, with mass `tau` on each.

    Edges whose mass exceeds `tau`, as with unequal weights, keep it. Returns the number of runs and
    the number of picks.
    """
    n_light = int64(0)
    for a in range(n_deferred):
        reached = buffers.reached[uint64(buffers.picks[uint64(a)])]
        reached.has_residual = 0
        amount = reached.ahead
        if amount > 0.0:
            reached.ahead = 0.0
            reached.total += amount
            light = buffers.light[uint64(n_light)]
            light.first, light.end = reached.first, reached.first + reached.degree
            light.mass = ratio * amount * reached.share
            light.sum = ratio * amount
            light.n_heavy = light.sum >= tau  # there may be some
            n_light += 1
    return sample_edges(graph, buffers, n_light, tau, stream, int64(0))


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True)
def residual_pool(
    graph: Any, residual: Any, key: Any, row: Any, buffers: Any, push_only: Any
) -> Any:
    """Store ``Σ_k γ^k x_k`` in ``reached.total``: push above a threshold, sample below it.

    Processing a node adds its residual to the row and sends ``γ`` of it along its edges; nodes may
    be processed in any order. A node whose edges carry the threshold ``τ`` or more each is pushed
    along all its edges. ``τ`` falls as long as the budget allows. Then the residuals are moved
    along a sample of edges of mass ``τ``, and so on until none is left. With `push_only`
    they stay in ``reached.ahead``. The row is unbiased for any ``τ``.

    This is a second loop beside `grfpp.walks.pool.series_pool`, whose budget is split over the
    steps of the series. What remains of a geometric series after a step is the series itself, so
    the masses of all steps at a node merge into one residual: one pool and one threshold serve all
    steps, and a node that walks visit at many steps is pushed once for several of them.

    The budget holds in the mean: a push of ``d`` edges takes at least ``τ d / γ`` from the total
    residual ``R`` and returns ``γ`` of it, so ``edges + R γ / ((1 − γ) τ)`` never grows.

    Returns the number of nodes reached, or `NO_ROOM`.

    References
    ----------
    R. Andersen, F. Chung and K. Lang, Local graph partitioning using PageRank vectors, FOCS 2006.

    L.-H. Lim and J. Weare, Fast randomized iteration: diffusion Monte Carlo through the lens of
    numerical linear algebra, SIAM Review 59, 2017.
    """
    ratio, budget = residual.ratio, residual.budget
    room = len(buffers.reached)
    start_pool(graph, buffers, row)
    n_used = int64(1)
    n_pool = int64(1)
    n_deferred = int64(0)
    n_samples = int64(0)
    edges = 0.0
    cost = ratio / (1.0 - ratio)
    tau = _FIRST_THRESHOLD * cost / budget
    falling = True
    for round_ in range(residual.max_rounds):
        n_runs, n_followed, n_deferred = _push(graph, buffers, tau, ratio, n_pool, n_deferred)
        if round_ + 1 == residual.max_rounds:
            break
        n_sampled = 0.0
        n_picks = int64(0)
        if n_runs == 0:
            left = 0.0
            for a in range(n_deferred):
                left += buffers.reached[uint64(buffers.picks[uint64(a)])].ahead
            if not left > _NEGLIGIBLE:
                break
            while falling and n_runs == 0:
                falling = edges + left * cost / (_FALL * tau) <= budget
                if falling:
                    tau *= _FALL
                elif budget > edges:
                    tau = min(tau, left * cost / (budget - edges))
                n_runs, n_followed, n_deferred = _push_rest(graph, buffers, tau, ratio, n_deferred)
            if n_runs == 0:
                if push_only:
                    break
                n_sampled = ratio * left / tau + SLACK
                if n_used + n_sampled <= room:
                    n_samples += 1
                    stream = sample_stream(key, row, n_samples)
                    n_runs, n_picks = _sample(graph, buffers, tau, ratio, stream, n_deferred)
                    n_deferred = int64(0)
        edges += n_followed
        if n_used + n_followed + n_sampled > room:
            clear(buffers.cells, buffers.reached, n_used)
            return int64(NO_ROOM)
        n_used, n_pool = follow_edges(graph, buffers, n_runs, n_picks, tau, n_used)
    buffers.resolution[0] = tau if n_samples else 0.0
    return n_used


@inlined
def _pool(graph: Any, series: Any, residual: Any, key: Any, row: Any, buffers: Any) -> Any:
    """One row of any series; returns the number of nodes reached, or `NO_ROOM`."""
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
    """The deposits at a node, with an exact last step.

    ``row[j] = α_0 [i = j] + Σ_v (Σ_k α_{k+1} x_k[v]) W[v, j]``: the inner sums are those of the
    nodes that the pool has reached. The sum over the edges out of ``j``, which are the edges into
    ``j`` on undirected graphs, replaces a sampled step.
    """
    first_deposit = series.deposits[0] if residual is None else 1.0
    total = first_deposit if is_row else 0.0
    ends, offset = row_ends(graph, first)
    weights = row_weights(graph, first)[0]
    last = first - offset + degree - 1
    for slot in range(first - offset, last + 1):
        ahead = ends[uint64(min(slot + _AHEAD, last))]
        prefetch(buffers.cells, int64(home_cell(ahead, buffers.shift)))
        number = find(buffers.cells, buffers.shift, ends[uint64(slot)])
        if number >= 0:
            reached = buffers.reached[uint64(number)]
            amount = reached.ahead if residual is None else residual.ratio * reached.total
            edge_mass = amount * reached.share
            total += edge_mass * weights[uint64(slot)] if len(graph.weights) else edge_mass
    return total


@inlined
def _precedes(value: Any, node: Any, other_value: Any, other: Any) -> Any:
    """Whether an entry ranks before another: larger values first, then lower nodes."""
    return value > other_value or (value == other_value and node < other)


@inlined
def _sift(nodes: Any, values: Any, length: Any, node: Any, value: Any) -> None:
    """Replace the root of a heap, which is its lowest-ranking entry, and restore the order."""
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
def _empty_heap(nodes: Any, values: Any) -> None:
    """Fill a heap of the largest entries with `_NO_NODE`, which precedes no entry."""
    for a in range(len(nodes)):
        nodes[a] = _NO_NODE
        values[a] = -math.inf


@inlined
def _insert(nodes: Any, values: Any, node: Any, value: Any) -> None:
    """Insert an entry into a heap of the largest entries."""
    if _precedes(value, node, values[0], nodes[0]):
        _sift(nodes, values, len(nodes), node, value)


@inlined
def _sort_heap(nodes: Any, values: Any) -> None:
    """Sort the entries of a heap, largest first."""
    for length in range(len(nodes) - 1, 0, -1):
        node, value = nodes[length], values[length]
        nodes[length], values[length] = nodes[0], values[0]
        _sift(nodes, values, length, node, value)


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def select_largest(
    law: Any, residual: Any, rows: Any, buffers: Any, choice: Any, candidates: Any, out: Any
) -> Any:
    """Write the largest entries of rows to `out`: nodes, values. Returns the number of rows done.

    `law` is the graph, the series, its scale and the key of the random streams; `choice` is
    ``(include_self, pull_edges)``.

    The candidates are the largest deposits of the pool. They are recomputed from their neighbours,
    along `pull_edges` edges in all. Those that are positive then are written.
    """
    graph, series, scale, key = law
    include_self, pull_edges = choice
    held_node, held_value = candidates
    nodes, values = out
    for b in range(len(rows)):
        row = rows[b]
        n_used = _pool(graph, series, residual, key, row, buffers)
        if n_used < 0:
            return b
        row_scale = scale / inverse_potential(graph, row, int64(buffers.reached[0].degree))
        _empty_heap(held_node, held_value)
        for a in range(0 if include_self else 1, n_used):
            reached = buffers.reached[uint64(a)]
            inverse = inverse_potential(graph, reached.node, int64(reached.degree))
            value = row_scale * reached.total * inverse
            _insert(held_node, held_value, int64(reached.node), value)
        _sort_heap(held_node, held_value)
        n_held = int64(0)
        while n_held < len(held_node) and held_node[n_held] != _NO_NODE:
            n_held += 1
        left = pull_edges
        if left > 0.0:
            for a in range(n_held):
                reached = buffers.reached[uint64(find(buffers.cells, buffers.shift, held_node[a]))]
                prefetch_end(graph, reached.first)
        _empty_heap(nodes[b], values[b])
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
            if value > 0.0:
                _insert(nodes[b], values[b], node, value)
        _sort_heap(nodes[b], values[b])
        for a in range(values.shape[1]):
            values[b, a] = max(values[b, a], 0.0)
        clear(buffers.cells, buffers.reached, n_used)
    return len(rows)


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_values(
    law: Any, residual: Any, rows: Any, buffers: Any, pull_edges: Any, out: Any
) -> Any:
    """Write entries of rows at the columns in `out`, as `select_largest` computes them.

    Entries of negative columns are zero. Returns the number of rows done.
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
            first, end = row_edges(graph, node)
            degree = end - first
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


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_resolutions(law: Any, residual: Any, rows: Any, buffers: Any, out: Any) -> Any:
    """Write the largest amount that a missed pick could have added to each row.

    An entry may have missed this times `inverse_potential` of its column. Returns the number of
    rows done.
    """
    graph, series, scale, key = law
    (resolutions,) = out
    for b in range(len(rows)):
        n_used = _pool(graph, series, residual, key, rows[b], buffers)
        if n_used < 0:
            return b
        inverse = inverse_potential(graph, rows[b], int64(buffers.reached[0].degree))
        resolutions[b] = abs(scale) / inverse * buffers.resolution[0]
        clear(buffers.cells, buffers.reached, n_used)
    return len(rows)
