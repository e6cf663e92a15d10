"""Features of graphs from their kernels: smallest eigenvalues, and sums over pairs of labels.

Small graphs of equal size are stacked and solved in one call of LAPACK. The estimate of a large
graph is never formed: its eigenvalues come from products with its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numpy.linalg import eigvalsh
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import whole
from grfpp._memory import require_bytes
from grfpp.estimate.chain import Chain, stitched
from grfpp.estimate.factor import StoredFactor
from grfpp.graph import Graph
from grfpp.linalg.functions import finite
from grfpp.linalg.spectra import largest_eigenpairs, symmetric_eigenvalues
from grfpp.tasks.graphs import labelled
from grfpp.typing import FloatArray, IntArray

#: Largest number of nodes of graphs that are stacked: for larger ones the overhead of Python, which
#: stacking saves, is small.
STACKED_NODES = 128
#: Number of nodes above which an estimate is not formed, if `LANCZOS_RATIO` allows: there Lanczos'
#: method is faster (measured on REDDIT-BINARY).
LANCZOS_NODES = 1000
#: Number of nodes per eigenvalue above which Lanczos' method is faster (measured there too).
LANCZOS_RATIO = 25
#: Number of entries of one stack of dense matrices: 8 MB.
_STACK_ENTRIES = 2**20
#: Tolerance of Lanczos' method, far below the noise of estimates.
_TOL = 1e-8


@dataclass(eq=False, repr=False)
class KernelSpectrumFeatures(labelled.GraphListTransformer):
    """The smallest eigenvalues of each graph's kernel, as features for graph classification.

    The features of a graph are the ``n_eigenvalues`` smallest eigenvalues of ``(K + Kᵀ) / 2``,
    ascending [1]_, where ``K`` is its kernel or an estimate of it [2]_. They depend on the graph
    and on `random_state`, not on the other graphs of the list or their order (up to rounding), and
    not on `n_jobs`. Different graphs have independent walks.

    Parameters
    ----------
    n_eigenvalues
        Number of eigenvalues. A graph with fewer nodes has fewer eigenvalues: the rest of its row
        is 0, which is not an eigenvalue of an exact diffusion kernel, so that forests can
        distinguish small graphs.
    kernel, estimate, degree, n_walks, termination, scale
        See `grfpp.tasks.base.KernelParameters`: ``estimate="exact"`` for the kernel itself,
        ``degree=1`` for GRFs, ``degree=2`` for GRFs++; weights are
        ``W = scale · D^-1/2 A D^-1/2``.
    restrict
        ``"same-label"`` removes all edges between nodes of unequal labels before weights are
        normalised by the remaining degrees. Needs `LabelledGraph` objects.
    random_state
        A whole number is the seed of the walks; without one, `fit` draws it.
    n_jobs
        Threads; -1 for all cores.

    Attributes
    ----------
    seed_
        The seed of the walks.

    Notes
    -----
    An estimate of a matrix is unbiased, but its smallest eigenvalues are not: the noise of walks
    makes them too small. The `scale` of an exact diffusion kernel changes each feature by a
    monotone function, to which forests are invariant.

    References
    ----------
    .. [1] de Lara, Pineau: A simple baseline algorithm for graph classification. 2018.
    .. [2] Choromanski, Dubey, Sehanobish, Reid: Computationally-efficient graph modeling with
       refined graph random features. ICML 2026, appendix "Graph classification experiments".

    Examples
    --------
    >>> import networkx as nx
    >>> graphs = [nx.cycle_graph(5), nx.path_graph(3)]
    >>> KernelSpectrumFeatures(4, estimate="exact").fit_transform(graphs).round(3)
    array([[0.445, 0.445, 1.362, 1.362],
           [0.368, 1.   , 2.718, 0.   ]])
    >>> KernelSpectrumFeatures(4, n_walks=100, random_state=0).fit_transform(graphs).round(1)
    array([[0.4, 0.4, 1.4, 1.4],
           [0.4, 1. , 2.7, 0. ]])
    """

    n_eigenvalues: int = 16

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and the graphs; nothing is learned from them.

        Parameters
        ----------
        X
            A list of undirected graphs: `Graph`, anything that `Graph` takes, or `LabelledGraph`.
        y
            Not used.
        """
        whole(self.n_eigenvalues, "n_eigenvalues", 1)
        self._choose()
        self._batch(X)
        return self

    def transform(self, X: Any) -> FloatArray:
        """The features of graphs.

        Returns
        -------
        ndarray of shape ``(n_graphs, n_eigenvalues)``
        """
        check_is_fitted(self)
        k = whole(self.n_eigenvalues, "n_eigenvalues", 1)
        kernel, is_exact = self._choice.kernel, self._choice.is_exact
        batch = self._batch(X)
        require_bytes(24 * len(batch) * k, f"{k} eigenvalues of each of {len(batch)} graphs")

        def spectra(matrices: Any, nodes: slice, starts: IntArray) -> FloatArray:
            if is_exact:
                return exact_spectra(matrices, starts, k, kernel.value)
            return estimated_spectra(matrices, starts, k, kernel.sign)

        return self._by_parts(batch, spectra)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """``eigenvalue0``, ``eigenvalue1``, and so on."""
        check_is_fitted(self)
        return np.array([f"eigenvalue{i}" for i in range(self.n_eigenvalues)], dtype=object)


@dataclass(eq=False, repr=False)
class LabelPairFeatures(labelled.GraphListTransformer):
    """Sums of each graph's kernel over all pairs of nodes with two given labels.

    With ``Y`` the one-hot matrix of labels, the features of a graph are the entries of ``Yᵀ K Y``
    on and above the diagonal: the mass that diffuses from nodes of one label to nodes of another.
    For ``K = I`` that is the histogram of the labels. The estimate is unbiased, since it is linear
    in the kernel, and the kernel is never formed.

    Parameters
    ----------
    kernel, estimate, degree, n_walks, termination, scale, restrict, random_state, n_jobs
        As for `KernelSpectrumFeatures`.

    Attributes
    ----------
    labels_
        The sorted labels of the fitted graphs. Others are left out of the sums.
    seed_
        The seed of the walks.

    References
    ----------
    Gärtner, Flach, Wrobel: On graph kernels: hardness results and efficient alternatives. COLT 2003
    (label pairs).

    Examples
    --------
    >>> from grfpp.tasks import LabelledGraph
    >>> water = LabelledGraph([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["O", "H", "H"])
    >>> pairs = LabelPairFeatures(estimate="exact").fit([water])
    >>> pairs.get_feature_names_out()
    array(['H-H', 'H-O', 'O-O'], dtype=object)
    >>> pairs.transform([water]).round(2)
    array([[3.09, 1.66, 1.54]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the labels of the graphs.

        Parameters
        ----------
        X
            A list of `LabelledGraph`.
        y
            Not used.
        """
        self._choose()
        self._batch(X)
        self.labels_ = np.unique(labelled.all_labels(X, "LabelPairFeatures"))
        return self

    def transform(self, X: Any) -> FloatArray:
        """The features of graphs.

        Returns
        -------
        ndarray of shape ``(n_graphs, n_labels * (n_labels + 1) / 2)``
        """
        check_is_fitted(self)
        batch = self._batch(X)
        numbers = labelled.label_numbers(labelled.all_labels(X, "LabelPairFeatures"), self.labels_)
        n, kernel, is_exact = len(self.labels_), self._choice.kernel, self._choice.is_exact

        def sums(matrices: Any, nodes: slice, starts: IntArray) -> FloatArray:
            Y = labelled.indicators(numbers[nodes], n)
            if is_exact:
                product = kernel.apply(Graph(matrices), Y)
            else:
                product = kernel.sign * (_chain(matrices) @ Y)
            return labelled.sums_by_label(product, numbers[nodes], n, starts)

        return labelled.upper_triangle(self._by_parts(batch, sums))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Pairs of labels, such as ``C-O``."""
        check_is_fitted(self)
        return np.array(labelled.pair_names(self.labels_), dtype=object)


def _chain(factors: Sequence[sp.csr_array]) -> Chain:
    """``F_1 F_2ᵀ F_3 F_4ᵀ …`` on one thread: graphs are distributed to threads."""
    return Chain.stitched([StoredFactor(factor) for factor in factors], n_jobs=1)


def estimated_spectra(
    factors: Sequence[sp.csr_array], starts: IntArray, k: int, sign: int = 1
) -> FloatArray:
    """The `k` smallest eigenvalues of ``(K̂ + K̂ᵀ) / 2`` for each graph of a batch.

    ``K̂ = ± F_1 F_2ᵀ F_3 F_4ᵀ …`` with an even number of block-diagonal factors; `starts` has the
    first row of each block, and the number of all rows. Returns one row per graph, ascending,
    padded with 0 for blocks of fewer than `k` rows.
    """

    def of_one(rows: slice) -> FloatArray:
        chain = _chain([factor[rows, rows] for factor in factors])
        n = chain.n_nodes
        if n > LANCZOS_NODES and n > LANCZOS_RATIO * k:
            return _smallest_by_products(chain, k, sign)
        require_bytes(4 * 8 * n * n, f"the kernel of a graph of {n} nodes")
        K = chain @ np.eye(n)
        return np.asarray(eigvalsh(0.5 * sign * (K + K.T)))

    def of_many(starts: IntArray, size: int) -> FloatArray:
        blocks = [_dense_blocks(factor, starts, size) for factor in factors]
        K = reduce(np.matmul, stitched(blocks, lambda block: block.swapaxes(1, 2)))
        return np.asarray(eigvalsh(0.5 * sign * (K + K.swapaxes(1, 2))))

    return _by_size(starts, k, of_one, of_many)


def exact_spectra(
    weights: sp.csr_array, starts: IntArray, k: int, function: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """The `k` smallest eigenvalues of ``function(W)`` for each block of a symmetric matrix.

    They are `function` of the eigenvalues of ``W``: no kernel is formed. Parameters and result
    are those of `estimated_spectra`.
    """

    def of_one(rows: slice) -> FloatArray:
        return np.sort(finite(function(symmetric_eigenvalues(weights[rows, rows]))))

    def of_many(starts: IntArray, size: int) -> FloatArray:
        values = np.asarray(eigvalsh(_dense_blocks(weights, starts, size)), np.float64)
        return np.sort(finite(function(values)), axis=1)

    return _by_size(starts, k, of_one, of_many)


def _by_size(
    starts: IntArray,
    k: int,
    of_one: Callable[[slice], FloatArray],
    of_many: Callable[[IntArray, int], FloatArray],
) -> FloatArray:
    """The first `k` eigenvalues of each block.

    `of_one` solves a large block, given its rows; `of_many` solves a stack of small blocks of one
    size, given their first rows.
    """
    spectra = np.zeros((len(starts) - 1, k))
    sizes = np.diff(starts)
    for size in np.unique(sizes).tolist():
        blocks = np.flatnonzero(sizes == size)
        n_stacked = 1 if size > STACKED_NODES else max(1, _STACK_ENTRIES // size**2)
        for stack in np.split(blocks, range(n_stacked, len(blocks), n_stacked)):
            first = starts[stack]
            if size > STACKED_NODES:
                values = of_one(slice(int(first[0]), int(first[0]) + size))
            else:
                values = of_many(first, size)
            spectra[stack, : min(size, k)] = values[..., :k]
    return spectra


def _dense_blocks(matrix: sp.csr_array, starts: IntArray, size: int) -> FloatArray:
    """Diagonal blocks of one size as an array of shape ``(n_blocks, size, size)``."""
    n_blocks = len(starts)
    chosen = matrix[(starts[:, np.newaxis] + np.arange(size)).ravel()]
    rows = np.repeat(np.arange(n_blocks * size), np.diff(chosen.indptr))
    dense = np.zeros(n_blocks * size * size)
    dense[rows * size + chosen.indices - starts[rows // size]] = chosen.data
    return dense.reshape(n_blocks, size, size)


def _smallest_by_products(chain: Chain, k: int, sign: int) -> FloatArray:
    """The `k` smallest eigenvalues from products with the factors.

    With noise only the eigenvalue of isolated nodes is multiple, whose copies the restarts find.
    """
    # Row-wise storage of transposes too: there are hundreds of products with one vector.
    forward, backward = chain.matrices()[::-1], chain.T.matrices()[::-1]

    def negative(vector: FloatArray) -> FloatArray:
        ahead = behind = vector
        for a, b in zip(forward, backward, strict=True):
            ahead, behind = a @ ahead, b @ behind
        return -0.5 * sign * (ahead + behind)

    n_basis = min(chain.n_nodes, 3 * k + 20)
    pairs = largest_eigenpairs(
        negative, chain.n_nodes, k, tol=_TOL, n_basis=n_basis, max_restarts=10_000
    )
    return -pairs.values
