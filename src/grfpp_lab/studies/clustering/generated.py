"""Generated graphs whose clusters are known: hubs, whiskers, uneven sizes, weak structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp.typing import IntArray

#: Seeds of the graphs on which defaults are chosen, and of those on which they are judged.
CHOOSING_SEEDS = range(1000, 1010)
JUDGING_SEEDS = range(30)

Generator = np.random.Generator


class Planted(NamedTuple):
    """A connected graph with a true cluster for each node."""

    family: str
    seed: int
    adjacency: sp.csr_array
    truth: IntArray

    @property
    def n_clusters(self) -> int:
        """How many true clusters there are."""
        return len(np.unique(self.truth))


def block_model(
    sizes: IntArray, mean_degree: float, mixing: float, spread: float, rng: Generator
) -> tuple[IntArray, IntArray]:
    """Edges of a degree-corrected block model, and the block of each node.

    A share `mixing` of the edges joins nodes of any blocks, the others nodes of one. Weights of
    nodes are log-normal with the deviation `spread`.
    """
    truth = np.repeat(np.arange(len(sizes)), sizes)
    n = len(truth)
    weight = np.exp(spread * rng.standard_normal(n))
    n_edges = int(0.5 * mean_degree * n)
    anywhere = rng.random(n_edges) < mixing
    one = rng.choice(n, n_edges, p=weight / weight.sum())
    other = rng.choice(n, n_edges, p=weight / weight.sum())
    # A node of the block of the first: a place in the running sum of the block's weights.
    running = np.concatenate([[0.0], np.cumsum(weight)])
    first = np.concatenate([[0], np.cumsum(sizes)])
    low, high = running[first[truth[one]]], running[first[truth[one] + 1]]
    inside = np.searchsorted(running, low + (high - low) * rng.random(n_edges), "right") - 1
    return np.stack([one, np.where(anywhere, other, np.clip(inside, 0, n - 1))]), truth


def uneven_sizes(n: int, n_blocks: int, evenness: float, rng: Generator) -> IntArray:
    """Sizes of blocks with at least 2 % of all nodes and four of them."""
    shares = rng.dirichlet(np.full(n_blocks, evenness))
    least = max(4, n // 50)
    return np.asarray(least + np.floor(shares * (n - least * n_blocks)), np.int64)


def with_hubs(
    edges: IntArray, truth: IntArray, number: int, reach: float, rng: Generator
) -> IntArray:
    """Join some nodes with a share `reach` of all others, whatever their block."""
    n = len(truth)
    hubs = rng.choice(n, number, replace=False)
    more = [
        np.stack([np.full(n_more, hub), rng.choice(n, n_more, replace=False)])
        for hub in hubs
        for n_more in [max(1, int(reach * n * rng.uniform(0.5, 1.0)))]
    ]
    return np.hstack([edges, *more])


def with_whiskers(
    edges: IntArray, truth: IntArray, share: float, largest: int, rng: Generator
) -> tuple[IntArray, IntArray]:
    """Hang trees and cliques of up to `largest` nodes on single nodes; they belong to its block."""
    n, more, labels = len(truth), [edges], [truth]
    added = 0
    while added < share * n:
        size, anchor = int(rng.integers(1, largest + 1)), int(rng.integers(n))
        places = n + added + np.arange(size)
        more.append(np.array([[anchor], [places[0]]]))
        if rng.random() < 0.3:
            pairs = np.array(np.triu_indices(size, 1))
            more.append(places[pairs])
        elif size > 1:
            parents = np.array([rng.integers(max(0, i - 2), i) for i in range(1, size)])
            more.append(np.stack([places[1:], places[parents]]))
        labels.append(np.full(size, truth[anchor]))
        added += size
    return np.hstack(more), np.concatenate(labels)


def planted(family: str, seed: int, edges: IntArray, truth: IntArray, rng: Generator) -> Planted:
    """The largest component of a simple graph, its nodes shuffled."""
    from scipy.sparse.csgraph import connected_components

    n = len(truth)
    matrix = sp.coo_array((np.ones(edges.shape[1]), tuple(edges)), (n, n)).tocsr()
    matrix = ((matrix + matrix.T) > 0).astype(np.float64).tocsr()
    matrix = sp.csr_array(matrix - sp.diags_array(matrix.diagonal()))
    matrix.eliminate_zeros()
    _, component = connected_components(matrix, directed=False)
    kept = rng.permutation(np.flatnonzero(component == np.bincount(component).argmax()))
    return Planted(family, seed, sp.csr_array(matrix[kept][:, kept]), truth[kept])


def hubs_and_whiskers(seed: int) -> Planted:
    """Blocks of uneven sizes with hubs and whiskers."""
    rng = np.random.default_rng(seed)
    n, n_blocks = int(rng.integers(300, 2000)), int(rng.integers(2, 11))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(1.5, 6.0), rng)
    edges, truth = block_model(sizes, rng.uniform(8, 20), rng.uniform(0.1, 0.45), 0.7, rng)
    edges = with_hubs(edges, truth, int(rng.integers(1, 8)), rng.uniform(0.05, 0.3), rng)
    edges, truth = with_whiskers(edges, truth, rng.uniform(0.05, 0.3), 12, rng)
    return planted("hubs and whiskers", seed, edges, truth, rng)


def uneven(seed: int) -> Planted:
    """Blocks of very uneven sizes, weights of nodes far apart, neither hubs nor whiskers."""
    rng = np.random.default_rng(seed)
    n, n_blocks = int(rng.integers(200, 2500)), int(rng.integers(3, 15))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(0.7, 2.0), rng)
    edges, truth = block_model(sizes, rng.uniform(5, 15), rng.uniform(0.1, 0.4), 1.0, rng)
    return planted("uneven", seed, edges, truth, rng)


def small(seed: int) -> Planted:
    """Few nodes, as in the networks of people and animals that everybody knows."""
    rng = np.random.default_rng(seed)
    n, n_blocks = int(rng.integers(30, 130)), int(rng.integers(2, 5))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(1.5, 6.0), rng)
    edges, truth = block_model(sizes, rng.uniform(4, 9), rng.uniform(0.1, 0.35), 0.7, rng)
    edges, truth = with_whiskers(edges, truth, rng.uniform(0, 0.1), 3, rng)
    return planted("small", seed, edges, truth, rng)


def many(seed: int) -> Planted:
    """Many small clusters of about one size and degree, as the teams of a league."""
    rng = np.random.default_rng(seed)
    n_blocks = int(rng.integers(8, 16))
    sizes = rng.integers(6, 16, n_blocks)
    edges, truth = block_model(sizes, rng.uniform(8, 12), rng.uniform(0.25, 0.45), 0.1, rng)
    return planted("many", seed, edges, truth, rng)


def sparse_citations(seed: int) -> Planted:
    """Few edges a node, and classes that hold several communities each, as subjects of papers."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(1000, 2500)), int(rng.integers(5, 9))
    n_blocks = n_classes * int(rng.integers(3, 9))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(1.0, 3.0), rng)
    classes = np.concatenate(
        [np.arange(n_classes), rng.integers(0, n_classes, n_blocks - n_classes)]
    )
    within, blocks = block_model(sizes, rng.uniform(2.5, 3.5), 0.05, 1.0, rng)
    truth = classes[blocks]
    order = np.argsort(truth, kind="stable")
    across, _ = block_model(np.bincount(truth), 1.0, rng.uniform(0.2, 0.5), 1.0, rng)
    edges, truth = with_whiskers(np.hstack([within, order[across]]), truth, 0.1, 4, rng)
    return planted("citations", seed, edges, truth, rng)


def weak(seed: int) -> Planted:
    """Classes that the edges tell of only in part: many nodes are linked as another class is."""
    rng = np.random.default_rng(seed)
    n, n_blocks = int(rng.integers(500, 1500)), int(rng.integers(5, 14))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(1.0, 4.0), rng)
    edges, truth = block_model(sizes, rng.uniform(6, 14), rng.uniform(0.3, 0.6), 1.0, rng)
    edges = with_hubs(edges, truth, int(rng.integers(0, 10)), 0.1, rng)
    edges, truth = with_whiskers(edges, truth, rng.uniform(0, 0.15), 6, rng)
    other = rng.random(len(truth)) < rng.uniform(0.05, 0.3)
    truth = np.where(other, rng.permutation(truth), truth)
    return planted("weak", seed, edges, truth, rng)


def lfr(seed: int) -> Planted:
    """The benchmark of Lancichinetti, Fortunato and Radicchi, by networkx."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    n = int(rng.integers(250, 1000))
    while True:
        degree, mixing = rng.uniform(6, 12), rng.uniform(0.1, 0.45)
        try:
            graph = nx.LFR_benchmark_graph(
                n,
                rng.uniform(2.2, 3.0),
                rng.uniform(1.2, 2.0),
                mixing,
                average_degree=degree,
                max_degree=n // 8,
                min_community=n // 25,
                max_community=n // 4,
                max_iters=300,
                seed=int(rng.integers(2**31)),
            )
        except nx.ExceededMaxIterations:
            continue
        break
    smallest = [min(graph.nodes[node]["community"]) for node in graph]
    truth = np.unique(smallest, return_inverse=True)[1]
    return planted("LFR", seed, np.array(graph.edges).T, truth, rng)


FAMILIES: dict[str, Callable[[int], Planted]] = {
    "hubs and whiskers": hubs_and_whiskers,
    "uneven": uneven,
    "small": small,
    "many": many,
    "citations": sparse_citations,
    "weak": weak,
    "LFR": lfr,
}


def choosing_graphs(seeds: range = CHOOSING_SEEDS) -> Iterator[Planted]:
    """Those on which defaults are chosen: all families."""
    for make in FAMILIES.values():
        for seed in seeds:
            yield make(seed)


def judging_graphs(seeds: range = JUDGING_SEEDS) -> Iterator[Planted]:
    """Those on which they are judged: block models with hubs and whiskers, other seeds."""
    for seed in seeds:
        yield hubs_and_whiskers(seed)
