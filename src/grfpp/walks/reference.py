"""Both kinds of walks in plain Python: to be read beside the formulas and to test against.

They draw from the same streams as the compiled loops and give the same numbers.

Independent walks are Algorithm 2 of the paper, corrected. As printed, the walk stops when
``walk_length ≥ s`` before its last deposit, which leaves out the deposit at ``k = s`` while still
dividing by ``P(X ≥ k)``: a biased estimate (the tests show by how much). Here a walk of length
``s`` deposits at every ``k = 0, 1, …, s``.

A pool is a sparse vector of masses, at first ``e_start``. A step turns a pool ``x`` into one of
mean ``x W``: edges that carry much are followed with what they carry; of the others some are
picked, each with a chance in proportion to what it carries, and stand for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from grfpp.walks.budget import Budget
from grfpp.walks.layout import DEGREE_BITS, PoolLayout
from grfpp.walks.lengths import LengthTable
from grfpp.walks.plan import WalkPlan
from grfpp.walks.streams import length_words, step_choice, uniform, walk_state

#: An edge's end, and the mass that the edge carries there.
Carried = tuple[int, float]


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
    """The number of steps of the walk with this stream: how many thresholds lie above the draw."""
    draw = length_words(state)
    table = plan.lengths
    assert isinstance(table, LengthTable)
    length = 0
    while length < table.max_length and draw < (int(table.high[length]), int(table.low[length])):
        length += 1
    return length


def pool_row(plan: WalkPlan, start: int) -> npt.NDArray[np.float64]:
    """A row of pooled walks: ``Σ_k f(k) x_k``."""
    row = np.zeros(plan.graph.n_nodes)
    for k, pool in enumerate(pools(plan, start)):
        for node, mass in pool.items():
            row[node] += plan.deposits[k] * mass
    measure = plan.measure
    return np.asarray(row * (measure[start] / measure))


def pools(plan: WalkPlan, start: int) -> Iterator[dict[int, float]]:
    """The pools ``x_0, x_1, …`` in the walk's measure, as far as they go."""
    budget = plan.lengths
    assert isinstance(budget, Budget)
    pool = {start: 1.0}
    left, alive = plan.expected_steps, 1.0
    yield pool
    for k in range(1, budget.max_length + 1):
        edges = [edge for node, mass in pool.items() for edge in carried(plan, node, mass)]
        fair = left * budget.share[k]
        # How many edges may be followed. The budget is one of expected edges: a pool that has come
        # so far by chance may take more than its share, a late one goes on by chance.
        allowed = fair / alive
        if len(edges) <= allowed:
            left = left * budget.rest[k] + (fair - alive * len(edges))
        else:
            edges = compressed(edges, allowed, uniform(walk_state(plan.key, start, k)))
            left *= budget.rest[k]
            alive *= min(1.0, allowed)
        pool = {}
        for node, mass in edges:
            pool[node] = pool.get(node, 0.0) + mass
        if not pool:
            return
        yield pool


def carried(plan: WalkPlan, node: int, mass: float) -> list[Carried]:
    """What the edges of a node carry of its mass, the heaviest first."""
    layout = plan.layout
    assert isinstance(layout, PoolLayout)
    own = slice(int(layout.first[node]), int(layout.first[node]) + int(layout.degree[node]))
    ends = (layout.slots[own] >> DEGREE_BITS).tolist()
    if not len(layout.weights):  # equal ones, in the walk's measure
        return [(end, mass / len(ends)) for end in ends]
    weights = layout.weights[own].tolist()
    return [(end, mass * weight) for end, weight in zip(ends, weights, strict=True)]


def compressed(edges: list[Carried], allowed: float, point: float) -> list[Carried]:
    """Follow about `allowed` of the edges, so that the mean is that of all."""
    followed: list[Carried] = []
    threshold = sum(mass for _, mass in edges) / allowed
    while True:
        heavy = [edge for edge in edges if edge[1] >= threshold]
        edges = [edge for edge in edges if edge[1] < threshold]
        followed += heavy
        if not heavy or not edges or not allowed - len(followed) > 0:
            break
        threshold = sum(mass for _, mass in edges) / (allowed - len(followed))
    # The light ones lie end to end on a line; every whole step from a random point picks one.
    start = 0.0
    for node, mass in edges:
        end = start + mass / threshold
        while point < end:
            followed.append((node, threshold))
            point += 1.0
        start = end
    return followed
