"""Chebyshev series of weight matrices, against dense algebra."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from matrix_functions import GRAPHS, KERNELS, UNDIRECTED
from numpy.polynomial import chebyshev as numpy_chebyshev
from numpy.testing import assert_allclose, assert_array_equal

import grfpp
from grfpp import Graph, InputError
from grfpp.kernels import Diffusion, InversePower, PStep
from grfpp.linalg import chebyshev
from grfpp.linalg.chebyshev import (
    ChebyshevTerms,
    Expansion,
    block_products,
    coefficients_of,
    power_diagonals,
)
from grfpp.linalg.csr import CsrProduct

KARATE = Graph(nx.karate_club_graph()).normalized("sym", 0.7)
LOOPS = Graph(np.eye(34) + nx.to_numpy_array(nx.karate_club_graph())).normalized("sym")
C = np.random.default_rng(0).standard_normal((3, 8))
SIZES = (5, 1, 30, 8)
RADIUS = 1.5


@pytest.mark.parametrize("tol", [1e-4, 1e-13])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", UNDIRECTED)
def test_products_reach_their_tolerance(name, kernel, tol):
    """Relative to ``max |g| · ‖v‖``, as documented."""
    graph = GRAPHS[name]
    V = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    found = kernel.apply(graph, V, tol)
    radius = graph.spectral_radius()
    peak = np.abs(kernel.value(np.linspace(-radius, radius, 401))).max()
    error = np.linalg.norm(found - kernel.exact(graph) @ V, axis=0)
    assert (error <= (tol + 2e-14) * peak * np.linalg.norm(V, axis=0)).all()


def test_degrees_are_as_low_as_they_can_be():
    assert len(coefficients_of(PStep(3, 2.0).value, 1.0, 1e-13)) == 4
    assert len(coefficients_of(lambda x: np.full_like(x, 2.0), 1.0, 1e-10)) == 1
    # Σ 2 I_j(1) T_j: the first coefficient below 1e-10 is that of T_11.
    assert len(coefficients_of(np.exp, 1.0, 1e-10)) in (11, 12)
    with pytest.raises(InputError, match="degree 100000"):
        coefficients_of(np.abs, 1.0, 1e-10)


@pytest.mark.parametrize("radius", [0.9, 0.999, 0.99999])
def test_coefficients_near_a_pole(radius):
    kernel = InversePower(4)
    coefficients = coefficients_of(kernel.value, radius, 1e-10)
    x = np.linspace(-radius, radius, 1001)
    found = numpy_chebyshev.chebval(x / radius, coefficients)
    assert np.abs(found - kernel.value(x)).max() <= 2e-10 * kernel.value(radius)


def test_large_sparse_graphs():
    path = sp.diags_array([np.ones(299)] * 2, offsets=[-1, 1])
    graph = Graph(sp.kronsum(path, path)).normalized("sym")
    V = np.random.default_rng(5).normal(size=(90_000, 3))
    reference = Diffusion().apply(graph, V, method="expm_multiply")
    assert np.abs(Diffusion().apply(graph, V) - reference).max() < 1e-9


# --- series that are added up until they suffice -------------------------------------------------


@pytest.mark.parametrize("tol", [1e-2, 1e-7])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", UNDIRECTED)
def test_products_are_accurate_relative_to_themselves(name, kernel, tol):
    graph = GRAPHS[name]
    if name == "without edges" and kernel.value(0.0) == 0:
        pytest.skip("the product is zero, to which nothing is relative")
    V = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    before = V.copy()
    series = Expansion.of(kernel.value, (graph.spectral_radius() or 0.4) * (1 + 1e-8))
    product, error, norm, _ = series.times(CsrProduct(graph.adjacency), V, tol)
    expected = kernel.exact(graph) @ V
    assert error <= tol * norm
    assert np.linalg.norm(series.peak * product - expected) <= tol * np.linalg.norm(expected)
    assert_array_equal(V, before)


def test_terms_are_added_where_the_product_is_small():
    """Orthogonal to the leading eigenvector of exp(20 W), which the usual bound is about."""
    W = Graph(np.ones((30, 30)) - np.eye(30)).normalized("sym")
    v = np.linspace(-1, 1, 30).reshape(-1, 1)
    kernel = grfpp.Diffusion(10.0)
    series = Expansion.of(kernel.value, 1 + 1e-8)
    product, _, _, n_terms = series.times(CsrProduct(W.adjacency), v, 1e-3)
    expected = kernel.exact(W) @ v
    assert np.linalg.norm(series.peak * product - expected) <= 1e-3 * np.linalg.norm(expected)
    assert n_terms > series.n_terms(1e-3)


def test_expansions_out_of_range_and_near_a_singularity():
    with pytest.raises(InputError, match="float64"):
        Expansion.of(np.exp, 800.0)
    series = Expansion.of(lambda x: 1 / (1 - (1 - 1e-7) * x), 1.0)
    assert 1e-9 <= series.tails[-1] <= 1e-6


# --- many combinations of the same terms ---------------------------------------------------------


def dense(graph, terms, c):
    values, vectors = np.linalg.eigh(graph.adjacency.toarray())
    return (vectors * numpy_chebyshev.chebval(values / terms.radius, c)) @ vectors.T


@pytest.mark.parametrize("graph", [KARATE, LOOPS], ids=["karate", "with loops"])
@pytest.mark.parametrize("n_terms", [1, 2, 3, 8])
def test_entries_diagonals_products_and_pairings(graph, n_terms):
    terms, c = ChebyshevTerms(graph), C[:, :n_terms]
    exact = np.array([dense(graph, terms, row) for row in c])
    rows, columns = np.array([3, 3, 0, 7]), np.array([5, 1])
    for a, b in ((rows, columns), (columns, rows)):
        assert_allclose(terms.entries(c, a, b), exact[:, a][:, :, b], atol=1e-12)
        assert_allclose(terms.entries(c[:1], a, b), exact[:1, a][:, :, b], atol=1e-12)
    assert_allclose(terms.diagonals(c, rows), exact[:, rows, rows], atol=1e-12)
    V = np.random.default_rng(1).standard_normal((2, 34, 70))
    assert_allclose(terms.product(c[0], V[0]), exact[0] @ V[0], atol=1e-12)
    assert_allclose(terms.products(c, V[0]), exact @ V[0], atol=1e-12)
    assert_allclose(terms.products(c, V[0], rows), exact[:, rows] @ V[0], atol=1e-12)
    found = terms.pairings(V[0], V[1], n_terms)
    assert_allclose(c[0] @ found, np.sum(V[0] * (exact[0] @ V[1])), rtol=1e-10)
    terms, c = ChebyshevTerms(Graph(np.zeros((3, 3)))), np.array([[2.0, 5.0, 0.5]])  # T_2(0) = -1
    assert_allclose(terms.entries(c, np.array([0, 1]), np.array([1])), [[[0.0], [1.5]]])
    assert_allclose(terms.diagonals(c, np.array([2])), [[1.5]])


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    rows, V = np.arange(34), np.random.default_rng(0).standard_normal((34, 200))
    one, two = (ChebyshevTerms(KARATE, n_jobs) for n_jobs in (1, 2))
    assert_array_equal(one.product(C[0], V), two.product(C[0], V))
    assert_array_equal(one.products(C, V, rows[:5]), two.products(C, V, rows[:5]))
    whole = one.entries(C, rows, rows)
    assert_array_equal(whole, two.entries(C, rows, rows))
    monkeypatch.setattr(chebyshev, "_BUFFER_NUMBERS", 34 * 34 * 3)  # combined in parts
    assert_allclose(two.entries(C, rows, rows), whole, atol=1e-12)


# --- block-diagonal matrices ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def blocks():
    """Random symmetric matrices, one of them without an entry."""
    rng = np.random.default_rng(0)
    matrices = []
    for n in SIZES:
        matrix = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), 0.0)
        matrix = matrix + matrix.T
        matrices.append(matrix / max(1.0, np.abs(np.linalg.eigvalsh(matrix)).max()))
    return matrices


def joined(blocks):
    starts = np.concatenate([[0], np.cumsum([len(block) for block in blocks])])
    return sp.csr_array(sp.block_diag(blocks)), starts


@pytest.mark.parametrize("width", [1, 2, 65])
@pytest.mark.parametrize("strip", [1, 1 << 15])
def test_block_products_are_those_of_dense_matrices(monkeypatch, blocks, width, strip):
    monkeypatch.setattr(chebyshev, "_STRIP_NUMBERS", strip)
    rng = np.random.default_rng(width)
    matrix, starts = joined(blocks)
    vectors = np.asfortranarray(rng.standard_normal((matrix.shape[0], width)))
    coefficients = rng.standard_normal((3, 12))
    coefficients[1, 6:] = 0
    coefficients[2] = 0
    found = block_products(matrix, starts, RADIUS, coefficients, vectors)
    values, basis = np.linalg.eigh(matrix.toarray())
    for row, product in zip(coefficients, found, strict=True):
        exact = basis * numpy_chebyshev.chebval(values / RADIUS, row) @ basis.T @ vectors
        assert_allclose(product, exact, atol=1e-12)


@pytest.mark.parametrize("width", [1, 9])
def test_a_block_has_the_same_bits_alone(blocks, width):
    rng = np.random.default_rng(1)
    matrix, starts = joined(blocks)
    vectors = rng.standard_normal((matrix.shape[0], width))
    coefficients = rng.standard_normal((2, 20))
    together = block_products(matrix, starts, RADIUS, coefficients, vectors)
    diagonals = power_diagonals(matrix, starts, 5)
    for number, block in enumerate(blocks):
        nodes = slice(starts[number], starts[number + 1])
        alone = block_products(*joined([block]), RADIUS, coefficients, vectors[nodes])
        assert_array_equal(together[:, nodes], alone)
        assert_array_equal(diagonals[nodes], power_diagonals(*joined([block]), 5))


@pytest.mark.parametrize("n_lengths", [1, 2, 5, 8])
def test_diagonals_of_powers(n_lengths):
    sizes = (1, 100, 0, 3, 70)  # more nodes than columns are multiplied together
    rng = np.random.default_rng(0)
    matrices = []
    for n in sizes:
        A = nx.to_numpy_array(nx.gnp_random_graph(n, 0.1, seed=n)).reshape(n, n)
        matrices.append(A * np.add.outer(weights := rng.uniform(0.1, 0.3, n), weights))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    whole = sp.csr_array(sp.block_diag([block for block in matrices if len(block)]))
    found = power_diagonals(whole, starts, n_lengths)
    for block, start, stop in zip(matrices, starts, starts[1:], strict=False):
        powers = [np.linalg.matrix_power(block, k + 1).diagonal() for k in range(n_lengths)]
        assert_allclose(found[start:stop].T, powers, rtol=1e-12, atol=1e-14)
