"""Comparisons on rows made by hand."""

import pytest

from grfpp_lab.experiments.verdicts import compare, plus_minus, worst
from grfpp_lab.harness.experiment import Holds


def test_pairs_need_both_sides():
    rows = [
        {"graph": "a", "n_walks": 2, "degree": 1, "error": 1.0, "standard_error": 0.0},
        {"graph": "b", "n_walks": 2, "degree": 2, "error": 0.5, "standard_error": 0.0},
    ]
    found = compare(rows, "two below one", {"degree": 2}, {"degree": 1})
    assert (found.pairs, found.holds) == ([], Holds.OPEN)
    assert found.words() == "two below one: nothing to compare"


def test_the_worst_answer_counts():
    assert worst([]) is worst([Holds.OPEN]) is Holds.OPEN
    assert worst([Holds.YES, Holds.OPEN]) is Holds.YES
    assert worst([Holds.YES, Holds.NOISE]) is Holds.NOISE
    assert worst([Holds.NOISE, Holds.NO, Holds.YES]) is Holds.NO


@pytest.mark.parametrize(
    ("error", "spread", "text"),
    [
        (0.1499, 0.0042, "0.150 ± 0.004"),
        (2.0913, 0.0091, "2.091 ± 0.009"),
        (12.3, 1.4, "12 ± 1"),
        (0.3, 0.0, "0.3"),
        (0.12345678, 1e-9, "0.123457 ± 0.000000"),
    ],
)
def test_digits(error, spread, text):
    assert plus_minus({"error": error, "standard_error": spread}) == text
