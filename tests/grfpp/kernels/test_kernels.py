"""Kernels: their series, their roots, where these converge, how they are named and kept."""

from __future__ import annotations

import decimal
import json
import math
import pickle
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import binom

from grfpp.errors import DivergentSeriesError, InputError
from grfpp.graph import Graph
from grfpp.kernels import (
    Cosine,
    Diffusion,
    InversePower,
    Kernel,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
    TaylorKernel,
    kernel_from_dict,
    kernel_from_spec,
)
from grfpp.series import decimal_here, power

N = 200
DEGREES = [1, 2, 3, 4, 8]


def exponential(k):
    return Fraction(1, math.factorial(k))


def bessel(k):
    """Coefficients of J_0(2x): α_2 is negative, and they fall faster than those of exp."""
    return 0 if k % 2 else Fraction((-1) ** (k // 2), math.factorial(k // 2) ** 2)


def geometric_float(k):
    return 0.6**k


# All products in one convolution have one sign: nothing cancels.
TAME = [
    Diffusion(),
    Diffusion(0.1),
    Diffusion(7.5),
    Diffusion(-3.0),
    SquaredDiffusion(),
    SquaredDiffusion(-0.3),
    RegularizedLaplacian(1, 1.0),
    RegularizedLaplacian(2, 0.2),
    RegularizedLaplacian(2.5, 10.0),
    InversePower(1),
    InversePower(4),
    InversePower(4, of=2),
    InversePower(0.3, of=2),
    TaylorKernel(exponential),
    TaylorKernel(geometric_float, radius=1 / 0.6),
]
# The coefficients fall faster than those of the root: hundreds of digits cancel.
CANCELLING = [
    Cosine(),
    Cosine(-2.0),
    TaylorKernel(bessel),
]
# The coefficients end and those of the root do not: all digits cancel.
FINITE = [
    PStep(2, 2.0),
    PStep(3, 0.7),
    PStep(16, 1.1),
    PStep(3, -1.5),
    TaylorKernel([1, 2, 1]),
    TaylorKernel([2.5, -1.0, 0.3]),
    TaylorKernel([-2, 1, Fraction(1, 3)]),
    TaylorKernel([7]),
]
KERNELS = TAME + CANCELLING + FINITE
NAMED = [k for k in KERNELS if not isinstance(k, TaylorKernel)]


def convolved(f, fold):
    result = np.zeros(len(f))
    result[0] = 1.0
    for _ in range(fold):
        result = np.convolve(result, f)[: len(f)]
    return result


# --- the root -------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_convolution_of_the_modulation_gives_the_coefficients(kernel, degree):
    """To 1e-10, relative, for the first 200 coefficients of all kernels.

    In high precision: with cos + sin, α_200 is 1e-375 and the sum of 1e21-sized products. Where α_k
    is zero, "relative" means to the largest value of the modulation.
    """
    digits = 420 if kernel in CANCELLING else 150 if kernel in FINITE else 40
    f = kernel.modulation_decimal(degree, N, digits)
    alpha = kernel.coefficients_decimal(N, digits)
    with decimal.localcontext(prec=digits + 40):
        found = power(f, 2 * degree, N)
        for k in range(N):
            error = abs(kernel.sign * found[k] - alpha[k])
            if alpha[k]:
                assert error <= Decimal("1e-10") * abs(alpha[k]), k
            else:
                assert error <= Decimal(10) ** (-digits // 2) * max(map(abs, f[: k + 1])), k


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("kernel", TAME, ids=repr)
def test_convolution_in_float64(kernel, degree):
    """The same in float64, for the kernels where nothing cancels.

    Only those: elsewhere the products cancel. And only with ``α_k · scale^k``: alone, 1/k! drops
    out of the range of float64 before k = 180.
    """
    scale = {"diffusion": 40.0 / getattr(kernel, "lam", 1), "taylor": 40.0}.get(kernel.name, 1.0)
    if kernel.name == "squared-diffusion":
        scale = math.sqrt(20 / abs(kernel.lam))
    if kernel == TaylorKernel(geometric_float, radius=1 / 0.6):
        scale = 1.0
    f = kernel.modulation(degree, N, scale=scale)
    alpha = kernel.coefficients(N, scale=scale)
    even = slice(None, None, 2) if not alpha[1] else slice(None)
    assert (np.abs(alpha[even]) > 1e-290).all()
    np.testing.assert_allclose(convolved(f, 2 * degree), alpha, rtol=1e-10)


def test_float64_cannot_do_it_where_products_cancel():
    """Why the other kernels are tested in high precision: float64 gets not even the sign right."""
    f, alpha = Cosine().modulation(2, N), Cosine().coefficients(N)
    error = np.abs(convolved(f, 4) - alpha)
    assert (error[:8] < 1e-10 * np.abs(alpha[:8])).all()
    assert (error[60:150] > np.abs(alpha[60:150])).mean() > 0.9


@pytest.mark.parametrize("degree", DEGREES)
@given(lam=st.floats(-50, 50).filter(lambda x: abs(x) > 1e-3))
@settings(max_examples=15, deadline=None)
def test_diffusion_in_closed_form(degree, lam):
    f = Diffusion(lam).modulation(degree, 60)
    expected = [
        float(Fraction(lam) ** k / (2 * degree) ** k / math.factorial(k)) for k in range(60)
    ]
    np.testing.assert_array_max_ulp(f, np.array(expected), maxulp=1)


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


def test_the_kernels_of_the_paper():
    np.testing.assert_array_equal(InversePower(4).modulation(2, 500), np.ones(500))
    np.testing.assert_array_equal(InversePower(4, of=2).modulation(2, 6), [1, 0, 1, 0, 1, 0])
    quarter = [0 if k % 2 else 0.25 ** (k // 2) / math.factorial(k // 2) for k in range(30)]
    np.testing.assert_allclose(SquaredDiffusion().modulation(2, 30), quarter, rtol=1e-15)
    np.testing.assert_allclose(InversePower(4).coefficients(5), [1, 4, 10, 20, 35])


def test_cosine_is_the_same_by_its_coefficients():
    def coefficient(k):
        return Fraction((1, 1, -1, -1)[k % 4], math.factorial(k))

    by_hand = TaylorKernel(coefficient)
    np.testing.assert_array_equal(Cosine().modulation(3, N), by_hand.modulation(3, N))
    np.testing.assert_array_equal(Cosine().coefficients(N), by_hand.coefficients(N))
    scaled = Cosine(0.25).modulation(3, N)
    np.testing.assert_array_equal(scaled, Cosine().modulation(3, N, scale=0.25))


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
        with pytest.raises(InputError, match=r"alpha_0 = 0.*identity.*factor"):
            attempt(2, 5)
    with pytest.raises(InputError, match="alpha_0 = 0"):
        kernel.modulation_radius(2)
    assert kernel.coefficients(3)[1] == 1


@pytest.mark.parametrize("kernel", [Diffusion(), Cosine(), PStep(), TaylorKernel([1, 1])], ids=repr)
@pytest.mark.parametrize("degree", [0, -1, 1.5, 2.0, "2", None, True, math.nan])
def test_degree_is_a_whole_number_from_one(kernel, degree):
    for attempt in (lambda: kernel.modulation(degree, 4), lambda: kernel.modulation_radius(degree)):
        with pytest.raises(InputError, match="degree must be a whole number"):
            attempt()


@pytest.mark.parametrize("n", [0, -3, 2.5, "9", None])
def test_n_is_a_whole_number_from_one(n):
    for attempt in (lambda: Diffusion().modulation(1, n), lambda: Diffusion().coefficients(n)):
        with pytest.raises(InputError, match="n must be a whole number"):
            attempt()


def test_numpy_integers_count_as_whole():
    f = Diffusion().modulation(np.int64(2), np.int32(5))
    np.testing.assert_array_equal(f, Diffusion().modulation(2, 5))


# --- long tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", NAMED, ids=repr)
def test_long_tables_are_quick_and_without_warnings(kernel):
    scale = 1.0 if kernel.modulation_radius(3) >= 1 else 0.9 * kernel.modulation_radius(3)
    start = time.perf_counter()
    f = kernel.modulation(3, 5000, scale=scale)
    alpha = kernel.coefficients(5000, scale=scale)
    assert time.perf_counter() - start < 3
    assert np.isfinite(f).all()
    assert np.isfinite(alpha).all()
    np.testing.assert_array_equal(f[:50], kernel.modulation(3, 50, scale=scale))


def test_underflow_is_zero():
    f = Diffusion().modulation(2, 5000)
    assert f[4999] == 0
    assert f[100] > 0


def test_overflow_is_refused_and_scale_avoids_it():
    kernel = PStep(3, 0.5)
    with pytest.raises(InputError, match=r"float64 at k=10\d\d; ask for n=10"):
        kernel.modulation(2, 2000)
    scaled = kernel.modulation(2, 2000, scale=0.4)
    assert np.isfinite(scaled).all()
    np.testing.assert_allclose(
        scaled[:500], kernel.modulation(2, 500) * 0.4 ** np.arange(500), rtol=1e-12
    )


def test_tables_can_be_changed_without_harm():
    first = Diffusion().modulation(2, 5)
    first[:] = 0
    assert Diffusion().modulation(2, 5)[0] == 1


# --- convergence ----------------------------------------------------------------------------------


def test_radii():
    assert Diffusion().radius == Cosine().radius == PStep().radius == math.inf
    assert InversePower(3).radius == InversePower(3, of=2).radius == 1
    assert RegularizedLaplacian(2, 0.25).radius == pytest.approx(5)
    assert Diffusion(-4).modulation_radius(3) == SquaredDiffusion().modulation_radius(1) == math.inf
    assert InversePower(8).modulation_radius(2) == 1
    assert Cosine(2.0).modulation_radius(5) == pytest.approx(math.pi / 8)
    assert Cosine(0).modulation_radius(5) == math.inf


def test_radius_of_p_step_modulations():
    assert PStep(6, 1.5).modulation_radius(2) == 1.5
    assert PStep(6, -1.5).modulation_radius(2) == 1.5
    for degree in (1, 3):
        assert PStep(6, 1.5).modulation_radius(degree) == math.inf
        f = PStep(6, 1.5).modulation(degree, 50)
        assert np.count_nonzero(f) == 6 // (2 * degree) + 1


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
        (exponential, 3, math.inf),
        (lambda k: 0.25**k, 3, 4),
        (lambda k: Fraction((1, 1, -1, -1)[k % 4], math.factorial(k)), 2, math.pi / 4),
        (bessel, 2, 2.404825557695773 / 2),
    ],
)
def test_radius_of_taylor_modulations(coefficients, degree, radius):
    found = TaylorKernel(coefficients).modulation_radius(degree)
    assert found == pytest.approx(radius, rel=1e-2 if callable(coefficients) else 1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_modulation_radius_is_where_the_terms_stop_falling(kernel):
    """The radius against the terms themselves, which know nothing of how it was found."""
    radius = kernel.modulation_radius(2)
    if radius == math.inf:
        inside, outside = 3.0, None
    else:
        inside, outside = 0.9 * radius, 1.1 * radius
    terms = np.abs(kernel.modulation(2, 256, scale=inside))
    assert terms[200:].max() < 1e-2 * terms.max()
    assert terms[200:].max() < 0.1 * terms[100:150].max() + 1e-300
    if outside is not None:
        growing = np.abs(kernel.modulation(2, 256, scale=outside))
        assert growing[200:].max() > 10 * growing[100:150].max()


@pytest.fixture(scope="module")
def ring():
    n = 12
    adjacency = np.zeros((n, n))
    for i in range(n):
        adjacency[i, (i + 1) % n] = adjacency[(i + 1) % n, i] = 1
    return Graph(adjacency)


def test_convergence_is_checked(ring):
    unit = ring.normalized("sym")
    Diffusion(9).check_converges(ring)
    Diffusion(9).check_converges(ring, degree=4)
    RegularizedLaplacian(2, 1.0).check_converges(unit, degree=2)
    InversePower(4).check_converges(ring.normalized("sym", scale=0.99), degree=2)
    with pytest.raises(DivergentSeriesError) as error:
        InversePower(4).check_converges(ring)
    message = str(error.value)
    assert "below 1, but this graph's is 2" in message
    assert "graph.normalized('sym', scale=0.9)" in message
    assert "multiply the weights by 0.45" in message
    with pytest.raises(DivergentSeriesError):
        InversePower(4).check_converges(unit)
    with pytest.raises(
        DivergentSeriesError, match=r"modulation of degree 2.*0.785398.*smaller lam"
    ):
        Cosine().check_converges(unit, degree=2)
    Cosine().check_converges(unit)
    with pytest.raises(DivergentSeriesError, match="smaller sigma2"):
        RegularizedLaplacian(1, 2.0).check_converges(ring)


def test_the_advice_of_the_errors_is_good(ring):
    for kernel, degree in [(InversePower(2), 1), (Cosine(3.0), 2), (PStep(6, 0.01), 2)]:
        with pytest.raises(DivergentSeriesError) as error:
            kernel.check_converges(ring, degree)
        scale = float(str(error.value).split("scale=")[1].split(")")[0])
        kernel.check_converges(ring.normalized("sym", scale=scale), degree)
        factor = float(str(error.value).split("weights by ")[1].split(",")[0])
        kernel.check_converges(ring.normalized(None, scale=factor), degree)
    assert "degree=3 does" in str(error.value)
    PStep(6, 0.01).check_converges(ring, 3)


def test_graphs_without_cycles_always_converge():
    path = Graph([[0, 5, 0], [0, 0, 5], [0, 0, 0]])
    InversePower(4).check_converges(path)
    Cosine().check_converges(path, degree=3)


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_value_is_the_sum_of_the_series(kernel):
    limit = min(0.9 * kernel.radius, 1.5)
    x = np.linspace(-limit, limit, 9)
    alpha = kernel.coefficients(1500 if kernel.radius < math.inf else 150)
    expected = np.polynomial.polynomial.polyval(x, alpha)
    found = kernel.value(x)
    assert found.shape == x.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max())
    assert np.ndim(kernel.value(0.25)) == 0
    assert kernel.value(0) == pytest.approx(alpha[0])
    assert kernel.value(np.zeros((2, 3))).shape == (2, 3)


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


def test_values_beyond_float64_are_inf_and_quiet():
    assert Diffusion(1000).value(1.0) == math.inf
    assert InversePower(2).value(1.0) == math.inf


def test_value_of_a_function_stays_inside_the_radius():
    with pytest.raises(DivergentSeriesError, match="below 2, found 2"):
        TaylorKernel(lambda k: 0.5**k, radius=2).value([0.0, -2.0])


# --- parameters, names, keeping -------------------------------------------------------------------


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
        (lambda: TaylorKernel([]), "at least one"),
        (lambda: TaylorKernel([0, 0.0]), "at least one"),
        (lambda: TaylorKernel([1, math.nan]), "coefficient 1 must be a finite real number"),
        (lambda: TaylorKernel([1, Decimal("inf")]), "coefficient 1"),
        (lambda: TaylorKernel([1, 2j]), "coefficient 1"),
        (lambda: TaylorKernel([1, "2"]), "coefficient 1"),
        (lambda: TaylorKernel([True]), "coefficient 0"),
        (lambda: TaylorKernel(np.ones((2, 2))), "coefficient 0"),
        (lambda: TaylorKernel("12"), "text"),
        (lambda: TaylorKernel(7), "sequence of numbers or a function"),
        (lambda: TaylorKernel([1], radius=2), "radius is for"),
        (lambda: TaylorKernel(exponential, radius=-1), "radius must be a positive"),
        (lambda: TaylorKernel(exponential, radius=math.nan), "radius"),
        (lambda: TaylorKernel(exponential, name=3), "name"),
        (lambda: TaylorKernel(lambda k: 1 / k), "failed at k=0: division by zero"),
        (lambda: TaylorKernel(lambda k: 1 / (3 - k)).coefficients(9), "failed at k=3"),
        (lambda: Diffusion().modulation(1, 5, scale=math.nan), "scale"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)


def test_kernels_do_not_change():
    with pytest.raises(AttributeError):
        Diffusion().lam = 2
    with pytest.raises(AttributeError):
        TaylorKernel([1, 2]).name = "other"


def test_coefficients_may_come_in_any_numbers():
    given_ = [np.float32(0.5), np.int64(2), Fraction(1, 3), Decimal("0.1"), 0]
    kernel = TaylorKernel(given_)
    np.testing.assert_array_equal(kernel.coefficients(6), [0.5, 2, 1 / 3, 0.1, 0, 0])
    with decimal.localcontext(prec=40):
        assert kernel.coefficients_decimal(3, 30)[2] == pytest.approx(decimal_here(Fraction(1, 3)))
    assert TaylorKernel(np.array([1.0, 0.5])) == TaylorKernel([1, Fraction(1, 2), 0])


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_are_values(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert repr(again) == repr(kernel)
    assert isinstance(kernel, Kernel)
    assert len({kernel, again}) == 1
    np.testing.assert_array_equal(again.modulation(2, 9), kernel.modulation(2, 9))


def test_different_kernels_differ():
    assert len(set(KERNELS)) == len(KERNELS)
    assert Diffusion(1) == Diffusion(1.0)
    assert Diffusion() != SquaredDiffusion()
    assert TaylorKernel([1, 2]) != TaylorKernel([1, 2], name="mine")


def test_repr():
    assert repr(InversePower(4.0, of=2)) == "InversePower(power=4, of=2)"
    assert repr(RegularizedLaplacian(0.5)) == "RegularizedLaplacian(power=0.5, sigma2=1.0)"
    assert repr(TaylorKernel(range(1, 30))) == "TaylorKernel([1, 2, 3, 4, 5, 6, 7, ..., 29])"
    assert repr(TaylorKernel(exponential, radius=3)) == "TaylorKernel(exponential, radius=3)"
    assert repr(TaylorKernel([1], name="one")) == "TaylorKernel([1], name='one')"


@pytest.mark.parametrize("kernel", [k for k in KERNELS if "function" not in str(k)], ids=repr)
def test_json_round_trip(kernel):
    if isinstance(kernel, TaylorKernel) and callable(kernel._alpha):
        with pytest.raises(InputError, match="function for its coefficients and cannot be saved"):
            kernel.to_dict()
        return
    text = json.dumps(kernel.to_dict(), allow_nan=False)
    assert kernel_from_dict(json.loads(text)) == kernel
    assert Kernel.from_dict(json.loads(text)) == kernel


def test_names_survive_the_round_trip():
    kernel = TaylorKernel([1, Fraction(1, 3)], name="mine")
    assert kernel_from_dict(kernel.to_dict()).name == "mine"


@pytest.mark.parametrize(
    ("spec", "kernel"),
    [
        ("diffusion", Diffusion()),
        ("diffusion:0.5", Diffusion(0.5)),
        (" diffusion : -2 ", Diffusion(-2)),
        ("regularized-laplacian:2:0.5", RegularizedLaplacian(2, 0.5)),
        ("p-step:3", PStep(3)),
        ("p-step:3:1e1", PStep(3, 10.0)),
        ("cosine", Cosine()),
        ("inverse-power:4:2", InversePower(4, of=2)),
        ("squared-diffusion:0.25", SquaredDiffusion(0.25)),
        ("taylor:1:0.5:1/3", TaylorKernel([1, Fraction(1, 2), Fraction(1, 3)])),
    ],
)
def test_specs(spec, kernel):
    assert kernel_from_spec(spec) == kernel


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("difusion", "diffusion, regularized-laplacian, p-step, cosine, inverse-power, squared-"),
        ("", "there is no kernel ''"),
        ("diffusion:x", "lam in 'diffusion:x' must be a number, found 'x'"),
        ("diffusion:", "lam"),
        ("diffusion:1:2", "too many parameters; it is diffusion:LAM"),
        ("diffusion:nan", "lam must be a finite number"),
        ("p-step:2.5", "p must be a whole number"),
        ("inverse-power:1:3", "of must be 1 or 2"),
        ("taylor", "at least one"),
        ("taylor:1:y", "found 'y'"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(InputError) as error:
        kernel_from_spec(spec)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kernel": "x"},
        {"kernel": ["x"]},
        {"kernel": "diffusion", "mu": 1},
        {"kernel": "taylor"},
        {"kernel": "taylor", "coefficients": ["1/0"]},
    ],
)
def test_bad_dicts(values):
    with pytest.raises(InputError):
        kernel_from_dict(values)
