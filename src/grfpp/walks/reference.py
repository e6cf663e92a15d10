"""Algorithm 2 of the paper, corrected, in plain Python: to be read beside it and to test against.

As printed, the walk stops when ``walk_length ≥ s`` before its last deposit, which leaves out the
deposit at ``k = s`` while still dividing by ``P(X ≥ k)``: a biased estimate (the tests show by how
much). Here a walk of length ``s`` deposits at every ``k = 0, 1, …, s``.

It draws from the same streams as the compiled engine and gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from grfpp.walks.plan import WalkPlan
from grfpp.walks.streams import length_words, step_choice, walk_state


def reference_rows(plan: WalkPlan, rows: Iterable[int]) -> npt.NDArray[np.float64]:
    """The chosen rows of the factor, as a dense array."""
    return np.array([feature_vector(plan, row) for row in rows])


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
    length = 0
    while length < table.max_length and draw < (int(table.high[length]), int(table.low[length])):
        length += 1
    return length
