"""Graphs with communities, and kernels to find them by."""

import networkx as nx
import numpy as np

METHODS = {
    "exact": {"estimate": "exact"},
    "GRF": {"degree": 1, "n_walks": 32},
    "GRF++": {"degree": 2, "n_walks": 32},
}


def planted(sizes, inside=0.5, outside=0.02, seed=0):
    """Communities that are there to be found, and the nodes in another order."""
    graph = nx.random_partition_graph(sizes, inside, outside, seed=seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    order = np.random.default_rng(seed).permutation(len(truth))
    return nx.to_scipy_sparse_array(graph, dtype=float)[order][:, order], truth[order]
