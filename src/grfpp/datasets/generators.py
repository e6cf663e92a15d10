"""Random and regular graphs, trees and grids."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import connected_components

from grfpp._checks import probability, whole
from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.matrices import unweighted
from grfpp.typing import IntArray

#: Peak memory of an edge: pairs, their transposes, sorting.
_BYTES_PER_EDGE = 100
#: Peak memory of an edge in networkx: sets of pairs of Python integers.
_BYTES_PER_PAIR = 300


def erdos_renyi(n_nodes: int, p: float, *, seed: int = 0) -> Graph:
    """A random graph in which every two nodes are joined with probability `p`.

    It may be disconnected; `connected_random` gives connected graphs.

    Examples
    --------
    >>> erdos_renyi(100, 0.04, seed=1).n_nodes
    100

    References
    ----------
    Batagelj and Brandes, "Efficient generation of large random networks", 2005.
    """
    n, rng = whole(n_nodes, "n_nodes", 1), np.random.default_rng(whole(seed, "seed", 0))
    return undirected_graph(n, _random_pairs(n, probability(p, "p"), rng))


def connected_random(n_nodes: int, p: float, *, seed: int = 0) -> Graph:
    """A connected Erdős–Rényi graph.

    If the random graph has several components, each but the first is joined to those before it by
    one edge between random nodes. Well above ``p = ln(n) / n`` that is rare.

    Examples
    --------
    >>> connected_random(500, 0.0)
    Graph(n_nodes=500, n_edges=499, undirected)
    """
    n, rng = whole(n_nodes, "n_nodes", 1), np.random.default_rng(whole(seed, "seed", 0))
    ends = _random_pairs(n, probability(p, "p"), rng)
    n_components, component = connected_components(unweighted(ends, n), directed=False)
    order = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[order], np.arange(1, n_components + 1))
    pairs = ((rng.integers(first), rng.integers(first, last)) for first, last in pairwise(starts))
    bridges = [(order[before], order[within]) for before, within in pairs]
    return undirected_graph(n, np.concatenate([ends, np.array(bridges, int).reshape(-1, 2)]))


def random_regular(n_nodes: int, degree: int, *, seed: int = 0) -> Graph:
    """A random graph in which every node has exactly `degree` neighbours.

    Examples
    --------
    >>> random_regular(100, 10)
    Graph(n_nodes=100, n_edges=500, undirected)
    """
    n, d = whole(n_nodes, "n_nodes", 1), whole(degree, "degree", 0)
    if d >= n or n * d % 2:
        advice = "degree must be below n_nodes, and one of the two even"
        raise InputError(f"no graph of {n} nodes has {d} neighbours of every node", advice=advice)
    require_bytes(_BYTES_PER_PAIR * n * (d + 1), f"a regular graph of {n} nodes")
    import networkx as nx

    graph = nx.random_regular_graph(d, n, seed=whole(seed, "seed", 0))
    return undirected_graph(n, np.array(graph.edges, dtype=np.int64).reshape(-1, 2))


def binary_tree(depth: int = 6) -> Graph:
    """A complete binary tree, numbered level by level from the root.

    Examples
    --------
    >>> binary_tree()
    Graph(n_nodes=127, n_edges=126, undirected)
    """
    n = 2 ** (whole(depth, "depth", 0, 29) + 1) - 1
    require_bytes(_BYTES_PER_EDGE * n, f"a binary tree of depth {depth}")
    child = np.arange(1, n)
    return undirected_graph(n, np.stack([(child - 1) // 2, child], axis=1))


def grid(n_rows: int, n_columns: int) -> Graph:
    """A rectangular grid, numbered row by row; nodes have up to four neighbours.

    Examples
    --------
    >>> grid(3, 4)
    Graph(n_nodes=12, n_edges=17, undirected)
    """
    height, width = whole(n_rows, "n_rows", 1), whole(n_columns, "n_columns", 1)
    require_bytes(2 * _BYTES_PER_EDGE * height * width, f"a grid of {height} x {width} nodes")
    node = np.arange(height * width).reshape(height, width)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    return undirected_graph(height * width, np.concatenate([across, down]))


def undirected_graph(n_nodes: int, ends: IntArray) -> Graph:
    """Make a graph of pairs of nodes; each is an edge of weight 1."""
    return Graph(unweighted(ends, n_nodes))


def _random_pairs(n: int, p: float, rng: np.random.Generator) -> IntArray:
    """Select each pair of nodes with probability `p`, by geometric gaps between selected pairs."""
    n_pairs = n * (n - 1) // 2
    expected = p * n_pairs
    require_bytes(round(_BYTES_PER_EDGE * (n + expected)), f"a random graph of {n} nodes")
    parts = [np.empty(0, dtype=np.int64)]
    last = -1 if p > 0 else n_pairs
    while last < n_pairs:
        gaps = rng.geometric(p, size=round(expected + 4 * expected**0.5) + 16)
        parts.append(last + np.cumsum(np.minimum(gaps, n_pairs + 1)))
        last = int(parts[-1][-1])
    chosen = np.concatenate(parts)
    chosen = chosen[chosen < n_pairs]
    # Pairs are numbered row by row of the upper triangle.
    row_starts = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1))])
    rows = np.searchsorted(row_starts, chosen, side="right") - 1
    columns = rows + 1 + chosen - row_starts[rows]
    return np.stack([rows, columns], axis=1)
