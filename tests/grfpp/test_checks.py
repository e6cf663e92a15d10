"""Checks name the argument, in a field and in the message."""

import numpy as np
import pytest

from grfpp import _checks as arguments
from grfpp.errors import InputError

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("check", "values", "told"),
    [
        (arguments.finite, [NAN, INF, "1", None, True], "must be a finite number, found"),
        (arguments.positive, [0, -1, NAN, INF, b"1", 10**400], "must be a positive, finite number"),
        (arguments.probability, [-0.1, 1.1, NAN, "0.5"], "must be a number in [0, 1], found"),
        (lambda x, n: arguments.whole(x, n, 2), [1, 2.0, "2", True], "must be a whole number >= 2"),
        (lambda x, n: arguments.one_of(x, n, ("a", None)), ["b", 0], "must be 'a' or None, not"),
        (lambda x, n: arguments.node_numbers(x, 3, n), [[0.5], ["a"], [[0]]], "must be whole"),
        (lambda x, n: arguments.node_numbers(x, 3, n), [-1, 3, [0, 3]], "must lie between 0 and 2"),
    ],
)
def test_refused(check, values, told):
    for value in values:
        with pytest.raises(InputError) as caught:
            check(value, "size")
        assert caught.value.argument == "size"
        assert caught.value.problem.startswith(told)
        assert str(caught.value) == f"size {caught.value.problem}"


def test_what_is_almost_a_number_is_none_and_what_has_no_text_is_told_in_words():
    """Some would become one, with a warning or in silence."""
    for value in (np.array([2.0]), np.complex128(1), np.timedelta64(3, "s"), np.ma.masked, 1j):
        with pytest.raises(InputError, match="must be a finite number, found"):
            arguments.finite(value, "size")
    for check in (arguments.finite, arguments.truth, lambda x, n: arguments.one_of(x, n, "ab")):
        with pytest.raises(InputError, match=r"size must be .*<int>"):
            check(10**5000, "size")
    with pytest.raises(InputError, match=r"must be below 2\^128, found <int>"):
        arguments.whole(10**5000, "size", 0)
    with pytest.raises(InputError, match="must be at most 5, found 6"):
        arguments.whole(6, "size", 0, 5)


def test_lists():
    assert arguments.listed(range(2), "sizes") == [0, 1]
    for value in (1, "12", None, np.array(2)):
        with pytest.raises(InputError, match="sizes must be a list, found"):
            arguments.listed(value, "sizes")
    with pytest.raises(InputError, match="lists of different lengths"):
        arguments.array_of([[1], [1, 2]], "sizes")


def test_accepted():
    assert arguments.finite(np.float32(-2), "x") == -2
    assert arguments.positive(1e-300, "x") == 1e-300
    assert [arguments.probability(p, "x") for p in (0, 0.5, 1)] == [0, 0.5, 1]
    assert arguments.whole(np.int8(2), "x", 2) == 2
    assert arguments.one_of(None, "x", ("a", None)) is None
    np.testing.assert_array_equal(arguments.node_numbers(2, 3), [2])
    assert arguments.node_numbers([], 3).dtype == np.int64


@pytest.mark.parametrize("interval", ["(0, 1]", "[0, 1)", "(0, 1)"])
def test_open_intervals(interval):
    open_ends = {"above_zero": interval[0] == "(", "below_one": interval[-1] == ")"}
    for value, is_open in zip((0, 1), open_ends.values(), strict=True):
        if is_open:
            with pytest.raises(InputError) as caught:
                arguments.probability(value, "p", **open_ends)
            assert f"must be a number in {interval}, found {value}" in str(caught.value)
        else:
            assert arguments.probability(value, "p", **open_ends) == value
