"""`SpectralKernelClustering`: nodes that a kernel says are alike come into one cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin
from sklearn.metrics.cluster import pair_confusion_matrix
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import array_of, finite, one_of, truth, whole
from grfpp.errors import InputError, shown, warn_user
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.memory import require_bytes
from grfpp.operators import KernelChoice, how_made
from grfpp.tasks.nodes.inputs import GraphEstimator, read_graph
from grfpp.tasks.nodes.k_means import k_means
from grfpp.tasks.nodes.robust import Recipe, check_number, robust_clusters, shares
from grfpp.tasks.nodes.spectral import component_groups, require_embedding, spectral_embedding
from grfpp.typing import FloatArray, IntArray

#: More starts of k-means take hours and find nothing better.
_MOST_STARTS = 10_000
#: A cluster with more than this share of the nodes is worth a warning.
NEARLY_ALL = 0.95
#: Which kernel, and how it is had, unless told otherwise.
_DEFAULTS = {
    "regularized": {"kernel": "diffusion:10", "estimate": "exact"},
    "paper": {"kernel": "diffusion", "estimate": "walks"},
}
HOWS = tuple(_DEFAULTS)


@dataclass(eq=False, repr=False)
class SpectralKernelClustering(ClusterMixin, GraphEstimator):  # type: ignore[misc]  # untyped base
    """Spectral clustering of the nodes of a graph by a kernel.

    The leading nontrivial eigenvectors of the kernel of regularised weights place the nodes on a
    sphere, where k-means finds the clusters. Whiskers, small parts that hang on the rest by one
    edge, are set apart before and come to the cluster of the node that they hang on.

    Parameters
    ----------
    n_clusters
        Number of clusters, at most the number of nodes. ``"auto"`` takes the number, up to 20,
        whose clustering has the largest modularity.
    how
        ``"regularized"``, or ``"paper"``: spectral clustering after Ng, Jordan and Weiss with the
        kernel, estimated by walks, as affinity (`spectral_embedding`), which whiskers and hubs can
        lead astray. ``method="paper"`` says the same.
    n_init
        How often k-means starts anew; the best run counts.
    regularization
        Of ``"regularized"``: the constant that is added to every pair of nodes, so that all those
        of one node sum to this multiple of the mean degree. 0 for plain spectral clustering.
    n_components
        Of ``"regularized"``: how many nontrivial eigenvectors are used; ``None`` for one
        more than clusters.
    trim
        Of ``"regularized"``: whether to set whiskers apart, parts with up to a tenth of the nodes
        of a cluster of mean size.
    kernel
        A kernel, or how the command line writes it; ``None`` is ``"diffusion:10"`` for
        ``"regularized"``, ``"diffusion"`` for ``"paper"``.
    estimate, method
        How products with the kernel are made. By default ``"regularized"`` needs none where the
        kernel grows, as diffusion does: it has the eigenvectors of the weights, and tells how much
        each counts; so with ``estimate="exact"`` and ``method="auto"``. ``estimate="walks"``, and
        the planner's methods by name, multiply with the kernel. ``"paper"`` walks unless told
        otherwise.
    degree, n_walks, termination, scale, normalization, reuse_walks
        As for `grfpp.tasks.kernels.kernel_operator`; those about walks are used where there are
        some. ``"regularized"`` takes ``normalization="sym"`` and ``"rw"``, which are the same on
        the sphere.
    random_state
        Seed of the walks and of k-means. The same seed gives the same clusters for any `n_jobs`.
    n_jobs
        Threads; -1 for all cores.

    Attributes
    ----------
    labels_
        The cluster of each node, from 0.
    n_clusters_
        How many there are.
    embedding_
        Where the nodes are on the sphere, one row each.
    eigenvalues_
        Of the normalised kernel: 1 for each component, then the largest others. A large step after
        the last one speaks for the number of clusters.
    n_features_in_
        Number of nodes.
    seed_
        The seed that was used.
    method_
        How the eigenvectors were found: from the weights, by ``"walks"``, by the ``"exact"``
        kernel, or by what the planner chose. Small graphs take the whole matrix of a kernel at
        once, whichever exact method is asked for.

    Warns
    -----
    RuntimeWarning
        When nearly all nodes come into one cluster.

    Notes
    -----
    Where there are at most `n_clusters` connected components, each cluster lies within one of them:
    a component has one cluster, and one more for each of the leading eigenvectors that lives on it.
    Where there are more components, none is divided and the smallest share the last cluster.
    Directed graphs are clustered by ``(A + Aᵀ) / 2`` in place of ``A``, in the paper's way by
    ``(K + Kᵀ) / 2`` in place of ``K``: the direction of edges does not count.
    ``"regularized"`` sets components aside that have less than a tenth of the nodes of a cluster of
    mean size: no edge says where they belong, and they come to the largest cluster.

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

    n_clusters: int | str = 8
    _: KW_ONLY
    how: str = "regularized"
    n_init: int = 10
    regularization: float = 0.1
    n_components: int | None = None
    trim: bool = True
    kernel: str | Kernel | None = None  # type: ignore[assignment]  # what suits `how`
    estimate: str | None = None  # type: ignore[assignment]  # what suits `how`

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
        how = self._how()
        k = self._number(how)
        n_init = whole(self.n_init, "n_init", 1, _MOST_STARTS)
        graph = read_graph(self, X, reset=True)
        if k is not None:
            check_number(k, graph.n_nodes)
            require_embedding(graph.n_nodes, k)  # before anything is walked
        choice = self._choose()
        if how == "paper":
            self._fit_paper(graph, choice, k or 1, n_init)
        else:
            self._fit_regularized(graph, choice, k, n_init)
        self._warn_of_collapse()
        return self

    def _how(self) -> str:
        how = one_of(self.how, "how", HOWS)
        return "paper" if isinstance(self.method, str) and self.method == "paper" else how

    def _number(self, how: str) -> int | None:
        if not isinstance(self.n_clusters, str):
            return whole(self.n_clusters, "n_clusters", 1)
        if self.n_clusters != "auto":
            raise InputError(
                f"must be a whole number >= 1 or 'auto', found {shown(self.n_clusters)}",
                argument="n_clusters",
            )
        if how == "paper":
            raise InputError(
                "n_clusters='auto' is of how='regularized'; the paper is told a number"
            )
        return None

    def _kernel_parameters(self) -> dict[str, Any]:
        parameters = super()._kernel_parameters()
        if self._how() == "paper" and parameters["method"] == "paper":
            parameters["method"] = None
        for name, value in _DEFAULTS[self._how()].items():
            if parameters[name] is None:
                parameters[name] = value
        return parameters

    def _fit_paper(self, graph: Graph, choice: KernelChoice, k: int, n_init: int) -> None:
        K = choice.operator(graph)
        self.embedding_, self.eigenvalues_ = spectral_embedding(K, graph.adjacency, k)
        self.method_ = how_made(K)
        groups = component_groups(graph.adjacency, k)
        self.labels_ = _clusters(self.embedding_, groups, k, n_init, self.seed_)
        self.n_clusters_ = k
        self._probabilities: FloatArray | None = None

    def _fit_regularized(
        self, graph: Graph, choice: KernelChoice, k: int | None, n_init: int
    ) -> None:
        tau = finite(self.regularization, "regularization")
        if not 0 <= tau <= 1e6:
            raise InputError(f"must be from 0 to 1e6, found {tau:g}", argument="regularization")
        if choice.normalization is None:
            raise InputError(
                "normalization=None: how='regularized' scales weights by their degrees; use 'sym', "
                "or how='paper'"
            )
        components = self.n_components
        if components is not None:
            components = whole(components, "n_components", 1, graph.n_nodes)
        trim = truth(self.trim, "trim")
        choice.check(graph)
        recipe = Recipe(k, n_init, tau, components, trim, self.seed_)
        by = "walks" if not choice.is_exact else self.method
        found = robust_clusters(graph, recipe, choice, None if by == "auto" else by)
        self.labels_ = found.labels
        self._probabilities = found.probabilities
        self.embedding_, self.eigenvalues_ = found.embedding, found.eigenvalues
        self.method_ = found.method
        self.n_clusters_ = found.probabilities.shape[1]

    def _warn_of_collapse(self) -> None:
        sizes = np.bincount(self.labels_, minlength=self.n_clusters_)
        n = int(sizes.sum())
        if 1 < self.n_clusters_ < n and sizes.max() > NEARLY_ALL * n:
            advice = (
                "how='regularized' is less easily led astray"
                if self._how() == "paper"
                else "is there another structure? Try a larger regularization, or other n_clusters"
            )
            warn_user(
                f"{sizes.max():,} of {n:,} nodes are in one of the {self.n_clusters_} clusters: "
                f"whiskers, hubs or outliers lead clustering astray so; {advice}"
            )

    def predict_proba(self, X: Any) -> FloatArray:
        """How likely each node is in each cluster, of shape ``(n_nodes, n_clusters_)``.

        As if clusters were round normal clouds of one width on the sphere, so that the cluster of
        `labels_` is the likeliest. Whiskers have the numbers of what they hang on, outliers
        those of the sizes of clusters. In the paper's way all are 0 or 1.

        Parameters
        ----------
        X
            The graph that was fitted.
        """
        check_is_fitted(self, "labels_")
        read_graph(self, X, reset=False)
        if self._probabilities is None:
            require_bytes(8 * len(self.labels_) * self.n_clusters_, "probabilities of clusters")
            return np.asarray(self.labels_[:, None] == np.arange(self.n_clusters_), np.float64)
        return self._probabilities.copy()

    def plot(self, axes: Any = None) -> Any:
        """Draw the nodes in their two main directions, coloured by cluster, and the eigenvalues.

        Needs matplotlib, of the extra ``plot``.

        Parameters
        ----------
        axes
            Axes of matplotlib to draw the nodes on, without the eigenvalues; without it, a new
            figure with both.

        Returns
        -------
        matplotlib.figure.Figure
            To be shown, or saved by ``savefig``.
        """
        check_is_fitted(self, "labels_")
        from grfpp.tasks.nodes.cluster_plot import draw_clusters

        return draw_clusters(self.embedding_, self.labels_, self.eigenvalues_, axes)

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
        return k_means(points, k, n_init, seed).labels_
    labels, n_labels = np.empty(len(points), np.int32), 0
    for group, share in enumerate(shares(points[:, n_groups:], groups)):
        members = groups == group
        within = k_means(points[members], share, n_init, seed).labels_ if share > 1 else 0
        labels[members] = n_labels + within
        n_labels += share
    return labels
