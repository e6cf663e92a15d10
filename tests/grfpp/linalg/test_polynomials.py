"""Zeros of polynomials and their multiplicities."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from series_helpers import power

from grfpp.linalg.polynomials import nearest_branch_point, smallest_zero, square_free_factors
from grfpp.series import product


def expand(*factors):
    result = [Fraction(1)]
    for factor, multiplicity in factors:
        size = len(result) + (len(factor) - 1) * multiplicity
        exact = [Fraction(value) for value in factor]
        result = product(result, power(exact, multiplicity, size), size)
    return result


def test_multiplicities_are_told_apart():
    f = expand(([2, 1], 1), ([1, 0, 1], 2), ([3, -1], 5))
    found = dict(square_free_factors(f))
    assert found == {1: [2, 1], 2: [1, 0, 1], 5: [-3, 1]}


@given(st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_factors_multiply_to_the_polynomial(zeros):
    f = expand(*(([-zero, 1], 1) for zero in zeros))
    back = [Fraction(1)]
    for multiplicity, factor in square_free_factors(f):
        back = product(back, power(factor, multiplicity, 20), 20)
    # A square-free polynomial comes back as it is, others up to a constant.
    back = back[: len(f)]
    assert [value / back[-1] for value in back] == [value / f[-1] for value in f]


def test_constants_have_no_zeros():
    assert square_free_factors([Fraction(3), Fraction(0)]) == []
    assert smallest_zero([Fraction(3)]) == math.inf
    assert nearest_branch_point((Fraction(3),), 4) == math.inf


@pytest.mark.parametrize("degree", [1, 2, 3, 10, 41])
def test_smallest_zero_against_the_companion_matrix(degree):
    rng = np.random.default_rng(degree)
    f = rng.normal(size=degree + 1)
    expected = np.abs(np.roots(f[::-1])).min()
    assert smallest_zero([Fraction(value) for value in f]) == pytest.approx(expected, rel=1e-7)


def test_smallest_zero_of_a_multiple_zero():
    # The companion matrix gives 0.97 here.
    f = expand(([1, 1], 12), ([5, 1], 3))
    assert smallest_zero(f) == pytest.approx(1.0, rel=1e-7)


def test_only_branch_points_count():
    f = expand(([1, 1], 4), ([2, 1], 2), ([3, 1], 1))
    assert nearest_branch_point(tuple(f), 2) == pytest.approx(3, rel=1e-7)
    assert nearest_branch_point(tuple(f), 4) == pytest.approx(2, rel=1e-7)
    assert nearest_branch_point(tuple(f), 6) == pytest.approx(1, rel=1e-7)
    assert nearest_branch_point(tuple(expand(([1, 1], 4), ([2, 1], 8))), 4) == math.inf
