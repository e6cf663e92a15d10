import numpy as np
import pytest
from datasets_helpers import refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from grfpp.datasets.text_tables import integers, natural_numbers, numbers


def pairs(text, most=10**9):
    return natural_numbers(text.encode(), "FILE", 2, most)


@pytest.mark.parametrize(
    "text",
    [
        "1, 20\n300, 4\n",
        "1,20\n300,4",
        "1, 20\r\n300, 4\r\n",
        "1 ,20\n  300,\t4\n\n\n",
        " 1, 20 \n300, 4  \n \n",
        "01, 20\n300, 04\n",
    ],
)
def test_ways_to_write_pairs(text):
    np.testing.assert_array_equal(pairs(text), [[1, 20], [300, 4]])


def test_nothing_is_no_line():
    assert pairs("").shape == (0, 2)
    assert pairs("\n \n").shape == (0, 2)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(1, 2**31 - 1), st.integers(1, 9)), min_size=1, max_size=30),
    st.sampled_from([",", ", ", " , "]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(0, 3),
)
def test_any_pairs(values, comma, end, n_blank):
    text = end.join(f"{a}{comma}{b}" for a, b in values) + n_blank * end
    np.testing.assert_array_equal(pairs(text, 2**31 - 1), values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1, 2\n3\n", "line 2: expected 2 whole numbers from 1 to 99, found '3'"),
        ("1, 2\n3, 4, 5\n", "line 2"),
        ("1, 2\n\n3, 4\n", "line 2: expected 2 whole numbers from 1 to 99, found ''"),
        ("1, 2\n1 2, 3\n", "line 2: expected 2 whole numbers from 1 to 99, found '1 2, 3'"),
        ("1, 2\n3, x\n", "line 2"),
        ("1, 2\n3, 1.5\n", "line 2"),
        ("1, 2\n-3, 4\n", "line 2"),
        ("1, 2\n3, 0\n", "line 2"),
        ("1, 2\n3, 100\n", "line 2"),
        ("1, 2\n3, 99999999999999999999999\n", "line 2"),
        ("1, 2\n3,\n4, 5\n", "line 2"),
        ("1, 2\n, 3", "line 2"),
        ("1 2\n", "line 1"),
        ("\x00\xff, 2\n", "line 1"),
    ],
)
def test_wrong_pairs(text, words):
    message = refusal(pairs, text, 99)
    assert message.startswith("FILE, ")
    assert words in message


def test_single_columns():
    found = natural_numbers(b"3\n1\n2\n", "FILE", 1, 3)
    np.testing.assert_array_equal(found, [[3], [1], [2]])


def test_integers():
    np.testing.assert_array_equal(integers(b"-1\n1\n \n", "FILE"), [-1, 1])
    np.testing.assert_array_equal(integers(b"-1, 4\n1,5\n", "FILE", 2), [[-1, 4], [1, 5]])


def test_numbers():
    np.testing.assert_array_equal(numbers(b" 1.5\n-2e1\n", "FILE"), [[1.5], [-20]])


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (integers, "", "FILE is empty"),
        (integers, "1\n2.5\n", "line 2: expected a whole number, found '2.5'"),
        (integers, "1\n\n2\n", "line 2: expected a whole number, found ''"),
        (integers, "1\n2, 3\n", "line 2: expected a whole number, found '2, 3'"),
        (integers, "1\n99999999999999999999\n", "line 2"),
        (integers, "1\n1_000\n", "FILE"),
        (numbers, "1, 2\n3\n", "line 2: expected 2 numbers, found '3'"),
        (numbers, "1, 2\n3, four\n", "line 2: expected 2 numbers, found '3, four'"),
        (numbers, "1\nnan\n", "line 2: numbers must be finite"),
        (numbers, "1\ninf\n", "line 2: numbers must be finite"),
    ],
)
def test_wrong_tables(read, text, words):
    assert words in refusal(read, text.encode(), "FILE")


def test_wrong_numbers_of_lines():
    assert "line 2: expected 3 lines, found 2; is the file truncated?" in refusal(
        integers, b"1\n2\n", "FILE", 3
    )
    assert "line 2: expected 1 lines, found 2" in refusal(integers, b"1\n2\n", "FILE", 1)
