"""Clusters from eigenvectors: k-means by connected component, without whiskers and outliers.

Whiskers are small parts that one edge joins to the rest of a graph; outliers are small components.
Both make good cuts that nobody is looking for.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.special import softmax

from grfpp.graph import Graph
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.tasks.spectral import Spectrum, component_groups, regularized_spectrum
from grfpp.typing import FloatArray, IntArray

#: Largest number of clusters that ``n_clusters="auto"`` tries.
MAX_AUTO_CLUSTERS = 20
#: Components below this share of a mean cluster are outliers; whiskers have at most this share.
_SMALL_SHARE = 0.1
#: Temperature of cluster probabilities: squared distances are divided by this times the clusters'
#: variance. With it, nodes of generated graphs are as often right as they are confident
#: (``python -m grfpp_lab.studies.clustering sure``).
TEMPERATURE = 4.0
#: Smallest variance of a cluster that distances are divided by.
_MIN_VARIANCE = 1e-6


class ClusterSettings(NamedTuple):
    """Checked parameters of a clustering, besides those of the kernel."""

    n_clusters: int | None
    n_init: int
    regularization: float
    n_components: int | None
    trim: bool
    seed: int


class Clusters(NamedTuple):
    """Cluster and cluster probabilities of each point."""

    labels: IntArray
    probabilities: FloatArray


class Clustering(NamedTuple):
    """Clusters of all nodes of a graph, and what they were made from."""

    labels: IntArray
    probabilities: FloatArray
    embedding: FloatArray
    eigenvalues: FloatArray
    method: str


def regularized_clusters(
    graph: Graph, settings: ClusterSettings, choice: KernelChoice, method: str | None = None
) -> Clustering:
    """Cluster the nodes of a graph by `regularized_spectrum`, whose `method` it takes."""
    A = graph.adjacency
    if graph.is_directed:
        A = sp.csr_array(0.5 * (A + A.T))
    nodes, groups, representative = _core(A, settings)
    core = A if len(nodes) == graph.n_nodes else sp.csr_array(A[nodes][:, nodes])
    k, n_groups = settings.n_clusters, int(groups.max()) + 1
    max_clusters = max(MAX_AUTO_CLUSTERS, n_groups) if k is None else k
    number = _n_vectors(max_clusters, n_groups)
    if settings.n_components is not None:
        number = max(settings.n_components, 0 if k is None else k - n_groups)
    number = min(number, len(nodes) - n_groups)
    spectrum = Spectrum(np.empty(0), np.empty((len(nodes), 0)), "components")
    if (k is None or k > n_groups) and number > 0:
        spectrum = regularized_spectrum(
            core, groups, number, settings.regularization, choice, method
        )

    def cluster(k: int) -> tuple[FloatArray, Clusters]:
        width = _n_vectors(k, n_groups) if settings.n_components is None else settings.n_components
        points = spectrum.vectors[:, :width] * np.sqrt(spectrum.values[:width])
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        points = np.divide(points, lengths, out=np.zeros_like(points), where=lengths > 0)
        vectors = spectrum.vectors[:, : k - n_groups]
        return points, cluster_groups(points, vectors, groups, k, settings.n_init, settings.seed)

    if k is None:
        k, highest = n_groups, modularity(core, groups)
        for tried in range(n_groups + 1, min(n_groups + len(spectrum.values), max_clusters) + 1):
            score = modularity(core, cluster(tried)[1].labels)
            if score > highest + 1e-9:
                k, highest = tried, score
    points, clusters = cluster(k)

    # From the nodes that were clustered to all: whiskers follow what they hang on.
    is_outlier = representative < 0
    position = np.searchsorted(nodes, np.where(is_outlier, nodes[0], representative))
    sizes = np.bincount(clusters.labels, minlength=k)
    labels = np.where(is_outlier, sizes.argmax(), clusters.labels[position])
    probabilities, embedding = clusters.probabilities[position], points[position]
    probabilities[is_outlier] = sizes / sizes.sum()
    embedding[is_outlier] = 0.0
    eigenvalues = np.concatenate([np.ones(n_groups), spectrum.values])
    return Clustering(labels, probabilities, embedding, eigenvalues, spectrum.method)


def _n_vectors(k: int, n_groups: int) -> int:
    """Number of eigenvectors for `k` clusters: two more than needed have less error."""
    return k - n_groups + 2 if k > n_groups else 0


def _core(A: sp.csr_array, settings: ClusterSettings) -> tuple[IntArray, IntArray, IntArray]:
    """The nodes to cluster, their groups of components, and what represents each node.

    A node of the core represents itself, a whisker's node is represented by the one that the
    whisker hangs on, an outlier by -1.
    """
    n = A.shape[0]
    k = settings.n_clusters or MAX_AUTO_CLUSTERS // 2
    indices = np.arange(n)
    component = component_groups(A, n)
    large = np.bincount(component) * k >= _SMALL_SHARE * n
    anchor = anchors(A, _SMALL_SHARE * n / k) if settings.trim else indices
    representative = np.where(large[component], anchor, -1)
    if np.count_nonzero(representative == indices) < min(2 * k, n):  # too few would be left
        representative = indices
    nodes = np.flatnonzero(representative == indices)
    groups = np.minimum(component[nodes], (settings.n_clusters or n) - 1)
    return nodes, np.unique(groups, return_inverse=True)[1], representative


def cluster_groups(
    points: FloatArray, vectors: FloatArray, groups: IntArray, k: int, n_init: int, seed: int
) -> Clusters:
    """Clusters of points by k-means, within each group of connected components.

    A group has one cluster, and one for each eigenvector of `vectors` that is largest on it.

    Examples
    --------
    >>> line = np.array([[0.0], [0.1], [0.45], [1.0], [1.1]])
    >>> clusters = cluster_groups(line, line, np.zeros(5, int), 2, 10, 0)
    >>> clusters.labels[0] == clusters.labels[2] != clusters.labels[4]
    np.True_
    >>> clusters.probabilities[2].max() < clusters.probabilities[0].max()
    np.True_
    """
    labels = np.empty(len(points), np.int64)
    probabilities = np.zeros((len(points), k))
    first = 0
    for group, share in enumerate(_clusters_per_group(vectors, groups)):
        members = groups == group
        clusters = Clusters(np.zeros(1, np.int64), np.ones((1, 1)))
        if share > 1:
            clusters = _k_means(points[members], share, n_init, seed)
        labels[members] = first + clusters.labels
        probabilities[members, first : first + share] = clusters.probabilities
        first += share
    return Clusters(labels, probabilities)


def _clusters_per_group(vectors: FloatArray, groups: IntArray) -> list[int]:
    sizes = np.bincount(groups)
    homes = np.array(
        [np.bincount(groups, column**2, len(sizes)).argmax() for column in vectors.T], np.int64
    )
    counts = 1 + np.bincount(homes, minlength=len(sizes))
    # Equal components may share a vector, and then a count can exceed the size of its group.
    while (counts > sizes).any():
        counts[np.argmax(counts - sizes)] -= 1
        counts[np.argmax(sizes - counts)] += 1
    return [int(number) for number in counts]


def _k_means(points: FloatArray, k: int, n_init: int, seed: int) -> Clusters:
    """The best of `n_init` runs; probabilities are those of round normal clusters of one width."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    # One thread: the number of threads would change the order of sums, and so the result.
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # Fewer distinct points than clusters: equal nodes stay together.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = KMeans(k, n_init=n_init, random_state=seed % 2**32).fit(points)
    variance = max(float(fitted.inertia_) / points.size, _MIN_VARIANCE)
    exponents = fitted.transform(points) ** 2 / (-2 * TEMPERATURE * variance)
    return Clusters(fitted.labels_.astype(np.int64), np.asarray(softmax(exponents, axis=1)))


def modularity(adjacency: sp.csr_array, labels: IntArray) -> float:
    """Newman's modularity of a clustering: at most 1, and 0 for a single cluster.

    Parameters
    ----------
    adjacency
        A symmetric matrix of weights.
    labels
        The cluster of each node, from 0.

    Examples
    --------
    >>> pairs = sp.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> modularity(pairs, np.array([0, 0, 1, 1]))
    0.5
    """
    n = len(labels)
    members = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), (n, int(labels.max()) + 1))
    between = (members.T @ (adjacency @ members)).toarray()
    total = between.sum() or 1.0
    return float(np.trace(between) / total - np.square(between.sum(axis=1) / total).sum())


def anchors(adjacency: sp.csr_array, max_size: float) -> IntArray:
    """For each node the one that its whisker hangs on; its own index where it is in none.

    A whisker is a part of at most `max_size` nodes that one edge, a bridge, joins to the rest.
    Where less than half of the nodes would be left, as in a tree, there are none.

    Parameters
    ----------
    adjacency
        A symmetric matrix; loops do not count.
    max_size
        Largest number of nodes of a whisker.

    Notes
    -----
    Every edge outside a spanning tree gets a random number. The exclusive or of all numbers at the
    nodes below a tree edge is zero where that edge is a bridge, and else with probability 2^-63.

    Examples
    --------
    >>> triangle_with_tail = np.zeros((5, 5))
    >>> for i, j in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]:
    ...     triangle_with_tail[i, j] = triangle_with_tail[j, i] = 1
    >>> anchors(sp.csr_array(triangle_with_tail), 2)
    array([0, 1, 2, 2, 2])
    """
    n = adjacency.shape[0]
    indices = np.arange(n)
    if n < 3 or max_size < 1:
        return indices
    parent, levels = _spanning_forest(adjacency)
    rows = np.repeat(indices, np.diff(adjacency.indptr))
    columns = adjacency.indices.astype(np.int64)
    outside = (rows < columns) & (parent[columns] != rows) & (parent[rows] != columns)
    numbers = np.random.default_rng(0).integers(1, 2**63, np.count_nonzero(outside), np.int64)
    marks, below = np.zeros(n, np.int64), np.ones(n, np.int64)
    np.bitwise_xor.at(marks, rows[outside], numbers)
    np.bitwise_xor.at(marks, columns[outside], numbers)
    for level in reversed(levels[1:]):
        np.bitwise_xor.at(marks, parent[level], marks[level])
        np.add.at(below, parent[level], below[level])
    hangs = (parent != indices) & (marks == 0) & (below <= max_size)
    anchor = indices.copy()
    for level in levels[1:]:
        # All nodes below a whisker's first node belong to it; the first hangs on its parent.
        above = anchor[parent[level]]
        inside = above != parent[level]
        anchor[level] = np.where(inside | hangs[level], above, level)
    return anchor if 2 * np.count_nonzero(anchor == indices) >= n else indices


def _spanning_forest(adjacency: sp.csr_array) -> tuple[IntArray, list[IntArray]]:
    """Parents in trees from the node with most edges of each component; nodes by depth."""
    n = adjacency.shape[0]
    _, component = connected_components(adjacency, directed=False)
    by_degree = np.argsort(-np.diff(adjacency.indptr), kind="stable")
    roots = by_degree[np.unique(component[by_degree], return_index=True)[1]]
    # One node above all roots makes one tree of the forest.
    ends = np.full(len(roots), n), roots
    top = sp.coo_array((np.ones(len(roots)), ends), (n + 1, n + 1))
    below = sp.coo_array(adjacency)
    below.resize((n + 1, n + 1))
    _, parent = breadth_first_order(sp.csr_array(below + top), n, directed=True)
    parent = np.where(parent[:n] == n, np.arange(n), parent[:n]).astype(np.int64)
    # Depths by pointer doubling.
    depth, ancestor = (parent != np.arange(n)).astype(np.int64), parent
    while (ancestor[ancestor] != ancestor).any():
        depth, ancestor = depth + depth[ancestor], ancestor[ancestor]
    in_order = np.argsort(depth, kind="stable")
    return parent, np.split(in_order, np.cumsum(np.bincount(depth))[:-1])
