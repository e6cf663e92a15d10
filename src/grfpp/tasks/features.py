"""`GraphRandomFeatures`: features of the nodes of a graph whose products estimate a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import is_auto, one_of, whole
from grfpp._memory import require_bytes
from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.estimate import require_projection
from grfpp.estimate.chain import compact_rows
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Diffusion, Kernel
from grfpp.linalg.functions import finite
from grfpp.linalg.spectra import subspace_eigenpairs
from grfpp.operators import KernelOperator
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.tasks.base import GraphEstimator, read_nodes
from grfpp.tasks.spectral import core_of, regularized_weights
from grfpp.typing import FloatArray
from grfpp.walks.planning import plan_walks
from grfpp.walks.sampling import sample_rows

#: Kernel of ``"auto"``: of dense features, wide enough for communities; of sparse ones, whose
#: number of entries grows with its width, a narrow one.
DENSE, SPARSE = Diffusion(10.0), Diffusion(1.0)
#: Multiple of the mean degree that is added to all degrees of dense features: without it, the
#: eigenvectors of sparse graphs are those of whiskers and small components.
_REGULARIZATION = 0.25
#: Dense columns carry no signal if ``r Σσ⁴ / (Σσ²)²`` exceeds its value for random columns,
#: ``1 + r / n``, by less than this; the ``r`` singular values ``σ`` are without that of √degree.
_MIN_UNEVENNESS = 0.01
#: Fewest nodes on which random columns can be told from others.
_MIN_NODES = 200
#: Fewest nodes of sparse features whose size is predicted: smaller ones fit.
_MIN_NODES_OF_PILOT = 5000
#: Nodes that the size is predicted from: it is needed to a tenth or so.
_N_PILOTS = 16


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
    kernel
        See `grfpp.tasks.base.NodeKernelParameters`; ``"auto"`` is ``Diffusion(10)`` for dense
        features, which reaches across communities, and ``Diffusion(1)`` for sparse ones.
    estimate, method, degree, n_walks, termination, scale, normalization, reuse_walks
        See `grfpp.tasks.base.NodeKernelParameters`.
    symmetrize
        Whether to return features of the symmetrised estimate, ``[X, Y] / √2``, which have twice
        as many columns; ``False`` by default.
    deflate
        See `grfpp.WalkOptions`; only where `n_components` is given. ``None``, and ``"auto"`` with
        ``kernel="auto"``: no eigenvectors for a given kernel. Else all columns are approximate
        eigenvectors ``u √g(λ)``, without walks; see Notes. 0 is for walks alone.
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
    kernel_
        The kernel.
    deflate_
        Largest number of eigenvectors, or ``"auto"``.
    seed_
        The seed: `transform` samples the same walks as `fit`.

    Notes
    -----
    By default dense features are leading eigenvectors of ``Diffusion(10)``, by subspace iteration;
    columns beyond their number are zero. With ``normalization="sym"`` a quarter of the mean degree
    is added to all degrees, and whiskers (parts that a bridge joins to the rest) and components
    below ``0.1 n_nodes / n_components`` nodes are left out, as in `SpectralKernelClustering`: on
    sparse graphs eigenvectors sit on these. Nodes of a whisker have the features of the node that
    it is attached to, those of small components have zeros. With ``normalization="rw"`` and on
    directed graphs dense features are walks alone.

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
    kernel: str | Kernel = "auto"
    deflate: Any = None
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
        choice = self._resolve(graph)
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

    def _resolve(self, graph: Graph) -> KernelChoice:
        """The choice of kernel and eigenvectors."""
        kernel, deflate, n_columns = self.kernel, self.deflate, self.n_components or 0
        is_default = n_columns > 0 and is_auto(kernel) and (deflate is None or is_auto(deflate))
        has_orthogonal_vectors = not graph.is_directed and self.normalization != "rw"
        if is_auto(kernel):
            kernel = DENSE if n_columns else SPARSE
        self.deflate_ = 0 if is_default or deflate is None else deflate
        choice = self._choose(kernel=kernel, deflate=self.deflate_)
        self.kernel_ = choice.kernel
        # Whether all columns are eigenvectors.
        self._is_spectral = is_default and has_orthogonal_vectors and not choice.is_exact
        if self._is_spectral:
            self.deflate_ = min(n_columns, graph.n_nodes)
        return choice

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
        choice, is_left = self._choice, self.side == "left"
        if self.n_components is None and not choice.is_exact:
            self._require_sparse(graph)
        if self.n_components is not None:
            if self._is_spectral:
                return self._eigenvectors(graph)
            X, Y = choice.operator(graph).project(self.n_components, seed=self.seed_)
            if _is_noise(X, graph):
                problem = "the columns of these features carry no signal beyond noise"
                advice = "use a wider kernel (such as kernel='auto'), deflate or more n_components"
                warn_user(InputWarning(problem, advice=advice), InputWarning)
        elif isinstance(K := choice.operator(graph), KernelOperator):
            X, Y = K.features()
        else:  # as `K.features`, without computing the other side
            return K.feature_side("left" if is_left else "right")
        return X if is_left else Y

    def _eigenvectors(self, graph: Graph) -> FloatArray:
        """Eigenvectors ``u √g(λ)`` as columns; whiskers have the row that they are attached to."""
        choice, g = self._choice, self._choice.kernel
        r, A, position = self._n_features_out, graph.adjacency, np.arange(graph.n_nodes)
        if choice.normalization is None:
            W = choice.weights(graph)
        else:
            nodes, _, position = core_of(A, r, True)
            core = A if len(nodes) == len(position) else sp.csr_array(A[nodes][:, nodes])
            W = regularized_weights(core, _REGULARIZATION, choice.scale)
        peak = finite(g.value(np.array([W.spectral_radius()])))
        number = min(r, W.n_nodes)
        pairs = subspace_eigenpairs(W, lambda x: (g.value(x) / peak) ** 2, number, self.seed_)
        X, is_reached = np.zeros((graph.n_nodes, r)), position >= 0
        columns = pairs.vectors * np.sqrt(g.value(pairs.values))
        X[is_reached, :number] = columns[position[is_reached]]
        return X

    def _require_sparse(self, graph: Graph) -> None:
        """Refuse sparse features that do not fit, by walks from a few nodes."""
        W, options, n = self._choice.weights(graph), self._choice.options, graph.n_nodes
        if n < _MIN_NODES_OF_PILOT or options.degree == "auto":
            return
        plan = plan_walks(W, self._choice.kernel, options, measured=True)[0]
        rows = sample_rows(plan, np.linspace(0, n - 1, _N_PILOTS).astype(np.int64))
        for _ in range(options.stitching_degree - 1):
            reached, rows = compact_rows(rows)
            rows = rows @ sample_rows(plan, reached)
        n_copies = 4 if options.symmetrizes(directed=W.is_directed) else 1
        n_bytes = 12 * n_copies * rows.nnz * n // _N_PILOTS
        advice = "use n_components, such as n_components=64, for dense features"
        require_bytes(n_bytes, f"a sparse row of features for each of {n} nodes", advice=advice)


def _is_noise(X: FloatArray, graph: Graph) -> bool:
    """Whether columns are like random ones, but for what they tell about degrees.

    Random columns have even singular values ``σ``: ``r Σ σ⁴ = (Σ σ²)²`` for ``r`` columns, and a
    kernel of effective rank ``ρ`` adds ``r / ρ`` of that.
    """
    (n, r), degrees = X.shape, np.sqrt(np.abs(graph.adjacency.sum(axis=1)))
    trivial = degrees / max(np.linalg.norm(degrees), 1e-300)
    rest = X - np.outer(trivial, trivial @ X)
    squares = rest.T @ rest
    total = float(np.trace(squares))
    unevenness = r * float((squares**2).sum()) / total**2 - 1 - r / n if total else 0.0
    return r > 1 and n >= max(_MIN_NODES, 4 * r) and unevenness < _MIN_UNEVENNESS
