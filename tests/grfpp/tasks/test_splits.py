"""Models are tested on nodes whose labels they have not seen."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusal_case import bad_values, refused
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from small_graphs import QUICK

from grfpp import InputError
from grfpp.datasets import grid
from grfpp.tasks import GraphRandomFeatures, NodeKFold


@QUICK
@given(st.data())
def test_every_node_is_tested_once_and_never_learned_from(data):
    n, n_splits = data.draw(st.integers(6, 40)), data.draw(st.integers(2, 6))
    nodes = np.array(data.draw(st.permutations(range(100, 100 + n))))
    y = data.draw(st.none() | st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    folds = list(NodeKFold(n_splits).split(nodes, y))
    assert len(folds) == n_splits == NodeKFold(n_splits).get_n_splits()
    assert sorted(place for _, test in folds for place in test) == list(range(n))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(n))
    for (_, first), (_, again) in zip(folds, NodeKFold(n_splits).split(nodes, y), strict=True):
        assert_array_equal(first, again)


def test_labels_drawn_by_chance_are_predicted_by_chance():
    """With all nodes in both parts this model scores 1."""
    graph, n = grid(20, 20), 400
    labels = np.random.default_rng(0).integers(0, 2, n)
    features = GraphRandomFeatures(graph=graph, random_state=0)
    model = make_pipeline(features, LogisticRegression(C=1e4, max_iter=1000))
    assert model.fit(np.arange(n), labels).score(np.arange(n), labels) == 1
    scores = cross_val_score(model, np.arange(n), labels, cv=NodeKFold(4))
    assert abs(scores.mean() - 0.5) < 0.1  # four standard deviations of the mean
    assert scores.max() < 0.7


def test_classes_are_spread_over_folds():
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    nodes = np.arange(100)
    for _, test in NodeKFold(5).split(nodes, labels):
        assert np.bincount(labels[test]).tolist() == [10, 6, 4]
    by_chance = [
        np.bincount(labels[test], minlength=3).tolist()
        for _, test in NodeKFold(5, stratify=False).split(nodes, labels)
    ]
    assert by_chance != [[10, 6, 4]] * 5
    # A field of numbers has no classes.
    for field in (np.arange(100.0), np.zeros((100, 3))):
        assert len(list(NodeKFold(5).split(nodes, field))) == 5
    # A class may be called nan.
    for _, test in NodeKFold(2, stratify=True).split(range(8), ["nan", "b"] * 4):
        assert sorted(np.array(["nan", "b"] * 4)[test]) == ["b", "b", "nan", "nan"]


@pytest.mark.parametrize("y", [None, [0, 1] * 20])
def test_groups_stay_together(y):
    groups = np.array([None, "a", "b", "c", 4] * 8, dtype=object)
    for train, test in NodeKFold(3).split(np.arange(40), y, groups):
        assert not {str(each) for each in groups[train]} & {str(each) for each in groups[test]}


def split(X=range(5), **arguments):
    return list(NodeKFold(5).split(X, **arguments))


test_bad_samples_are_refused = bad_values(
    split,
    X=[np.eye(10), [0, 1, 1, 2, 3]],
    y=[[0, 1], [[0], [1, 2], 0, 0, 0], ["a", None, "b", None, "a"], [0, 1, np.nan, 1, 0]],
)
test_bad_options_are_refused = bad_values(
    NodeKFold, n_splits=[1, 2.5], stratify="yes", random_state=-1
)
test_too_few_samples_are_refused = refused(
    n_splits=[lambda: split([0, 1, 2]), lambda: split(range(9), groups=[0, 1, 2] * 3)]
)


def test_a_class_that_is_too_small_is_refused_where_stratification_is_asked_for():
    splits = NodeKFold(3, stratify=True)
    for y in ([0] * 7 + [1] * 2, None):
        with pytest.raises(InputError):
            list(splits.split(range(9), y))
    assert len(list(NodeKFold(3).split(range(9), [0] * 7 + [1] * 2))) == 3


def test_nodes_by_name():
    names = sorted(nx.les_miserables_graph())
    for nodes in (names, np.array(names, object)[:, None]):
        pairs = zip(NodeKFold(3).split(nodes), NodeKFold(3).split(range(77)), strict=True)
        assert all((test == expected).all() for (_, test), (_, expected) in pairs)
