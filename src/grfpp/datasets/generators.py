"""Random and regular graphs, and stochastic block models with labelled nodes.

The block models are those of PATTERN and CLUSTER (Dwivedi et al., "Benchmarking graph neural
networks", JMLR 2023), for any number of graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from grfpp._checks import probability, whole
from grfpp._memory import require_bytes
from grfpp.datasets.graphs import read_only
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.matrices import unweighted
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Peak memory of an edge: pairs, their transposes, sorting.
_BYTES_PER_EDGE = 100
#: Peak memory of an edge in networkx: sets of pairs of Python integers.
_BYTES_PER_PAIR = 300
#: Memory of the edges and signals of one graph of communities, on average.
_BYTES_PER_BLOCK_MODEL = 100_000

# The values below are those of the benchmark.
#: Sizes of communities and of patterns are drawn from the first to below the second number.
_COMMUNITY_SIZES = (5, 35)
#: Number of communities of PATTERN.
_PATTERN_COMMUNITIES = 5
#: Probability of an edge within a community of PATTERN.
_PATTERN_WITHIN = 0.5
#: Probability of an edge between communities of PATTERN.
_PATTERN_BETWEEN = 0.35
#: Probability of an edge within the pattern, and between it and the communities.
_PATTERN_EDGES = 0.5
#: Number of different signals of PATTERN.
PATTERN_SIGNALS = 3
#: Number of communities of CLUSTER.
CLUSTER_COMMUNITIES = 6
#: Probability of an edge within a community of CLUSTER.
_CLUSTER_WITHIN = 0.55
#: Probability of an edge between communities of CLUSTER.
_CLUSTER_BETWEEN = 0.25


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


@dataclass(frozen=True, eq=False, repr=False)
class LabelledNodes:
    """A graph whose nodes have an observed signal and a class to predict.

    Attributes
    ----------
    graph
        The graph.
    signals
        The signal of each node, an integer from 0.
    labels
        The class of each node.

    Examples
    --------
    >>> from grfpp.datasets import cluster_graphs
    >>> first = cluster_graphs(1)[0]
    >>> first.signals.shape == first.labels.shape == (first.graph.n_nodes,)
    True
    """

    graph: Graph
    signals: IntArray
    labels: IntArray

    def __repr__(self) -> str:
        return f"LabelledNodes({self.graph!r})"


def cluster_graphs(n_graphs: int, *, seed: int = 0) -> list[LabelledNodes]:
    """Graphs of six communities to predict, of each of which one node is labelled (CLUSTER).

    Signals are 1 to 6 at the six labelled nodes and 0 at all others; classes are the communities,
    from 0.

    Parameters
    ----------
    n_graphs
        Number of graphs.
    seed
        The same seed gives the same graphs, of which larger `n_graphs` add more.

    Examples
    --------
    >>> first = cluster_graphs(1)[0]
    >>> int(first.labels.max()), int(np.count_nonzero(first.signals))
    (5, 6)

    References
    ----------
    Dwivedi et al., "Benchmarking graph neural networks", JMLR 2023.
    """
    graphs = []
    for number in range(_number_of_graphs(n_graphs)):
        rng = np.random.default_rng([whole(seed, "seed", 0), number])
        sizes = rng.integers(*_COMMUNITY_SIZES, CLUSTER_COMMUNITIES)
        community = rng.permutation(np.repeat(np.arange(CLUSTER_COMMUNITIES), sizes))
        same = np.equal.outer(community, community)
        edges = _symmetric(rng, np.where(same, _CLUSTER_WITHIN, _CLUSTER_BETWEEN))
        signals = np.zeros(len(community), dtype=np.int64)
        for c in range(CLUSTER_COMMUNITIES):
            signals[rng.choice(np.flatnonzero(community == c))] = c + 1
        graphs.append(_labelled(edges, signals, community))
    return graphs


def pattern_graphs(n_graphs: int, *, n_patterns: int = 100, seed: int = 0) -> list[LabelledNodes]:
    """Graphs of five communities and a pattern, whose nodes are to be predicted (PATTERN).

    A pattern is a small random graph with signals; it is joined to the communities at random. Graph
    ``i`` has pattern ``i % n_patterns``, so that consecutive parts of the list share patterns, as
    the training and test graphs of the benchmark do (it has 100). Classes are 1 for the nodes of
    the pattern and 0 for others.

    Parameters
    ----------
    n_graphs
        Number of graphs.
    n_patterns
        Number of different patterns.
    seed
        The same seed gives the same graphs, of which larger `n_graphs` add more.

    Examples
    --------
    >>> first = pattern_graphs(1)[0]
    >>> sorted(set(first.labels.tolist())), int(first.signals.max())
    ([0, 1], 2)

    References
    ----------
    Dwivedi et al., "Benchmarking graph neural networks", JMLR 2023.
    """
    n_patterns, seed = whole(n_patterns, "n_patterns", 1), whole(seed, "seed", 0)
    graphs = []
    for number in range(_number_of_graphs(n_graphs)):
        pattern_rng = np.random.default_rng([seed, 0, number % n_patterns])
        n_hidden = int(pattern_rng.integers(*_COMMUNITY_SIZES))
        hidden = _symmetric(pattern_rng, np.full((n_hidden, n_hidden), _PATTERN_EDGES))
        hidden_signals = pattern_rng.integers(PATTERN_SIGNALS, size=n_hidden)

        rng = np.random.default_rng([seed, 1, number])
        sizes = rng.integers(*_COMMUNITY_SIZES, _PATTERN_COMMUNITIES)
        community = np.repeat(np.arange(_PATTERN_COMMUNITIES), sizes)
        same, n_others = np.equal.outer(community, community), len(community)
        chance = np.full((n_others + n_hidden,) * 2, _PATTERN_EDGES)
        chance[:n_others, :n_others] = np.where(same, _PATTERN_WITHIN, _PATTERN_BETWEEN)
        edges = _symmetric(rng, chance)
        edges[n_others:, n_others:] = hidden
        signals = np.concatenate([rng.integers(PATTERN_SIGNALS, size=n_others), hidden_signals])
        labels = np.repeat([0, 1], [n_others, n_hidden])
        order = rng.permutation(len(labels))
        graphs.append(_labelled(edges[order][:, order], signals[order], labels[order]))
    return graphs


def _number_of_graphs(n_graphs: int) -> int:
    """Check the number of graphs, and that they fit into memory."""
    number = whole(n_graphs, "n_graphs", 0)
    require_bytes(_BYTES_PER_BLOCK_MODEL * number, f"{number} graphs of communities")
    return number


def _symmetric(rng: np.random.Generator, chance: FloatArray) -> BoolArray:
    """Select each pair of different nodes with its probability."""
    upper = np.triu(rng.random(chance.shape) < chance, k=1)
    return np.asarray(upper | upper.T)


def _labelled(edges: BoolArray, signals: IntArray, labels: IntArray) -> LabelledNodes:
    graph = Graph(sp.csr_array(edges.astype(np.float64)))
    return LabelledNodes(graph, read_only(signals), read_only(labels.astype(np.int64)))
