"""Labelled graphs as points: how much of the kernel lies between nodes of which labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.tasks.graphs.batch_kernels import GraphListTransformer, stored_chain
from grfpp.tasks.graphs.labelled import all_labels
from grfpp.typing import FloatArray, IntArray

_PURPOSE = "LabelPairFeatures"


@dataclass(eq=False, repr=False)
class LabelPairFeatures(GraphListTransformer):
    """Sums of each graph's kernel over the pairs of nodes that have given labels.

    With ``Y`` the matrix that has a 1 where a node has a label, a graph becomes the entries of
    ``Yᵀ K Y`` on and above the diagonal: what diffuses from nodes of one label to nodes of
    another. For ``K = I`` that is the histogram of the labels. The estimate is unbiased, since it
    is linear in the kernel, and the kernel is never formed.

    Parameters
    ----------
    kernel, estimate, degree, n_walks, termination, scale, restrict, random_state, n_jobs
        As for `KernelSpectrumFeatures`.

    Attributes
    ----------
    labels_
        The labels of the graphs that were fitted, sorted. Others are left out of the sums.
    seed_
        The seed of the walks.

    Examples
    --------
    >>> from grfpp.tasks.graphs.labelled import LabelledGraph
    >>> water = LabelledGraph([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["O", "H", "H"])
    >>> pairs = LabelPairFeatures(estimate="exact").fit([water])
    >>> pairs.get_feature_names_out()
    array(['H-H', 'H-O', 'O-O'], dtype=object)
    >>> pairs.transform([water]).round(2)
    array([[3.09, 1.66, 1.54]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which labels there are.

        Parameters
        ----------
        X
            A list of `LabelledGraph`.
        y
            Not used.
        """
        self._choose()
        self._batch(X)
        self.labels_ = np.unique(all_labels(X, _PURPOSE))
        return self

    def transform(self, X: Any) -> FloatArray:
        """The features of graphs.

        Returns
        -------
        ndarray of shape ``(n_graphs, n_labels * (n_labels + 1) / 2)``
        """
        check_is_fitted(self)
        batch, labels = self._batch(X), all_labels(X, _PURPOSE)
        if (labels.dtype.kind == "U") != (self.labels_.dtype.kind == "U"):
            raise InputError(
                f"the fitted labels are {_kind(self.labels_)}, these are {_kind(labels)}; "
                "use one kind for all graphs"
            )
        n = len(self.labels_)
        # Labels that were not fitted have a number too: one beyond the others, cut off below.
        place = np.minimum(np.searchsorted(self.labels_, labels), n - 1)
        number = np.where(self.labels_[place] == labels, place, n)
        kernel, is_exact = self._choice.kernel, self._choice.is_exact

        def sums(matrices: Any, nodes: slice, starts: IntArray) -> FloatArray:
            indicator = (number[nodes, np.newaxis] == np.arange(n)).astype(np.float64)
            if is_exact:
                spread = kernel.apply(Graph(matrices), indicator)
            else:
                spread = kernel.sign * (stored_chain(matrices) @ indicator)
            return _sums(spread, number[nodes], starts)

        totals = self._by_parts(batch, sums)
        first, second = np.triu_indices(n)
        return np.asarray(0.5 * (totals[:, first, second] + totals[:, second, first]))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Pairs of labels, such as ``C-O``."""
        check_is_fitted(self)
        first, second = np.triu_indices(len(self.labels_))
        pairs = zip(self.labels_[first], self.labels_[second], strict=True)
        return np.array([f"{a}-{b}" for a, b in pairs], dtype=object)


def _kind(labels: npt.NDArray[Any]) -> str:
    return "text" if labels.dtype.kind == "U" else "numbers"


def _sums(spread: FloatArray, number: IntArray, starts: IntArray) -> FloatArray:
    """Add up the rows of nodes of one graph and one label: shape (graphs, labels, labels)."""
    n_nodes, n = spread.shape
    n_graphs = len(starts) - 1
    graph_of = np.repeat(np.arange(n_graphs), np.diff(starts))
    # One more label for the nodes whose own is not known; nobody asks for its sums.
    place = graph_of * (n + 1) + number
    members = sp.csr_array(
        (np.ones(n_nodes), (place, np.arange(n_nodes))), shape=(n_graphs * (n + 1), n_nodes)
    )
    return np.asarray((members @ spread).reshape(n_graphs, n + 1, n)[:, :n])
