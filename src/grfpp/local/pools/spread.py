"""Which edges a pool follows in a step, in compiled form. It takes plain arrays and trusts them.

Edges that carry much are followed with what they carry. The others lie end to end on a line, and
every whole step from a random point picks one, to stand for all (`docs/mathematics.md`). Passes are
short, and each asks for the memory that the next one reads.

`movers` are the nodes that have edges: their numbers, and what their edges carry for each unit of
weight. `runs` are nodes all of whose edges are followed, `picks` single edges.
"""

from __future__ import annotations

from typing import Any

from numba import int64, njit, uint64

from grfpp.walks.steps import prefetch

#: There is no room in the buffers.
NO_ROOM = -1
#: More passes than a threshold was ever seen to need; whatever it is, the mean is right.
_MOST_PASSES = 64
#: Targets of edges in a line of the cache.
_LINE = 16
#: Masses begin at one; a threshold below this has an inverse out of range and carries nothing.
_LEAST = 1e-290


@njit(inline="always")
def add_run(
    number: Any, degree: Any, carries: Any, graph: Any, reached: Any, runs: Any, n_runs: Any
) -> Any:
    """List all edges of a node; gives the number of runs."""
    indices, at_first = graph[1], reached[2]
    run_first, run_end, run_mass = runs
    first = at_first[uint64(number)]
    prefetch(indices, first)
    prefetch(indices, first + min(degree - 1, _LINE))
    run_first[uint64(n_runs)] = first
    run_end[uint64(n_runs)] = first + degree
    run_mass[uint64(n_runs)] = carries
    return n_runs + 1


@njit(inline="always")
def pick_equal(
    number: Any,
    degree: Any,
    start: Any,
    stop: Any,
    point: Any,
    carries: Any,
    graph: Any,
    reached: Any,
    picks: Any,
    n_picks: Any,
) -> Any:
    """Pick edges of a node that lies from `start` to `stop`; gives their number and the next point.

    Without room the number is `NO_ROOM`.
    """
    indices, at_first = graph[1], reached[2]
    pick_edge, pick_mass = picks
    a_length = degree / (stop - start)
    first = at_first[uint64(number)]
    while point < stop:
        if n_picks == len(pick_edge):
            return int64(NO_ROOM), point
        edge = int64((point - start) * a_length)
        slot = first + min(max(edge, 0), degree - 1)
        prefetch(indices, slot)
        pick_edge[uint64(n_picks)] = slot
        pick_mass[uint64(n_picks)] = carries
        n_picks += 1
        point += 1.0
    return n_picks, point


@njit(inline="always")
def spread_equal(
    graph: Any,
    reached: Any,
    movers: Any,
    n_movers: Any,
    total: Any,
    allowed: Any,
    point: Any,
    runs: Any,
    picks: Any,
) -> Any:
    """List the edges to follow where all edges of a node weigh the same; movers are used up.

    `total` is what all edges carry, `allowed` how many may be followed. Gives the numbers of runs,
    of their edges, and of picks, which is `NO_ROOM` where there is none for them.
    """
    at_degree = reached[1]
    mover, carried = movers[0], movers[1]
    light = n_movers
    n_runs = 0
    exact = 0
    threshold = total / allowed
    # Nodes above the threshold hand over everything; that lowers it for the others.
    for _ in range(_MOST_PASSES):
        before = light
        light = 0
        total = 0.0
        for a in range(before):
            number = mover[uint64(a)]
            carries = carried[uint64(a)]
            degree = int64(at_degree[uint64(number)])
            if carries >= threshold:
                n_runs = add_run(number, degree, carries, graph, reached, runs, n_runs)
                exact += degree
            else:
                mover[uint64(light)] = number
                carried[uint64(light)] = carries
                total += carries * degree
                light += 1
        if light in (before, 0) or not allowed - exact > 0.0:
            break
        threshold = total / (allowed - exact)
    n_picks = int64(0)
    if light > 0 and threshold > _LEAST:
        inverse = 1.0 / threshold
        start = 0.0
        for a in range(light):
            number = mover[uint64(a)]
            degree = int64(at_degree[uint64(number)])
            stop = start + carried[uint64(a)] * degree * inverse
            if point < stop:
                n_picks, point = pick_equal(
                    number,
                    degree,
                    start,
                    stop,
                    point,
                    threshold,
                    graph,
                    reached,
                    picks,
                    n_picks,
                )
                if n_picks < 0:
                    break
            start = stop
    return n_runs, exact, n_picks


@njit(inline="always")
def pick_weighted(
    number: Any,
    degree: Any,
    amount: Any,
    threshold: Any,
    start: Any,
    point: Any,
    graph: Any,
    reached: Any,
    picks: Any,
    n_picks: Any,
) -> Any:
    """Pick edges of a node whose light ones lie from `start` on; follow those above the threshold.

    Gives the number of picks, or `NO_ROOM`, where the line goes on, and the next point.
    """
    indices, base, at_first = graph[1], graph[2], reached[2]
    pick_edge, pick_mass = picks
    inverse = 1.0 / threshold if threshold > _LEAST else 0.0
    first = at_first[uint64(number)]
    for slot in range(first, first + degree):
        carries = amount * base[uint64(slot)]
        mass = carries
        if carries < threshold:
            start += carries * inverse
            if not point < start:
                continue
            mass = threshold
            point += 1.0
        if not mass > 0.0:
            continue
        if n_picks == len(pick_edge):
            return int64(NO_ROOM), start, point
        prefetch(indices, slot)
        pick_edge[uint64(n_picks)] = slot
        pick_mass[uint64(n_picks)] = mass
        n_picks += 1
    return n_picks, start, point


@njit(inline="always")
def spread_weighted(
    graph: Any,
    reached: Any,
    movers: Any,
    n_movers: Any,
    allowed: Any,
    point: Any,
    picks: Any,
) -> Any:
    """List the edges to follow where weights differ; gives their number, or `NO_ROOM`.

    The threshold is one of edges: a node hands over what its heavy edges carry, and lies on the
    line with the light ones. Rows are looked through in the order in which they are stored.
    """
    base = graph[2]
    at_degree, at_first = reached[1], reached[2]
    mover, carried, heaviest, light_sum = movers
    total = 0.0
    for a in range(n_movers):
        number = uint64(mover[uint64(a)])
        first = at_first[number]
        most = 0.0
        row_sum = 0.0
        for slot in range(first, first + at_degree[number]):
            weight = base[uint64(slot)]
            row_sum += weight
            most = max(most, weight)
        amount = carried[uint64(a)]
        heaviest[uint64(a)] = amount * most
        light_sum[uint64(a)] = amount * row_sum
        total += amount * row_sum
    threshold = total / allowed
    exact = 0
    for _ in range(_MOST_PASSES):
        before = exact
        exact = 0
        any_light = False
        total = 0.0
        for a in range(n_movers):
            if heaviest[uint64(a)] >= threshold:
                number = uint64(mover[uint64(a)])
                first = at_first[number]
                amount = carried[uint64(a)]
                rest = 0.0
                heavy = 0
                degree = at_degree[number]
                for slot in range(first, first + degree):
                    carries = amount * base[uint64(slot)]
                    if carries >= threshold:
                        heavy += 1
                    else:
                        rest += carries
                exact += heavy
                any_light |= heavy < degree
                light_sum[uint64(a)] = rest
                total += rest
            else:
                any_light = True
                total += light_sum[uint64(a)]
        if exact == before or not any_light or not allowed - exact > 0.0:
            break
        threshold = total / (allowed - exact)
    inverse = 1.0 / threshold if threshold > _LEAST else 0.0
    n_picks = int64(0)
    start = 0.0
    for a in range(n_movers):
        stop = start + light_sum[uint64(a)] * inverse
        if heaviest[uint64(a)] >= threshold or point < stop:
            number = mover[uint64(a)]
            n_picks, start, point = pick_weighted(
                number,
                int64(at_degree[uint64(number)]),
                carried[uint64(a)],
                threshold,
                start,
                point,
                graph,
                reached,
                picks,
                n_picks,
            )
            if n_picks < 0:
                break
        else:
            start = stop
    return n_picks
