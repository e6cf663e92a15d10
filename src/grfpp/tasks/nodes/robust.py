"""Clusters that whiskers, hubs and outliers do not lead astray."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.operators import KernelChoice
from grfpp.tasks.nodes.k_means import Clusters, soft_clusters
from grfpp.tasks.nodes.modularity import modularity
from grfpp.tasks.nodes.regularized import Spectrum, regularized_spectrum
from grfpp.tasks.nodes.spectral import component_groups
from grfpp.tasks.nodes.whiskers import anchors
from grfpp.typing import FloatArray, IntArray

#: With ``n_clusters="auto"``: no more clusters are tried.
MOST_CLUSTERS = 20
#: Components of fewer nodes than this share of a cluster of mean size are outliers, and parts of
#: no more than so many that hang on one edge are whiskers.
_SMALL = 0.1


@dataclass(frozen=True)
class Recipe:
    """What can be chosen about the clustering beside the kernel; checked by those who make it."""

    n_clusters: int | None
    n_init: int
    regularization: float
    n_components: int | None
    trim: bool
    seed: int


class Found(NamedTuple):
    """Clusters of all nodes of a graph, and what led to them."""

    labels: IntArray
    probabilities: FloatArray
    embedding: FloatArray
    eigenvalues: FloatArray
    method: str


class _Parts(NamedTuple):
    """What is clustered of a graph: nodes that do not dangle, in components that are not small."""

    nodes: IntArray
    groups: IntArray
    #: The node that stands for each, itself where it is clustered; -1 for outliers.
    stands_for: IntArray


def robust_clusters(
    graph: Graph, recipe: Recipe, choice: KernelChoice, by: str | None = None
) -> Found:
    """Cluster the nodes of a graph by the regularised kernel.

    Parameters
    ----------
    by
        How products with the kernel are made, see
        `grfpp.tasks.nodes.regularized.regularized_spectrum`.
    """
    A = graph.adjacency
    if graph.is_directed:
        A = sp.csr_array(0.5 * (A + A.T))
    parts = _parts(A, recipe)
    all_there = len(parts.nodes) == graph.n_nodes
    core = A if all_there else sp.csr_array(A[parts.nodes][:, parts.nodes])
    k = recipe.n_clusters
    n_groups = int(parts.groups.max()) + 1
    room = len(parts.nodes) - n_groups
    most = max(MOST_CLUSTERS, n_groups) if k is None else k
    wanted = most - n_groups + _further(most, n_groups)
    if recipe.n_components is not None:
        wanted = max(recipe.n_components, 0 if k is None else k - n_groups)
    spectrum = _empty(len(parts.nodes))
    if (k is None or k > n_groups) and min(wanted, room) > 0:
        spectrum = regularized_spectrum(
            core, parts.groups, min(wanted, room), recipe.regularization, choice, by
        )
    if k is None:
        k = _best_number(core, parts.groups, spectrum, recipe)
    points = _points(spectrum, k, n_groups, recipe.n_components)
    clusters = _clusters(points, spectrum.vectors[:, : k - n_groups], parts.groups, k, recipe)
    return _spread(clusters, points, spectrum, parts, n_groups)


def _parts(A: sp.csr_array, recipe: Recipe) -> _Parts:
    """Set whiskers and small components apart."""
    n = A.shape[0]
    k = recipe.n_clusters or MOST_CLUSTERS // 2
    own = np.arange(n)
    component = component_groups(A, n)
    large = np.bincount(component) * k >= _SMALL * n
    anchor = anchors(A, _SMALL * n / k) if recipe.trim else own
    stands_for = np.where(large[component], anchor, -1)
    if np.count_nonzero(stands_for == own) < min(2 * k, n):  # too few would be left
        stands_for = own
    nodes = np.flatnonzero(stands_for == own)
    groups = np.minimum(component[nodes], (recipe.n_clusters or n) - 1)
    # A component may have lost all its nodes to none, but numbers stay without gaps.
    return _Parts(nodes, np.unique(groups, return_inverse=True)[1], stands_for)


def _further(k: int, n_groups: int) -> int:
    """Eigenvectors beyond those that clusters need at least: two more have less error."""
    return 2 if k > n_groups else 0


def _empty(n: int) -> Spectrum:
    return Spectrum(np.empty(0), np.empty((n, 0)), "components")


def _points(spectrum: Spectrum, k: int, n_groups: int, n_components: int | None) -> FloatArray:
    """Nodes on the sphere: eigenvectors, weighted by the kernel, each row scaled to length 1."""
    number = k - n_groups + _further(k, n_groups) if n_components is None else n_components
    points = spectrum.vectors[:, :number] * np.sqrt(spectrum.values[:number])
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(np.divide(points, lengths, out=np.zeros_like(points), where=lengths > 0))


def _best_number(core: sp.csr_array, groups: IntArray, spectrum: Spectrum, recipe: Recipe) -> int:
    """The number of clusters whose clustering has the largest modularity."""
    n_groups = int(groups.max()) + 1
    most = min(n_groups + len(spectrum.values), max(MOST_CLUSTERS, n_groups))
    best, highest = n_groups, modularity(core, groups)
    for k in range(n_groups + 1, most + 1):
        points = _points(spectrum, k, n_groups, recipe.n_components)
        found = _clusters(points, spectrum.vectors[:, : k - n_groups], groups, k, recipe)
        score = modularity(core, found.labels)
        if score > highest + 1e-9:
            best, highest = k, score
    return best


def _clusters(
    points: FloatArray, vectors: FloatArray, groups: IntArray, k: int, recipe: Recipe
) -> Clusters:
    """Clusters by k-means, those of each group of components for themselves."""
    labels = np.empty(len(points), np.int64)
    probabilities = np.zeros((len(points), k))
    first = 0
    for group, share in enumerate(shares(vectors, groups)):
        members = groups == group
        if share > 1:
            found = soft_clusters(points[members], share, recipe.n_init, recipe.seed)
        else:
            found = Clusters(np.zeros(1, np.int64), np.ones((1, 1)))
        labels[members] = first + found.labels
        probabilities[members, first : first + share] = found.probabilities
        first += share
    return Clusters(labels, probabilities)


def shares(vectors: FloatArray, groups: IntArray) -> list[int]:
    """How many clusters each group gets: one, and one for each vector that lives on it."""
    sizes = np.bincount(groups)
    homes = np.array(
        [np.bincount(groups, column**2, len(sizes)).argmax() for column in vectors.T], np.int64
    )
    found = 1 + np.bincount(homes, minlength=len(sizes))
    # Equal components may share a vector, and then the count can exceed what one of them holds.
    while (found > sizes).any():
        found[np.argmax(found - sizes)] -= 1
        found[np.argmax(sizes - found)] += 1
    return [int(share) for share in found]


def _spread(
    clusters: Clusters, points: FloatArray, spectrum: Spectrum, parts: _Parts, n_groups: int
) -> Found:
    """From the nodes that were clustered to all: whiskers as their anchors, outliers by size."""
    n = len(parts.stands_for)
    place = np.full(n, -1)
    place[parts.nodes] = np.arange(len(parts.nodes))
    sizes = np.bincount(clusters.labels, minlength=clusters.probabilities.shape[1])
    is_outlier = parts.stands_for < 0
    where = place[np.where(is_outlier, parts.nodes[0], parts.stands_for)]
    labels = np.where(is_outlier, sizes.argmax(), clusters.labels[where])
    probabilities = clusters.probabilities[where]
    probabilities[is_outlier] = sizes / sizes.sum()
    embedding = points[where]
    embedding[is_outlier] = 0.0
    eigenvalues = np.concatenate([np.ones(n_groups), spectrum.values])
    return Found(labels, probabilities, embedding, eigenvalues, spectrum.method)


def check_number(k: int, n_nodes: int) -> None:
    """Refuse more clusters than nodes."""
    if k > n_nodes:
        raise InputError(
            f"n_clusters={k} is more than the number of nodes, {n_nodes}; "
            "each cluster needs one at least"
        )
