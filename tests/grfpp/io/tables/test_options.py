import pytest

from grfpp.errors import InputError
from grfpp.io.tables.options import EdgeListOptions


def test_nothing_is_asked_for_unless_it_is():
    assert EdgeListOptions().given == {}
    options = EdgeListOptions.of(columns=["a", 3], header=1, separator="::", encoding="latin-1")
    assert options.given == {
        "columns": ("a", 3), "separator": "::", "encoding": "latin-1", "header": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"duplicates": "mean"}, "duplicates must be 'sum', 'max', 'first' or 'error'"),
        ({"columns": "ab"}, "columns must be two or three"),
        ({"columns": ["a"]}, "two or three"),
        ({"columns": ["a", "a"]}, "different columns"),
        ({"columns": ["a", -1]}, "whole number >= 0"),
        ({"columns": 5}, "two or three"),
        ({"columns": ["a", "b"], "header": False}, "must be numbers from 0 where header=False"),
        *(
            ({"separator": each}, "separator must be")
            for each in ("", "x", '"', "\n", ".", "  ", 5)
        ),
        *(({"encoding": each}, "encoding must be") for each in ("klingon", "hex", 5)),
        ({"header": "yes"}, "header must be True or False"),
    ],
)
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        EdgeListOptions.of(**options)


def test_what_means_nothing_is_refused():
    EdgeListOptions(duplicates="max").require_only(["duplicates"], "a frame")
    with pytest.raises(InputError, match="header is for text edge lists, not for a frame"):
        EdgeListOptions(header=True).require_only(["duplicates"], "a frame")
