"""Eigenpairs against LAPACK, and what is told of the others."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from little_memory import only
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import ArpackNoConvergence
from small_graphs import GRAPHS, weighted

from grfpp import Graph, InputError
from grfpp.linalg.spectra import eigenpairs
from grfpp.linalg.spectra.eigenpairs import (
    Eigenpairs,
    component_eigenpairs,
    leading_eigenpairs,
    spectral_density,
)


def none(n):
    return Eigenpairs(np.zeros(0), np.zeros((n, 0)))


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
        monkeypatch.setattr(eigenpairs, "_DENSE_NODES", 0)
    return request.param


@pytest.mark.parametrize("number", [1, 5, 14])
def test_the_largest_are_found(method, number):
    pairs = leading_eigenpairs(MATRIX, number, none(60), 0.9)
    assert_eigenpairs(MATRIX, pairs, number)
    assert_allclose(pairs.values, ALL[:number], rtol=1e-10)


def test_those_known_are_not_found_again(method):
    first = leading_eigenpairs(MATRIX, 3, none(60), 0.9)
    others = leading_eigenpairs(MATRIX, 4, first, 0.9)
    assert_allclose(others.values, ALL[3:7], rtol=1e-10)
    assert_eigenpairs(MATRIX, first.joined(others), 7)
    assert_allclose(first.joined(others).take([5, 1]).values, ALL[[5, 1]], rtol=1e-10)


def test_the_other_end(method):
    pairs = leading_eigenpairs(-MATRIX, 3, none(60), 0.9)
    assert_allclose(-pairs.values, ALL[:-4:-1], rtol=1e-10)


def test_the_same_bits_every_time():
    # It has three different eigenvalues: Lanczos' method must begin anew.
    star = Graph(nx.star_graph(700)).normalized("sym").adjacency
    first, again = (leading_eigenpairs(star, 5, none(701), 1.0) for _ in range(2))
    assert_array_equal(first.vectors, again.vectors)


def test_nearly_all_of_them_are_found_by_lapack(monkeypatch):
    monkeypatch.setattr(eigenpairs, "_DENSE_NODES", 0)
    pairs = leading_eigenpairs(MATRIX, 59, none(60), 0.9)
    assert_eigenpairs(MATRIX, pairs, 59)


def test_none_are_asked_for_and_none_are_there():
    assert leading_eigenpairs(MATRIX, 0, none(60), 0.9).vectors.shape == (60, 0)
    assert leading_eigenpairs(sp.csr_array((4, 4)), 2, none(4), 0.0).vectors.shape == (4, 0)


def test_what_has_not_converged_is_left_out(monkeypatch):
    monkeypatch.setattr(eigenpairs, "_DENSE_NODES", 0)
    exact = leading_eigenpairs(MATRIX, 3, none(60), 0.9)

    def stopped(*args, **options):
        raise ArpackNoConvergence("enough", exact.values[:2], exact.vectors[:, :2])

    monkeypatch.setattr(eigenpairs, "eigsh", stopped)
    assert_eigenpairs(MATRIX, leading_eigenpairs(MATRIX, 3, none(60), 0.9), 2)
    wrong = exact.vectors.copy()
    wrong[:, 1] += 1e-6 * exact.vectors[:, 2]
    monkeypatch.setattr(eigenpairs, "eigsh", lambda *args, **options: (exact.values, wrong))
    found = leading_eigenpairs(MATRIX, 3, none(60), 0.9)
    assert_allclose(found.values, ALL[[0, 2]], rtol=1e-10)


def test_vectors_that_do_not_fit_are_refused(monkeypatch):
    only(monkeypatch, 10_000)
    with pytest.raises(InputError, match="14 eigenvectors needs"):
        leading_eigenpairs(MATRIX, 14, none(60), 0.9)


# --- closed forms --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["weighted, sym", "unweighted, sym", "loops and isolated, sym"])
def test_roots_of_degrees_of_symmetric_normalisations(name):
    matrix = GRAPHS[name].adjacency
    values, component = component_eigenpairs(matrix, GRAPHS[name].perron_candidates()[0])
    assert_allclose(values[values > 0], 0.8, rtol=1e-13)
    isolated = np.diff(matrix.indptr) == 0
    assert (values[component[isolated]] == 0).all() and values[component[0]] > 0


def test_components_have_eigenvalues_of_their_own():
    matrix = sp.block_diag([np.ones((3, 3)), 2 * np.ones((2, 2)), [[0.0]]], format="csr")
    values, component = component_eigenpairs(sp.csr_array(matrix), np.ones(6))
    assert_array_equal(values, [3, 4, 0])
    assert_array_equal(component, [0, 0, 0, 1, 1, 2])


@pytest.mark.parametrize(
    "candidate", [np.ones(9), np.zeros(9), np.full(9, np.nan), np.full(9, np.inf), -np.ones(9)]
)
def test_vectors_that_are_none(candidate):
    assert component_eigenpairs(GRAPHS["weighted, sym"].adjacency, candidate) is None


# --- where eigenvalues lie -----------------------------------------------------------------------


@pytest.mark.parametrize("n_known", [0, 2])
@pytest.mark.parametrize("function", [lambda x: x**0, lambda x: x**2, lambda x: np.exp(3 * x)])
def test_sums_over_the_spectrum(n_known, function):
    graph = Graph(nx.gnp_random_graph(800, 0.01, seed=1)).normalized("sym")
    pairs = leading_eigenpairs(graph.adjacency, n_known, none(800), 1.0)
    places, counts = spectral_density(graph.adjacency, pairs.vectors)
    wanted = function(np.linalg.eigvalsh(graph.adjacency.toarray()))[: 800 - n_known].sum()
    assert counts @ function(places) == pytest.approx(wanted, rel=0.1)
    assert counts.min() >= 0


def test_few_different_eigenvalues():
    complete = Graph(nx.complete_graph(30)).normalized("sym").adjacency
    places, counts = spectral_density(complete, np.full((30, 1), 30**-0.5))
    assert_allclose(places, -1 / 29, rtol=1e-10)
    assert counts.sum() == pytest.approx(29)


def test_no_edges():
    places, counts = spectral_density(sp.csr_array((5, 5)), np.zeros((5, 0)))
    assert_array_equal(places, 0)
    assert counts.sum() == pytest.approx(5)
