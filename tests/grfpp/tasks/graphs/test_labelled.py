"""Graphs with labels, and lists of graphs."""

import numpy as np
import pytest
from labelled_cases import CHAIN, ODD, WATER

from grfpp import Graph, InputError
from grfpp.datasets import TUDataset
from grfpp.tasks import KernelSpectrumFeatures, LabelPairFeatures
from grfpp.tasks.graphs.labelled import LabelledGraph, labelled_graphs


def test_labelled_graphs_are_checked():
    assert isinstance(WATER.graph, Graph)
    assert not WATER.labels.flags.writeable
    for labels in ([1, 2], [[1, 2, 3]], [1.0, 2.0, 3.0], [1, None, 3]):
        with pytest.raises(InputError) as error:
            LabelledGraph(WATER.graph, labels)
        assert error.value.argument == "labels"


def test_a_data_set_with_its_labels():
    graphs = (Graph(np.ones((2, 2)) - np.eye(2)), Graph(np.zeros((1, 1))))

    def data(labels):
        return TUDataset("small", graphs, np.array([0, 1]), (0, 1), labels, None)

    plain = labelled_graphs(data((np.array([5, 3]), np.array([3]))))
    assert [each.labels.tolist() for each in plain] == [[5, 3], [3]]
    several = labelled_graphs(data((np.array([[1, 2], [1, 3]]), np.array([[1, 2]]))))
    assert [each.labels.tolist() for each in several] == [[0, 1], [0]]
    with pytest.raises(InputError) as error:
        labelled_graphs(data(None))
    assert error.value.argument == "dataset"


def test_missing_and_mixed_labels_are_refused():
    for features in (LabelPairFeatures(), KernelSpectrumFeatures(2, restrict="same-label")):
        for graphs in ([WATER, CHAIN.graph], [WATER, ODD]):
            with pytest.raises(InputError) as error:
                features.fit(graphs)
            assert error.value.argument == "X"


def test_same_label_is_the_graph_without_other_edges():
    """Normalised after the edges are gone."""
    A = ODD.graph.adjacency.toarray()
    inside = A * (ODD.labels[:, np.newaxis] == ODD.labels)
    assert inside.sum() < A.sum()
    options = {"n_walks": 7, "random_state": 4, "scale": 0.81}
    for estimate in ("walks", "exact"):
        within = KernelSpectrumFeatures(9, restrict="same-label", estimate=estimate, **options)
        plain = KernelSpectrumFeatures(9, estimate=estimate, **options)
        np.testing.assert_array_equal(within.fit_transform([ODD]), plain.fit_transform([inside]))
        assert not np.allclose(within.fit_transform([ODD]), plain.fit_transform([ODD]))


def test_labels_are_ignored_unless_asked_for_and_lists_are_lists_of_graphs():
    features = KernelSpectrumFeatures(4, random_state=0)
    plain, labelled = (
        features.fit_transform(each) for each in ([WATER.graph, CHAIN.graph], [WATER, CHAIN])
    )
    np.testing.assert_array_equal(plain, labelled)
    for X in (WATER.graph, "water", [], np.ones((5, 3)), np.array(3)):
        for method in (features.transform, features.fit):
            with pytest.raises(InputError):
                method(X)
