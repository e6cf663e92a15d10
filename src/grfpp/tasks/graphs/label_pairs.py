"""Labelled graphs as points: how much of the kernel lies between nodes of which labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from grfpp.graph import Graph
from grfpp.tasks.graphs.batch_kernels import GraphListTransformer, stored_chain
from grfpp.tasks.graphs.labelled import (
    all_labels,
    indicators,
    label_numbers,
    sums_by_label,
)
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
        n, number = len(self.labels_), label_numbers(labels, self.labels_)
        kernel, is_exact = self._choice.kernel, self._choice.is_exact

        def sums(matrices: Any, nodes: slice, starts: IntArray) -> FloatArray:
            indicator = indicators(number[nodes], n)
            if is_exact:
                spread = kernel.apply(Graph(matrices), indicator)
            else:
                spread = kernel.sign * (stored_chain(matrices) @ indicator)
            return sums_by_label(spread, number[nodes], n, starts)

        totals = self._by_parts(batch, sums)
        first, second = np.triu_indices(n)
        return np.asarray(0.5 * (totals[:, first, second] + totals[:, second, first]))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Pairs of labels, such as ``C-O``."""
        check_is_fitted(self)
        first, second = np.triu_indices(len(self.labels_))
        pairs = zip(self.labels_[first], self.labels_[second], strict=True)
        return np.array([f"{a}-{b}" for a, b in pairs], dtype=object)
