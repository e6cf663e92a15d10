import pytest

from grfpp.errors import InputError
from grfpp.io.edge_list.dialect import Dialect
from grfpp.io.edge_list.layout import Layout

COMMAS = Dialect(",")


def test_a_list_without_names_has_two_or_three_fields():
    assert Layout.of_first(COMMAS, ["a", "b"], None).edge(["a", "b"]) == ("a", "b", "1")
    layout = Layout.of_first(COMMAS, ["a", "b", "1"], None)
    assert layout.edge(["a", "b", "2"]) == ("a", "b", "2")
    for fields, words in [
        (["a"], "expected 2 or 3 fields .* separated by commas, found 1 in 'a'; pass separator="),
        (["a", "b", "1", "x"], "found 4 .*; pass columns="),
        (["a", "", "1"], "an empty field"),
        (["a", "b", "NA"], "the weight is missing"),
        (["a", "b", "-1"], "not negative"),
    ]:
        with pytest.raises(InputError, match=words):
            layout.edge(fields)


@pytest.mark.parametrize(("first", "other"), [("a b 1", "b c"), ("a b", "b c 2")])
def test_all_lines_have_a_weight_or_none_has(first, other):
    layout = Layout.of_first(COMMAS, first.split(), None)
    n, m = len(first.split()), len(other.split())
    advice = r"Pass columns=\(0, 1\)\.$" if m == 2 else "take the first line out if it is no edge$"
    words = rf"expected {n} fields, as in the first line.* found {m} in .*{advice}"
    with pytest.raises(InputError, match=words):
        layout.edge(other.split())


def test_a_table_has_all_its_columns():
    layout = Layout.of_header(COMMAS, ["id", "to", "from", "note"], ["from", "to"])
    assert layout.edge(["7", "b", "a", ""]) == ("a", "b", "1")
    with pytest.raises(InputError, match="expected 4 fields separated by commas, found 3"):
        layout.edge(["7", "b", "a"])


def test_columns_by_number_leave_the_end_of_a_line_open():
    layout = Layout.of_first(Dialect(None), ["x", "a", "b"], [1, 2])
    assert layout.edge(["x", "a", "b", "and", "more"]) == ("a", "b", "1")
    with pytest.raises(InputError, match="expected 3 fields at least separated by white space"):
        layout.edge(["x", "a"])
