import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from grfpp.tasks.graphs.signatures import count_levels, histograms, signature_words


def test_words_are_equal_where_labels_and_bins_are():
    numbers = np.array([0, 0, 0, 1])
    one = np.array([[0.5, 0.1], [0.5 + 1e-12, 0.1], [0.5, 0.2], [0.5, 0.1]])
    two = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    words = signature_words(numbers, [one, two], 1e-3)
    assert words.shape == (3, 4)
    for k, n_different in enumerate([2, 3, 3]):
        assert len(np.unique(words[k])) == n_different
    assert (words[:, 0] == words[:, 1]).all()
    assert len(np.unique(words)) == 8


def test_masses_at_other_labels_are_not_confused():
    zeros = np.zeros(3, int)
    words = signature_words(zeros, [np.array([[0.2, 0.4], [0.4, 0.2], [-0.2, 0.4]])], 0.1)
    assert len(np.unique(words[1])) == 3
    # A label that no walk leads to changes nothing.
    wider = signature_words(zeros, [np.array([[0.2, 0.4, 0], [0.4, 0.2, 0], [-0.2, 0.4, 0]])], 0.1)
    np.testing.assert_array_equal(words, wider)


def test_huge_masses_have_bins_too():
    words = signature_words(np.zeros(2, int), [np.array([[1e300], [-1e300]])], 1e-9)
    assert words[1, 0] != words[1, 1]


def test_histograms_leave_unknown_words_out():
    words = [np.array([5, 7, 5, 9], np.uint64), np.array([1, 1, 1, 1], np.uint64)]
    known = [np.array([5, 9], np.uint64), np.array([], np.uint64)]
    found = histograms(words, known, np.array([0, 3, 4]))
    assert found.toarray().tolist() == [[2, 0], [0, 1]]


@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=6))
def test_inner_products_of_levels_are_intersections(counts):
    counts = np.array(counts)
    levels = count_levels(sp.csr_array(counts))
    wanted = np.minimum(counts[:, np.newaxis], counts).sum(axis=2)
    np.testing.assert_array_equal((levels @ levels.T).toarray(), wanted)


@pytest.mark.parametrize("shape", [(2, 0), (2, 3)])
def test_levels_of_nothing(shape):
    assert count_levels(sp.csr_array(shape)).shape == (2, 0)
