import pytest

from grfpp.errors import InputError
from grfpp.io.edge_list.dialect import Dialect, Records


@pytest.mark.parametrize(
    ("line", "suffix", "separator"),
    [
        ("a b", ".txt", None),
        ("a\tb", ".txt", None),
        ("a\tb, c", ".tsv", "\t"),
        ("a,b;c", ".csv", ";"),
        ("a b # x, y", ".txt", None),
        ("Python,C #1,5", ".csv", ","),
    ],
)
def test_the_first_line_tells_the_separator(line, suffix, separator):
    assert Dialect.of(line, suffix, None) == Dialect(separator)
    assert Dialect.of(line, suffix, "|") == Dialect("|", given=True)
    assert Dialect.of(line, suffix, " ") == Dialect(None, given=True)


def test_records_know_their_lines():
    records = Records(["# c", "a,b", "", '"two', 'lines",d', " % c", "e,f"], 5, Dialect(","))
    found = [(records.number, fields) for fields in records]
    assert found == [(6, ["a", "b"]), (8, ["two\nlines", "d"]), (11, ["e", "f"])]


def test_quotes_that_are_never_closed():
    records = Records(["a,b", 'c,"d', "e,f"], 1, Dialect(","))
    with pytest.raises(InputError, match="never closed"):
        list(records)
    assert records.number == 2


def test_white_space():
    split = Dialect(None).split
    assert split(' a\t"b c"  "" d"e # f') == ["a", "b c", "", 'd"e']
    assert split("new\xa0york b") == ["new\xa0york", "b"]
    with pytest.raises(InputError, match="has a comma"):
        split("a, b")
    assert Dialect(None, given=True).split("a, b") == ["a,", "b"]
