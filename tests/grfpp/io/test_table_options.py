"""Options of edge lists, and the columns and headers of tables."""

import pytest

from grfpp.errors import InputError
from grfpp.io.table_options import INTEGER, EdgeListOptions, columns_of, is_header, is_number


def test_only_what_is_given_is_kept():
    assert EdgeListOptions().given == {}
    options = EdgeListOptions(columns=["a", 3], header=1, separator="::", encoding="latin-1")
    assert options.given == {
        "columns": ("a", 3), "separator": "::", "encoding": "latin-1", "header": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("duplicates", ["mean"]),
        ("columns", ["ab", ["a"], ["a", "a"], 5]),
        ("separator", ["", "x", '"', "\n", ".", "  ", 5]),
        ("encoding", ["klingon", "hex", 5]),
        ("header", ["yes"]),
    ],
)
def test_bad_values_are_refused(argument, values):
    for value in values:
        with pytest.raises(InputError) as caught:
            EdgeListOptions(**{argument: value})
        assert argument in str(caught.value)
    with pytest.raises(InputError) as caught:
        EdgeListOptions(columns=["a", "b"], header=False)
    assert caught.value.argument == "columns"


def test_numbers_and_names():
    assert all(map(INTEGER.fullmatch, ("0", "7", "-12", "1" * 300)))
    assert not any(map(INTEGER.fullmatch, ("", "007", "+7", "-0", "-", "1.0", "1e3", " 1", "٣")))
    assert all(map(is_number, ("1", "-1.5e-3", ".5", "inf", "nan")))
    assert not any(map(is_number, ("", "x", "1_000", "٣", "0x10", "1,5")))


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        (["Source", "Target"], True),
        (["FromNodeId", "ToNodeId", "Sign"], True),
        (["weight", "to", "from"], True),
        (["u", "1"], False),
        (["u", "v", "1.5"], False),
        (["u", "v", "NA"], False),
        (["u", "v", ""], False),
        (["u", "v"], None),
        (["u", "v", "5x"], False),
        (["u", "v", "w"], True),
        (["u", "v", "w", "x"], True),
        (["u", "v", "w", "2020"], False),
    ],
)
def test_headers(fields, answer):
    assert is_header(fields) is answer


@pytest.mark.parametrize(
    ("names", "asked", "positions"),
    [
        (["a", "b"], None, (0, 1)),
        (["a", "b", "c"], None, (0, 1, 2)),
        (["to", "from"], None, (1, 0)),
        (["id", "SRC ", "dst", "Weight", "note"], None, (1, 2, 3)),
        (["A", "a", "b", "b"], ["a", "A"], (1, 0)),
        (["A", "a", "b", "b"], [3, 0], (3, 0)),
    ],
)
def test_columns(names, asked, positions):
    assert columns_of(names, asked) == positions


@pytest.mark.parametrize(
    ("names", "asked", "words"),
    [
        (["A", "a", "b", "b"], ["b", "a"], "2 columns are called 'b'"),
        (["A", "a"], ["c", "a"], "there is no column 'c'"),
        (["A", "a"], [4, 0], "there is no column 4"),
        (["a", "b", "c", "d"], None, "called source and target"),
        (["from", "to", "amount", "fee"], None, "which column is the weight"),
        (["x", "y", "year"], None, "which column is the weight"),
        (["x"], None, "at least two columns"),
    ],
)
def test_columns_in_doubt_are_refused(names, asked, words):
    with pytest.raises(InputError, match=words):
        columns_of(names, asked)
