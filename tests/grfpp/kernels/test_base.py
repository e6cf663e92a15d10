"""What all kernels do: series and roots, convergence, values, dense arrays and products."""

from __future__ import annotations

import decimal
import math
import pickle
from decimal import Decimal
from functools import partial

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import CANCELLING, FINITE, KERNELS, NAMED
from matrix_functions import GRAPHS
from refusal_case import bad_values, refused
from series_helpers import power

from grfpp.errors import DivergentSeriesError, InputError
from grfpp.graph import Graph
from grfpp.kernels.base import Kernel
from grfpp.kernels.named import (
    Cosine,
    Diffusion,
    InversePower,
    PersonalizedPageRank,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
)
from grfpp.kernels.taylor import TaylorKernel

N = 200


@pytest.mark.parametrize("degree", [1, 8])
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


TRIED = [Diffusion(), Cosine(), PStep(), TaylorKernel([1, 1])]
NOT_WHOLE = [0, -1, 1.5, 2.0, "2", None, True, math.nan]
test_degree_and_n_are_whole_numbers_from_one = bad_values(
    [partial(kernel.modulation, degree=1, n=4) for kernel in TRIED],
    **{"degree": NOT_WHOLE, "n": NOT_WHOLE, "scale": math.nan},
)
test_those_of_radii_and_coefficients_too = refused(
    degree=[partial(kernel.modulation_radius, n) for kernel in TRIED for n in NOT_WHOLE],
    n=[partial(kernel.coefficients, n) for kernel in TRIED for n in NOT_WHOLE],
)


@pytest.mark.parametrize("kernel", NAMED, ids=repr)
def test_long_tables_are_finite_and_begin_as_short_ones(kernel):
    scale = 1.0 if kernel.modulation_radius(3) >= 1 else 0.9 * kernel.modulation_radius(3)
    f = kernel.modulation(3, 2000, scale=scale)
    alpha = kernel.coefficients(2000, scale=scale)
    assert np.isfinite(f).all()
    assert np.isfinite(alpha).all()
    np.testing.assert_array_equal(f[:50], kernel.modulation(3, 50, scale=scale))


def test_overflow_is_refused_and_scale_avoids_it():
    kernel = PStep(3, 0.5)
    with pytest.raises(InputError, match=r"float64 at k=10\d\d"):
        kernel.modulation(2, 2000)
    scaled = kernel.modulation(2, 2000, scale=0.4)
    assert np.isfinite(scaled).all()
    wanted = kernel.modulation(2, 500) * 0.4 ** np.arange(500)
    np.testing.assert_allclose(scaled[:500], wanted, rtol=1e-12)
    scaled[:] = 0  # which changes no other table
    assert kernel.modulation(2, 2000, scale=0.4).any()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_modulation_radius_is_where_the_terms_stop_falling(kernel):
    """The radius against the terms themselves, which know nothing of how it was found."""
    radius = kernel.modulation_radius(2)
    inside = 3.0 if radius == math.inf else 0.9 * radius
    terms = np.abs(kernel.modulation(2, 256, scale=inside))
    assert terms[200:].max() < 1e-2 * terms.max()
    assert terms[200:].max() < 0.1 * terms[100:150].max() + 1e-300
    if radius < math.inf:
        growing = np.abs(kernel.modulation(2, 256, scale=1.1 * radius))
        assert growing[200:].max() > 10 * growing[100:150].max()


@pytest.fixture(scope="module")
def ring():
    return Graph(nx.cycle_graph(12))


def test_convergence_is_checked(ring):
    unit = ring.normalized("sym")
    Diffusion(9).check_converges(ring)
    Diffusion(9).check_converges(ring, degree=4)
    RegularizedLaplacian(2, 1.0).check_converges(unit, degree=2)
    InversePower(4).check_converges(ring.normalized("sym", scale=0.99), degree=2)
    with pytest.raises(DivergentSeriesError) as error:
        InversePower(4).check_converges(ring)
    assert (error.value.radius, error.value.scale, error.value.factor) == (1, 0.9, 0.45)
    assert error.value.spectral_radius == pytest.approx(2)
    for kernel, W, degree in (
        (InversePower(4), unit, None),
        (Cosine(), unit, 2),
        (RegularizedLaplacian(1, 2.0), ring, None),
    ):
        with pytest.raises(DivergentSeriesError):
            kernel.check_converges(W, degree)
    Cosine().check_converges(unit)


def test_kernels_of_random_walks_are_sent_to_the_weights_of_one(ring):
    for alpha, scale in ((0.15, 1.0), (1e-9, 0.9)):
        with pytest.raises(DivergentSeriesError, match="'rw' with scale=") as error:
            PersonalizedPageRank(alpha).check_converges(ring)
        assert error.value.scale == scale
        PersonalizedPageRank(alpha).check_converges(ring.normalized("rw", scale))


def test_the_advice_of_the_errors_is_good(ring):
    for kernel, degree in [(InversePower(2), 1), (Cosine(3.0), 2), (PStep(6, 0.01), 2)]:
        with pytest.raises(DivergentSeriesError) as error:
            kernel.check_converges(ring, degree)
        kernel.check_converges(ring.normalized("sym", scale=error.value.scale), degree)
        kernel.check_converges(ring.normalized(None, scale=error.value.factor), degree)
    assert "degree=3" in error.value.advice
    PStep(6, 0.01).check_converges(ring, 3)
    # Graphs without cycles always converge.
    path = Graph([[0, 5, 0], [0, 0, 5], [0, 0, 0]])
    InversePower(4).check_converges(path)
    Cosine().check_converges(path, degree=3)


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


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_are_values(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert repr(again) == repr(kernel)
    assert isinstance(kernel, Kernel)
    np.testing.assert_array_equal(again.modulation(2, 9), kernel.modulation(2, 9))


def test_different_kernels_differ():
    assert len(set(KERNELS)) == len(KERNELS)
    assert Diffusion(1) == Diffusion(1.0)
    assert Diffusion() != SquaredDiffusion()
    assert TaylorKernel([1, 2]) != TaylorKernel([1, 2], name="mine")


@pytest.mark.parametrize("directed", [False, True])
def test_divergent_series_are_refused(directed):
    ring = np.roll(np.eye(5), 1, axis=1)
    graph = Graph(ring if directed else (ring + ring.T) / 2)
    for attempt in (InversePower(2).exact, lambda W: InversePower(2).apply(W, np.ones(5))):
        with pytest.raises(DivergentSeriesError, match="spectral radii below 1"):
            attempt(graph)


def test_shapes_orders_and_types_of_v():
    graph, kernel = GRAPHS["weighted"], Diffusion()
    K = kernel.exact(graph)
    whole = np.arange(34).reshape(17, 2)
    for V in (whole, np.asfortranarray(whole), whole[::-1], whole.astype(np.float32), whole[:, 0]):
        np.testing.assert_allclose(kernel.apply(graph, V), K @ V, rtol=1e-9)
    before = whole.astype(float)
    kept = before.copy()
    for method in ("chebyshev", "taylor", "expm_multiply"):
        assert not np.shares_memory(kernel.apply(graph, before, method=method), before)
        assert not kernel.apply(graph, np.zeros(17), method=method).any()
    np.testing.assert_array_equal(before, kept)
    assert kernel.apply(graph, np.zeros((17, 0))).shape == (17, 0)


WRONG_SHAPES = [np.ones(16), np.ones((2, 17)), np.ones((17, 2, 2)), 3.0]


def product(V=(1.0,) * 17, kernel=TRIED[0], **options):
    return kernel.apply(GRAPHS["weighted"], V, **options)


test_bad_arguments_of_products = bad_values(
    product,
    V=[*WRONG_SHAPES, np.ones(17) * 1j, ["a"] * 17, sp.csr_array((17, 2))],
    tol=[0, -1, 1, 1e-15, math.nan, "x", None],
    method="magic",
)
test_methods_that_do_not_suit = refused(
    method=[
        partial(product, kernel=Cosine(), method="expm_multiply"),
        lambda: Diffusion().apply(GRAPHS["directed"], np.ones(19), method="chebyshev"),
    ]
)


def test_tables_that_do_not_fit_are_refused():
    kernel = Diffusion(1.0)
    for ask in (kernel.coefficients, kernel.coefficients_decimal, partial(kernel.modulation, 2)):
        with pytest.raises(InputError, match="a table of 1000000000000 terms"):
            ask(10**12)
    with pytest.raises(InputError) as error:
        kernel.modulation_decimal(2, 4, 10**9)
    assert error.value.argument == "digits"
