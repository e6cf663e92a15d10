"""Small graphs with labels."""

import networkx as nx
import numpy as np
from small_graphs import irregular, weighted

from grfpp.tasks.graphs.labelled import LabelledGraph

WATER = LabelledGraph([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["O", "H", "H"])
CHAIN = LabelledGraph(nx.path_graph(4), ["H", "O", "O", "H"])
ODD = LabelledGraph(irregular(), np.arange(9) % 3)
HEAVY = LabelledGraph(weighted(), np.arange(9) // 4)


def shuffled(graph, n, seed=0):
    """Copies of a graph with its nodes in other orders, which have walks of their own."""
    rng, A = np.random.default_rng(seed), graph.graph.adjacency
    orders = [rng.permutation(A.shape[0]) for _ in range(n)]
    return [LabelledGraph(A[order][:, order], graph.labels[order]) for order in orders]


def estimates(features, graphs, n_copies, n_seeds):
    """Independent estimates of the features of graphs, of shape (estimates, graphs, features)."""
    copies = [copy for graph in graphs for copy in shuffled(graph, n_copies)]
    found = []
    for seed in range(n_seeds):
        rows = features.set_params(random_state=seed).fit_transform(copies)
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        found.append(rows.reshape(len(graphs), n_copies, -1).swapaxes(0, 1))
    return np.concatenate(found)
