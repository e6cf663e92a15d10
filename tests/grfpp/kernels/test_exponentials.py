"""Diffusion, squared diffusion and cosine."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grfpp.errors import InputError
from grfpp.kernels import Cosine, Diffusion, SquaredDiffusion, TaylorKernel

N = 200


DEGREES = [1, 2, 3, 4, 8]


@pytest.mark.parametrize("degree", DEGREES)
@given(lam=st.floats(-50, 50).filter(lambda x: abs(x) > 1e-3))
@settings(max_examples=15, deadline=None)
def test_diffusion_in_closed_form(degree, lam):
    f = Diffusion(lam).modulation(degree, 60)
    expected = [
        float(Fraction(lam) ** k / (2 * degree) ** k / math.factorial(k)) for k in range(60)
    ]
    np.testing.assert_array_max_ulp(f, np.array(expected), maxulp=1)


def test_cosine_is_the_same_by_its_coefficients():
    def coefficient(k):
        return Fraction((1, 1, -1, -1)[k % 4], math.factorial(k))

    by_hand = TaylorKernel(coefficient)
    np.testing.assert_array_equal(Cosine().modulation(3, N), by_hand.modulation(3, N))
    np.testing.assert_array_equal(Cosine().coefficients(N), by_hand.coefficients(N))
    scaled = Cosine(0.25).modulation(3, N)
    np.testing.assert_array_equal(scaled, Cosine().modulation(3, N, scale=0.25))


def test_squared_diffusion_is_the_kernel_of_the_paper():
    quarter = [0 if k % 2 else 0.25 ** (k // 2) / math.factorial(k // 2) for k in range(30)]
    np.testing.assert_allclose(SquaredDiffusion().modulation(2, 30), quarter, rtol=1e-15)


def test_radii():
    assert Diffusion().radius == Cosine().radius == math.inf
    assert Diffusion(-4).modulation_radius(3) == SquaredDiffusion().modulation_radius(1) == math.inf
    assert Cosine(2.0).modulation_radius(5) == pytest.approx(math.pi / 8)
    assert Cosine(0).modulation_radius(5) == math.inf


def test_values_beyond_float64_are_inf_and_quiet():
    assert Diffusion(1000).value(1.0) == math.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Diffusion(math.nan), "lam must be a finite number, found nan"),
        (lambda: Diffusion(math.inf), "lam"),
        (lambda: Diffusion("1"), "lam"),
        (lambda: Diffusion(None), "lam must be a finite number, found None"),
        (lambda: Diffusion(1j), "lam"),
        (lambda: Diffusion(True), "lam"),
        (lambda: SquaredDiffusion(math.nan), "lam"),
        (lambda: Cosine(-math.inf), "lam"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)
