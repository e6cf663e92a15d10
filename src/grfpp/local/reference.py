"""Local answers in plain Python: slow, short, and the same numbers to rounding.

Not used by the library. The compiled loops are compared with it in the tests, and readers may begin
here. Pools are dictionaries from nodes to masses; their order is that of arrivals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from grfpp.local.plan import LocalPlan
from grfpp.local.weights import PLAIN, RW, SYM
from grfpp.walks.budget import Budget
from grfpp.walks.streams import uniform, walk_state

Pool = dict[int, float]
#: Node that an edge leads to, and the mass that it carries there.
Carried = tuple[int, float]


def row(plan: LocalPlan, start: int) -> Pool:
    """A row of the kernel, by its nodes."""
    left = residual_totals(plan, start) if plan.series.ratio else series_totals(plan, start)
    return {node: _entry(plan, start, node, total) for node, total in left.items()}


def series_totals(plan: LocalPlan, start: int, shift: int = 0) -> Pool:
    """``Σ_k α_{k + shift} x_k`` for the pools ``x_k``."""
    totals: Pool = {}
    for k, pool in enumerate(pools(plan, start, plan.series.steps)):
        for node, mass in pool.items():
            totals[node] = totals.get(node, 0.0) + plan.series.deposits[k + shift] * mass
    return totals


def pools(plan: LocalPlan, start: int, steps: Budget) -> Iterator[Pool]:
    """The pools ``x_0, x_1, …`` as far as they go."""
    pool = {start: 1.0}
    left, alive = plan.budget, 1.0
    yield pool
    for k in range(1, steps.max_length + 1):
        edges = [edge for node, mass in pool.items() for edge in carried(plan, node, mass)]
        fair = left * steps.share[k]
        allowed = fair / alive
        if len(edges) <= allowed:
            left = left * steps.rest[k] + (fair - alive * len(edges))
        else:
            if not allowed > 0:
                return
            edges = _compressed(plan, edges, allowed, _point(plan, start, k))
            left *= steps.rest[k]
            alive *= min(1.0, allowed)
        pool = arrived(edges)
        if not pool:
            return
        yield pool


def arrived(edges: list[Carried]) -> Pool:
    """What comes together at each node."""
    pool: Pool = {}
    for node, mass in edges:
        if mass > 0.0:
            pool[node] = pool.get(node, 0.0) + mass
    return pool


def _compressed(
    plan: LocalPlan, edges: list[Carried], allowed: float, point: float
) -> list[Carried]:
    """Follow about `allowed` of the edges, so that the mean is that of all.

    Of equal weights those above the threshold come first, in the order in which it was lowered; of
    others all come in the order of the pool. So do the compiled loops, and sums are the same.
    """
    runs: list[Carried] = []
    light, exact = edges, 0
    threshold = sum(mass for _, mass in edges) / allowed
    while True:
        runs += [edge for edge in light if edge[1] >= threshold]
        rest = [edge for edge in light if edge[1] < threshold]
        if len(rest) == len(light) or not rest or not allowed - (exact := len(runs)) > 0:
            break
        light = rest
        threshold = sum(mass for _, mass in light) / (allowed - exact)
    if len(plan.weights.base):
        return _on_the_line(edges, threshold, point)
    return runs + _on_the_line(rest, threshold, point)


def _on_the_line(edges: list[Carried], threshold: float, point: float) -> list[Carried]:
    """Edges lie end to end, and every whole step from a point picks one, to carry the threshold.

    Those that carry as much are followed as they are.
    """
    followed: list[Carried] = []
    start = 0.0
    for node, mass in edges:
        if mass >= threshold:
            followed.append((node, mass))
            continue
        start += mass / threshold
        if point < start:
            followed.append((node, threshold))
            point += 1.0
    return followed


def residual_totals(plan: LocalPlan, start: int) -> Pool:
    """``Σ_k γ^k x_k`` by pushing and picking."""
    totals, waiting, tau = pushed(plan, start)
    n_flushes = 0
    while sum(waiting.values()) > 1e-18:
        n_flushes += 1
        edges = []
        for node, mass in waiting.items():
            totals[node] = totals.get(node, 0.0) + mass
            edges += carried(plan, node, plan.series.ratio * mass)
        pool = arrived(_on_the_line(edges, tau, _point(plan, start, n_flushes)))
        waiting = {}
        _push(plan, pool, tau, totals, waiting)
    return totals


def pushed(plan: LocalPlan, start: int) -> tuple[Pool, Pool, float]:
    """What has been left, what waits, and the threshold, when nothing more is to be pushed."""
    ratio, budget = plan.series.ratio, plan.budget
    cost = ratio / (1 - ratio)
    tau = 64 * cost / budget
    totals: Pool = {}
    waiting: Pool = {}
    edges = _push(plan, {start: 1.0}, tau, totals, waiting)
    falling = True
    while falling and (left := sum(waiting.values())) > 1e-18:
        falling = edges + left * cost / (tau / 2) <= budget
        if falling:
            tau /= 2
        elif budget > edges:
            tau = min(tau, left * cost / (budget - edges))
        pool, waiting = {node: mass for node, mass in waiting.items() if mass > 0}, {}
        edges += _push(plan, pool, tau, totals, waiting)
    return totals, waiting, tau


def _push(plan: LocalPlan, pool: Pool, tau: float, totals: Pool, waiting: Pool) -> int:
    """Hand on what is above the threshold until nothing is; gives the number of edges."""
    n_edges = 0
    while pool:
        edges: list[Carried] = []
        for node, mass in pool.items():
            amount = mass + waiting.get(node, 0.0)
            degree = len(edges_of(plan, node))
            if degree and plan.series.ratio * amount < tau * degree:
                waiting[node] = amount
                continue
            if node in waiting:
                waiting[node] = 0.0  # it keeps its place on the line
            totals[node] = totals.get(node, 0.0) + amount
            edges += carried(plan, node, plan.series.ratio * amount)
        n_edges += len(edges)
        pool = arrived(edges)
    return n_edges


def pulled(plan: LocalPlan, start: int, node: int) -> float:
    """An entry of a row from the node's neighbours, on undirected graphs."""
    ratio = plan.series.ratio
    if ratio:
        following = {v: ratio * total for v, total in residual_totals(plan, start).items()}
        own = 1.0
    else:
        following = series_totals(plan, start, shift=1)
        own = float(plan.series.deposits[0])
    total = own if node == start else 0.0
    for v, weight in edges_of(plan, node):
        total += following.get(v, 0.0) * weight / divisor(plan, v)
    return _entry(plan, start, node, total)


def entry(plan: LocalPlan, i: int, j: int) -> float:
    """An entry from both sides, on undirected graphs."""
    right = plan.right
    total = 0.0
    if plan.series.ratio:
        totals, waiting, _ = pushed(plan, i)
        total = totals.get(j, 0.0)
        others = residual_totals(right, j)
        for v, mass in waiting.items():
            total += mass * others.get(v, 0.0) * divisor(plan, j) / divisor(plan, v)
        return _entry(plan, i, j, total)
    deposits = plan.series.deposits
    left = list(pools(plan, i, plan.series.half_steps))
    others_ = list(pools(right, j, plan.series.half_steps))
    for k in range(len(deposits)):
        a, b = (k + 1) // 2, k // 2
        if a < len(left) and b < len(others_):
            for v, mass in left[a].items():
                met = mass * others_[b].get(v, 0.0)
                total += deposits[k] * met * divisor(plan, j) / divisor(plan, v)
    return _entry(plan, i, j, total)


def edges_of(plan: LocalPlan, node: int) -> list[tuple[int, float]]:
    """Neighbours of a node, and ``a`` of the edges to them."""
    graph, base = plan.graph, plan.weights.base
    own = slice(int(graph.indptr[node]), int(graph.indptr[node + 1]))
    targets = graph.indices[own].tolist()
    weights = base[own].tolist() if len(base) else [1.0] * len(targets)
    return list(zip(targets, weights, strict=True))


def carried(plan: LocalPlan, node: int, mass: float) -> list[Carried]:
    """What the edges of a node carry of its mass."""
    edges = edges_of(plan, node)
    share = mass / divisor(plan, node) if edges else 0.0
    return [(target, share * weight) for target, weight in edges]


def divisor(plan: LocalPlan, node: int) -> float:
    """What a mass is divided by to be what each edge carries for its weight; 1 without edges."""
    kind, out, into = plan.weights.kind, plan.weights.out, plan.weights.into
    degree = len(edges_of(plan, node))
    if kind == PLAIN:
        return plan.series.unit if degree else 1.0
    strength = float(out[node]) if len(out) else float(degree)
    if not degree or kind == RW or (kind == SYM and not len(into)):
        return strength or 1.0
    arriving = (float(into[node]) if len(into) else strength) or 1.0
    return math.sqrt(strength) * math.sqrt(arriving) if kind == SYM else arriving


def potential(plan: LocalPlan, node: int) -> float:
    """What masses at a node are counted in."""
    kind, out, into = plan.weights.kind, plan.weights.out, plan.weights.into
    if kind in (PLAIN, RW):
        return 1.0
    strengths = into if len(into) else out
    strength = float(strengths[node]) if len(strengths) else float(len(edges_of(plan, node)))
    strength = strength if strength > 0 else 1.0
    return math.sqrt(strength) if kind == SYM else strength


def _entry(plan: LocalPlan, start: int, node: int, total: float) -> float:
    return plan.series.scale * potential(plan, start) * total / potential(plan, node)


def _point(plan: LocalPlan, start: int, step: int) -> float:
    return uniform(walk_state(int(plan.key), start, step))
