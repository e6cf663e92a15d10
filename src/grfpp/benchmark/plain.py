"""Algorithm 1 of the paper, regular graph random features, in plain Python: no arrays, no tricks."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from time import perf_counter

from grfpp.graph import Graph

Vector = dict[int, float]


def plain_features(
    neighbours: Sequence[Sequence[int]],
    weights: Sequence[Sequence[float]],
    start: int,
    n_walks: int,
    p_halt: float,
    modulation: Sequence[float],
    random: Random,
) -> tuple[Vector, int]:
    """The feature vector of one node, and the number of steps that it took."""
    features: Vector = {}
    steps = 0
    for _ in range(n_walks):
        node, load, length = start, 1.0, 0
        while length < len(modulation):
            features[node] = features.get(node, 0.0) + load * modulation[length]
            degree = len(neighbours[node])
            if degree == 0 or random.random() < p_halt:
                break
            choice = random.randrange(degree)
            load *= weights[node][choice] * degree / (1 - p_halt)
            node = neighbours[node][choice]
            length += 1
            steps += 1
    return {node: value / n_walks for node, value in features.items()}, steps


def time_plain(
    graph: Graph, n_walks: int, p_halt: float, modulation: Sequence[float], budget: float
) -> tuple[int, float]:
    """Walk from one node after the other until the budget of seconds is used up.

    Returns
    -------
    steps, seconds
        Lists are made of the graph's arrays before the clock starts.
    """
    cuts = graph.indptr[1:-1]
    neighbours = _lists(graph.indices.tolist(), cuts.tolist())
    weights = _lists(graph.weights.tolist(), cuts.tolist())
    random = Random(0)
    steps, began = 0, perf_counter()
    for start in range(graph.n_nodes):
        steps += plain_features(neighbours, weights, start, n_walks, p_halt, modulation, random)[1]
        if perf_counter() - began > budget:
            break
    return steps, perf_counter() - began


def _lists(values: list, cuts: list[int]) -> list[list]:  # type: ignore[type-arg]
    ends = [0, *cuts, len(values)]
    return [values[a:b] for a, b in zip(ends, ends[1:], strict=False)]
