"""The graphs of the experiment beside the paper's eight, most of them made on the spot."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from grfpp import datasets
from grfpp.graph import Graph
from grfpp.typing import FloatArray
from grfpp_lab.experiments import graphs
from grfpp_lab.experiments.graphs import Source
from grfpp_lab.families import grid, random_regular, scale_free
from grfpp_lab.meshes import mesh_named, why_absent

#: About 10,000 vertices each, the second where there are no data.
MESH, SPHERE = "mesh 57084", "sphere 5"
CORA, SCALE_FREE, GRID = "Cora", "Barabási–Albert 2,000", "Grid 100 × 100"
LARGE_SCALE_FREE, LARGE_REGULAR = "Scale-free 100,000", "10-regular 100,000"
NEIGHBOURS, DENSE = "kNN 1,500, Gaussian", "Dense 800, Gaussian"
RANDOM = "ER(1,000, 0.01)"
#: What is added to the name of a graph whose edges get random weights.
LOG_NORMAL = ", log-normal"
#: Of the logarithms of such weights.
SIGMA = 1.5
#: Of the graph of nearest neighbours, of the points, and of their Gaussian weights.
N_NEIGHBOURS, N_DIMENSIONS, WIDTH = 10, 5, 0.3


def _points(n: int) -> FloatArray:
    return np.random.default_rng(0).standard_normal((n, N_DIMENSIONS))


def nearest_neighbours(n: int = 1500) -> Graph:
    """Gaussian points joined to their ten nearest, with weights ``exp(−(d / 0.3)²)``."""
    from sklearn.neighbors import kneighbors_graph

    distances = kneighbors_graph(_points(n), N_NEIGHBOURS, mode="distance")
    distances = sp.csr_array(distances.maximum(distances.T))
    distances.data = np.exp(-((distances.data / WIDTH) ** 2))
    return Graph(distances)


def dense(n: int = 800) -> Graph:
    """Gaussian points, every two joined with the weight ``exp(−d² / 0.5)``."""
    from scipy.spatial.distance import pdist, squareform

    return Graph(squareform(np.exp(-pdist(_points(n), "sqeuclidean") / 0.5)))


def log_normal(graph: Graph, sigma: float = SIGMA) -> Graph:
    """The same edges with weights ``exp(σ x)``, `x` standard normal, the same both ways."""
    half = sp.triu(graph.adjacency, format="csr")
    half.data = np.exp(sigma * np.random.default_rng(0).standard_normal(half.nnz))
    return Graph(half + half.T)


def _barabasi_albert() -> Graph:
    import networkx as nx

    return Graph(nx.barabasi_albert_graph(2000, 5, seed=0))


def _cora() -> Graph:
    return datasets.load_graph("cora", download=False).graph


_SOURCES: dict[str, Source] = {
    SCALE_FREE: Source(SCALE_FREE, 2000, _barabasi_albert),
    CORA: Source(CORA, 2485, _cora),
    GRID: Source(GRID, 10_000, lambda: grid(10_000)),
    MESH: Source(MESH, 9603, lambda: mesh_named(MESH).graph),
    SPHERE: Source(SPHERE, 10_242, lambda: mesh_named(SPHERE).graph),
    LARGE_SCALE_FREE: Source(LARGE_SCALE_FREE, 100_000, lambda: scale_free(100_000)),
    LARGE_REGULAR: Source(LARGE_REGULAR, 100_000, lambda: random_regular(100_000)),
    NEIGHBOURS: Source(NEIGHBOURS, 1500, nearest_neighbours),
    DENSE: Source(DENSE, 800, dense),
    RANDOM: Source(RANDOM, 1000, lambda: datasets.erdos_renyi(1000, 0.01)),
}


@lru_cache(maxsize=1)
def load(name: str) -> Graph:
    """Read or make a graph; kept for the next cell."""
    base = name.removesuffix(LOG_NORMAL)
    if base != name:
        return log_normal(load(base))
    return _SOURCES[name].load() if name in _SOURCES else graphs.load(name)


def n_nodes_of(name: str) -> int:
    """About how many nodes a graph has, without reading it."""
    base = name.removesuffix(LOG_NORMAL)
    return _SOURCES[base].n_nodes if base in _SOURCES else graphs.n_nodes_of(base)


def title_of(name: str) -> str:
    """What people call a graph."""
    base = name.removesuffix(LOG_NORMAL)
    return graphs.title_of(base) + name[len(base) :]


def why_not(name: str) -> str | None:
    """Why a graph cannot be had without a download, or ``None`` when it can."""
    base = name.removesuffix(LOG_NORMAL)
    if base == MESH:
        return why_absent(base.removeprefix("mesh "))
    if base == CORA:
        return graphs.why_absent(base, load)
    return None if base in _SOURCES else graphs.why_absent(base)
