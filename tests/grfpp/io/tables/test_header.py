import pytest

from grfpp.errors import InputError
from grfpp.io.tables.header import columns_of, is_header


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
        (["u", "v", "5x"], None),
        (["u", "v", "w", "x"], True),
        (["u", "v", "w", "2020"], None),
    ],
)
def test_names_edges_and_neither(fields, answer):
    assert is_header(fields, table=True) is answer


def test_a_word_in_place_of_the_weight_tells_in_tables():
    assert is_header(["u", "v", "w"], table=True) is True
    assert is_header(["u", "v", "w"], table=False) is None


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["a", "b"], (0, 1)),
        (["a", "b", "c"], (0, 1, 2)),
        (["to", "from"], (1, 0)),
        (["id", "SRC ", "dst", "Weight", "note"], (1, 2, 3)),
    ],
)
def test_plain_columns(names, places):
    assert columns_of(names) == places


def test_columns_that_are_asked_for():
    names = ["A", "a", "b", "b"]
    assert columns_of(names, ["a", "A"]) == (1, 0)
    assert columns_of(names, [3, 0]) == (3, 0)
    for asked, words in [
        (["b", "a"], "2 columns are called 'b'"),
        (["c", "a"], "there is no column 'c'; there are 'A', 'a', 'b', 'b'"),
        ([4, 0], "there is no column 4: there are 4"),
    ]:
        with pytest.raises(InputError, match=words):
            columns_of(names, asked)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a", "b", "c", "d"], r"choose two or three; pass columns=\('a', 'b', 'c'\) or the like"),
        (["from", "to", "amount", "fee"], "which of the columns is the weight"),
        (["x", "y", "year"], "which of the columns is the weight"),
        (["x"], "two columns at least"),
    ],
)
def test_columns_that_are_not_plain(names, words):
    with pytest.raises(InputError, match=words):
        columns_of(names)
