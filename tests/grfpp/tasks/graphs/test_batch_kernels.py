"""Kernels of lists of graphs."""

import numpy as np
from labelled_cases import CHAIN, ODD, WATER

from grfpp.tasks.graphs.spectrum import KernelSpectrumFeatures


def test_same_label_is_the_graph_without_other_edges():
    """Normalised after the edges are gone."""
    A = ODD.graph.adjacency.toarray()
    inside = A * (ODD.labels[:, np.newaxis] == ODD.labels)
    assert inside.sum() < A.sum()
    options = {"n_walks": 7, "random_state": 4, "scale": 0.81}
    for estimate in ("walks", "exact"):
        own = KernelSpectrumFeatures(9, restrict="same-label", estimate=estimate, **options)
        plain = KernelSpectrumFeatures(9, estimate=estimate, **options)
        np.testing.assert_array_equal(own.fit_transform([ODD]), plain.fit_transform([inside]))
        assert not np.allclose(own.fit_transform([ODD]), plain.fit_transform([ODD]))


def test_labels_are_ignored_unless_asked_for():
    plain = KernelSpectrumFeatures(4, random_state=0).fit_transform([WATER.graph, CHAIN.graph])
    labelled = KernelSpectrumFeatures(4, random_state=0).fit_transform([WATER, CHAIN])
    np.testing.assert_array_equal(plain, labelled)
