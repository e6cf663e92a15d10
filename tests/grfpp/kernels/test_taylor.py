"""Kernels given by their coefficients, and zeros of polynomials with their multiplicities."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import repeat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import bessel, exponential
from refusal_case import refused
from series_helpers import power

from grfpp.errors import DivergentSeriesError, InputError
from grfpp.kernels import Diffusion, PStep, TaylorKernel
from grfpp.kernels.taylor import smallest_zero, square_free_factors
from grfpp.series import decimal_here, product


def expand(*factors):
    """The product of polynomials to powers."""
    result = [Fraction(1)]
    for factor, multiplicity in factors:
        size = len(result) + (len(factor) - 1) * multiplicity
        exact = [Fraction(value) for value in factor]
        result = product(result, power(exact, multiplicity, size), size)
    return result


THREE_ZEROS = expand(([1, 1], 4), ([2, 1], 2), ([3, 1], 1))


def test_families_are_the_same_by_their_coefficients():
    exp = TaylorKernel(exponential)
    np.testing.assert_array_equal(exp.modulation(4, 100), Diffusion().modulation(4, 100))
    step = TaylorKernel([4, 4, 1])
    np.testing.assert_array_equal(step.modulation(3, 300), PStep(2, 2.0).modulation(3, 300))


def test_negative_kernels_go_through_their_negative():
    kernel, mirror = TaylorKernel([-2, 1, 0.5]), TaylorKernel([2, -1, -0.5])
    assert (kernel.sign, mirror.sign) == (-1, 1)
    np.testing.assert_array_equal(kernel.modulation(2, 50), mirror.modulation(2, 50))
    assert (PStep(3, -2.0).sign, PStep(2, -2.0).sign) == (-1, 1)
    assert PStep(3, -2.0).modulation(1, 1)[0] == pytest.approx(math.sqrt(8))


@pytest.mark.parametrize("kernel", [TaylorKernel([0, 1]), TaylorKernel(lambda k: k, radius=1)])
def test_no_root_without_a_constant(kernel):
    for attempt in (kernel.modulation, kernel.modulation_decimal):
        with pytest.raises(InputError, match="alpha_0 = 0"):
            attempt(2, 5)
    with pytest.raises(InputError, match="alpha_0 = 0"):
        kernel.modulation_radius(2)
    assert kernel.coefficients(3)[1] == 1


@pytest.mark.parametrize(
    ("coefficients", "degree", "radius"),
    [
        ([1, 2, 1], 1, math.inf),
        ([1, 2, 1], 2, 1),
        ([-1, -2, -1], 1, math.inf),
        ([3], 4, math.inf),
        ([5, 11, 7, 1], 1, 5),
        ([5, 11, 7, 1], 2, 1),
        ([4, 0, 1], 3, 2),
        (THREE_ZEROS, 1, 3),
        (THREE_ZEROS, 2, 2),
        (THREE_ZEROS, 3, 1),
        (expand(([1, 1], 4), ([2, 1], 8)), 2, math.inf),
        (exponential, 3, math.inf),
        (lambda k: 0.25**k, 3, 4),
        (lambda k: Fraction((1, 1, -1, -1)[k % 4], math.factorial(k)), 2, math.pi / 4),
        (bessel, 2, 2.404825557695773 / 2),
    ],
)
def test_radius_of_taylor_modulations(coefficients, degree, radius):
    found = TaylorKernel(coefficients).modulation_radius(degree)
    assert found == pytest.approx(radius, rel=1e-2 if callable(coefficients) else 1e-6)


@given(st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_square_free_factors_multiply_to_the_polynomial(zeros):
    f = expand(*(([-zero, 1], 1) for zero in zeros))
    factors = square_free_factors(f)
    for multiplicity, factor in factors:
        is_zero = [not sum(c * zero**k for k, c in enumerate(factor)) for zero in zeros]
        assert sum(is_zero) == multiplicity * (len(factor) - 1)
    back = expand(*((factor, multiplicity) for multiplicity, factor in factors))
    assert [value / back[-1] for value in back] == f


@pytest.mark.parametrize("degree", [1, 2, 3, 10, 41])
def test_smallest_zero_against_the_companion_matrix(degree):
    f = np.random.default_rng(degree).normal(size=degree + 1)
    expected = np.abs(np.roots(f[::-1])).min()
    assert smallest_zero([Fraction(value) for value in f]) == pytest.approx(expected, rel=1e-7)
    # The companion matrix gives 0.97 here.
    assert smallest_zero(expand(([1, 1], 12), ([5, 1], 3))) == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize("by_function", [False, True])
@pytest.mark.parametrize("gap", [40, 70, 150])
def test_series_go_on_after_many_zeros(gap, by_function):
    listed = [1.0] + [0.0] * (gap - 1) + [0.5]
    kernel = TaylorKernel(
        (lambda k: listed[k] if k <= gap else 0.0) if by_function else listed,
        radius=math.inf if by_function else None,
    )
    assert kernel.value(1.0) == 1.5
    directed = np.diag([1.0, 1.0], 1)
    directed[2, 0] = 1.0  # a cycle of three
    for weights in (np.array([[0.0, 1.0], [1.0, 0.0]]), directed):
        wanted = np.eye(len(weights)) + 0.5 * np.linalg.matrix_power(weights, gap)
        np.testing.assert_allclose(kernel.exact(weights), wanted, atol=1e-12)
        vector = np.arange(1.0, len(weights) + 1)
        np.testing.assert_allclose(kernel.apply(weights, vector), wanted @ vector, rtol=1e-9)


def test_coefficients_may_come_in_any_numbers():
    given_ = [np.float32(0.5), np.int64(2), Fraction(1, 3), Decimal("0.1"), 0]
    kernel = TaylorKernel(given_)
    np.testing.assert_array_equal(kernel.coefficients(6), [0.5, 2, 1 / 3, 0.1, 0, 0])
    with decimal.localcontext(prec=40):
        assert kernel.coefficients_decimal(3, 30)[2] == pytest.approx(decimal_here(Fraction(1, 3)))
    assert TaylorKernel(np.array([1.0, 0.5])) == TaylorKernel([1, Fraction(1, 2), 0])


NO_COEFFICIENTS = [
    *([], [0, 0.0], [1, math.nan], [1, Decimal("inf")], [1, 2j], [1, "2"], [True], np.ones((2, 2))),
    *("12", 7, repeat(1.0)),  # the last has no end
]


test_bad_parameters_are_named = refused(
    coefficients=[partial(TaylorKernel, values) for values in NO_COEFFICIENTS],
    radius=[partial(TaylorKernel, exponential, radius=each) for each in (-1, math.nan)]
    + [partial(TaylorKernel, [1], radius=2)],
    name=partial(TaylorKernel, exponential, name=3),
)


def test_functions_that_fail_are_told_where():
    with pytest.raises(InputError, match="failed at k=0: division by zero"):
        TaylorKernel(lambda k: 1 / k)
    with pytest.raises(InputError, match="failed at k=3"):
        TaylorKernel(lambda k: 1 / (3 - k)).coefficients(9)
    with pytest.raises(DivergentSeriesError, match="below 2, found 2"):
        TaylorKernel(lambda k: 0.5**k, radius=2).value([0.0, -2.0])


def test_kernels_do_not_change_and_are_written_as_they_are_made():
    with pytest.raises(AttributeError):
        TaylorKernel([1, 2]).name = "other"
    assert repr(TaylorKernel(range(1, 30))) == "TaylorKernel([1, 2, 3, 4, 5, 6, 7, ..., 29])"
    assert repr(TaylorKernel(exponential, radius=3)) == "TaylorKernel(exponential, radius=3)"
    assert repr(TaylorKernel([1], name="one")) == "TaylorKernel([1], name='one')"
