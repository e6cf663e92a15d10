"""Graphs as points: the smallest eigenvalues of each graph's kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import whole
from grfpp.memory import require_bytes
from grfpp.tasks.graphs.batch_kernels import GraphListTransformer
from grfpp.tasks.graphs.eigenvalues import estimated_spectra, exact_spectra
from grfpp.typing import FloatArray, IntArray


@dataclass(eq=False, repr=False)
class KernelSpectrumFeatures(GraphListTransformer):
    """The smallest eigenvalues of each graph's kernel, for graphs to be classified by.

    Each graph becomes the ``n_eigenvalues`` smallest eigenvalues of ``(K + Kᵀ) / 2``, ascending,
    where ``K`` is its kernel or an estimate of it. What a graph becomes depends on the graph and
    on `random_state`, not on the graphs beside it or on its place among them (but for rounding),
    and not on `n_jobs`. Different graphs have independent walks.

    Parameters
    ----------
    n_eigenvalues
        How many. A graph with fewer nodes has fewer eigenvalues: the rest of its row is 0, which
        is no eigenvalue of an exact diffusion kernel. So a forest can tell small graphs apart.
    kernel, estimate, degree, n_walks, termination, scale
        The kernel and how it is had; see `grfpp.tasks.kernels.kernel_operator`. In short:
        ``estimate="exact"`` for the kernel itself, ``degree=1`` for GRFs, ``degree=2`` for GRFs++;
        weights are ``W = scale · D^-1/2 A D^-1/2``.
    restrict
        ``"same-label"`` walks only between nodes of equal labels: all other edges are taken out
        first, and what is left is normalised by its own degrees. Needs `LabelledGraph` objects.
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
    An estimate of a matrix is unbiased; its smallest eigenvalues are not, they lie too low by what
    the noise of the walks amounts to. The `scale` of an exact diffusion kernel changes each
    feature by a monotone function, which forests do not see.

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
        """Check the parameters and the graphs; nothing is learnt from them.

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
        # Of the parts, and of all.
        require_bytes(16 * len(batch) * k, f"{k} eigenvalues of each of {len(batch)} graphs")

        def spectra(matrices: Any, nodes: slice, starts: IntArray) -> FloatArray:
            if is_exact:
                return exact_spectra(matrices, starts, k, kernel.value)
            return estimated_spectra(matrices, starts, k, kernel.sign)

        return self._by_parts(batch, spectra)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """``eigenvalue0``, ``eigenvalue1``, and so on."""
        check_is_fitted(self)
        return np.array([f"eigenvalue{i}" for i in range(self.n_eigenvalues)], dtype=object)
