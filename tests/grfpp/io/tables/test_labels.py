import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp.errors import InputError
from grfpp.io.tables.labels import (
    in_order,
    number_labels,
    number_pieces,
    number_whole,
    whole_or_text,
)
from grfpp.io.tables.words import Words

NAMES = st.lists(st.sampled_from(["a", "b", "ab", "a" * 20, "a" * 19 + "b", "é", "1"]), min_size=1)


def number(names):
    texts = [name.encode() for name in names]
    lengths = np.array([len(text) for text in texts])
    buffer = b"".join(texts)
    return number_pieces(Words(buffer), buffer, np.cumsum(lengths) - lengths, lengths)


@QUICK
@given(NAMES)
def test_names_are_numbered_as_they_appear(names):
    numbers, labels = number(names)
    expected, known = number_labels(names)
    assert labels == known == list(dict.fromkeys(names))
    assert numbers.tolist() == expected.tolist()


def test_names_with_one_key_are_told_apart(monkeypatch):
    monkeypatch.setattr(Words, "keys", lambda self, starts, lengths: np.ones(len(starts), "u8"))
    numbers, labels = number(["a", "b", "a", "cd"])
    assert numbers.tolist() == [0, 1, 0, 2]
    assert labels == ["a", "b", "cd"]


@pytest.mark.parametrize("far", [0, 10**12])
def test_whole_numbers_are_sorted(far):
    numbers, n, labels = number_whole(np.array([[7 + far, 3], [5, 3]]), "it", None)
    assert (numbers.tolist(), n, labels) == ([[2, 0], [1, 0]], 3, [3, 5, 7 + far])
    assert number_whole(np.array([[1, 0]]), "it", None)[1:] == (2, None)
    assert number_whole(np.array([[1, 0]]), "it", 9)[1:] == (9, None)
    with pytest.raises(InputError, match="it names node 3, but 2 nodes are 0 to 1"):
        number_whole(np.array([[1, 3]]), "it", 2)


def test_text_that_spells_whole_numbers():
    places, labels = whole_or_text(["10", "-3", str(10**30)])
    assert (places.tolist(), labels) == ([1, 0, 2], [-3, 10, 10**30])
    assert whole_or_text(["10", "03"]) == (None, ["10", "03"])


@QUICK
@given(st.lists(st.permutations(range(9)), min_size=1, max_size=3))
def test_nodes_in_the_order_of_edges(edges):
    ends = np.array([edge[:2] for edge in edges])
    numbers, order = in_order(ends.T)
    assert order.tolist() == list(dict.fromkeys(ends.ravel().tolist()))
    np.testing.assert_array_equal(order[numbers], ends.T)
