"""Seconds that clusters of a million nodes take."""

from __future__ import annotations

import time

import numpy as np

from grfpp.tasks.nodes.clustering import SpectralKernelClustering, rand_error
from grfpp_lab.studies.clustering.generated import block_model, planted, with_hubs, with_whiskers


def large(n_nodes: int = 1_000_000, n_blocks: int = 10, seed: int = 0) -> float:
    """Cluster a block model with hubs and whiskers; print seconds and the pair error."""
    rng = np.random.default_rng(seed)
    sizes = np.full(n_blocks, n_nodes // n_blocks)
    edges, truth = block_model(sizes, 12.0, 0.3, 0.7, rng)
    edges = with_hubs(edges, truth, 20, 0.01, rng)
    edges, truth = with_whiskers(edges, truth, 0.02, 12, rng)
    graph = planted("large", seed, edges, truth, rng)
    start = time.perf_counter()
    clustering = SpectralKernelClustering(n_blocks, random_state=seed).fit(graph.adjacency)
    seconds = time.perf_counter() - start
    n, m = graph.adjacency.shape[0], graph.adjacency.nnz // 2
    error = rand_error(clustering.labels_, graph.truth)
    print(f"{n:,} nodes, {m:,} edges, {n_blocks} clusters: {seconds:.0f} s, pair error {error:.4f}")
    return seconds
