"""Kernels and small weights of every kind, on which estimates are shown to be unbiased."""

import networkx as nx
import numpy as np

import grfpp

N_NODES = 34
#: Spectral radius. Small enough for finite fourth moments with every kernel and law below:
#: without them z-scores are no test (they are not normal for any affordable number of repeats).
RADIUS = 0.35

KERNELS = [
    *(grfpp.Diffusion(1.0), grfpp.RegularizedLaplacian(2, 1.0), grfpp.PStep(3, 2.0)),
    *(grfpp.Cosine(), grfpp.InversePower(4), grfpp.InversePower(4, of=2)),
    *(grfpp.SquaredDiffusion(), grfpp.TaylorKernel([1, 0.5, 0.2])),
    grfpp.TaylorKernel([-1, -0.5, -0.2], name="negative"),
]


def _weights():
    rng = np.random.default_rng(0)
    karate = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    edges = rng.random((N_NODES, N_NODES)) < 0.2
    upper = np.triu(rng.lognormal(0, 0.5, edges.shape) * edges, 1)
    loops = np.triu(1.0 * edges, 1)
    loops = loops + loops.T + np.diag(np.arange(N_NODES) % 3 == 0)
    loops[[5, 11]] = loops[:, [5, 11]] = 0
    return {
        "unweighted": karate,
        "weighted": upper + upper.T,
        "directed": rng.lognormal(0, 0.3, edges.shape) * (rng.random(edges.shape) < 0.15),
        "loops and isolated nodes": loops,
    }


def _scaled(weights):
    """Normalised, with the wanted spectral radius for directed graphs too."""
    graph = grfpp.Graph(weights)
    graph = graph.normalized("sym")
    return graph.normalized(None, RADIUS / graph.spectral_radius()).adjacency.toarray()


WEIGHTS = {name: _scaled(weights) for name, weights in _weights().items()}

#: Undirected graphs, kernels and degrees: each pair of them once.
SQUARE = [
    (kind, KERNELS[(0, 1, -1)[j]], 1 + (i + j) % 3)
    for i, kind in enumerate(["unweighted", "weighted", "loops and isolated nodes"])
    for j in range(3)
]
#: And both answers to a question, with each of these.
HALVED_SQUARE = [(*case, place not in (0, 4, 8)) for place, case in enumerate(SQUARE)]
