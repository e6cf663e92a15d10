"""The compiled loops of local queries, on the pools of `grfpp.walks.pool`.

`residual_pool` samples a row of a geometric series with one pool for all steps. `seeded_pool` runs
the pools of one set of seeds. The other loops write rows, their largest entries, or selected ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float64, int64, uint64

from grfpp._compiled import compiled, inlined
from grfpp.walks.hash_table import add_mass, clear, find, home_cell, pop_mass
from grfpp.walks.pool import (
    SLACK,
    add_run,
    follow_edges,
    init_reached,
    inverse_potential,
    prefetch_end,
    row_edges,
    row_ends,
    row_weights,
    run_series,
    sample_edges,
    sample_stream,
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
    graph: Any,
    residual: Any,
    budget: Any,
    key: Any,
    row: Any,
    buffers: Any,
    push_only: Any,
    n_used: Any,
    n_pool: Any,
) -> Any:
    """Add ``Σ_k γ^k x_k`` to ``reached.total``: push above a threshold, sample below it.

    The pool has been started; `row` selects its streams.

    Processing a node adds its residual to the row and sends ``γ`` of it along its edges; nodes may
    be processed in any order. A node whose edges carry the threshold ``τ`` or more each is pushed
    along all its edges. ``τ`` falls as long as the budget allows. Then the residuals are moved
    along a sample of edges of mass ``τ``, and so on until none is left. With `push_only`
    they stay in ``reached.ahead``. The row is unbiased for any ``τ``.

    This is a second loop beside `grfpp.walks.pool.run_series`, whose budget is split over the
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
    ratio = residual.ratio
    room = len(buffers.reached)
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


# Seeds: the streams of the sets, their ends, nodes (sorted within a set) and weights.


@inlined
def _weight_of_seed(graph: Any, seeds: Any, scale: Any, a: Any) -> Any:
    """``scale`` times a seed's weight, in the measure of the masses."""
    _, _, nodes, weights = seeds
    first, end = row_edges(graph, nodes[a])
    return scale * weights[a] / inverse_potential(graph, uint64(nodes[a]), end - first)


@inlined
def _row_scale(graph: Any, seeds: Any, scale: Any, b: Any) -> Any:
    """The sum of the absolute weights of a set: its masses are relative to it."""
    total = 0.0
    for a in range(seeds[1][b], seeds[1][b + 1]):
        total += abs(_weight_of_seed(graph, seeds, scale, a))
    return total if scale > 0.0 else -total


@inlined
def _index_of_seed(seeds: Any, b: Any, node: Any) -> Any:
    """The index of a node among the seeds of a set, or -1."""
    _, ends, nodes, _ = seeds
    low, high = ends[b], ends[b + 1]
    while low < high:
        middle = (low + high) // 2
        if nodes[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low if low < ends[b + 1] and nodes[low] == node else int64(-1)


@inlined
def _start_seeds(
    graph: Any,
    seeds: Any,
    scale: Any,
    row_scale: Any,
    b: Any,
    negative: Any,
    buffers: Any,
    n_used: Any,
) -> Any:
    """Start a pool at the seeds of one sign.

    Returns the number of nodes reached, the number of nodes in the pool and its mass.
    """
    _, ends, nodes, weights = seeds
    cells, shift, reached, pool = buffers.cells, buffers.shift, buffers.reached, buffers.pool
    before = n_used
    n_pool = int64(0)
    total = 0.0
    for a in range(ends[b], ends[b + 1]):
        if (weights[a] < 0.0) == negative:
            mass = abs(_weight_of_seed(graph, seeds, scale, a) / row_scale)
            n_used, n_pool = add_mass(
                graph, cells, shift, reached, pool, nodes[a], mass, n_used, n_pool
            )
            total += mass
    init_reached(graph, reached, before, n_used)
    return n_used, n_pool, total


@inlined
def seeded_pool(
    graph: Any,
    series: Any,
    residual: Any,
    scale: Any,
    key: Any,
    seeds: Any,
    b: Any,
    buffers: Any,
    push_only: Any,
) -> Any:
    """The row of one set of seeds, for any series: deposits relative to its scale.

    One pool starts from all seeds of a sign. Those of negative weight have a pool of their own,
    first, whose deposits are negated; the budget is split in proportion to the masses.

    Returns the number of nodes reached, or `NO_ROOM`, and the scale of the row.
    """
    streams, ends, _, _ = seeds
    row_scale = _row_scale(graph, seeds, scale, b)
    n_used = int64(0)
    resolution = 0.0
    for negative in (True, False):
        if n_used + ends[b + 1] - ends[b] > len(buffers.reached):
            clear(buffers.cells, buffers.reached, n_used)
            return int64(NO_ROOM), row_scale
        n_used, n_pool, mass = _start_seeds(
            graph, seeds, scale, row_scale, b, negative, buffers, n_used
        )
        if n_pool == 0:
            continue
        stream = ~streams[b] if negative else streams[b]
        share = 1.0 if n_pool == ends[b + 1] - ends[b] else mass
        # Numba compiles one branch, by the type of `residual`.
        if residual is None:
            budget = share * series.budget
            n_used = run_series(graph, series, budget, key, stream, buffers, n_used, n_pool)
        else:
            budget = share * residual.budget
            n_used = residual_pool(
                graph, residual, budget, key, stream, buffers, push_only, n_used, n_pool
            )
        if n_used < 0:
            return n_used, row_scale
        resolution = max(resolution, buffers.resolution[0])
        if negative:
            for a in range(n_used):
                reached = buffers.reached[uint64(a)]
                reached.total = -reached.total
                reached.ahead = -reached.ahead if residual is None else 0.0
                reached.has_residual = 0
    buffers.resolution[0] = resolution
    return n_used, row_scale


@inlined
def _apply_deposits(buffers: Any, deposits: Any, n_used: Any) -> None:
    """Compute the deposits of another series from the masses of every step."""
    trace, trace_end = buffers.trace, buffers.trace_end
    for number in range(n_used):
        reached = buffers.reached[uint64(number)]
        reached.total = reached.ahead = 0.0
    first = int64(0)
    for k in range(len(trace_end)):
        for a in range(first, trace_end[k]):
            entry = trace[uint64(a)]
            reached = buffers.reached[uint64(entry.number)]
            reached.total += deposits[k] * entry.mass
            reached.ahead += deposits[k + 1] * entry.mass
        first = trace_end[k]


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_rows(law: Any, residual: Any, tables: Any, seeds: Any, buffers: Any, out: Any) -> Any:
    """Write rows to `out`: ends of rows, columns, values.

    `law` is the graph, the series, its scale and the key of the random streams. `tables` are the
    deposits of several series, with a row each for every set of seeds; or one row of zeros for the
    series itself. Returns the number of rows, the number of entries, and an exit code such as
    `DONE`.
    """
    graph, series, scale, key = law
    end, columns, values = out
    n_out = int64(0)
    n_rows = int64(0)
    for b in range(len(seeds[0])):
        n_used, row_scale = seeded_pool(
            graph, series, residual, scale, key, seeds, b, buffers, False
        )
        if n_used < 0:
            return n_rows, n_out, NO_ROOM
        if n_out + n_used * len(tables) > len(columns):
            clear(buffers.cells, buffers.reached, n_used)
            return n_rows, n_out, NO_OUTPUT
        for table in range(len(tables)):
            if tables.shape[1]:
                _apply_deposits(buffers, tables[table], n_used)
            n_out = write_reached(graph, buffers, n_used, row_scale, columns, values, n_out)
            end[n_rows] = n_out
            n_rows += 1
    return n_rows, n_out, DONE


@inlined
def _pull(
    graph: Any, first_deposit: Any, residual: Any, buffers: Any, first: Any, degree: Any, start: Any
) -> Any:
    """The deposits at a node, with an exact last step, where the pool had the mass `start`.

    ``row[j] = α_0 x_0[j] + Σ_v (Σ_k α_{k+1} x_k[v]) W[v, j]``: the inner sums are those of the
    nodes that the pool has reached. The sum over the edges out of ``j``, which are the edges into
    ``j`` on undirected graphs, replaces a sampled step.
    """
    total = start * first_deposit
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


@inlined
def _start_mass(graph: Any, seeds: Any, scale: Any, row_scale: Any, b: Any, node: Any) -> Any:
    """The mass at a node with which the pools of a set of seeds start."""
    a = _index_of_seed(seeds, b, node)
    return _weight_of_seed(graph, seeds, scale, a) / row_scale if a >= 0 else 0.0


@inlined
def _degree_of(strength: Any, node: Any, degree: Any) -> Any:
    """The weighted degree of a node; `strength` is empty where all edges weigh one."""
    value = strength[uint64(node)] if len(strength) else float64(degree)
    return value if value > 0.0 else 1.0


@inlined
def _select(
    law: Any,
    first_deposit: Any,
    residual: Any,
    seeds: Any,
    b: Any,
    row_scale: Any,
    buffers: Any,
    n_used: Any,
    choice: Any,
    candidates: Any,
    nodes: Any,
    values: Any,
) -> None:
    """Write the largest entries of one row, from the deposits of its pool."""
    graph, _, scale, _ = law
    include_self, pull_edges, is_allowed, by_degree, strength = choice
    held_node, held_value = candidates
    _empty_heap(held_node, held_value)
    for a in range(n_used):
        reached = buffers.reached[uint64(a)]
        inverse = inverse_potential(graph, reached.node, int64(reached.degree))
        value = row_scale * reached.total * inverse
        if by_degree:
            value /= _degree_of(strength, reached.node, int64(reached.degree))
        if not _precedes(value, reached.node, held_value[0], held_node[0]):
            continue
        if len(is_allowed) and not is_allowed[uint64(reached.node)]:
            continue
        if not include_self and _index_of_seed(seeds, b, reached.node) >= 0:
            continue
        _sift(held_node, held_value, len(held_node), int64(reached.node), value)
    _sort_heap(held_node, held_value)
    n_held = int64(0)
    while n_held < len(held_node) and held_node[n_held] != _NO_NODE:
        n_held += 1
    left = pull_edges
    if left > 0.0:
        for a in range(n_held):
            reached = buffers.reached[uint64(find(buffers.cells, buffers.shift, held_node[a]))]
            prefetch_end(graph, reached.first)
    _empty_heap(nodes, values)
    for a in range(n_held):
        node, value = held_node[a], held_value[a]
        if left > 0.0:
            reached = buffers.reached[uint64(find(buffers.cells, buffers.shift, node))]
            degree = int64(reached.degree)
            if degree <= left:
                left -= degree
                start = _start_mass(graph, seeds, scale, row_scale, b, node)
                total = _pull(graph, first_deposit, residual, buffers, reached.first, degree, start)
                value = row_scale * total * inverse_potential(graph, node, degree)
                if by_degree:
                    value /= _degree_of(strength, node, degree)
        if value > 0.0:
            _insert(nodes, values, node, value)
    _sort_heap(nodes, values)
    for a in range(len(values)):
        values[a] = max(values[a], 0.0)


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def select_largest(
    law: Any,
    residual: Any,
    tables: Any,
    seeds: Any,
    buffers: Any,
    choice: Any,
    candidates: Any,
    out: Any,
) -> Any:
    """Write the largest entries of rows to `out`: nodes, values, and resolutions of the rows.

    Returns the number of rows done. `law` and `tables` are those of `write_rows`. `choice` is
    ``(include_self, pull_edges, is_allowed, by_degree, strength)``, as in
    `grfpp.local.queries.Choice`.

    The candidates are the largest deposits of the pool. They are recomputed from their neighbours,
    along `pull_edges` edges in all. Those that are positive then are written.
    """
    graph, series, scale, key = law
    nodes, values, resolutions = out
    for b in range(len(seeds[0])):
        n_used, row_scale = seeded_pool(
            graph, series, residual, scale, key, seeds, b, buffers, False
        )
        if n_used < 0:
            return b
        resolutions[b] = abs(row_scale) * buffers.resolution[0]
        for table in range(len(tables)):
            first_deposit = series.deposits[0] if residual is None else 1.0
            if tables.shape[1]:
                _apply_deposits(buffers, tables[table], n_used)
                first_deposit = tables[table, 0]
            _select(
                law,
                first_deposit,
                residual,
                seeds,
                b,
                row_scale,
                buffers,
                n_used,
                choice,
                candidates,
                nodes[b, table],
                values[b, table],
            )
        clear(buffers.cells, buffers.reached, n_used)
    return len(seeds[0])


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_values(
    law: Any, residual: Any, seeds: Any, buffers: Any, pull_edges: Any, out: Any
) -> Any:
    """Write entries of rows at the columns in `out`, as `select_largest` computes them.

    Entries of negative columns are zero. Returns the number of rows done.
    """
    graph, series, scale, key = law
    columns, values = out
    first_deposit = series.deposits[0] if residual is None else 1.0
    for b in range(len(seeds[0])):
        n_used, row_scale = seeded_pool(
            graph, series, residual, scale, key, seeds, b, buffers, False
        )
        if n_used < 0:
            return b
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
                start = _start_mass(graph, seeds, scale, row_scale, b, node)
                total = _pull(graph, first_deposit, residual, buffers, first, degree, start)
            else:
                number = find(buffers.cells, buffers.shift, node)
                if number >= 0:
                    total = buffers.reached[uint64(number)].total
            values[b, c] = row_scale * total * inverse_potential(graph, node, degree)
        clear(buffers.cells, buffers.reached, n_used)
    return len(seeds[0])


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_resolutions(law: Any, residual: Any, seeds: Any, buffers: Any, out: Any) -> Any:
    """Write the largest amount that a missed pick could have added to each row.

    An entry may have missed this times `inverse_potential` of its column. Returns the number of
    rows done.
    """
    graph, series, scale, key = law
    (resolutions,) = out
    for b in range(len(seeds[0])):
        n_used, row_scale = seeded_pool(
            graph, series, residual, scale, key, seeds, b, buffers, False
        )
        if n_used < 0:
            return b
        resolutions[b] = abs(row_scale) * buffers.resolution[0]
        clear(buffers.cells, buffers.reached, n_used)
    return len(seeds[0])


@inlined
def _student_tail(t: Any, freedom: Any) -> Any:
    """Probability above ``t ≥ 0`` of Student's distribution, whose degrees of freedom are whole.

    Absolutely right to rounding: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions,
    equations 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(freedom))
    cosine, is_odd = math.cos(angle), freedom % 2
    term = cosine if is_odd else 1.0
    total = 0.0
    for a in range(freedom // 2):
        total += term
        term *= cosine * cosine * (2 * a + 1 + is_odd) / (2 * a + 2 + is_odd)
    inside = math.sin(angle) * total
    return 0.5 - (angle + inside) / math.pi if is_odd else 0.5 - 0.5 * inside


@inlined
def _rank_means(found: Any, weights: Any, q: Any, best: Any, means: Any, squares: Any) -> None:
    """Write the nodes with the largest means over several lists, these, and sums of squares.

    Squares are those of deviations from the mean; both are weighted. A list that a node is not in
    counts with its last value.
    """
    nodes, values = found
    n_lists, _, length = nodes.shape
    for a in range(n_lists * length):
        node = nodes[a // length, q, a % length]
        is_known = node < 0
        for earlier in range(a // length):
            for b in range(length):
                is_known = is_known or nodes[earlier, q, b] == node
        if is_known:
            continue
        total = mean = square = 0.0
        for p in range(n_lists):
            value = values[p, q, length - 1]
            for b in range(length):
                if nodes[p, q, b] == node:
                    value = values[p, q, b]
            total += weights[p]
            change = value - mean
            mean += change * weights[p] / total
            square += weights[p] * change * (value - mean)
        at = length
        while at > 0 and (best[at - 1] < 0 or _precedes(mean, node, means[at - 1], best[at - 1])):
            at -= 1
            if at + 1 < length:
                best[at + 1], means[at + 1] = best[at], means[at]
                squares[at + 1] = squares[at]
        if at < length:
            best[at], means[at], squares[at] = node, mean, square


@compiled(error_model="numpy", no_cfunc_wrapper=True)
def rank_lists(found: Any, weights: Any, divisor: Any, prior: Any, out: Any) -> None:
    """Rank the union of the lists of several pools; see `grfpp.local.confidence`.

    `found` are nodes and values by list, query and rank, `weights` those of all lists that there
    may be, `divisor` the graph, whether values are divided by degrees, and these. `out` are
    nodes, means, bounds of the probabilities that the first ones are wrong as a set, and the last
    of these that is expected with all lists.
    """
    graph, by_degree, strength = divisor
    best, means, risks, least = out
    n_lists, _, length = found[0].shape
    k = risks.shape[1]
    known, total = 0.0, 0.0
    for p in range(len(weights)):
        total += weights[p]
        known += weights[p] if p < n_lists else 0.0
    variances = np.empty(length + 1)
    units = np.empty(length)
    for q in range(len(best)):
        _rank_means(found, weights, q, best[q], means[q], variances)
        # The variance that all candidates share, in units of each one's.
        shared = 0.0
        sum_of_units = 0.0
        for a in range(length):
            node = best[q, a]
            if node < 0:
                units[a] = variances[a] = 0.0
                continue
            first, end = row_edges(graph, node)
            degree = int64(end - first)
            unit = math.sqrt(means[q, a] * max(degree, 1))
            if by_degree:
                value = _degree_of(strength, node, degree)
                unit *= math.sqrt(value) / (value * value)
            units[a] = unit
            shared += variances[a]
            sum_of_units += unit
        freedom = prior + n_lists - 1
        if sum_of_units > 0.0:
            shared *= prior / (sum_of_units * (n_lists - 1))
        for a in range(length):
            variances[a] = (shared * units[a] + variances[a]) / (freedom * known)
        # A further candidate stands for nodes that no list has.
        variances[length] = variances[length - 1]
        last = 0.0
        for p in range(n_lists):
            last = max(last, found[1][p, q, length - 1])
        risks[q] = 0.0
        least[q] = 0.0
        for i in range(k):
            for j in range(i + 1, length + 1):
                gap = means[q, i] - (means[q, j] if j < length else last)
                deviation = math.sqrt(variances[i] + variances[j])
                score = gap / deviation if gap > 0.0 else 0.0
                risk = _student_tail(score, freedom)
                for r in range(i, min(j, k)):
                    risks[q, r] += risk
                if j >= k:
                    least[q] += _student_tail(score * math.sqrt(total / known), freedom)
