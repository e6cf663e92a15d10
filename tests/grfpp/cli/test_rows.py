"""Rows by number and by label."""

import numpy as np
import pytest

import grfpp
from grfpp.cli.rows import find_rows, read_names, split_rows, summary


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0", ["0"]),
        ("0,5,9", ["0", "5", "9"]),
        (" 0 , 5 ", ["0", "5"]),
        ('"Smith, J.",Anna', ["Smith, J.", "Anna"]),
    ],
)
def test_split(text, names):
    assert split_rows(text) == names


@pytest.mark.parametrize("text", ["", ",", "0,", '"open', "0\n1"])
def test_split_refuses(text):
    with pytest.raises(grfpp.InputError, match="--rows"):
        split_rows(text)


def labelled(*labels):
    graph = grfpp.Graph(np.ones((len(labels), len(labels))))
    graph.node_ids = list(labels)
    return graph


def test_numbers_where_there_are_no_labels():
    assert find_rows(grfpp.Graph(np.ones((4, 4))), ["3", "0", "3"]) == [3, 0, 3]


def test_labels_come_before_numbers():
    assert find_rows(labelled(2, 1, 0), ["0", "2"]) == [2, 0]


def test_repeated_rows_stay_repeated():
    assert find_rows(labelled("a", "b"), ["b", "a", "b"]) == [1, 0, 1]


def test_unknown_and_ambiguous_labels():
    with pytest.raises(grfpp.InputError, match="no node is named 'c'; names are 'a', 'b'"):
        find_rows(labelled("a", "b"), ["a", "c"])
    with pytest.raises(grfpp.InputError, match="several are named '1'"):
        find_rows(labelled(1, "1"), ["1"])


def test_summary_shows_the_largest_first():
    values = np.array([0.1, -3.0, 2.0, 0.0, 0.3, 0.2, 0.4, 0.5])
    assert summary("abcdefgh", values).startswith("b: -3, c: 2, h: 0.5, g: 0.4")
    assert summary("abcdefgh", values).endswith("(8 in all)")
    assert summary("ab", values[:2]) == "b: -3, a: 0.1"


def test_names_from_a_file(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("é\n\n a b \r\né\n", encoding="utf-16")
    assert read_names(path, "--nodes-from") == ["é", "a b", "é"]
    path.write_text(" \n")
    with pytest.raises(
        grfpp.InputError, match=r"--nodes-from .*names\.txt: there is no name in it"
    ):
        read_names(path, "--nodes-from")
