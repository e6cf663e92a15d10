"""Generated graphs whose nodes have classes, and splits of labels: few known, some to choose by."""

from __future__ import annotations

from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.typing import IntArray

#: Labelled nodes of each class, and further ones to choose by.
N_LABELLED, N_VALIDATION = 20, 500


class Generated(NamedTuple):
    """A graph and the classes of its nodes."""

    graph: Graph
    labels: IntArray


def block_model(
    n_nodes: int,
    n_classes: int,
    mean_degree: float,
    homophily: float,
    *,
    n_parts: int = 6,
    tail: float = 2.0,
    n_hubs: int = 0,
    seed: int = 0,
) -> Generated:
    """A degree-corrected block model whose classes, of uneven sizes, have several parts.

    A share `homophily` of the edges stays in a class, most of them in one part. Degrees follow a
    power law with exponent ``1 + tail``. Hubs have edges to a fortieth of all nodes.
    """
    rng = np.random.default_rng(seed)
    shares = np.maximum(rng.dirichlet(np.full(n_classes, 4.0)), 0.05)
    labels = rng.choice(n_classes, n_nodes, p=shares / shares.sum())
    parts = labels * n_parts + rng.integers(0, n_parts, n_nodes)
    weight = rng.pareto(tail, n_nodes) + 1
    n_edges = int(n_nodes * mean_degree / 2)
    source = rng.choice(n_nodes, n_edges, p=weight / weight.sum())
    where = rng.random(n_edges)
    target = rng.choice(n_nodes, n_edges, p=weight / weight.sum())
    for groups, kept in ((labels, where < homophily), (parts, where < 0.8 * homophily)):
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            mine = np.flatnonzero(kept & (groups[source] == group))
            chance = weight[members] / weight[members].sum()
            target[mine] = rng.choice(members, len(mine), p=chance)
    hubs = rng.choice(n_nodes, n_hubs, replace=False)
    ends = [rng.choice(n_nodes, n_nodes // 40, replace=False) for _ in hubs]
    source = np.concatenate(
        [source, *(np.full(len(e), h) for h, e in zip(hubs, ends, strict=True))]
    )
    target = np.concatenate([target, *ends])
    return Generated(_graph(source, target, n_nodes), labels)


def lfr(n_nodes: int, mixing: float, mean_degree: float, seed: int = 0) -> Generated:
    """A graph of Lancichinetti, Fortunato and Radicchi, its communities as classes.

    Some seeds find no sequence of degrees; the next that does is taken.
    """
    while True:
        try:
            made = nx.LFR_benchmark_graph(
                *(n_nodes, 2.5, 1.5, mixing),
                average_degree=mean_degree,
                max_degree=n_nodes // 20,
                min_community=n_nodes // 20,
                max_community=n_nodes // 4,
                max_iters=300,
                seed=seed,
            )
            break
        except nx.ExceededMaxIterations:
            seed += 1000
    labels = np.empty(n_nodes, np.int64)
    communities = {frozenset(made.nodes[node]["community"]) for node in made}
    for number, community in enumerate(sorted(communities, key=min)):
        labels[list(community)] = number
    source, target = np.array(made.edges).T
    return Generated(_graph(source, target, n_nodes), labels)


def _graph(source: Any, target: Any, n_nodes: int) -> Graph:
    apart = source != target
    entries = (np.ones(apart.sum()), (source[apart], target[apart]))
    matrix = sp.coo_array(entries, shape=(n_nodes, n_nodes)).tocsr()
    return Graph(((matrix + matrix.T) > 0).astype(np.float64))


class Split(NamedTuple):
    """Numbers of nodes."""

    train: IntArray
    validation: IntArray
    test: IntArray


def split_of(labels: IntArray, seed: int, n_labelled: int = N_LABELLED) -> Split:
    """So many nodes of each class to learn from, some others to choose by, the rest to judge."""
    rng = np.random.default_rng(seed)
    chosen = [
        rng.choice(members, min(n_labelled, len(members) // 2), replace=False)
        for members in (np.flatnonzero(labels == each) for each in np.unique(labels))
    ]
    train = np.concatenate(chosen)
    rest = rng.permutation(np.setdiff1d(np.arange(len(labels)), train))
    n_validation = min(N_VALIDATION, len(rest) // 2)
    return Split(train, rest[:n_validation], rest[n_validation:])
