"""Graphs that all parts of the laboratory share: generated families, labelled ones, meshes."""

from collections.abc import Callable
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import scipy.sparse as sp

from grfpp.datasets import TriangleMesh, dataset_info, load_mesh, triangulated_sphere
from grfpp.datasets.fetch import find_file
from grfpp.datasets.generators import grid as rectangle
from grfpp.graph import Graph
from grfpp.io.folder.writer import save_folder
from grfpp.normalization import Rows
from grfpp.typing import IntArray


def grid(n_nodes: int) -> Graph:
    """A square grid of about `n_nodes` nodes.

    Examples
    --------
    >>> grid(9)
    Graph(n_nodes=9, n_edges=12, undirected)
    """
    side = max(1, round(n_nodes**0.5))
    return rectangle(side, side)


def grid_patch(graph: Graph, n: int) -> IntArray:
    """Return `n` nodes of a square in the middle of a grid."""
    side, width = round(graph.n_nodes**0.5), ceil(n**0.5)
    across = (side - width) // 2 + np.arange(width)
    return np.ravel(side * across[:, None] + across)[:n]


def random_nodes(graph: Graph, n: int, seed: int) -> IntArray:
    """Return `n` different nodes drawn uniformly, or all of a smaller graph."""
    count = min(n, graph.n_nodes)
    return np.sort(np.random.default_rng(seed).choice(graph.n_nodes, count, replace=False))


def random_regular(n_nodes: int, degree: int = 10, seed: int = 0) -> Graph:
    """The union of ``degree / 2`` random permutations: every node has `degree` neighbours.

    All but a few: permutations may meet, which joins two edges, and fix a node, which has none.
    """
    rng = np.random.default_rng(seed)
    node = np.arange(n_nodes)
    return _graph(
        n_nodes,
        np.tile(node, degree // 2),
        np.concatenate([rng.permutation(n_nodes) for _ in range(degree // 2)]),
    )


def scale_free(n_nodes: int, n_links: int = 5, seed: int = 0) -> Graph:
    """A Barabási–Albert graph: each new node links to old ones in proportion to their degrees.

    The ends of all edges stand in a list, and a link goes to an entry of the list's part so far,
    drawn evenly. Entries that are such links themselves are followed until a node is found, for all
    links at once (Sanders and Schulz, 2016). Links of one node that meet count once.
    """
    return _graph(n_nodes, *_scale_free_links(n_nodes, n_links, seed))


def save_scale_free(path: str | Path, n_nodes: int, n_links: int = 5, seed: int = 0) -> None:
    """Write the graph that `scale_free` makes to a ``.grf`` folder.

    In less time and memory: 10⁷ nodes with 5 links take about a minute and 2.5 GB.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/scale-free.grf"
    >>> save_scale_free(path, 1000)
    >>> Graph.open(path).n_edges == scale_free(1000).n_edges
    True
    """
    sources, targets = _scale_free_links(n_nodes, n_links, seed)
    keep = sources != targets
    sources, targets = sources[keep], targets[keep]
    del keep
    keys = np.concatenate([sources * n_nodes + targets, targets * n_nodes + sources])
    del sources, targets
    keys.sort()
    keep = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    keys = keys[keep]
    indptr = np.searchsorted(keys, n_nodes * np.arange(n_nodes + 1))
    np.remainder(keys, n_nodes, out=keys)
    save_folder(path, Rows(indptr, keys.astype(np.int32)), undirected=True)


def _scale_free_links(n_nodes: int, n_links: int, seed: int) -> tuple[IntArray, IntArray]:
    rng = np.random.default_rng(seed)
    edge = np.arange(n_nodes * n_links)
    source = edge // n_links
    # Entry 2e of the list is the source of edge e, entry 2e + 1 its target. The first node has only
    # itself to link to; those loops are dropped.
    entry = (rng.random(len(edge)) * np.maximum(2 * n_links * source, 1)).astype(np.int64)
    while (unknown := np.flatnonzero(entry % 2)).size:
        entry[unknown] = entry[entry[unknown] // 2]
    return source, source[entry // 2]


def rmat(scale: int, n_edges: int, seed: int = 0) -> Graph:
    """A recursive-matrix graph (Chakrabarti, Zhan and Faloutsos, 2004) without isolated nodes.

    Each of `scale` bits of both ends is drawn with the probabilities 0.57, 0.19, 0.19 and 0.05, so
    that degrees are very skewed.
    """
    rng = np.random.default_rng(seed)
    rows, columns = np.zeros((2, n_edges), np.int64)
    for _ in range(scale):
        draw = rng.random(n_edges)
        rows = 2 * rows + (draw >= 0.76)
        columns = 2 * columns + ((draw >= 0.95) | ((draw >= 0.57) & (draw < 0.76)))
    keep = rows != columns
    nodes, ends = np.unique([rows[keep], columns[keep]], return_inverse=True)
    return _graph(len(nodes), *ends.reshape(2, -1))


def dense(n_nodes: int, degree: int, seed: int = 0) -> Graph:
    """A graph in which every two nodes are joined with probability ``degree / (n_nodes - 1)``."""
    rng = np.random.default_rng(seed)
    columns = [
        row + 1 + np.flatnonzero(rng.random(n_nodes - row - 1) < degree / (n_nodes - 1))
        for row in range(n_nodes)
    ]
    rows = np.repeat(np.arange(n_nodes), [len(found) for found in columns])
    return _graph(n_nodes, rows, np.concatenate(columns))


def _graph(n: int, rows: IntArray, columns: IntArray) -> Graph:
    """Undirected, all weights 1, without loops."""
    keep = rows != columns
    rows, columns = rows[keep].astype(np.int32), columns[keep].astype(np.int32)
    half = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    matrix = (half + half.T).tocsr()
    matrix.data[:] = 1.0
    return Graph(matrix)


#: How to make each family from a number of nodes.
FAMILIES: dict[str, Callable[[int], Graph]] = {
    "grid": grid,
    "regular": random_regular,
    "scale-free": scale_free,
}


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
    return Generated(_labelled_graph(source, target, n_nodes), labels)


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
    return Generated(_labelled_graph(source, target, n_nodes), labels)


def _labelled_graph(source: Any, target: Any, n_nodes: int) -> Graph:
    apart = source != target
    entries = (np.ones(apart.sum()), (source[apart], target[apart]))
    matrix = sp.coo_array(entries, shape=(n_nodes, n_nodes)).tocsr()
    return Graph(((matrix + matrix.T) > 0).astype(np.float64))


class Split(NamedTuple):
    """Indices of nodes."""

    train: IntArray
    validation: IntArray
    test: IntArray


def split_of(labels: IntArray, seed: int, n_labelled: int = N_LABELLED) -> Split:
    """Training nodes of each class, validation nodes, and the rest as test nodes."""
    rng = np.random.default_rng(seed)
    chosen = [
        rng.choice(members, min(n_labelled, len(members) // 2), replace=False)
        for members in (np.flatnonzero(labels == each) for each in np.unique(labels))
    ]
    train = np.concatenate(chosen)
    rest = rng.permutation(np.setdiff1d(np.arange(len(labels)), train))
    n_validation = min(N_VALIDATION, len(rest) // 2)
    return Split(train, rest[:n_validation], rest[n_validation:])


class PaperMesh(NamedTuple):
    """A mesh of the paper's table of running times."""

    #: Its size in the paper.
    n_nodes: int
    #: Of brute force, ``None`` where that did not end, and of GRFs++.
    dense_seconds: float | None
    grf_seconds: float


#: Tab. mesh_runtime_new.
PAPER_MESHES = (
    PaperMesh(11_700, 1_661.74, 314.98),
    PaperMesh(15_527, 4_833.51, 727.48),
    PaperMesh(24_194, 14_062.08, 1_724.71),
    PaperMesh(35_300, None, 5_591.42),
)
LARGEST = PAPER_MESHES[-1]
#: What the paper says of smaller ones, and about where its comparison begins.
FASTER = "1.7 to 2.2 times faster{} at 2,000 to 4,000"
LEAST = 1800


def why_absent(name: str) -> str | None:
    """Why a mesh of Thingi10K cannot be had without a download, or ``None`` when it can."""
    (file,) = dataset_info(name).files
    return None if find_file(file) else f"{file.path} is not at hand"


def spheres(levels: tuple[int, ...]) -> list[tuple[str, int]]:
    """Names and sizes of triangulated spheres.

    Examples
    --------
    >>> spheres((1, 2))
    [('sphere 1', 42), ('sphere 2', 162)]
    """
    return [(f"sphere {level}", 10 * 4**level + 2) for level in levels]


@lru_cache(maxsize=2)
def mesh_named(name: str) -> TriangleMesh:
    """A mesh of Thingi10K by number, or a triangulated sphere; kept for the next cell."""
    kind, _, number = name.partition(" ")
    if kind == "sphere":
        return triangulated_sphere(int(number))
    return load_mesh(number, download=False)
