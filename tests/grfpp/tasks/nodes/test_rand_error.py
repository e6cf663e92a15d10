"""The share of wrong pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import rand_score
from small_graphs import QUICK

import grfpp
from grfpp import tasks
from grfpp.tasks.nodes import clustering
from grfpp.tasks.nodes.rand_error import rand_error


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=2, max_size=12))
@QUICK
def test_rand_error_counts_pairs(nodes):
    labels, truth = zip(*nodes, strict=True)
    wrong = sum((a == b) != (c == d) for (a, c), (b, d) in combinations(nodes, 2))
    n = len(nodes)
    assert rand_error(labels, truth) == pytest.approx(wrong / (n * (n - 1) / 2))
    assert rand_error(truth, labels) == rand_error(labels, truth)
    assert rand_error(labels, truth) == pytest.approx(1 - rand_score(truth, labels))


def test_rand_error_of_the_paper():
    """Five of 34 nodes in the wrong one of two halves is its 0.2585 on the karate club."""
    truth = [0] * 17 + [1] * 17
    labels = [1] * 5 + [0] * 12 + [1] * 17
    assert rand_error(labels, truth) == 145 / 561
    assert round(rand_error(labels, truth), 4) == 0.2585


def test_rand_error_of_many_nodes():
    n = 200_000  # whose pairs exceed 32 bits
    assert rand_error(np.arange(n) % 2, np.arange(n) % 4) == pytest.approx(0.25, abs=1e-5)


@pytest.mark.parametrize(
    ("labels", "truth", "told"),
    [
        ([0, 1], [0, 1, 1], "found 2 and 3"),
        ([0], [0], "no pairs among 1 nodes"),
        ([], [], "no pairs among 0 nodes"),
        ([[0, 1]], [0, 1], "one entry a node"),
        ([0, np.nan], [0, 1], "NaN"),
    ],
)
def test_rand_error_refuses(labels, truth, told):
    with pytest.raises(grfpp.InputError, match=told):
        rand_error(labels, truth)


def test_it_is_called_pair_error_outside():
    assert tasks.pair_error is clustering.pair_error is rand_error


def test_labels_of_any_kind():
    truth = np.array([None, "a", None, 3], dtype=object)
    assert rand_error(["x", "y", "x", "z"], truth) == 0
    assert rand_error([0.5, 1.5, 0.5, 2.5], truth) == 0
