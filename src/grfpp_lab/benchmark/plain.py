"""Algorithm 1 of the paper, regular graph random features, in plain Python.

Once as fast as Python alone can be made with little effort, on lists; once as it is printed, on the
arrays in which graphs and features usually come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from time import perf_counter
from typing import Any

import numpy as np

from grfpp.graph import Graph
from grfpp.typing import FloatArray


def list_features(
    neighbours: Sequence[Sequence[int]],
    weights: Sequence[Sequence[float]],
    start: int,
    n_walks: int,
    p_halt: float,
    modulation: Sequence[float],
    random: Random,
) -> tuple[dict[int, float], int]:
    """The feature vector of one node, and the number of steps that it took."""
    features: dict[int, float] = {}
    steps = 0
    for _ in range(n_walks):
        node, load, length = start, 1.0, 0
        while length < len(modulation):
            features[node] = features.get(node, 0.0) + load * modulation[length]
            degree = len(neighbours[node])
            if degree == 0 or random.random() < p_halt:
                break
            choice = int(random.random() * degree)
            load *= weights[node][choice] * degree / (1 - p_halt)
            node = neighbours[node][choice]
            length += 1
            steps += 1
    return {node: value / n_walks for node, value in features.items()}, steps


def array_features(
    graph: Graph,
    start: int,
    n_walks: int,
    p_halt: float,
    modulation: Sequence[float],
    random: np.random.Generator,
) -> tuple[FloatArray, int]:
    """The same with a vector of ``n_nodes`` numbers."""
    features = np.zeros(graph.n_nodes)
    steps = 0
    for _ in range(n_walks):
        node, load, length = start, 1.0, 0
        while length < len(modulation):
            features[node] += load * modulation[length]
            first, end = graph.indptr[node], graph.indptr[node + 1]
            if first == end or random.random() < p_halt:
                break
            edge = random.integers(first, end)
            load *= graph.weights[edge] * (end - first) / (1 - p_halt)
            node = graph.indices[edge]
            length += 1
            steps += 1
    return features / n_walks, steps


def time_lists(
    graph: Graph, n_walks: int, p_halt: float, modulation: Sequence[float], budget: float
) -> tuple[int, float]:
    """Walk from one node after the other on lists until the budget of seconds is used up.

    Returns
    -------
    steps, seconds
        Lists are made of the graph's arrays before the clock starts.
    """
    ends = graph.indptr.tolist()
    columns, values = graph.indices.tolist(), graph.weights.tolist()
    neighbours = [columns[a:b] for a, b in pairwise(ends)]
    weights = [values[a:b] for a, b in pairwise(ends)]
    random = Random(0)
    return _until(
        budget,
        graph.n_nodes,
        lambda node: list_features(neighbours, weights, node, n_walks, p_halt, modulation, random),
    )


def time_arrays(
    graph: Graph, n_walks: int, p_halt: float, modulation: Sequence[float], budget: float
) -> tuple[int, float]:
    """The same on arrays."""
    random = np.random.default_rng(0)
    return _until(
        budget,
        graph.n_nodes,
        lambda node: array_features(graph, node, n_walks, p_halt, modulation, random),
    )


def _until(
    budget: float, n_nodes: int, features: Callable[[int], tuple[Any, int]]
) -> tuple[int, float]:
    steps, began = 0, perf_counter()
    for node in range(n_nodes):
        steps += features(node)[1]
        if perf_counter() - began > budget:
            break
    return steps, perf_counter() - began
