"""A part of a large graph that settings are chosen on: balls around some of its nodes."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from grfpp.graph import Graph
from grfpp.typing import IntArray

#: Nodes of a part, and balls that it consists of.
MOST_NODES, _BALLS = 6_000, 8
#: Centres that are tried, where components are small.
_MOST_CENTRES = 64


def patch_of(graph: Graph, known: IntArray, seed: int) -> tuple[Graph, IntArray]:
    """The graph between the nodes nearest to a few known ones, and which nodes these are.

    All of it where it is small. Held-out values are predicted from their surroundings, so that
    the rest of a large graph would change little of what is chosen.

    Examples
    --------
    >>> from grfpp.datasets import grid
    >>> graph = grid(100, 100)
    >>> part, nodes = patch_of(graph, np.arange(0, 10_000, 5), seed=0)
    >>> part.n_nodes == len(nodes), 3_000 < part.n_nodes <= MOST_NODES
    (True, True)
    """
    if graph.n_nodes <= MOST_NODES:
        return graph, np.arange(graph.n_nodes)
    rng, adjacency = np.random.default_rng(seed), graph.adjacency
    taken = np.zeros(graph.n_nodes, bool)
    for centre in rng.permutation(known)[:_MOST_CENTRES]:
        left = MOST_NODES - int(taken.sum())
        if left <= 0:
            break
        ball = breadth_first_order(adjacency, centre, return_predecessors=False)
        taken[ball[: min(left, MOST_NODES // _BALLS)]] = True
    nodes = np.flatnonzero(taken)
    return Graph(adjacency[nodes][:, nodes]), nodes
