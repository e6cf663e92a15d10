"""The compiled step of a pool.

The walkers of a row move as a pool, a sparse vector ``x`` of masses. A step replaces ``x`` by a
sparse vector of mean ``x W``; `grfpp.walks.reference` has the same in plain Python. Factors,
deposits by length and local queries differ in where pools start and in what they record.

Equal and unequal weights have a threshold and a sampler each. Where all edges of a node weigh the
same, the node is above the threshold as a whole: one comparison and one division a node, and no
weight is read. Where they differ, the threshold is one of edges, which has less error than one of
nodes (`docs/mathematics.md`), and heavy edges are separated from light ones within each row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float64, int64, uint64

from grfpp._compiled import compiled, inlined
from grfpp.walks.hash_table import NUMBER_BITS, add_mass, clear, home_cell, pop_mass
from grfpp.walks.pool_arrays import DONE, FREE, NO_OUTPUT, NO_ROOM, PLAIN, RW, SYM
from grfpp.walks.steps import mix64, node_stream, prefetch, read_ends, row_place, walk_stream

#: Largest number of passes for a threshold: more than any observed. Any threshold is unbiased.
_MAX_PASSES = 64
#: Smallest threshold that is inverted: its inverse is finite. Smaller masses are negligible
#: relative to the initial mass of one.
_MIN_THRESHOLD = 1e-290
#: Edges that a step may follow beyond its budget: one, and two for rounding.
SLACK = 3.0
#: Distance, in movers, at which rows of weights are prefetched, which hides the latency of memory.
_MOVERS_AHEAD = 6
#: Distance, in picks, at which cells of the hash table are prefetched.
_PICKS_AHEAD = 12
#: Neighbours in a cache line: 64 bytes of int32.
_LINE = 16

#: Inverses of the degrees up to 256: divisions and roots would take a fifth of a step.
_INVERSE = 1.0 / np.arange(1.0, 257.0)
#: Inverse roots of the same degrees.
_INVERSE_ROOT = np.sqrt(_INVERSE)

# Indices in hot loops are unsigned: numba checks signed ones for wraparound.


# The graph.


@inlined
def row_edges(graph: Any, node: Any) -> Any:
    """The first edge of a node, and the end of its edges."""
    at = row_place(graph.more, node)
    return graph.indptr[at], graph.indptr[at + uint64(1)]


@inlined
def row_ends(graph: Any, first: Any) -> Any:
    """An array with the ends of the edges of a row, and the edge at its index 0."""
    return _ends_among(graph.indices, graph.more, first)


@inlined
def row_weights(graph: Any, first: Any) -> Any:
    """The same for the weights, where edges have different ones."""
    return _weights_among(graph.weights, graph.indices, graph.more, first)


# Numba compiles one branch, by the type of `more`: rows that were not updated cost nothing more.


@inlined
def _ends_among(indices: Any, more: Any, first: Any) -> Any:
    if more is None:
        return indices, int64(0)
    if first < len(indices):
        return indices, int64(0)
    return more[0], int64(len(indices))


@inlined
def _weights_among(weights: Any, indices: Any, more: Any, first: Any) -> Any:
    if more is None:
        return weights, int64(0)
    if first < len(indices):
        return weights, int64(0)
    return more[1], int64(len(indices))


@inlined
def prefetch_end(graph: Any, slot: Any) -> None:
    """Prefetch the end of an edge."""
    ends, offset = row_ends(graph, slot)
    prefetch(ends, slot - offset)


# Nodes.


@inlined
def init_reached(graph: Any, reached: Any, first_new: Any, n_used: Any) -> None:
    """Initialise the records of newly reached nodes: their edges and shares.

    The share is the mass on an edge of weight one per unit of the node's mass (`PoolLayout`).
    """
    kind, out, into = graph.kind, graph.out_strength, graph.in_strength
    is_one_sided = kind == RW or (kind == SYM and not len(into))
    by_degree = is_one_sided and not len(out)
    inverse_rate = 1.0 / graph.rate
    for number in range(first_new, n_used):
        new = reached[uint64(number)]
        node = uint64(new.node)
        first, end = row_edges(graph, node)
        degree = end - first
        share = inverse_rate
        if degree == 0:
            share = 1.0
        elif by_degree:
            share = _INVERSE[uint64(degree - 1)] if degree <= len(_INVERSE) else 1.0 / degree
        elif kind != PLAIN:
            strength = out[node] if len(out) else float64(degree)
            if not is_one_sided:
                arriving = into[node] if len(into) else strength
                arriving = arriving if arriving > 0.0 else 1.0
                is_sym = kind == SYM
                strength = math.sqrt(strength) * math.sqrt(arriving) if is_sym else arriving
            share = 1.0 / strength
        new.first, new.degree, new.share = first, degree, share
        new.total = new.ahead = 0.0
        new.has_residual = 0


@inlined
def inverse_potential(graph: Any, node: Any, degree: Any) -> Any:
    """The inverse of the measure of masses at a node."""
    if len(graph.measure):
        return 1.0 / graph.measure[uint64(node)]
    if graph.kind in (PLAIN, RW):
        return 1.0
    if len(graph.in_strength):
        strength = graph.in_strength[uint64(node)]
    elif len(graph.out_strength):
        strength = graph.out_strength[uint64(node)]
    elif graph.kind == SYM and 0 < degree <= len(_INVERSE_ROOT):
        return _INVERSE_ROOT[uint64(degree - 1)]
    else:
        strength = float64(degree)
    if not strength > 0.0:
        return 1.0
    return 1.0 / (math.sqrt(strength) if graph.kind == SYM else strength)


@inlined
def start_pool(graph: Any, buffers: Any, row: Any) -> None:
    """Start a pool with mass one at a node; the table must be empty."""
    at = home_cell(row, buffers.shift)
    buffers.cells[at].key = int64(row) << NUMBER_BITS
    start = buffers.reached[0]
    start.node, start.cell, start.mass = row, at, 1.0
    buffers.pool[0] = 0
    init_reached(graph, buffers.reached, int64(0), int64(1))


# Edges to follow.


@inlined
def _prefetch_run(graph: Any, first: Any, end: Any) -> None:
    ends, offset = row_ends(graph, first)
    prefetch(ends, first - offset)
    prefetch(ends, min(first + _LINE, end - 1) - offset)


@inlined
def add_run(graph: Any, runs: Any, first: Any, end: Any, mass: Any, n_runs: Any) -> Any:
    """Append a run of edges with masses ``mass · weight``; returns ``n_runs + 1``."""
    _prefetch_run(graph, first, end)
    run = runs[uint64(n_runs)]
    run.first, run.end, run.mass = first, end, mass
    return n_runs + 1


@inlined
def _ends(graph: Any, file: Any, buffers: Any, first: Any, end: Any) -> Any:
    """As `row_ends`, from the file where there is one."""
    # Numba compiles one branch, by the type of `file`.
    if file is None:
        return row_ends(graph, first)
    if first >= len(graph.indices):
        return row_ends(graph, first)
    read_ends(file, buffers.ends_address, first, end - first)
    return buffers.ends, first


@inlined
def follow_edges(
    graph: Any, buffers: Any, n_runs: Any, n_picks: Any, picked_mass: Any, n_used: Any
) -> Any:
    """Move masses along the runs and picks.

    Returns the number of nodes reached and the number of nodes in the pool.
    """
    cells, shift, reached, pool = buffers.cells, buffers.shift, buffers.reached, buffers.pool
    before = n_used
    n_pool = int64(0)
    for a in range(n_runs):
        run = buffers.runs[uint64(a)]
        edge_mass, first, end = run.mass, run.first, run.end
        ends, offset = _ends(graph, graph.file, buffers, first, end)
        if len(graph.weights):
            weights, before_row = row_weights(graph, first)
            for slot in range(first, end):
                mass = edge_mass * weights[uint64(slot - before_row)]
                if mass > 0.0:
                    node = ends[uint64(slot - offset)]
                    n_used, n_pool = add_mass(
                        graph, cells, shift, reached, pool, node, mass, n_used, n_pool
                    )
        elif edge_mass > 0.0:
            for slot in range(first - offset, end - offset):
                node = ends[uint64(slot)]
                n_used, n_pool = add_mass(
                    graph, cells, shift, reached, pool, node, edge_mass, n_used, n_pool
                )
    for a in range(n_picks):
        if graph.file is None:
            ahead = buffers.picks[uint64(min(a + _PICKS_AHEAD, n_picks - 1))]
            ends, offset = row_ends(graph, ahead)
            prefetch(cells, int64(home_cell(ends[uint64(ahead - offset)], shift)))
        slot = buffers.picks[uint64(a)]
        ends, offset = _ends(graph, graph.file, buffers, slot, slot + 1)
        node = ends[uint64(slot - offset)]
        n_used, n_pool = add_mass(
            graph, cells, shift, reached, pool, node, picked_mass, n_used, n_pool
        )
    init_reached(graph, reached, before, n_used)
    return n_used, n_pool


# Choice of edges: all above the threshold, a systematic sample of those below it.


@inlined
def _split_nodes(
    graph: Any, nodes: Any, n: Any, threshold: Any, runs: Any, n_runs: Any, lights: Any
) -> Any:
    """Append `n` nodes with equal weights to the runs or, below the threshold, store them as light.

    Returns the numbers of runs, of their new edges and of light nodes, and the mass of the latter.
    """
    n_light = int64(0)
    n_edges = int64(0)
    total = 0.0
    for a in range(n):
        node = nodes[uint64(a)]
        first, end, mass = node.first, node.end, node.mass
        if mass >= threshold:
            n_runs = add_run(graph, runs, first, end, mass, n_runs)
            n_edges += end - first
        else:
            light = lights[uint64(n_light)]
            light.first, light.end, light.mass = first, end, mass
            total += mass * (end - first)
            n_light += 1
    return n_runs, n_edges, n_light, total


@inlined
def _threshold_equal(graph: Any, runs: Any, lights: Any, n_movers: Any, allowed: Any) -> Any:
    """The threshold for equal weights: one of nodes; nodes above it stay in the runs.

    Returns the threshold, the number of runs and the number of nodes below the threshold.
    """
    total = 0.0
    for a in range(n_movers):
        run = runs[uint64(a)]
        total += run.mass * (run.end - run.first)
    threshold = total / allowed
    before = n_movers
    n_runs, exact, n_light, total = _split_nodes(
        graph, runs, n_movers, threshold, runs, int64(0), lights
    )
    for _ in range(_MAX_PASSES):
        if n_light in (before, 0) or not allowed - exact > 0.0:
            break
        threshold = total / (allowed - exact)
        before = n_light
        n_runs, n_edges, n_light, total = _split_nodes(
            graph, lights, n_light, threshold, runs, n_runs, lights
        )
        exact += n_edges
    return threshold, n_runs, n_light


@inlined
def first_below(values: Any, begin: Any, end: Any, bound: Any) -> Any:
    """The first index from `begin` on where decreasing values are below `bound`, or `end`."""
    low = begin
    reach = int64(1)
    while low < end and values[uint64(low)] >= bound:
        begin = low + 1
        low = min(low + reach, end)
        reach *= 2
    while begin < low:
        middle = (begin + low) // 2
        if values[uint64(middle)] >= bound:
            begin = middle + 1
        else:
            low = middle
    return begin


@inlined
def _sum_row(graph: Any, light: Any) -> None:
    """Store the sum and the maximum of the edge masses of a row."""
    first, end, edge_mass = light.first, light.end, light.mass
    if len(graph.tails):
        light.sum = edge_mass * graph.tails[uint64(first)]
        light.heaviest = edge_mass * graph.weights[uint64(first)]
        return
    weights, offset = row_weights(graph, first)
    total = heaviest = 0.0
    for slot in range(first - offset, end - offset):
        slot_mass = edge_mass * weights[uint64(slot)]
        total += slot_mass
        heaviest = max(heaviest, slot_mass)
    light.sum = total
    light.heaviest = heaviest


@inlined
def _split_row(graph: Any, threshold: Any, light: Any) -> None:
    """Store the number of heavy edges of a row, and the sum and maximum of the light ones."""
    first, end, edge_mass = light.first, light.end, light.mass
    if len(graph.tails):
        weights, tails = graph.weights, graph.tails
        # A product first: the smallest masses have no inverse.
        slot = first + light.n_heavy
        if edge_mass * weights[uint64(slot)] >= threshold:
            slot = first_below(weights, slot, end, threshold / edge_mass)
        light.n_heavy = slot - first
        light.sum = edge_mass * tails[uint64(slot)] if slot < end else 0.0
        light.heaviest = edge_mass * weights[uint64(slot)] if slot < end else -1.0
        return
    row, offset = row_weights(graph, first)
    n_heavy = int64(0)
    total = 0.0
    heaviest = -1.0
    for slot in range(first - offset, end - offset):
        slot_mass = edge_mass * row[uint64(slot)]
        if slot_mass >= threshold:
            n_heavy += 1
        else:
            total += slot_mass
            heaviest = max(heaviest, slot_mass)
    light.n_heavy = n_heavy
    light.sum = total
    light.heaviest = heaviest


@inlined
def _threshold_weighted(graph: Any, runs: Any, lights: Any, n_movers: Any, allowed: Any) -> Any:
    """The threshold for unequal weights: one of edges, not of nodes.

    `lights` then has the number of heavy edges of each node, and the mass on its light ones.
    """
    total = 0.0
    for a in range(n_movers):
        ahead = runs[uint64(min(a + _MOVERS_AHEAD, n_movers - 1))]
        weights, offset = row_weights(graph, ahead.first)
        prefetch(weights, ahead.first - offset)
        if len(graph.tails):
            prefetch(graph.tails, ahead.first)
        else:
            prefetch(weights, min(ahead.first + _LINE // 2, ahead.end - 1) - offset)
        run, light = runs[uint64(a)], lights[uint64(a)]
        light.first, light.end, light.mass, light.n_heavy = run.first, run.end, run.mass, 0
        _sum_row(graph, light)
        total += light.sum
    threshold = total / allowed
    exact = int64(0)
    for _ in range(_MAX_PASSES):
        before = exact
        n_light = int64(0)
        total = 0.0
        for a in range(n_movers):
            light = lights[uint64(a)]
            if light.heaviest >= threshold:
                exact -= light.n_heavy
                _split_row(graph, threshold, light)
                exact += light.n_heavy
            n_light += light.n_heavy < light.end - light.first
            total += light.sum
        if exact == before or n_light == 0 or not allowed - exact > 0.0:
            break
        threshold = total / (allowed - exact)
    return threshold


@inlined
def sample_edges(
    graph: Any, buffers: Any, n_light: Any, threshold: Any, stream: Any, n_runs: Any
) -> Any:
    """List the edges to follow: all above the threshold, and a systematic sample of the others.

    A light edge of mass ``m`` is picked with probability ``m / threshold``, and then carries the
    threshold. Systematic sampling: edge ``i`` is picked if one of the points ``u, u + 1, …`` lies
    between the sums of these probabilities before and after it; `stream` gives the random ``u``.

    Returns the number of runs and the number of picks.
    """
    point = (float64(mix64(stream) >> uint64(11)) + 0.5) * 2.0**-53
    if len(graph.weights):
        return _sample_weighted(graph, buffers, n_light, threshold, point, n_runs), int64(0)
    inverse = 1.0 / threshold if threshold > _MIN_THRESHOLD else 0.0
    n_picks = int64(0)
    start = 0.0
    for a in range(n_light):
        light = buffers.light[uint64(a)]
        first, end = light.first, light.end
        degree = end - first
        stop = start + light.mass * degree * inverse
        while point < stop:
            slot = first + int64((point - start) / (stop - start) * degree)
            slot = min(max(slot, first), end - 1)
            prefetch_end(graph, slot)
            buffers.picks[uint64(n_picks)] = slot
            n_picks += 1
            point += 1.0
        start = stop
    return n_runs, n_picks


@inlined
def _sample_weighted(
    graph: Any, buffers: Any, n_light: Any, threshold: Any, point: Any, n_runs: Any
) -> Any:
    """The same for unequal weights; picks are runs of one edge."""
    inverse = 1.0 / threshold if threshold > _MIN_THRESHOLD else 0.0
    tails, runs = graph.tails, buffers.runs
    start = 0.0
    for a in range(n_light):
        light = buffers.light[uint64(a)]
        first, end, edge_mass, n_heavy = light.first, light.end, light.mass, light.n_heavy
        stop = start + light.sum * inverse
        if n_heavy == 0 and not point < stop:
            start = stop
            continue
        weights, offset = row_weights(graph, first)
        if not len(tails):
            for slot in range(first, end):
                weight = weights[uint64(slot - offset)]
                slot_mass = edge_mass * weight
                if slot_mass >= threshold:
                    n_runs = add_run(graph, runs, slot, slot + 1, edge_mass, n_runs)
                else:
                    start += slot_mass * inverse
                    if point < start:
                        mass = threshold / weight
                        n_runs = add_run(graph, runs, slot, slot + 1, mass, n_runs)
                        point += 1.0
            continue
        if n_heavy:
            n_runs = add_run(graph, runs, first, first + n_heavy, edge_mass, n_runs)
            first += n_heavy
        while point < stop:
            # Tails decrease along a row: bisect for the edge whose interval contains the point.
            tail = (stop - point) / (stop - start) * tails[uint64(first)]
            slot = min(max(first_below(tails, first, end, tail) - 1, first), end - 1)
            mass = threshold / weights[uint64(slot)]
            n_runs = add_run(graph, runs, slot, slot + 1, mass, n_runs)
            point += 1.0
        start = stop
    return n_runs


@inlined
def sample_stream(key: Any, row: Any, step: Any) -> Any:
    """The stream of the random numbers of a step, for `sample_edges`."""
    return walk_stream(node_stream(key, row), step)


@inlined
def step(
    graph: Any,
    series: Any,
    key: Any,
    row: Any,
    k: Any,
    state: Any,
    buffers: Any,
    n_movers: Any,
    n_edges: Any,
    n_used: Any,
) -> Any:
    """Choose the edges of the `k`-th step of a pool, within its share of the budget.

    `state` is the remaining budget and the probability that the pool is still alive. The budget
    counts expected edges: a step with less than one edge continues with that probability. The runs
    are all edges of the `n_movers` nodes that have any, `n_edges` in all.

    Returns the number of runs (or `NO_ROOM`), the number of picks, the mass of a pick, and the new
    state.
    """
    runs = buffers.runs
    left, alive = state
    step_share = left * series.share[k]
    allowed = step_share / alive
    if n_used + min(allowed, float64(n_edges)) + SLACK > len(buffers.reached):
        return int64(NO_ROOM), int64(0), 0.0, left, alive
    if n_edges <= allowed:
        for a in range(n_movers):
            _prefetch_run(graph, runs[uint64(a)].first, runs[uint64(a)].end)
        left = left * series.rest[k] + (step_share - alive * n_edges)
        return n_movers, int64(0), 0.0, left, alive
    n_runs = int64(0)
    n_picks = int64(0)
    threshold = 0.0
    if allowed > 0.0:
        if len(graph.weights):
            n_light = n_movers
            threshold = _threshold_weighted(graph, runs, buffers.light, n_movers, allowed)
        else:
            threshold, n_runs, n_light = _threshold_equal(
                graph, runs, buffers.light, n_movers, allowed
            )
        stream = sample_stream(key, row, k)
        n_runs, n_picks = sample_edges(graph, buffers, n_light, threshold, stream, n_runs)
    return n_runs, n_picks, threshold, left * series.rest[k], alive * min(1.0, allowed)


# Whole pools.


@inlined
def series_pool(graph: Any, series: Any, key: Any, row: Any, buffers: Any) -> Any:
    """Run a pool from a node, and store ``Σ_k deposits[k] x_k`` in ``reached.total``.

    A pick at step ``k`` carries the threshold ``τ_k`` of the step, so a missed one could have
    deposited up to ``τ_k max_{j ≥ k} |deposits[j]|``; `buffers.resolution` is the largest of these.

    Returns the number of nodes reached, or `NO_ROOM`. The caller calls `clear` after reading them.
    """
    start_pool(graph, buffers, row)
    return run_series(graph, series, series.budget, key, row, buffers, int64(1), int64(1))


@inlined
def run_series(
    graph: Any,
    series: Any,
    budget: Any,
    key: Any,
    row: Any,
    buffers: Any,
    n_used: Any,
    n_pool: Any,
) -> Any:
    """The same for a pool that has been started, at any nodes; `row` selects its streams."""
    trace, trace_end = buffers.trace, buffers.trace_end
    n_steps = len(series.share)
    n_trace = int64(0)
    state = (budget, 1.0)
    heaviest_pick = resolution = 0.0
    k = int64(0)
    for k in range(n_steps):
        deposit = series.deposits[k]
        resolution = max(resolution, abs(deposit) * heaviest_pick)
        following = series.deposits[k + 1]
        if len(trace_end) and n_trace + n_pool > len(trace):
            clear(buffers.cells, buffers.reached, n_used)
            return int64(NO_ROOM)
        if series.with_ahead or len(trace_end):
            for a in range(n_pool):
                number = buffers.pool[uint64(a)]
                reached = buffers.reached[uint64(number)]
                reached.ahead += following * reached.mass
                if len(trace_end):
                    entry = trace[uint64(n_trace)]
                    entry.number, entry.mass = number, reached.mass
                    n_trace += 1
            trace_end[k:] = n_trace
        n_movers = int64(0)
        n_edges = int64(0)
        for a in range(n_pool):
            number, amount = pop_mass(buffers.reached, buffers.pool, a)
            reached = buffers.reached[uint64(number)]
            reached.total += deposit * amount
            degree = reached.degree
            if degree:
                run = buffers.runs[uint64(n_movers)]
                run.first, run.end = reached.first, reached.first + degree
                run.mass = amount * reached.share
                n_edges += degree
                n_movers += 1
        if n_movers == 0 or k + 1 == n_steps:
            break
        n_runs, n_picks, picked_mass, left, alive = step(
            graph, series, key, row, k + 1, state, buffers, n_movers, n_edges, n_used
        )
        if n_runs < 0:
            clear(buffers.cells, buffers.reached, n_used)
            return n_runs
        heaviest_pick = max(heaviest_pick, picked_mass)
        if n_runs + n_picks == 0:
            break
        state = (left, alive)
        n_used, n_pool = follow_edges(graph, buffers, n_runs, n_picks, picked_mass, n_used)
    # Where the pool has ended before the series, other picks would have gone on.
    if series.with_ahead:
        for later in range(k + 1, n_steps):
            resolution = max(resolution, abs(series.deposits[later]) * heaviest_pick)
    buffers.resolution[0] = resolution
    return n_used


@inlined
def write_reached(
    graph: Any, buffers: Any, n_used: Any, scale: Any, columns: Any, values: Any, n_out: Any
) -> Any:
    """Write the deposits of a pool, times `scale`, and clear the table.

    Returns the next free index.
    """
    for number in range(n_used):
        reached = buffers.reached[uint64(number)]
        inverse = inverse_potential(graph, reached.node, int64(reached.degree))
        columns[uint64(n_out)] = reached.node
        values[uint64(n_out)] = scale * reached.total * inverse
        buffers.cells[uint64(reached.cell)].key = FREE
        n_out += 1
    return n_out


@compiled(_nrt=False, error_model="numpy", no_cfunc_wrapper=True)
def write_rows(graph: Any, series: Any, key: Any, rows: Any, buffers: Any, out: Any) -> Any:
    """Write rows of a factor or a kernel to `out`: ends of rows, columns, values.

    Returns the number of rows, the number of entries, and an exit code such as `DONE`.
    """
    end, columns, values = out
    n_out = int64(0)
    for b in range(len(rows)):
        n_used = series_pool(graph, series, key, rows[b], buffers)
        if n_used < 0:
            return b, n_out, NO_ROOM
        if n_out + n_used > len(columns):
            clear(buffers.cells, buffers.reached, n_used)
            return b, n_out, NO_OUTPUT
        scale = 1.0 / inverse_potential(graph, rows[b], int64(buffers.reached[0].degree))
        n_out = write_reached(graph, buffers, n_used, scale, columns, values, n_out)
        end[b] = n_out
    return len(rows), n_out, DONE
