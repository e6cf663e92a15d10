"""Graphs with labels."""

import numpy as np
import pytest
from labelled_cases import CHAIN, ODD, WATER

from grfpp import Graph, InputError
from grfpp.datasets import TUDataset
from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
from grfpp.tasks.graphs.labelled import LabelledGraph, all_labels, labelled_graphs, plain_graphs
from grfpp.tasks.graphs.spectrum import KernelSpectrumFeatures


def test_labelled_graphs_are_checked():
    assert isinstance(WATER.graph, Graph)
    assert not WATER.labels.flags.writeable
    for labels, words in [
        ([1, 2], "a graph of 3 nodes needs as many labels"),
        ([[1, 2, 3]], "one a node, found shape"),
        ([1.0, 2.0, 3.0], "whole numbers, truth values or texts, found dtype float64"),
        ([1, None, 3], "found dtype object"),
    ]:
        with pytest.raises(InputError, match=words):
            LabelledGraph(WATER.graph, labels)


def test_a_data_set_with_its_labels():
    graphs = (Graph(np.ones((2, 2)) - np.eye(2)), Graph(np.zeros((1, 1))))

    def data(labels):
        return TUDataset("small", graphs, np.array([0, 1]), (0, 1), labels, None)

    plain = labelled_graphs(data((np.array([5, 3]), np.array([3]))))
    assert [each.labels.tolist() for each in plain] == [[5, 3], [3]]
    several = labelled_graphs(data((np.array([[1, 2], [1, 3]]), np.array([[1, 2]]))))
    assert [each.labels.tolist() for each in several] == [[0, 1], [0]]
    with pytest.raises(InputError, match="the nodes of small have no labels"):
        labelled_graphs(data(None))


def test_missing_labels_are_refused():
    for features in (LabelPairFeatures(), KernelSpectrumFeatures(2, restrict="same-label")):
        with pytest.raises(InputError, match="needs labels, but graph 1 has none"):
            features.fit([WATER, CHAIN.graph])
    with pytest.raises(InputError, match="all texts or all numbers, found both"):
        LabelPairFeatures().fit([WATER, ODD])
    assert plain_graphs("text") == "text"
    assert len(all_labels([WATER, CHAIN], "this")) == 7
