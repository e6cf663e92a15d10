import numpy as np
import pytest

from grfpp.arguments import node_numbers, one_of
from grfpp.errors import InputError


def test_one_of():
    assert one_of("a", "letter", ("a", "b")) == "a"
    assert one_of(None, "letter", ("a", None)) is None
    for bad in ("c", 0, False, ["a"], None):
        with pytest.raises(InputError, match="letter must be 'a', 'b' or 'd', not"):
            one_of(bad, "letter", ("a", "b", "d"))


@pytest.mark.parametrize("nodes", [3, [3], (3,), np.array([3], np.uint8), range(3, 4)])
def test_node_numbers(nodes):
    found = node_numbers(nodes, 4)
    assert found.tolist() == [3] and found.dtype == np.int64
    assert node_numbers([], 4).tolist() == []


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([4], "rows must lie between 0 and 3, found 4 to 4"),
        ([-1, 2], "rows must lie between 0 and 3, found -1 to 2"),
        ([2**70], "rows must be whole numbers in a list"),
        ([1.0], "rows must be whole numbers in a list"),
        ([True], "rows must be whole numbers in a list"),
        ([[1]], "rows must be whole numbers in a list"),
        ("a", "rows must be whole numbers in a list"),
        (None, "rows must be whole numbers in a list"),
    ],
)
def test_what_are_no_node_numbers(nodes, words):
    with pytest.raises(InputError, match=words):
        node_numbers(nodes, 4, "rows")
