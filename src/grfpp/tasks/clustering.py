"""`SpectralKernelClustering`, its error against known classes, and its picture."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin
from sklearn.metrics.cluster import pair_confusion_matrix
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import array_of, finite, is_auto, one_of, truth, whole
from grfpp._imports import require
from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.tasks.base import GraphEstimator, class_numbers
from grfpp.tasks.spectral import (
    MAX_AUTO_CLUSTERS,
    Clustering,
    paper_clusters,
    regularized_clusters,
    require_embedding,
)
from grfpp.typing import FloatArray, IntArray

#: Largest number of starts of k-means; more take hours and are no better.
_MAX_STARTS = 10_000
#: Share of the nodes in one cluster above which a warning is given: such a clustering is seldom
#: what the user wants.
NEARLY_ALL = 0.95
#: What ``None`` stands for in the parameters `kernel` and `estimate`, by `how`.
_DEFAULTS = {
    "regularized": {"kernel": "diffusion:10", "estimate": "exact"},
    "paper": {"kernel": "diffusion", "estimate": "walks"},
}
#: Colours of clusters that are distinct for colour-blind readers too (Okabe and Ito, 2008); where
#: there are more clusters than these, colours are spread over a rainbow.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#000")
#: Number of nodes above which markers are small and rasterised.
_MANY_NODES = 2000
#: Smaller eigenvalues are drawn at this value: the axis is logarithmic.
_MIN_EIGENVALUE = 1e-9


@dataclass(eq=False, repr=False)
class SpectralKernelClustering(ClusterMixin, GraphEstimator):  # type: ignore[misc]  # untyped base
    """Spectral clustering of the nodes of a graph by a kernel.

    The leading nontrivial eigenvectors of the kernel of regularised weights are coordinates of the
    nodes on a sphere, where k-means finds the clusters [1]_ [2]_. Among up to 10,000 nodes those of
    small coordinates stay inside the ball where the clustering then has the larger modularity.
    Whiskers, small parts that one edge joins to the rest, are left out and get the cluster of the
    node that they are attached to.

    Parameters
    ----------
    n_clusters
        Number of clusters, at most the number of nodes. ``"auto"`` takes the number, up to 20,
        whose clustering has the largest modularity.
    how
        ``"regularized"``, or ``"paper"``: spectral clustering [1]_ with the kernel, estimated by
        walks, as affinity [3]_, which whiskers and hubs can mislead. ``method="paper"`` means the
        same.
    n_init
        Number of starts of k-means; the best run is kept.
    regularization
        Of ``"regularized"``: the constant that is added to every pair of nodes, so that all those
        of one node sum to this multiple of the mean degree. 0 for plain spectral clustering.
    n_components
        Of ``"regularized"``: number of nontrivial eigenvectors; ``None`` for one more than
        clusters.
    trim
        Of ``"regularized"``: whether to remove whiskers before k-means, parts with up to a tenth
        of the nodes of a cluster of mean size.
    kernel
        A kernel, or its text form; ``None`` is ``"diffusion:10"`` for ``"regularized"``,
        ``"diffusion"`` for ``"paper"``.
    estimate, method
        How products with the kernel are computed (`grfpp.tasks.base.NodeKernelParameters`). By
        default (``estimate="exact"``), and for ``method="auto"``, ``"regularized"`` needs none
        where the kernel increases, as diffusion does: its eigenvectors are those of the weights, in
        the same order. ``estimate="walks"`` and the planner's methods by name multiply with the
        kernel. The default of ``"paper"`` is ``estimate="walks"``.
    degree, n_walks, termination, scale, normalization, reuse_walks
        See `grfpp.tasks.base.NodeKernelParameters`; those about walks are used where there are
        walks. ``"regularized"`` takes ``normalization="sym"`` and ``"rw"``, which are the same
        there.
    random_state
        Seed of the walks and of k-means. The same seed gives the same clusters for any `n_jobs`.
    n_jobs
        Threads; -1 for all cores.

    Attributes
    ----------
    labels_
        The cluster of each node, from 0.
    n_clusters_
        Number of clusters.
    embedding_
        Coordinates of the nodes on the sphere or in the ball, one row per node.
    eigenvalues_
        Of the normalised kernel: 1 for each component, then the largest others. A large gap after
        the k-th one suggests k clusters.
    n_features_in_
        Number of nodes.
    seed_
        The seed that was used.
    method_
        How the eigenvectors were computed: from the weights, by ``"walks"``, by the ``"exact"``
        kernel, or by the planner's method. On small graphs every exact method uses the dense
        matrix of the kernel.

    Warns
    -----
    RuntimeWarning
        When nearly all nodes are in one cluster.

    Notes
    -----
    Where there are at most `n_clusters` connected components, each cluster lies within one of them:
    a component has one cluster, and one more for each of the leading eigenvectors supported on it.
    Where there are more components, none is divided and the smallest share the last cluster.
    Directed graphs are clustered by ``(A + Aᵀ) / 2`` in place of ``A``, for ``how="paper"`` by
    ``(K + Kᵀ) / 2`` in place of ``K``: the direction of edges is ignored.
    ``"regularized"`` puts components that have less than a tenth of the nodes of a cluster of mean
    size into the largest cluster.

    References
    ----------
    .. [1] Ng, Jordan, Weiss: On spectral clustering: analysis and an algorithm. NIPS 2001.
    .. [2] Zhang, Rohe: Understanding regularized spectral clustering via graph conductance. NeurIPS
       2018.
    .. [3] Choromanski, Dubey, Sehanobish, Reid: Computationally-efficient graph modeling with
       refined graph random features. ICML 2026, "Node clustering".

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
        how, n_init = self._how(), whole(self.n_init, "n_init", 1, _MAX_STARTS)
        graph, k = self._read_graph(X, reset=True), None
        if how == "paper" or not is_auto(self.n_clusters):
            k = whole(self.n_clusters, "n_clusters", 1, graph.n_nodes)
            require_embedding(graph.n_nodes, k)  # before walks are sampled
        choice = self._choose()
        if how == "paper":
            clusters = paper_clusters(graph, choice, k or 1, n_init, self.seed_)
        else:
            clusters = self._regularized(graph, choice, k, n_init)
        self._probabilities, self.embedding_, self.eigenvalues_, self.method_ = clusters
        self.labels_ = self._probabilities.argmax(axis=1)
        self.n_clusters_ = self._probabilities.shape[1]
        n, largest = graph.n_nodes, int(np.bincount(self.labels_).max())
        if 1 < self.n_clusters_ < n and largest > NEARLY_ALL * n:
            advice = "a larger regularization" if how == "regularized" else "how='regularized'"
            problem = "nearly all nodes are in one cluster, as whiskers, hubs or outliers make it"
            advice = f"try {advice} or other n_clusters"
            warn_user(InputWarning(problem, advice=advice, largest_cluster=largest, n_nodes=n))
        return self

    def _how(self) -> str:
        how: str = one_of(self.how, "how", tuple(_DEFAULTS))
        return "paper" if isinstance(self.method, str) and self.method == "paper" else how

    def _kernel_parameters(self) -> dict[str, Any]:
        parameters = super()._kernel_parameters()
        if parameters["method"] == "paper":
            parameters["method"] = None
        given = {name: value for name, value in parameters.items() if value is not None}
        return {**parameters, **_DEFAULTS[self._how()], **given}

    def _regularized(
        self, graph: Graph, choice: KernelChoice, k: int | None, n_init: int
    ) -> Clustering:
        tau, n_components = finite(self.regularization, "regularization"), self.n_components
        if not 0 <= tau <= 1e6:
            raise InputError(f"must be from 0 to 1e6, found {tau:g}", argument="regularization")
        one_of(choice.normalization, "normalization", ("sym", "rw"))
        if n_components is not None:
            whole(n_components, "n_components", 1, graph.n_nodes)
        trim = truth(self.trim, "trim")
        choice.check(graph)
        method = "walks" if not choice.is_exact else None if is_auto(self.method) else self.method
        return regularized_clusters(
            graph, choice, method, k, n_init, tau, n_components, trim, self.seed_
        )

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each cluster for each node, of shape ``(n_nodes, n_clusters_)``.

        Clusters are modelled as isotropic Gaussians of equal variance, so that `labels_` is the
        most probable one. Whiskers have the probabilities of the node that they are attached to,
        outliers the cluster shares. For ``how="paper"`` all are 0 or 1.

        Parameters
        ----------
        X
            The graph that was fitted.
        """
        check_is_fitted(self, "labels_")
        self._read_graph(X, reset=False)
        return self._probabilities.copy()

    def plot(self, axes: Any = None) -> Any:
        """Draw the nodes in their two principal directions, coloured by cluster, and eigenvalues.

        Needs matplotlib, of the extra ``plot``.

        Parameters
        ----------
        axes
            Axes of matplotlib to draw the nodes on, without the eigenvalues; ``None`` for a new
            figure with both.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which notebooks show, or to be saved by ``savefig``.
        """
        check_is_fitted(self, "labels_")
        if axes is not None:
            _draw_nodes(axes, self.embedding_, self.labels_)
            return axes.figure
        require("matplotlib.figure", "plot()")
        from grfpp.tasks.figures import NotebookFigure

        figure = NotebookFigure(figsize=(7.2, 3.4), layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
        _draw_nodes(left, self.embedding_, self.labels_)
        _draw_eigenvalues(right, self.eigenvalues_, int(self.labels_.max()) + 1)
        return figure

    def score(self, X: Any, y: Any = None) -> float:
        """The Rand index of the clusters: one minus their `pair_error`.

        Parameters
        ----------
        X
            The graph that was fitted.
        y
            The true class of each node.
        """
        check_is_fitted(self, "labels_")
        if y is None:
            raise InputError("must have the true class of each node", argument="y")
        self._read_graph(X, reset=False)
        return 1.0 - pair_error(self.labels_, y)


def pair_error(labels: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Share of wrong pairs: one minus the Rand index.

    A pair is wrong when its two nodes are in one cluster of one clustering and in different
    clusters of the other. The names of clusters do not matter.

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
    The paper divides the wrong pairs by ``N (N − 1)`` and counts each pair in both orders: its
    0.2585 on the karate club is 145 of 561 pairs.

    References
    ----------
    Rand: Objective criteria for the evaluation of clustering methods. Journal of the American
    Statistical Association 66, 1971.

    Examples
    --------
    >>> pair_error([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    >>> pair_error([0, 0, 0, 1], [0, 0, 1, 1])
    0.5
    """
    first, second = array_of(labels, "labels"), array_of(truth, "truth")
    is_finite = all(np.isfinite(x).all() for x in (first, second) if x.dtype.kind == "f")
    if first.ndim != 1 or len(first) < 2 or first.shape != second.shape or not is_finite:
        problem = "must have one finite entry per node, at least 2, as truth has, found shapes "
        raise InputError(f"{problem}{first.shape} and {second.shape}", argument="labels")
    (_, joined), (separated, _) = pairs = pair_confusion_matrix(
        class_numbers(first), class_numbers(second)
    )
    return float((joined + separated) / pairs.sum())


def _draw_nodes(axes: Any, embedding: FloatArray, labels: IntArray) -> None:
    n, n_clusters = len(labels), int(labels.max()) + 1
    # Two columns of zeros: an embedding may have fewer than two.
    centred = np.pad(embedding - embedding.mean(axis=0), ((0, 0), (0, 2)))
    variances, directions = np.linalg.eigh(centred.T @ centred)
    points, shares = centred @ directions[:, :-3:-1], variances / max(variances.sum(), 1e-300)
    # In random order, so that no cluster hides the others.
    order, is_large = np.random.default_rng(0).permutation(n), n > _MANY_NODES
    dots = {"s": 3 if is_large else 16, "rasterized": is_large}
    palette: Any = np.array(_COLOURS[:n_clusters])
    if n_clusters > len(_COLOURS):
        palette = require("matplotlib", "plot()").colormaps["turbo"](np.linspace(0, 1, n_clusters))
    axes.scatter(*points[order].T, c=palette[labels[order]], **dots)
    if n_clusters <= MAX_AUTO_CLUSTERS:
        for label, colour in enumerate(palette):
            axes.scatter([], [], color=colour, label=f"{label}")
        place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        axes.legend(title="cluster", ncols=1 + n_clusters // 11, **place)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(f"{n:,} nodes, {n_clusters} clusters")
    axes.set_xlabel(f"first direction ({shares[-1]:.0%} of the variance)")
    axes.set_ylabel(f"second direction ({shares[-2]:.0%})")


def _draw_eigenvalues(axes: Any, eigenvalues: FloatArray, n_clusters: int) -> None:
    number = np.arange(1, len(eigenvalues) + 1)
    axes.semilogy(number, np.maximum(eigenvalues, _MIN_EIGENVALUE), "o")
    axes.axvline(n_clusters + 0.5, color="C1", linestyle="--")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(title="Eigenvalues", xlabel="number", ylabel="eigenvalue of the normalised kernel")
