"""`SpectralKernelClustering`: nodes that a kernel says are alike come into one cluster."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.kernels import Kernel
from grfpp.tasks.inputs import read_graph, set_graph_tags
from grfpp.tasks.kernels import operator_of, settled_seed
from grfpp.tasks.pair_error import pair_error
from grfpp.tasks.spectral import spectral_embedding
from grfpp.termination import Termination

__all__ = ["SpectralKernelClustering", "pair_error"]


class SpectralKernelClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Spectral clustering of the nodes of a graph by a kernel, estimated from walks or exact.

    The leading eigenvectors of the kernel, symmetrised and normalised by its row sums, place the
    nodes on a sphere (`grfpp.tasks.spectral.spectral_embedding`), where k-means finds the clusters.
    Beyond 500 nodes the kernel is not formed: Lanczos iterations multiply with its factors.

    Parameters
    ----------
    n_clusters
        Number of clusters, at most the number of nodes.
    n_init
        How often k-means starts anew; the best run counts.
    kernel, estimate, degree, n_walks, termination, sigma, normalization, reuse_walks
        As for `grfpp.tasks.kernels.kernel_operator`: ``kernel="exact"`` or ``estimate="exact"``
        for the kernel itself, ``degree=1`` for regular GRFs, more for GRFs++.
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
        Of the normalised kernel, from 1 down. A large step after the last one speaks for the number
        of clusters.
    n_features_in_
        Number of nodes.
    seed_
        The seed that was used.

    Notes
    -----
    Nodes of different connected components are never more alike than nodes of one. Where there are
    at most `n_clusters` components, each cluster lies within one of them; where there are more, the
    smallest components share the last cluster.

    Examples
    --------
    >>> import networkx as nx
    >>> from grfpp.tasks import SpectralKernelClustering
    >>> from grfpp.tasks.clustering import pair_error
    >>> club = nx.karate_club_graph()
    >>> parties = [club.nodes[node]["club"] for node in club]
    >>> clustering = SpectralKernelClustering(n_clusters=2, random_state=0)
    >>> labels = clustering.fit_predict(nx.to_scipy_sparse_array(club, weight=None))
    >>> pair_error(labels, parties) < 0.15
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        kernel: str | Kernel = "diffusion",
        estimate: str = "walks",
        degree: int = 2,
        n_walks: int = 16,
        termination: str | Termination = "geometric:0.1",
        sigma: float = 1.0,
        normalization: str | None = "sym",
        reuse_walks: bool = False,
        random_state: Any = None,
        n_jobs: int = -1,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.kernel = kernel
        self.estimate = estimate
        self.degree = degree
        self.n_walks = n_walks
        self.termination = termination
        self.sigma = sigma
        self.normalization = normalization
        self.reuse_walks = reuse_walks
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        n_init = whole(self.n_init, "n_init", 1)
        graph = read_graph(self, X, reset=True)
        if k > graph.n_nodes:
            raise InputError(
                f"n_clusters={k} is more than the number of nodes, {graph.n_nodes}; "
                "each cluster needs one at least"
            )
        self.seed_ = settled_seed(self.random_state)
        K = operator_of(self, graph, random_state=self.seed_)
        self.embedding_, self.eigenvalues_ = spectral_embedding(K, graph.adjacency, k)
        self.labels_ = _k_means(self.embedding_, k, n_init, self.seed_)
        return self

    def score(self, X: Any, y: Any) -> float:
        """One minus the `pair_error` of the clusters that were found (the Rand index).

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
        return 1.0 - pair_error(self.labels_, y)

    def __sklearn_tags__(self) -> Any:
        return set_graph_tags(super().__sklearn_tags__())


def _k_means(
    points: npt.NDArray[np.float64], k: int, n_init: int, seed: int
) -> npt.NDArray[np.int32]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    # One thread: several would add in another order, and their number would change the result.
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # Fewer places than clusters: nodes that nothing tells apart stay together.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(k, n_init=n_init, random_state=seed % 2**32).fit(points)
    labels: npt.NDArray[np.int32] = found.labels_
    return labels
