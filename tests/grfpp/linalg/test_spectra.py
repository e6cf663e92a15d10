"""Eigenpairs against LAPACK, spectral radii, spectral densities, whole spectra."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from little_memory import only
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, QUICK, weighted

from grfpp import Graph, InputError
from grfpp.linalg import spectra
from grfpp.linalg.spectra import (
    Eigenpairs,
    component_eigenpairs,
    largest_eigenpairs,
    leading_eigenpairs,
    perron_root,
    spectral_density,
    symmetric_eigenvalues,
)


def assert_eigenpairs(matrix, pairs, number, rtol=1e-9):
    values, vectors = pairs
    assert values.shape == (number,) and vectors.shape == (matrix.shape[0], number)
    assert np.abs(matrix @ vectors - vectors * values).max() < rtol
    assert_allclose(vectors.T @ vectors, np.eye(number), atol=rtol)


GRAPH = Graph(weighted(60, seed=4, density=0.1)).normalized("sym", 0.9)
MATRIX = GRAPH.adjacency
ALL = np.linalg.eigvalsh(MATRIX.toarray())[::-1]


@pytest.fixture(params=["lapack", "lanczos"])
def method(request, monkeypatch):
    if request.param == "lanczos":
        monkeypatch.setattr(spectra, "DENSE_NODES", 0)
    return request.param


@pytest.mark.parametrize("number", [1, 5, 14, 59])  # nearly all of them by LAPACK
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_are_found(method, number, sign):
    pairs = leading_eigenpairs(sign * MATRIX, number, Eigenpairs.none(60), 0.9)
    assert_eigenpairs(sign * MATRIX, pairs, number)
    assert_allclose(sign * pairs.values, ALL[::sign][:number], rtol=1e-8, atol=1e-12)


def test_those_known_are_not_found_again(method):
    first = leading_eigenpairs(MATRIX, 3, Eigenpairs.none(60), 0.9)
    others = leading_eigenpairs(MATRIX, 4, first, 0.9)
    assert_allclose(others.values, ALL[3:7], rtol=1e-10)
    assert_eigenpairs(MATRIX, first.joined(others), 7)
    assert_allclose(first.joined(others).take([5, 1]).values, ALL[[5, 1]], rtol=1e-10)


def test_the_same_bits_every_time():
    # It has three different eigenvalues: Lanczos' method must begin anew.
    star = Graph(nx.star_graph(700)).normalized("sym").adjacency
    first, again = (leading_eigenpairs(star, 5, Eigenpairs.none(701), 1.0) for _ in range(2))
    assert_array_equal(first.vectors, again.vectors)


def test_none_are_asked_for_and_none_are_there_and_memory_for_some(monkeypatch):
    assert leading_eigenpairs(MATRIX, 0, Eigenpairs.none(60), 0.9).vectors.shape == (60, 0)
    empty = leading_eigenpairs(sp.csr_array((4, 4)), 2, Eigenpairs.none(4), 0.0)
    assert empty.vectors.shape == (4, 0)
    only(monkeypatch, 10_000)
    with pytest.raises(InputError, match="14 eigenvectors"):
        leading_eigenpairs(MATRIX, 14, Eigenpairs.none(60), 0.9)


def test_pairs_that_have_not_converged_are_left_out(monkeypatch):
    monkeypatch.setattr(spectra, "DENSE_NODES", 0)
    exact = leading_eigenpairs(MATRIX, 3, Eigenpairs.none(60), 0.9)
    wrong = exact.vectors.copy()
    wrong[:, 1] += 1e-6 * exact.vectors[:, 2]
    found = Eigenpairs(exact.values, wrong)
    monkeypatch.setattr(spectra, "largest_eigenpairs", lambda *args, **options: found)
    found = leading_eigenpairs(MATRIX, 3, Eigenpairs.none(60), 0.9)
    assert_allclose(found.values, ALL[[0, 2]], rtol=1e-10)


# --- closed forms --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["weighted, sym", "unweighted, sym", "loops and isolated, sym"])
def test_roots_of_degrees_of_symmetric_normalisations(name):
    matrix = GRAPHS[name].adjacency
    values, component = component_eigenpairs(matrix, GRAPHS[name].perron_candidates()[0])
    assert_allclose(values[values > 0], 0.8, rtol=1e-13)
    isolated = np.diff(matrix.indptr) == 0
    assert (values[component[isolated]] == 0).all() and values[component[0]] > 0
    for number in (1, 0, np.nan, np.inf, -1):  # which are none
        assert component_eigenpairs(matrix, np.full(matrix.shape[0], number)) is None


# --- where eigenvalues lie -----------------------------------------------------------------------


@pytest.mark.parametrize("n_known", [0, 2])
@pytest.mark.parametrize("function", [lambda x: x**0, lambda x: x**2, lambda x: np.exp(3 * x)])
def test_sums_over_the_spectrum(n_known, function):
    graph = Graph(nx.gnp_random_graph(800, 0.01, seed=1)).normalized("sym")
    pairs = leading_eigenpairs(graph.adjacency, n_known, Eigenpairs.none(800), 1.0)
    places, counts = spectral_density(graph.adjacency, pairs.vectors)
    wanted = function(np.linalg.eigvalsh(graph.adjacency.toarray()))[: 800 - n_known].sum()
    assert counts @ function(places) == pytest.approx(wanted, rel=0.1)
    assert counts.min() >= 0


def test_few_different_eigenvalues():
    complete = Graph(nx.complete_graph(30)).normalized("sym").adjacency
    places, counts = spectral_density(complete, np.full((30, 1), 30**-0.5))
    assert_allclose(places, -1 / 29, rtol=1e-10)
    assert counts.sum() == pytest.approx(29)
    places, counts = spectral_density(sp.csr_array((5, 5)), np.zeros((5, 0)))
    assert_array_equal(places, 0)
    assert counts.sum() == pytest.approx(5)


# --- spectral radii ------------------------------------------------------------------------------


def by_numpy(matrix):
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def cycle(weights):
    n = len(weights)
    return sp.csr_array((weights, (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.floats(0.0, 0.5), st.booleans())
def test_small_random_matrices(seed, n, density, symmetric):
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, n)) * (rng.random((n, n)) < density)
    matrix = matrix + matrix.T if symmetric else matrix
    root = perron_root(sp.csr_array(matrix), symmetric=symmetric)
    # A numerically defective zero of the whole matrix is only known to about 1e-16^(1/n).
    assert root == pytest.approx(by_numpy(matrix), rel=1e-6, abs=1e-1 if root == 0 else 1e-9)


@pytest.mark.parametrize("n", [150, 600])
@pytest.mark.parametrize("symmetric", [True, False])
def test_random_matrices_on_both_sides_of_the_dense_limit(n, symmetric):
    matrix = sp.random_array((n, n), density=4 / n, rng=np.random.default_rng(n)).tocsr()
    matrix = (matrix + matrix.T).tocsr() if symmetric else matrix
    expected = by_numpy(matrix.toarray())
    assert perron_root(matrix, symmetric=symmetric) == pytest.approx(expected, rel=1e-9)


def test_matrices_without_cycles_have_none():
    dag = sp.triu(sp.random_array((500, 500), density=0.02, rng=np.random.default_rng(0)), 1)
    assert perron_root(dag.tocsr(), symmetric=False) == 0
    assert perron_root(sp.csr_array((5, 5)), symmetric=True) == 0


@pytest.mark.parametrize("sizes", [(3,), (199,), (201,), (500,), (220, 250, 230)], ids=str)
def test_periodic_matrices(sizes):
    # All eigenvalues of a weighted cycle lie on one circle: the geometric mean of its weights. Of
    # several components the largest counts, which is not that of the largest weight.
    weights = [np.random.default_rng(n).random(n) + 0.5 for n in sizes]
    weights[0][:2] = 0.1, 2.0
    expected = max(np.exp(np.log(w).mean()) for w in weights)
    matrix = sp.block_diag([cycle(w) for w in weights], format="csr")
    assert perron_root(matrix, symmetric=False) == pytest.approx(expected, rel=1e-9)
    grid = np.kron(np.eye(2)[::-1], np.ones((150, 150)))  # complete and bipartite
    assert perron_root(sp.csr_array(grid), symmetric=True) == pytest.approx(150, rel=1e-9)


def test_paths_have_eigenvalues_side_by_side():
    n = 3000
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tocsr()
    expected = 2 * np.cos(np.pi / (n + 1))
    assert perron_root(path, symmetric=True) == pytest.approx(expected, rel=1e-9)
    pairs = largest_eigenpairs(lambda v: path @ v, n, 5, max_restarts=1)
    assert len(pairs.values) < 5  # those that have not converged are left out


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e200, 1e307])
def test_units_do_not_matter(unit):
    matrix = sp.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]]) * unit)
    golden = (1 + np.sqrt(5)) / 2
    assert perron_root(matrix, symmetric=True) == pytest.approx(golden * unit, rel=1e-3)


# --- whole spectra -------------------------------------------------------------------------------


@QUICK
@given(st.integers(1, 12), st.integers(0, 10**6), st.booleans())
def test_nodes_with_equal_rows_do_not_change_eigenvalues(n, seed, with_loops):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < 0.4, 0 if with_loops else 1) * rng.lognormal(size=(n, n))
    small = upper + upper.T
    groups = rng.integers(0, n, 3 * n)
    twins = small[groups][:, groups]
    found = np.sort(symmetric_eigenvalues(sp.csr_array(twins)))
    np.testing.assert_allclose(found, np.linalg.eigvalsh(twins), atol=1e-10)
