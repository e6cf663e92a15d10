"""Kernels of lists of graphs."""

import numpy as np
import pytest
from labelled_cases import CHAIN, ODD, WATER
from sklearn.base import clone

from grfpp import InputError
from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
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


@pytest.mark.parametrize("features", [KernelSpectrumFeatures(2), LabelPairFeatures()])
def test_what_is_no_list_of_graphs_is_refused(features):
    features = clone(features).fit([WATER])
    for X, words in (
        (WATER.graph, "a list of graphs is needed, found Graph"),
        ("water", "a list of graphs is needed"),
        ([], "the list of graphs is empty"),
    ):
        for method in (features.transform, clone(features).fit):
            with pytest.raises(InputError, match=words):
                method(X)


@pytest.mark.parametrize("features", [KernelSpectrumFeatures(2), LabelPairFeatures()])
def test_parameters_count_from_one_fit_to_the_next(features):
    """As scikit-learn has it: what is changed after a fit is for the next one."""
    features = clone(features).set_params(random_state=0).fit([WATER])
    before = features.transform([WATER])
    features.set_params(scale=0.3, n_walks=2, degree=1)
    np.testing.assert_array_equal(features.transform([WATER]), before)
    assert not np.allclose(features.fit_transform([WATER]), before)
