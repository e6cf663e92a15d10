"""Inverse powers, the regularised Laplacian, p-step walks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import binom

from grfpp import Graph, sample
from grfpp.errors import InputError
from grfpp.kernels import Diffusion, InversePower, PStep, RegularizedLaplacian
from grfpp.walks.truncation import representable

DEGREES = [1, 2, 3, 4, 8]


@pytest.mark.parametrize("degree", DEGREES)
@given(exponent=st.floats(0.1, 8), sigma2=st.floats(0.01, 50))
@settings(max_examples=15, deadline=None)
def test_inverse_powers_in_closed_form(degree, exponent, sigma2):
    k, root = np.arange(100), exponent / (2 * degree)
    f = InversePower(exponent).modulation(degree, 100)
    np.testing.assert_allclose(f, binom(root + k - 1, k), rtol=1e-10)
    squared = InversePower(exponent, of=2).modulation(degree, 199)
    np.testing.assert_array_equal(squared[::2], f)
    assert not squared[1::2].any()
    kernel = RegularizedLaplacian(exponent, sigma2)
    expected = binom(root + k - 1, k) * (sigma2 / (1 + sigma2)) ** k
    np.testing.assert_allclose(kernel.modulation(degree, 100), expected, rtol=1e-10)


@given(p=st.integers(1, 12), a=st.floats(0.2, 9), degree=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_p_step_in_closed_form(p, a, degree):
    k, root = np.arange(40), p / (2 * degree)
    expected = a ** (root - k) * binom(root, k)
    np.testing.assert_allclose(PStep(p, a).modulation(degree, 40), expected, rtol=1e-9, atol=0)
    assert np.count_nonzero(PStep(p, a).coefficients(40)) == p + 1


def test_radius_of_p_step_modulations():
    assert PStep(6, 1.5).modulation_radius(2) == 1.5
    assert PStep(6, -1.5).modulation_radius(2) == 1.5
    for degree in (1, 3):
        assert PStep(6, 1.5).modulation_radius(degree) == math.inf
        f = PStep(6, 1.5).modulation(degree, 50)
        assert np.count_nonzero(f) == 6 // (2 * degree) + 1


def test_inverse_powers_are_the_kernels_of_the_paper():
    np.testing.assert_array_equal(InversePower(4).modulation(2, 500), np.ones(500))
    np.testing.assert_array_equal(InversePower(4, of=2).modulation(2, 6), [1, 0, 1, 0, 1, 0])
    np.testing.assert_allclose(InversePower(4).coefficients(5), [1, 4, 10, 20, 35])


def test_radii():
    assert PStep().radius == math.inf
    assert InversePower(3).radius == InversePower(3, of=2).radius == 1
    assert RegularizedLaplacian(2, 0.25).radius == pytest.approx(5)
    assert InversePower(8).modulation_radius(2) == 1


def test_values_beyond_float64_are_inf_and_quiet():
    assert InversePower(2).value(1.0) == math.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RegularizedLaplacian(0), "power must be a positive, finite number, found 0"),
        (lambda: RegularizedLaplacian(-1), "power"),
        (lambda: RegularizedLaplacian(1, 0), "sigma2"),
        (lambda: RegularizedLaplacian(1, math.nan), "sigma2"),
        (lambda: InversePower(math.inf), "power"),
        (lambda: InversePower(1, of=3), "of must be 1 or 2, found 3"),
        (lambda: InversePower(1, of=0), "of"),
        (lambda: PStep(0), "p must be a whole number >= 1, found 0"),
        (lambda: PStep(1.5), "p must be a whole number >= 1, found 1.5"),
        (lambda: PStep(2, 0.0), "alpha_0 = 0"),
        (lambda: PStep(2, math.nan), "a must"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize("a", [2.0, -2.0, 0.7])
@pytest.mark.parametrize("p", [10**6, 10**12 + 1])
def test_powers_beyond_float64_are_refused_with_a_way_out(p, a):
    kernel, graph = PStep(p, a), Graph([[0, 0.5], [0.5, 0]])
    for walks in ("pooled", "independent"):
        with pytest.raises(InputError, match=r"beyond the range of float64.*PStep\(p, a=1\)"):
            sample(graph, kernel, seed=0, walks=walks)
    with pytest.raises(InputError, match="begins beyond the range of float64"):
        representable(kernel, 2, 4)


def test_a_million_steps_are_a_diffusion():
    """``(1 + x/p)^p`` is about ``exp(x)``."""
    graph = Graph([[0, 1], [1, 0]]).normalized("sym", 1e-6)
    kernel = PStep(10**6, 1.0)
    wanted = Diffusion(1e6).exact(graph)
    np.testing.assert_allclose(kernel.exact(graph), wanted, rtol=1e-5)
    np.testing.assert_allclose(sample(graph, kernel, seed=0).toarray(), wanted, rtol=1e-5)


@pytest.mark.parametrize(("p", "a"), [(3, -2.0), (2, -2.0), (3, 2.0)])
def test_the_sign_is_that_of_the_first_coefficient(p, a):
    kernel = PStep(p, a)
    assert kernel.sign == np.sign(kernel.coefficients(1)[0]) == np.sign(a**p)
