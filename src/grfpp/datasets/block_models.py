"""PATTERN and CLUSTER: stochastic block models whose nodes are to be told apart.

As "Benchmarking Graph Neural Networks" (Dwivedi et al. 2023) makes them, in any number. Nodes are
shuffled, so that their numbers say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.arguments import whole
from grfpp.datasets.arrays import read_only
from grfpp.graph import Graph
from grfpp.memory import require_bytes
from grfpp.typing import IntArray

#: Sizes of communities and of patterns: from the first to below the second.
SIZES = (5, 35)
#: PATTERN: communities, probabilities of edges within and between them, those of the pattern with
#: itself and with all others, and how many different signals nodes have.
_PATTERN_COMMUNITIES, _PATTERN_WITHIN, _PATTERN_BETWEEN, _PATTERN_EDGES = 5, 0.5, 0.35, 0.5
PATTERN_SIGNALS = 3
#: CLUSTER: communities, and probabilities of edges within and between them.
CLUSTER_COMMUNITIES = 6
_CLUSTER_WITHIN, _CLUSTER_BETWEEN = 0.55, 0.25

# About 120 nodes and 5,000 arcs.
_BYTES_PER_GRAPH = 80_000

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class LabelledNodes:
    """A graph whose nodes have a signal that is seen and a class that is not.

    Attributes
    ----------
    graph
        The graph.
    signals
        A whole number from 0 for each node.
    labels
        The class of each node.
    """

    graph: Graph
    signals: IntArray
    labels: IntArray

    def __repr__(self) -> str:
        return f"LabelledNodes({self.graph!r})"


def cluster_graphs(n_graphs: int, *, seed: int = 0) -> list[LabelledNodes]:
    """Graphs of six communities; one node of each says which it is, the others are to be found.

    Signals are 1 to 6 at those six nodes and 0 at all others; classes are the communities, from 0.

    Parameters
    ----------
    n_graphs
        How many.
    seed
        The same seed gives the same graphs; with a larger number the first ones stay the same.

    Examples
    --------
    >>> first = cluster_graphs(1)[0]
    >>> int(first.labels.max()), int(np.count_nonzero(first.signals))
    (5, 6)
    """
    graphs = []
    for number in range(_how_many(n_graphs)):
        rng = np.random.default_rng([whole(seed, "seed", 0), number])
        sizes = rng.integers(*SIZES, CLUSTER_COMMUNITIES)
        community = rng.permutation(np.repeat(np.arange(CLUSTER_COMMUNITIES), sizes))
        alike = community[:, None] == community[None, :]
        edges = _symmetric(rng, np.where(alike, _CLUSTER_WITHIN, _CLUSTER_BETWEEN))
        signals = np.zeros(len(community), dtype=np.int64)
        for each in range(CLUSTER_COMMUNITIES):
            signals[rng.choice(np.flatnonzero(community == each))] = each + 1
        graphs.append(_labelled(edges, signals, community))
    return graphs


def pattern_graphs(n_graphs: int, *, n_patterns: int = 100, seed: int = 0) -> list[LabelledNodes]:
    """Graphs of five communities that hide one of some fixed patterns, whose nodes are to be found.

    A pattern is a small random graph with its signals; it is joined to the others at random. Graph
    ``i`` holds pattern ``i % n_patterns``, so that consecutive parts of the list share patterns,
    as training and test graphs of the benchmark do (it has 100).

    Parameters
    ----------
    n_graphs
        How many.
    n_patterns
        How many different patterns.
    seed
        The same seed gives the same graphs; with a larger number the first ones stay the same.

    Examples
    --------
    >>> first = pattern_graphs(1)[0]
    >>> sorted(set(first.labels.tolist())), int(first.signals.max())
    ([0, 1], 2)
    """
    n_patterns, seed = whole(n_patterns, "n_patterns", 1), whole(seed, "seed", 0)
    graphs = []
    for number in range(_how_many(n_graphs)):
        pattern_rng = np.random.default_rng([seed, 0, number % n_patterns])
        n_hidden = int(pattern_rng.integers(*SIZES))
        hidden = _symmetric(pattern_rng, np.full((n_hidden, n_hidden), _PATTERN_EDGES))
        hidden_signals = pattern_rng.integers(PATTERN_SIGNALS, size=n_hidden)

        rng = np.random.default_rng([seed, 1, number])
        sizes = rng.integers(*SIZES, _PATTERN_COMMUNITIES)
        community = np.repeat(np.arange(_PATTERN_COMMUNITIES), sizes)
        alike = community[:, None] == community[None, :]
        n_others = len(community)
        chance = np.full((n_others + n_hidden,) * 2, _PATTERN_EDGES)
        chance[:n_others, :n_others] = np.where(alike, _PATTERN_WITHIN, _PATTERN_BETWEEN)
        edges = _symmetric(rng, chance)
        edges[n_others:, n_others:] = hidden
        signals = np.concatenate([rng.integers(PATTERN_SIGNALS, size=n_others), hidden_signals])
        labels = np.repeat([0, 1], [n_others, n_hidden])
        order = rng.permutation(len(labels))
        graphs.append(_labelled(edges[order][:, order], signals[order], labels[order]))
    return graphs


def _how_many(n_graphs: int) -> int:
    n = whole(n_graphs, "n_graphs", 0)
    require_bytes(_BYTES_PER_GRAPH * n, f"{n} random graphs")
    return n


def _symmetric(rng: np.random.Generator, chance: npt.NDArray[np.float64]) -> BoolArray:
    """Take each pair of different nodes with its probability."""
    upper = np.triu(rng.random(chance.shape) < chance, k=1)
    return np.asarray(upper | upper.T)


def _labelled(edges: BoolArray, signals: IntArray, labels: IntArray) -> LabelledNodes:
    graph = Graph(sp.csr_array(edges.astype(np.float64)))
    return LabelledNodes(graph, read_only(signals), read_only(labels.astype(np.int64)))
