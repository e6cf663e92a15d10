"""Nodes by place and by name: one rule, and errors that help."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grfpp.errors import InputError
from grfpp.nodes import NodeIndexError, NodeNames

NAMES = NodeNames(4, ["Anna", "Ben", "2", "ç"])
YEARS = NodeNames(3, [2, 1999, 0])
TUPLES = NodeNames(3, [(0, 1), (1, 1), "x"])


@pytest.mark.parametrize(
    ("nodes", "places"),
    [
        ("Ben", [1]),
        (2, [2]),
        (["Ben", "Anna", "Ben"], [1, 0, 1]),
        (["Ben", 0], [1, 0]),
        ([0, "2", np.int64(3)], [0, 2, 3]),
        (np.array(["ç", "2"]), [3, 2]),
        (np.array(["ç", 1], dtype=object), [3, 1]),
        ([True, False, False, True], [0, 3]),
        (np.zeros(4, bool), []),
        (slice(1, None, 2), [1, 3]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (range(2), [0, 1]),
    ],
)
def test_places_of(nodes, places):
    found = NAMES.numbers(nodes)
    assert found.dtype == np.int64 and found.tolist() == places


def test_whole_numbers_are_places_whatever_the_names():
    assert YEARS.numbers([2, 0]).tolist() == [2, 0]
    assert YEARS.index([2, 0]).tolist() == [0, 2]
    assert YEARS.index(1999) == 1 and YEARS.index(np.int32(1999)) == 1
    assert YEARS.numbers("1999").tolist() == [1]  # text is a name, here the text of one


def test_names_of_any_kind():
    assert TUPLES.numbers([(1, 1), "x", 0]).tolist() == [1, 2, 0]
    assert TUPLES.numbers([(1, 1), (0, 1)]).tolist() == [1, 0]
    assert TUPLES.index((1, 1)) == 1
    assert TUPLES.index([(1, 1), "x"]).tolist() == [1, 2]
    assert TUPLES.index(((1, 1), "x")).tolist() == [1, 2]  # no such name: a list of two
    kept = NodeNames(3, TUPLES.to_array().tolist())  # as files keep them
    assert kept.index((1, 1)) == 1


def test_nodes_without_names():
    plain = NodeNames(3)
    assert plain.index([2, 0]).tolist() == [2, 0] and plain.index(1) == 1
    assert plain.to_array() is None
    with pytest.raises(InputError, match="rows must be whole numbers in a list"):
        plain.numbers(["a"], "rows")
    for wrong in (3, -1):
        with pytest.raises(InputError, match="names must lie between 0 and 2"):
            plain.index(wrong)


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ("Bean", "nodes must exist, but no node is named 'Bean'; the closest is 'Ben'"),
        ("Zacharias", "no node is named 'Zacharias'; names are 'Anna', 'Ben', '2', …"),
        (b"Ben", "no node is named b'Ben'"),
        (4, "must lie between 0 and 3, found 4 to 4"),
        (["Ben", -1], "must lie between 0 and 3, found -1"),
        ([0.5], r"must be whole numbers in a list, or names, found 0.5; .* index\(names\)"),
        (["Ben", True], "must be whole numbers in a list, or names, found True"),
        ([[0, 1]], "must be whole numbers in a list"),
        ([[0], [1, 2]], "no node is named"),
        ([True, False], "one truth value for each of 4 nodes, found truth values of shape"),
        (slice("Anna", "Ben"), "slices have whole numbers for ends"),
        (slice(None, None, 0), "must not be 0"),
    ],
)
def test_what_is_no_node(nodes, told):
    with pytest.raises(InputError, match=told):
        NAMES.numbers(nodes)


def test_numbers_that_are_no_names_of_nodes():
    texts, numbers = NodeNames(2, ["1000", "20"]), NodeNames(2, [1000, 20])
    with pytest.raises(InputError, match=r"names are text, and the closest is '1000'"):
        texts.index(1000.0)
    with pytest.raises(InputError, match=r"no node is named 1001; the closest is '1000'"):
        numbers.index(1001)


def test_numbers_out_of_range_that_may_be_names():
    for ids, is_told in (([10, 20, 30], True), (np.array([10, 20, 30]), True), ([*"abc"], False)):
        for nodes in (10, [10, 20], np.array([10])):
            with pytest.raises(NodeIndexError, match="nodes must lie between 0 and 2") as error:
                NodeNames(3, ids).numbers(nodes)
            assert ("graph.index(names)" in str(error.value.advice)) == is_told


def test_names_that_several_nodes_have():
    names = NodeNames(4, ["a", "b", "a", "c"])
    assert names.numbers(["c", "b", 2]).tolist() == [3, 1, 2]
    with pytest.raises(InputError, match="several nodes are named 'a'"):
        names.numbers(["b", "a"])
    # Names that cannot be.
    with pytest.raises(InputError, match="found 2 names for 3 nodes"):
        NodeNames(3, ["a", "b"])
    with pytest.raises(InputError, match="names of nodes must be hashable"):
        NodeNames(1, [["a"]]).numbers("a")


def test_very_many_names_and_pickles_without_their_dictionary():
    ids = [f"node {i}" for i in range(300_000)]
    names = NodeNames(len(ids), ids)
    before = len(pickle.dumps(names))
    assert names.numbers(ids[::-1])[0] == len(ids) - 1
    assert len(pickle.dumps(names)) == before
    assert pickle.loads(pickle.dumps(names)).index("node 999") == 999
    with pytest.raises(InputError, match="the closest are 'node "):
        names.numbers(["node 12x"])


ANY_NAME = st.text() | st.tuples(st.integers(), st.text())


@given(st.lists(ANY_NAME, unique=True, min_size=1, max_size=8))
def test_every_name_is_found(ids):
    names = NodeNames(len(ids), ids)
    assert names.index(ids).tolist() == list(range(len(ids)))
    assert names.numbers(ids).tolist() == list(range(len(ids)))
    assert [names.index(name) for name in ids] == list(range(len(ids)))


def test_few_bits_and_names_count_from_the_end_too():
    names = NodeNames(200, [f"n{i}" for i in range(200)])
    assert names.indices_like(np.array([-1, 3], np.int8), from_end=True).tolist() == [199, 3]
    assert names.indices_like(["n3", -1], from_end=True).tolist() == [3, 199]
    with pytest.raises(InputError, match="between 0 and 199"):
        names.indices_like(["n3", -201], from_end=True)
