"""Walks in plain Python, to be compared with the formulas and with the compiled loops.

Independent walks are Algorithm 2 of the paper, corrected: a walk of length ``s`` deposits at every
``k = 0, 1, …, s`` (as printed it leaves out ``k = s``, which is biased). Pools are dictionaries
from nodes to masses. The streams are those of the compiled loops, and so are the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.walks.plan import LengthTable, WalkPlan
from grfpp.walks.pool_arrays import PLAIN, RW, SYM, PoolLayout, PoolResidual, PoolSeries
from grfpp.walks.sampling import pool_series
from grfpp.walks.streams import length_words, step_choice, uniform, walk_state

#: Masses by node, in the order of arrival.
Pool = dict[int, float]
#: Edges: the neighbour that each leads to, and the mass that it carries.
Edges = list[tuple[int, float]]


def reference_rows(plan: WalkPlan, rows: Iterable[int]) -> npt.NDArray[np.float64]:
    """The chosen rows of the factor, as a dense array."""
    row_of = pool_row if plan.is_pooled else feature_vector
    return np.array([row_of(plan, row) for row in rows])


def feature_vector(plan: WalkPlan, start: int) -> npt.NDArray[np.float64]:
    """The random feature vector ``φ(start)``."""
    graph = plan.graph
    phi = np.zeros(graph.n_nodes)
    for walk in range(plan.n_walks):
        state = walk_state(plan.key, start, walk)
        length = draw_length(plan, state)
        node, load = start, 1.0
        for k in range(length + 1):
            phi[node] += load * plan.modulation[k] / plan.lengths.survival[k]
            first, end = graph.indptr[node], graph.indptr[node + 1]
            degree = int(end - first)
            if k == length or degree == 0:
                break
            edge = first + step_choice(state, k + 1, degree)
            load *= graph.weights[edge] * degree
            node = int(graph.indices[edge])
    return phi / plan.n_walks


def draw_length(plan: WalkPlan, state: int) -> int:
    """The number of steps of the walk with this stream: the number of thresholds above the draw."""
    draw = length_words(state)
    table = plan.lengths
    assert isinstance(table, LengthTable)
    length = 0
    while length < table.max_length and draw < (int(table.high[length]), int(table.low[length])):
        length += 1
    return length


def pool_row(plan: WalkPlan, start: int) -> npt.NDArray[np.float64]:
    """A row of pooled walks: ``Σ_k f(k) x_k``."""
    layout, row = plan.layout, np.zeros(plan.graph.n_nodes)
    assert isinstance(layout, PoolLayout)
    totals = series_totals(layout, pool_series(plan, plan.deposits), plan.key, start)
    for node, total in totals.items():
        row[node] = entry_of(layout, start, node, total)
    return row


def series_totals(
    layout: PoolLayout, series: PoolSeries, key: int, start: int, shift: int = 0
) -> Pool:
    """``Σ_k deposits[k + shift] x_k`` for the pools ``x_k``."""
    totals: Pool = {}
    for k, pool in enumerate(pools(layout, series, key, start)):
        for node, mass in pool.items():
            totals[node] = totals.get(node, 0.0) + series.deposits[k + shift] * mass
    return totals


def pools(layout: PoolLayout, series: PoolSeries, key: int, start: int) -> Iterator[Pool]:
    """The pools ``x_0, x_1, …`` until they are empty; ``x_k`` has mean ``x_{k-1} W``."""
    pool = {start: 1.0}
    left, alive = series.budget, 1.0
    yield pool
    for k in range(1, len(series.share)):
        edges = [edge for node, mass in pool.items() for edge in edge_masses(layout, node, mass)]
        # The budget counts expected edges: `alive` is the probability that the pool has reached
        # this step, since a step with less than one edge continues with that probability.
        step_share = left * series.share[k]
        allowed = step_share / alive
        if len(edges) <= allowed:
            left = left * series.rest[k] + (step_share - alive * len(edges))
        elif not allowed > 0:
            return
        else:
            stream = walk_state(int(key), start, k)
            edges = compress_edges(edges, allowed, stream, by_node=not len(layout.weights))
            left *= series.rest[k]
            alive *= min(1.0, allowed)
        pool = sum_by_node(edges)
        if not pool:
            return
        yield pool


def sum_by_node(edges: Edges) -> Pool:
    """The mass that arrives at each node."""
    pool: Pool = {}
    for node, mass in edges:
        if mass > 0.0:
            pool[node] = pool.get(node, 0.0) + mass
    return pool


def compress_edges(edges: Edges, allowed: float, stream: int, by_node: bool) -> Edges:
    """Choose about `allowed` of the edges, with masses whose mean is that of all edges.

    For equal weights (`by_node`), edges above the threshold come first, in the order in which the
    falling threshold reached them. Sums are then rounded as in the compiled loops.
    """
    heavy: Edges = []
    light = edges
    threshold = sum(mass for _, mass in edges) / allowed
    while True:
        heavy += [edge for edge in light if edge[1] >= threshold]
        rest = [edge for edge in light if edge[1] < threshold]
        if len(rest) == len(light) or not rest or not allowed - len(heavy) > 0:
            break
        light = rest
        threshold = sum(mass for _, mass in light) / (allowed - len(heavy))
    if by_node:
        return heavy + sample_edges(rest, threshold, stream)
    return sample_edges(edges, threshold, stream)


def sample_edges(edges: Edges, threshold: float, stream: int) -> Edges:
    """The edges above the threshold, and a systematic sample of those below it.

    An edge of mass ``m`` below the threshold is picked with probability ``m / threshold``, and then
    carries the threshold. `stream` gives the random offset of the sample.
    """
    followed: Edges = []
    start, point = 0.0, uniform(stream)
    for node, mass in edges:
        if mass >= threshold:
            followed.append((node, mass))
            continue
        start += mass / threshold
        if point < start:
            followed.append((node, threshold))
            point += 1.0
    return followed


def residual_totals(layout: PoolLayout, residual: PoolResidual, key: int, start: int) -> Pool:
    """``Σ_k γ^k x_k`` by pushing and sampling."""
    totals, residuals, tau = push_row(layout, residual, start)
    n_samples = 0
    while sum(residuals.values()) > 1e-18:
        n_samples += 1
        edges = []
        for node, mass in residuals.items():
            totals[node] = totals.get(node, 0.0) + mass
            edges += edge_masses(layout, node, residual.ratio * mass)
        stream = walk_state(int(key), start, n_samples)
        pool = sum_by_node(sample_edges(edges, tau, stream))
        residuals = {}
        _push(layout, residual.ratio, pool, tau, totals, residuals)
    return totals


def push_row(layout: PoolLayout, residual: PoolResidual, start: int) -> tuple[Pool, Pool, float]:
    """Deposits, residuals and the threshold after pushing as far as the budget allows."""
    ratio, budget = residual.ratio, residual.budget
    cost = ratio / (1 - ratio)
    tau = 64 * cost / budget
    totals: Pool = {}
    residuals: Pool = {}
    edges = _push(layout, ratio, {start: 1.0}, tau, totals, residuals)
    falling = True
    while falling and (left := sum(residuals.values())) > 1e-18:
        falling = edges + left * cost / (tau / 2) <= budget
        if falling:
            tau /= 2
        elif budget > edges:
            tau = min(tau, left * cost / (budget - edges))
        pool, residuals = {node: mass for node, mass in residuals.items() if mass > 0}, {}
        edges += _push(layout, ratio, pool, tau, totals, residuals)
    return totals, residuals, tau


def _push(
    layout: PoolLayout, ratio: float, pool: Pool, tau: float, totals: Pool, residuals: Pool
) -> int:
    """Push residuals above the threshold until there are none; returns the number of edges."""
    n_edges = 0
    while pool:
        edges: Edges = []
        for node, mass in pool.items():
            amount = mass + residuals.get(node, 0.0)
            degree = len(edges_of(layout, node))
            if degree and ratio * amount < tau * degree:
                residuals[node] = amount
                continue
            if node in residuals:
                residuals[node] = 0.0  # it keeps its position in the order of the nodes
            totals[node] = totals.get(node, 0.0) + amount
            edges += edge_masses(layout, node, ratio * amount)
        n_edges += len(edges)
        pool = sum_by_node(edges)
    return n_edges


def local_row(plan: Any, start: int) -> Pool:
    """A row of the kernel of a `grfpp.local.LocalPlan`."""
    if plan.residual is None:
        totals = series_totals(plan.layout, plan.pool_series, plan.key, start)
    else:
        totals = residual_totals(plan.layout, plan.residual, plan.key, start)
    scale = plan.series.scale
    return {
        node: scale * entry_of(plan.layout, start, node, total) for node, total in totals.items()
    }


def pull_entry(plan: Any, start: int, node: int) -> float:
    """An entry of a row with an exact last step, on undirected graphs."""
    layout = plan.layout
    if plan.residual is None:
        following = series_totals(layout, plan.pool_series, plan.key, start, shift=1)
        first = float(plan.series.deposits[0])
    else:
        totals = residual_totals(layout, plan.residual, plan.key, start)
        following = {v: plan.residual.ratio * total for v, total in totals.items()}
        first = 1.0
    total = first if node == start else 0.0
    for v, weight in edges_of(layout, node):
        total += following.get(v, 0.0) * weight * share(layout, v)
    return float(plan.series.scale * entry_of(layout, start, node, total))


def two_sided_entry(plan: Any, i: int, j: int) -> float:
    """An entry from both sides, on undirected graphs."""
    layout, right_key = plan.layout, plan.right.key
    total = 0.0
    if plan.residual is not None:
        totals, residuals, _ = push_row(layout, plan.residual, i)
        total = totals.get(j, 0.0)
        others = residual_totals(layout, plan.residual, right_key, j)
        for v, mass in residuals.items():
            total += mass * others.get(v, 0.0) * share(layout, v) / share(layout, j)
        return float(plan.series.scale * entry_of(layout, i, j, total))
    deposits = plan.series.deposits
    left = list(pools(layout, plan.half_series, plan.key, i))
    right = list(pools(layout, plan.half_series, right_key, j))
    for k in range(len(deposits)):
        a, b = (k + 1) // 2, k // 2
        if a < len(left) and b < len(right):
            for v, mass in left[a].items():
                product = mass * right[b].get(v, 0.0)
                total += deposits[k] * product * share(layout, v) / share(layout, j)
    return entry_of(layout, i, j, total)


def edges_of(layout: PoolLayout, node: int) -> list[tuple[int, float]]:
    """Neighbours of a node, and the weights of the edges to them."""
    edges = slice(int(layout.indptr[node]), int(layout.indptr[node + 1]))
    ends = layout.indices[edges].tolist()
    weights = layout.weights[edges].tolist() if len(layout.weights) else [1.0] * len(ends)
    return list(zip(ends, weights, strict=True))


def edge_masses(layout: PoolLayout, node: int, mass: float) -> Edges:
    """The masses on the edges of a node."""
    unit = mass * share(layout, node)
    return [(end, unit * weight) for end, weight in edges_of(layout, node)]


def share(layout: PoolLayout, node: int) -> float:
    """The mass on an edge of weight one per unit of the node's mass; 1 without edges."""
    degree = int(layout.indptr[node + 1] - layout.indptr[node])
    if not degree:
        return 1.0
    if layout.kind == PLAIN:
        return 1.0 / layout.rate
    out, into = layout.out_strength, layout.in_strength
    strength = float(out[node]) if len(out) else float(degree)
    if layout.kind == RW or (layout.kind == SYM and not len(into)):
        return 1.0 / strength
    arriving = (float(into[node]) if len(into) else strength) or 1.0
    return 1.0 / (math.sqrt(strength) * math.sqrt(arriving) if layout.kind == SYM else arriving)


def potential(layout: PoolLayout, node: int) -> float:
    """The potential ``φ`` of a node: masses are stored times it, relative to the first node's."""
    if len(layout.measure):
        return float(layout.measure[node])
    if layout.kind in (PLAIN, RW):
        return 1.0
    strengths = layout.in_strength if len(layout.in_strength) else layout.out_strength
    degree = float(layout.indptr[node + 1] - layout.indptr[node])
    strength = float(strengths[node]) if len(strengths) else degree
    strength = strength if strength > 0 else 1.0
    return math.sqrt(strength) if layout.kind == SYM else strength


def entry_of(layout: PoolLayout, start: int, node: int, total: float) -> float:
    """An entry of a row from the deposits of its pool."""
    return potential(layout, start) * total / potential(layout, node)
