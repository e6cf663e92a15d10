"""`SpectralKernelClustering`: nodes that a kernel says are alike come into one cluster."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin
from sklearn.metrics.cluster import pair_confusion_matrix
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import array_of, whole
from grfpp.errors import InputError
from grfpp.tasks.nodes.inputs import GraphEstimator, read_graph
from grfpp.tasks.nodes.spectral import component_groups, require_embedding, spectral_embedding
from grfpp.typing import FloatArray, IntArray

#: More starts of k-means take hours and find nothing better.
_MOST_STARTS = 10_000


@dataclass(eq=False, repr=False)
class SpectralKernelClustering(ClusterMixin, GraphEstimator):  # type: ignore[misc]  # untyped base
    """Spectral clustering of the nodes of a graph by a kernel, estimated from walks or exact.

    The leading eigenvectors of the kernel, symmetrised and normalised by its row sums, place the
    nodes on a sphere (`spectral_embedding`), where k-means finds the clusters.
    Beyond 500 nodes the kernel is not formed: Lanczos iterations multiply with its factors.

    Parameters
    ----------
    n_clusters
        Number of clusters, at most the number of nodes.
    n_init
        How often k-means starts anew; the best run counts.
    kernel, estimate, degree, n_walks, termination, scale, normalization, reuse_walks
        As for `grfpp.tasks.kernels.kernel_operator`: ``estimate="exact"`` for the kernel itself,
        ``degree=1`` for regular GRFs, more for GRFs++.
    random_state
        Seed of the walks and of k-means. The same seed gives the same clusters for any `n_jobs`.
    n_jobs
        Threads; -1 for all cores.

    Attributes
    ----------
    labels_
        The cluster of each node, from 0.
    embedding_
        Where the nodes are on the sphere, of shape ``(n_nodes, n_clusters)``.
    eigenvalues_
        Of the normalised kernel: 1 for each component, then the largest others. A large step after
        the last one speaks for the number of clusters.
    n_features_in_
        Number of nodes.
    seed_
        The seed that was used.

    Notes
    -----
    Where there are at most `n_clusters` connected components, each cluster lies within one of them:
    a component has one cluster, and one more for each of the leading eigenvectors that lives on it.
    Where there are more components, none is divided and the smallest share the last cluster; to
    divide a large component beside many small ones, cluster it alone.

    Examples
    --------
    >>> import networkx as nx
    >>> from grfpp.tasks import SpectralKernelClustering, pair_error
    >>> club = nx.karate_club_graph()
    >>> parties = [club.nodes[node]["club"] for node in club]
    >>> clustering = SpectralKernelClustering(n_clusters=2, random_state=0)
    >>> labels = clustering.fit_predict(nx.to_scipy_sparse_array(club, weight=None))
    >>> pair_error(labels, parties) < 0.15
    True
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_init: int = 10

    _splitting = "clusters are compared on all nodes at once: cv=WholeGraph()"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the nodes of a graph.

        Parameters
        ----------
        X
            An adjacency matrix, or anything else that `grfpp.Graph` takes.
        y
            Not used.
        """
        k = whole(self.n_clusters, "n_clusters", 1)
        n_init = whole(self.n_init, "n_init", 1, _MOST_STARTS)
        graph = read_graph(self, X, reset=True)
        if k > graph.n_nodes:
            raise InputError(
                f"n_clusters={k} is more than the number of nodes, {graph.n_nodes}; "
                "each cluster needs one at least"
            )
        require_embedding(graph.n_nodes, k)  # before anything is walked
        K = self._choose().operator(graph)
        self.embedding_, self.eigenvalues_ = spectral_embedding(K, graph.adjacency, k)
        groups = component_groups(graph.adjacency, k)
        self.labels_ = _clusters(self.embedding_, groups, k, n_init, self.seed_)
        return self

    def score(self, X: Any, y: Any = None) -> float:
        """The Rand index of the clusters that were found: one minus their `rand_error`.

        Parameters
        ----------
        X
            The graph that was fitted.
        y
            The true class of each node.
        """
        check_is_fitted(self, "labels_")
        if y is None:
            raise InputError("score compares clusters with true classes: pass them as y")
        read_graph(self, X, reset=False)
        return 1.0 - rand_error(self.labels_, y)


def rand_error(labels: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Wrong pairs over pairs, ``1 −`` the Rand index.

    A pair is wrong when its two nodes are together in one of the clusterings and apart in the
    other. What the clusters are called does not matter.

    Parameters
    ----------
    labels, truth
        The cluster of each node, numbers or text.

    Returns
    -------
    float
        From 0, where both are the same up to names, to 1.

    Notes
    -----
    The paper divides the wrong pairs by ``N (N − 1)``; its numbers show that it counts each pair
    in both orders: 0.2585 on the karate club is 145 of 561 pairs.

    Examples
    --------
    >>> rand_error([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    >>> rand_error([0, 0, 0, 1], [0, 0, 1, 1])
    0.5
    """
    first, second = _numbered(labels, "labels"), _numbered(truth, "truth")
    if len(first) != len(second):
        raise InputError(
            f"labels and truth must have one entry a node, found {len(first)} and {len(second)}"
        )
    if len(first) < 2:
        raise InputError(f"there are no pairs among {len(first)} nodes")
    (_, joined), (separated, _) = pairs = pair_confusion_matrix(second, first)
    return float((joined + separated) / pairs.sum())


#: What it is called in `grfpp.tasks`.
pair_error = rand_error


def _numbered(values: npt.ArrayLike, name: str) -> IntArray:
    """Clusters as numbers from 0: of any kind, which scikit-learn does not take."""
    array = array_of(values, name)
    if array.ndim != 1:
        raise InputError(f"{name} must be a list with one entry a node, found {array.ndim} axes")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{name} must not hold NaN or infinity")
    if array.dtype.kind == "O":
        array = array.astype(str)
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def _clusters(points: FloatArray, groups: IntArray, k: int, n_init: int, seed: int) -> Any:
    """Clusters of the points by k-means, those of each group of components for themselves."""
    n_groups = int(groups.max()) + 1
    if n_groups == 1:
        return _k_means(points, k, n_init, seed)
    labels, n_labels = np.empty(len(points), np.int32), 0
    for group, share in enumerate(_shares(points[:, n_groups:], groups)):
        members = groups == group
        within = _k_means(points[members], share, n_init, seed) if share > 1 else 0
        labels[members] = n_labels + within
        n_labels += share
    return labels


def _shares(others: FloatArray, groups: IntArray) -> list[int]:
    """How many clusters each group gets: one, and one for each other vector that lives on it."""
    sizes = np.bincount(groups)
    indicator = groups == np.arange(len(sizes))[:, np.newaxis]
    homes = (indicator.astype(np.float64) @ others**2).argmax(axis=0)
    shares = 1 + np.bincount(homes, minlength=len(sizes))
    # Equal components may share a vector, and then the count can exceed what one of them holds.
    while (shares > sizes).any():
        shares[np.argmax(shares - sizes)] -= 1
        shares[np.argmax(sizes - shares)] += 1
    return [int(share) for share in shares]


def _k_means(points: FloatArray, k: int, n_init: int, seed: int) -> Any:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    # One thread: several would add in another order, and their number would change the result.
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # Fewer places than clusters: nodes that nothing tells apart stay together.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, n_init=n_init, random_state=seed % 2**32).fit(points).labels_
