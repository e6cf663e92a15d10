"""Bytes of text files as lines and tables, and errors that name the line."""

import numpy as np
import pytest

from grfpp.errors import InputError
from grfpp.io.text import Lines, decode, last_line, naming, number_table, shown


def test_decoding():
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\n", "FILE") == "a\nb\nc\n"
    with pytest.raises(InputError, match="FILE, line 2: not UTF-8 text"):
        decode(b"a\n\xff", "FILE")
    with pytest.raises(InputError, match="FILE, line 3: a zero byte"):
        decode(b"a\nb\n\0", "FILE")


def test_lines_are_counted_from_one_and_comments_left_out():
    text = "# nothing\n\na b # c\n  \nd\n\n"
    lines = Lines(text, "FILE")
    assert [(lines.number, words) for words in lines] == [(3, ["a", "b"]), (5, ["d"])]
    assert last_line(text) == 5
    assert last_line("") == 1


def test_what_is_wrong_is_told_of_the_line():
    lines = Lines("a\n\nb\n", "FILE", n_before=10)
    with pytest.raises(InputError, match=r"^FILE, line 13: no"), lines:
        assert [lines.following("one"), lines.following("two")] == [["a"], ["b"]]
        raise InputError("no")
    with pytest.raises(InputError, match="line 13: the file ends before three; is it tr"), lines:
        lines.following("three")
    with pytest.raises(KeyError), lines:
        raise KeyError("no error of ours")


def test_long_pieces_are_cut():
    assert shown("x" * 40) == repr("x" * 40)
    assert shown("x" * 41) == repr("x" * 39 + "…")


def test_errors_are_given_a_name_once():
    with pytest.raises(InputError, match=r"^FILE: too small$"), naming("FILE"):
        raise InputError("too small")
    with pytest.raises(KeyError), naming("FILE"):
        raise KeyError("no error of ours")


@pytest.mark.parametrize("kind", [str, str.encode])
def test_tables(kind):
    table = number_table(kind("1,2\n3,4\n"), np.int64, delimiter=",", ndmin=2)
    np.testing.assert_array_equal(table, [[1, 2], [3, 4]])
    for wrong in ("1,2\n3\n", "1,x\n", "1.5,2\n", "99999999999999999999,2\n"):
        assert number_table(kind(wrong), np.int64, delimiter=",", ndmin=2) is None
