"""The compiled steps of pooled walks. They take plain arrays and trust them.

The walkers of one row move as a pool: a sparse vector of masses. In each step edges that carry much
are all followed, and some of the others are picked, so that the mean of the new vector is the old
one times the weights (`grfpp.walks.reference` has the same loop in plain Python).

`grfpp.walks.pools.spread` lists the edges to follow; here what arrives at each node is added. A
small hash table, one for every row anew, holds the masses by node.
"""

from __future__ import annotations

from typing import Any

from numba import float64, njit, uint64

from grfpp.linalg.compiled import compiled
from grfpp.walks.layout import DEGREE_BITS
from grfpp.walks.pools.spread import all_edges, spread_equal, spread_weighted
from grfpp.walks.steps import degree_of, home, mix64, node_stream, walk_stream

#: A cell of the hash table that no node has.
FREE = -1

# Indices are unsigned where it counts: numba asks of every signed one whether it is negative.


@njit(inline="always")
def uniform(state: Any) -> Any:
    """A number in (0, 1) for one stream: `grfpp.walks.streams.uniform`."""
    return (float64(mix64(state) >> uint64(11)) + 0.5) * 2.0**-53


@njit(inline="always")
def random_point(key: Any, row: Any, step: Any) -> Any:
    """Where the picks of a step begin."""
    return uniform(walk_stream(node_stream(key, row), step))


@njit(inline="always")
def place(word: Any, cells: Any) -> Any:
    """Put a row's own node with mass one into the empty table; gives its cell."""
    cell_word, cell_mass, cell_sum = cells
    cell = home(word, uint64(32 - _bits_of(len(cell_word))))
    cell_word[cell] = word
    cell_mass[cell] = 1.0
    cell_sum[cell] = 0.0
    return cell


@njit(inline="always")
def _bits_of(n_cells: Any) -> Any:
    bits = 0
    while (1 << bits) < n_cells:
        bits += 1
    return bits


@njit(inline="always")
def _arrive(
    word: Any,
    amount: Any,
    shift: Any,
    cell_word: Any,
    cell_mass: Any,
    cell_sum: Any,
    used: Any,
    n_used: Any,
    pool: Any,
    n_pool: Any,
) -> Any:
    """Add mass to a node's cell; the first to arrive there puts it into the pool."""
    mask = uint64(len(cell_word) - 1)
    cell = uint64(home(word, shift))
    while True:
        there = cell_word[cell]
        if there == word:
            before = cell_mass[cell]
            cell_mass[cell] = before + amount
            if before == 0.0:
                pool[uint64(n_pool)] = cell
                n_pool += 1
            break
        if there == FREE:
            cell_word[cell] = word
            cell_mass[cell] = amount
            cell_sum[cell] = 0.0
            used[uint64(n_used)] = cell
            n_used += 1
            pool[uint64(n_pool)] = cell
            n_pool += 1
            break
        cell = (cell + uint64(1)) & mask
    return n_used, n_pool


@njit(inline="always")
def gather(
    graph: Any,
    cells: Any,
    lists: Any,
    n_used: int,
    runs: Any,
    n_runs: int,
    picks: Any,
    n_picks: int,
    picked: float,
) -> tuple[int, int]:
    """Follow the listed edges; gives the number of cells in use and of those in the pool."""
    slots, weights = graph[2], graph[3]
    run_first, run_end, run_mass = runs
    pick_edge = picks[1]
    shift = uint64(32 - _bits_of(len(cells[0])))
    cell_word, cell_mass, cell_sum = cells
    used, pool = lists
    n_pool = 0
    if len(weights):
        for a in range(n_runs):
            amount = run_mass[uint64(a)]
            for slot in range(run_first[uint64(a)], run_end[uint64(a)]):
                carried = amount * weights[uint64(slot)]
                if not carried > 0.0:
                    continue
                n_used, n_pool = _arrive(
                    slots[uint64(slot)],
                    carried,
                    shift,
                    cell_word,
                    cell_mass,
                    cell_sum,
                    used,
                    n_used,
                    pool,
                    n_pool,
                )
    else:
        for a in range(n_runs):
            amount = run_mass[uint64(a)]
            if not amount > 0.0:  # it would seem to arrive for the first time again and again
                continue
            for slot in range(run_first[uint64(a)], run_end[uint64(a)]):
                n_used, n_pool = _arrive(
                    slots[uint64(slot)],
                    amount,
                    shift,
                    cell_word,
                    cell_mass,
                    cell_sum,
                    used,
                    n_used,
                    pool,
                    n_pool,
                )
    for a in range(n_picks):
        slot = pick_edge[uint64(a)]
        n_used, n_pool = _arrive(
            slots[uint64(slot)],
            picked,
            shift,
            cell_word,
            cell_mass,
            cell_sum,
            used,
            n_used,
            pool,
            n_pool,
        )
    return n_used, n_pool


@njit(inline="always")
def step(
    graph: Any,
    share: float,
    rest: float,
    state: Any,
    key: Any,
    row: int,
    k: int,
    movers: Any,
    n_movers: int,
    n_edges: int,
    cells: Any,
    lists: Any,
    n_used: int,
    runs: Any,
    picks: Any,
) -> tuple[int, int, float, float]:
    """Move a pool by one step, the k-th.

    `state` is what is left of the budget, and the chance that the pool has come so far: a budget
    of less than one edge lets it go on with that chance only. `n_edges` have all movers together.

    Returns the number of cells in use and of those in the pool, and the new state.
    """
    left, alive = state
    fair = left * share
    allowed = fair / alive
    if n_edges <= allowed:
        all_edges(graph, movers, n_movers, runs)
        counts = gather(graph, cells, lists, n_used, runs, n_movers, picks, 0, 0.0)
        return counts[0], counts[1], left * rest + (fair - alive * n_edges), alive
    if not allowed > 0.0:
        return n_used, 0, left, alive
    point = random_point(key, row, k)
    if len(graph[3]):
        listed = spread_weighted(graph, movers, n_movers, allowed, point, runs, picks)
    else:
        listed = spread_equal(graph, movers, n_movers, allowed, point, runs, picks)
    n_runs, n_picks, picked = listed
    counts = gather(graph, cells, lists, n_used, runs, n_runs, picks, n_picks, picked)
    return counts[0], counts[1], left * rest, alive * min(1.0, allowed)


# Nothing is allocated here, so nobody has to count references to arrays, which takes its time.
@compiled(_nrt=False)
def pool_block(
    graph: Any,
    shares: Any,
    deposits: Any,
    key: Any,
    budget: float,
    rows: Any,
    cells: Any,
    lists: Any,
    movers: Any,
    runs: Any,
    picks: Any,
    out_end: Any,
    out_column: Any,
    out_value: Any,
) -> tuple[int, int]:
    """Let a pool spread from each of `rows`.

    `graph` and `shares` are the arrays of a `PoolLayout` and of a `Budget`; the others are buffers
    for one row, and room for the block. The table is free before and after.

    Returns the number of rows done, fewer than asked for where the output has no room for one
    more, and of entries written.
    """
    words, _, _, weights, _, potential, inverse_potential = graph
    share, rest = shares
    cell_word, cell_mass, cell_sum = cells
    used, pool = lists
    mover_word, mover_mass, _ = movers
    n_out = 0
    for b in range(len(rows)):
        if n_out + len(used) > len(out_column):
            return b, n_out
        row = rows[b]
        used[0] = pool[0] = place(words[row], cells)
        n_used = 1
        n_pool = 1
        left = budget
        alive = 1.0
        for k in range(len(share)):
            deposit = deposits[k]
            n_movers = 0
            n_edges = 0
            for a in range(n_pool):
                cell = pool[uint64(a)]
                amount = cell_mass[cell]
                cell_mass[cell] = 0.0
                cell_sum[cell] += deposit * amount
                word = cell_word[cell]
                degree = degree_of(word)
                if degree:
                    mover_word[uint64(n_movers)] = word
                    mover_mass[uint64(n_movers)] = amount
                    n_edges += degree
                    n_movers += 1
            if n_movers == 0 or k + 1 == len(share):
                break
            n_used, n_pool, left, alive = step(
                graph,
                share[k + 1],
                rest[k + 1],
                (left, alive),
                key,
                row,
                k + 1,
                movers,
                n_movers,
                n_edges,
                cells,
                lists,
                n_used,
                runs,
                picks,
            )
        scale = potential[row] if len(potential) else 1.0
        for a in range(n_used):
            cell = used[uint64(a)]
            word = cell_word[cell]
            cell_word[cell] = FREE
            value = cell_sum[cell]
            if len(potential):
                # By degree where all edges of a node weigh the same, else by node.
                at = word >> DEGREE_BITS if len(weights) else degree_of(word)
                value *= scale * inverse_potential[uint64(at)]
            out_column[uint64(n_out)] = word >> DEGREE_BITS
            out_value[uint64(n_out)] = value
            n_out += 1
        out_end[b] = n_out
    return len(rows), n_out
