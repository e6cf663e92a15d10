"""`GraphRandomFeatures`: features of the nodes of a graph whose products estimate a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import one_of, whole
from grfpp.errors import InputError
from grfpp.estimate import require_projection
from grfpp.graph import Graph, as_graph
from grfpp.operators import KernelOperator
from grfpp.tasks.base import GraphEstimator, read_nodes


@dataclass(eq=False, repr=False)
class GraphRandomFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator):  # type: ignore[misc]  # untyped bases
    """Features of the nodes of a graph whose products estimate a kernel.

    An estimate is ``K̂ = X Yᵀ`` with independent ``X`` and ``Y`` [1]_ [2]_; `transform` returns the
    one that `side` selects. With two transformers that differ only in `side`,
    ``left.fit_transform(graph) @ right.fit_transform(graph).T`` is an unbiased estimate of ``K``.

    A model with one side only works with ``X Xᵀ``. That is close to ``K`` except for a larger
    diagonal, from the noise that a row shares with itself, as if a ridge had been added. The mean
    of ``X`` is ``K^½``, which the features for ``estimate="exact"`` are.

    Parameters
    ----------
    n_components
        Dimension of dense features (option II of [2]_). ``None`` for sparse ones with one column
        per node (option I), or two where the estimate is symmetrised.
    side
        ``"left"`` for ``X``, ``"right"`` for ``Y``. On undirected graphs they have the same
        distribution (except for kernels with ``α_0 < 0``, where ``X`` has the sign). On directed
        graphs the walks of ``X`` follow the arcs and those of ``Y`` the reversed arcs.
    graph
        The graph, where ``X`` holds node indices, as in pipelines that are cross-validated;
        ``None`` where ``X`` is the graph.
    kernel, estimate, method, degree, n_walks, termination, scale, normalization, reuse_walks
        See `grfpp.tasks.base.NodeKernelParameters`.
    symmetrize
        Whether to return features of the symmetrised estimate, ``[X, Y] / √2``, which have twice
        as many columns; ``False`` by default.
    deflate
        See `grfpp.WalkOptions`; only where `n_components` is given.
    random_state
        Seed of the walks and of the projection. The same seed gives the same features for any
        `n_jobs`.
    n_jobs
        Threads; -1 for all cores.

    Attributes
    ----------
    n_features_in_
        Number of nodes; 1 where `graph` is given.
    features_
        Features of all nodes, where `graph` is given.
    seed_
        The seed: `transform` samples the same walks as `fit`.

    Notes
    -----
    Rows are nodes. To cross-validate a model on these features, pass the graph to the constructor
    and node indices as ``X``, and split these by `NodeKFold`: features are computed from the whole
    graph, and the model is fitted to the labels of the training nodes only.

    References
    ----------
    .. [1] Choromanski: Taming graph kernels with random features. ICML 2023.
    .. [2] Choromanski, Dubey, Sehanobish, Reid: Computationally-efficient graph modeling with
       refined graph random features. ICML 2026, section 2.2.3.

    Examples
    --------
    >>> import networkx as nx
    >>> from grfpp.tasks import GraphRandomFeatures
    >>> graph = nx.karate_club_graph()
    >>> GraphRandomFeatures(random_state=0).fit_transform(graph).shape
    (34, 34)
    >>> GraphRandomFeatures(n_components=8, random_state=0).fit_transform(graph).shape
    (34, 8)
    """

    n_components: int | None = None
    _: KW_ONLY
    graph: Any = None
    side: str = "left"
    symmetrize: bool | None = False

    _splitting = (
        "to hold nodes out, pass node indices as X: "
        "GraphRandomFeatures(graph=graph), X=np.arange(n_nodes), cv=NodeKFold()"
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the graph and the parameters, and draw the seed if there is none.

        Parameters
        ----------
        X
            An adjacency matrix, or anything else that `grfpp.Graph` takes. Where the estimator has
            a `graph`, indices or names of its nodes.
        y
            Not used.
        """
        graph = self._read(X)
        if self.graph is None:
            self._choice.check(graph)
        else:
            self.features_ = self._features(graph)
        return self

    def _read(self, X: Any) -> Graph:
        """The graph; checks all parameters except those that sampling checks."""
        one_of(self.side, "side", ("left", "right"))
        if self.n_components is not None:
            whole(self.n_components, "n_components", 1)
        self.__dict__.pop("features_", None)
        if self.graph is None:
            graph = self._read_graph(X, reset=True)
        else:
            graph = as_graph(self.graph)
            read_nodes(X, graph.names)
            self._names, self.n_features_in_ = graph.names, 1
        choice = self._choose()
        if self.n_components is not None:
            require_projection(graph.n_nodes, self.n_components)  # before walks are sampled
            self._n_features_out = self.n_components
            return graph
        if choice.options.deflate and not choice.is_exact:
            problem = "must be 0 for sparse features, since eigenvectors are dense"
            raise InputError(problem, argument="deflate", advice="pass n_components")
        directed = choice.weights(graph).is_directed
        is_symmetrized = not choice.is_exact and choice.options.symmetrizes(directed=directed)
        self._n_features_out = (2 if is_symmetrized else 1) * graph.n_nodes
        return graph

    def transform(self, X: Any) -> Any:
        """Features of the nodes.

        Parameters
        ----------
        X
            The graph of `fit`; node indices where the estimator has a `graph`.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_nodes, n_nodes), or ndarray
            With twice as many columns where the estimate is symmetrised. Dense for
            ``estimate="exact"``, and of shape ``(n_nodes, n_components)`` where `n_components` is
            given.
        """
        check_is_fitted(self, "seed_")
        if hasattr(self, "features_"):
            return self.features_[read_nodes(X, self._names)]
        return self._features(self._read_graph(X, reset=False))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit` and `transform`, which read the graph once."""
        if self.graph is not None:
            return self.fit(X).transform(X)
        return self._features(self._read(X))

    def _features(self, graph: Graph) -> Any:
        K, is_left = self._choice.operator(graph), self.side == "left"
        if self.n_components is not None:
            X, Y = K.project(self.n_components, seed=self.seed_)
        elif isinstance(K, KernelOperator):
            X, Y = K.features()
        else:  # as `K.features`, without computing the other side
            return K.feature_side("left" if is_left else "right")
        return X if is_left else Y
