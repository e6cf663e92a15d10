"""Which edges a pool follows in a step, in compiled form. It takes plain arrays and trusts them.

Edges that carry much are followed with what they carry. The others lie end to end on a line, and
every whole step from a random point picks one, to stand for all. Passes are short, and each asks
for the memory that the next one reads.
"""

from __future__ import annotations

from typing import Any

from numba import int64, njit, uint64

from grfpp.walks.layout import DEGREE_BITS
from grfpp.walks.steps import degree_of, prefetch

#: More passes than a threshold was ever seen to need; whatever it is, the mean is right.
_MOST_PASSES = 64
#: Slots of eight bytes in a line of the cache.
_LINE = 8
#: Masses begin at one; a threshold below this has an inverse out of range and carries nothing.
_LEAST = 1e-290

# Indices are unsigned where it counts: numba asks of every signed one whether it is negative.


@njit(inline="always")
def spread_equal(
    graph: Any, movers: Any, n_movers: int, allowed: float, point: float, runs: Any, picks: Any
) -> tuple[int, int, float]:
    """List the edges to follow where all edges of a node weigh the same.

    `movers` are the nodes that have edges, and their masses; they are used up.

    Returns the number of runs (nodes that hand their mass to all neighbours) and of picks (single
    edges), and what each pick carries.
    """
    slots = graph[2]
    firsts = graph[1]
    mover_word, mover_mass, _ = movers
    run_first, run_end, run_mass = runs
    pick_word, pick_edge = picks
    light = n_movers
    total = 0.0
    for a in range(light):
        total += mover_mass[uint64(a)]
    n_runs = 0
    exact = 0
    threshold = total / allowed
    # Nodes above the threshold hand over everything; that lowers it for the others.
    for _ in range(_MOST_PASSES):
        before = light
        light = 0
        total = 0.0
        for a in range(before):
            word = mover_word[uint64(a)]
            amount = mover_mass[uint64(a)]
            degree = degree_of(word)
            if amount >= threshold * degree:
                node = word >> DEGREE_BITS
                prefetch(firsts, node)
                run_first[uint64(n_runs)] = node
                run_end[uint64(n_runs)] = degree
                run_mass[uint64(n_runs)] = amount / degree
                n_runs += 1
                exact += degree
            else:
                mover_word[uint64(light)] = word
                mover_mass[uint64(light)] = amount
                total += amount
                light += 1
        if light in (before, 0) or not allowed - exact > 0.0:
            break
        threshold = total / (allowed - exact)
    # The others lie end to end on a line; every whole step from a random point picks an edge.
    n_picks = 0
    if light > 0 and threshold > _LEAST:
        inverse = 1.0 / threshold
        start = 0.0
        for a in range(light):
            length = mover_mass[uint64(a)] * inverse
            end = start + length
            if point < end:
                word = mover_word[uint64(a)]
                degree = degree_of(word)
                prefetch(firsts, word >> DEGREE_BITS)
                while point < end:
                    edge = int64((point - start) / length * degree)
                    pick_word[uint64(n_picks)] = word >> DEGREE_BITS
                    pick_edge[uint64(n_picks)] = min(max(edge, 0), degree - 1)
                    n_picks += 1
                    point += 1.0
            start = end
    # Locate.
    for a in range(n_runs):
        first = firsts[uint64(run_first[uint64(a)])]
        degree = run_end[uint64(a)]
        prefetch(slots, first)
        prefetch(slots, first + min(degree - 1, _LINE))
        run_first[uint64(a)] = first
        run_end[uint64(a)] = first + degree
    for a in range(n_picks):
        slot = firsts[uint64(pick_word[uint64(a)])] + pick_edge[uint64(a)]
        prefetch(slots, slot)
        pick_edge[uint64(a)] = slot
    return n_runs, n_picks, threshold


@njit(inline="always")
def _lighter(values: Any, begin: Any, end: Any, cutoff: Any) -> Any:
    """The first place from `begin` on where falling values are below `cutoff`, or `end`."""
    low = begin
    reach = 1
    while low < end and values[uint64(low)] >= cutoff:
        begin = low + 1
        low = min(low + reach, end)
        reach *= 2
    low = min(low, end)
    while begin < low:
        middle = (begin + low) // 2
        if values[uint64(middle)] >= cutoff:
            begin = middle + 1
        else:
            low = middle
    return begin


@njit(inline="always")
def spread_weighted(
    graph: Any, movers: Any, n_movers: int, allowed: float, point: float, runs: Any, picks: Any
) -> tuple[int, int, float]:
    """List the edges to follow where weights differ; a node's heaviest edges come first.

    The threshold is one of edges: a node hands over what its heavy edges carry, and lies on the
    line with the light ones. A run is the heavy edges of one node; it holds the node's mass.
    """
    slots = graph[2]
    firsts, weights, tails = graph[1], graph[3], graph[4]
    mover_word, mover_mass, mover_light = movers
    run_first, run_end, run_mass = runs
    pick_edge = picks[1]
    total = 0.0
    for a in range(n_movers):
        node = mover_word[uint64(a)] >> DEGREE_BITS
        first = firsts[uint64(node)]
        mover_light[uint64(a)] = first
        total += mover_mass[uint64(a)] * tails[uint64(first)]
    threshold = total / allowed
    n_runs = 0
    exact = 0
    n_light = n_movers
    for _ in range(_MOST_PASSES):
        before = exact
        n_light = 0
        total = 0.0
        for a in range(n_movers):
            word = mover_word[uint64(a)]
            amount = mover_mass[uint64(a)]
            end = firsts[uint64(word >> DEGREE_BITS)] + degree_of(word)
            light = mover_light[uint64(a)]
            if light == end:
                continue
            # A product, not a quotient: the smallest masses have no inverse.
            if amount * weights[uint64(light)] >= threshold:
                following = _lighter(weights, light, end, threshold / amount)
                prefetch(slots, light)
                run_first[uint64(n_runs)] = light
                run_end[uint64(n_runs)] = following
                run_mass[uint64(n_runs)] = amount
                n_runs += 1
                exact += following - light
                light = following
                mover_light[uint64(a)] = light
            if light < end:
                total += amount * tails[uint64(light)]
                n_light += 1
        if exact == before or n_light == 0 or not allowed - exact > 0.0:
            break
        threshold = total / (allowed - exact)
    n_picks = 0
    if n_light > 0 and threshold > _LEAST:
        inverse = 1.0 / threshold
        start = 0.0
        for a in range(n_movers):
            word = mover_word[uint64(a)]
            end = firsts[uint64(word >> DEGREE_BITS)] + degree_of(word)
            light = mover_light[uint64(a)]
            if light == end:
                continue
            tail = tails[uint64(light)]
            stop = start + mover_mass[uint64(a)] * tail * inverse
            while point < stop:
                # Tails fall: the edge whose part of the tail holds the point.
                slot = _lighter(tails, light, end, (stop - point) / (stop - start) * tail) - 1
                slot = min(max(slot, light), end - 1)
                prefetch(slots, slot)
                pick_edge[uint64(n_picks)] = slot
                n_picks += 1
                point += 1.0
            start = stop
    return n_runs, n_picks, threshold


@njit(inline="always")
def all_edges(graph: Any, movers: Any, n_movers: int, runs: Any) -> None:
    """List all edges: a run for every mover."""
    firsts, slots = graph[1], graph[2]
    mover_word, mover_mass, _ = movers
    run_first, run_end, run_mass = runs
    weighted = len(graph[3]) > 0
    for a in range(n_movers):
        prefetch(firsts, mover_word[uint64(a)] >> DEGREE_BITS)
    for a in range(n_movers):
        word = mover_word[uint64(a)]
        first = firsts[uint64(word >> DEGREE_BITS)]
        degree = degree_of(word)
        prefetch(slots, first)
        prefetch(slots, first + min(degree - 1, _LINE))
        run_first[uint64(a)] = first
        run_end[uint64(a)] = first + degree
        run_mass[uint64(a)] = mover_mass[uint64(a)] if weighted else mover_mass[uint64(a)] / degree
