"""Stochastic block models with labelled nodes, in any number: those of PATTERN and CLUSTER.

References
----------
Dwivedi et al., "Benchmarking graph neural networks", JMLR 2023.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp._checks import whole
from grfpp._memory import require_bytes
from grfpp.graph import Graph
from grfpp.linalg.csr import readonly
from grfpp.typing import BoolArray, FloatArray, IntArray

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
_PATTERN_SIGNALS = 3
#: Number of communities of CLUSTER.
CLUSTER_COMMUNITIES = 6
#: Probability of an edge within a community of CLUSTER.
_CLUSTER_WITHIN = 0.55
#: Probability of an edge between communities of CLUSTER.
_CLUSTER_BETWEEN = 0.25


class LabelledNodes(NamedTuple):
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
    >>> from grfpp_lab.datasets.block_models import cluster_graphs
    >>> first = cluster_graphs(1)[0]
    >>> first.signals.shape == first.labels.shape == (first.graph.n_nodes,)
    True
    """

    graph: Graph
    signals: IntArray
    labels: IntArray


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
    """
    n_patterns, seed = whole(n_patterns, "n_patterns", 1), whole(seed, "seed", 0)
    graphs = []
    for number in range(_number_of_graphs(n_graphs)):
        pattern_rng = np.random.default_rng([seed, 0, number % n_patterns])
        n_hidden = int(pattern_rng.integers(*_COMMUNITY_SIZES))
        hidden = _symmetric(pattern_rng, np.full((n_hidden, n_hidden), _PATTERN_EDGES))
        hidden_signals = pattern_rng.integers(_PATTERN_SIGNALS, size=n_hidden)

        rng = np.random.default_rng([seed, 1, number])
        sizes = rng.integers(*_COMMUNITY_SIZES, _PATTERN_COMMUNITIES)
        community = np.repeat(np.arange(_PATTERN_COMMUNITIES), sizes)
        same, n_others = np.equal.outer(community, community), len(community)
        chance = np.full((n_others + n_hidden,) * 2, _PATTERN_EDGES)
        chance[:n_others, :n_others] = np.where(same, _PATTERN_WITHIN, _PATTERN_BETWEEN)
        edges = _symmetric(rng, chance)
        edges[n_others:, n_others:] = hidden
        signals = np.concatenate([rng.integers(_PATTERN_SIGNALS, size=n_others), hidden_signals])
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
    return LabelledNodes(graph, readonly(signals), readonly(labels.astype(np.int64)))
