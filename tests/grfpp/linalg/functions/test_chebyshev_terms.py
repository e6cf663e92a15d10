"""Chebyshev polynomials of a weight matrix, against dense algebra."""

import networkx as nx
import numpy as np
import pytest
from numpy.polynomial import chebyshev
from numpy.testing import assert_allclose

import grfpp
from grfpp.linalg.functions.chebyshev_terms import ChebyshevTerms, chebyshev_points

KARATE = grfpp.Graph(nx.karate_club_graph()).normalized("sym", 0.7)
LOOPS = grfpp.Graph(np.eye(34) + nx.to_numpy_array(nx.karate_club_graph())).normalized("sym")
C = np.random.default_rng(0).standard_normal((3, 8))


def dense(graph, terms, c):
    values, vectors = np.linalg.eigh(graph.adjacency.toarray())
    return (vectors * chebyshev.chebval(values / terms.radius, c)) @ vectors.T


@pytest.mark.parametrize("graph", [KARATE, LOOPS], ids=["karate", "with loops"])
@pytest.mark.parametrize("n_terms", [1, 2, 3, 8])
def test_entries_diagonals_products_and_pairings(graph, n_terms):
    terms, c = ChebyshevTerms(graph), C[:, :n_terms]
    exact = np.array([dense(graph, terms, each) for each in c])
    rows, columns = np.array([3, 3, 0, 7]), np.array([5, 1])
    for a, b in ((rows, columns), (columns, rows)):
        assert_allclose(terms.entries(c, a, b), exact[:, a][:, :, b], atol=1e-12)
        assert_allclose(terms.entries(c[:1], a, b), exact[:1, a][:, :, b], atol=1e-12)
    assert_allclose(terms.diagonals(c, rows), exact[:, rows, rows], atol=1e-12)
    V = np.random.default_rng(1).standard_normal((2, 34, 70))
    assert_allclose(terms.product(c[0], V[0]), exact[0] @ V[0], atol=1e-12)
    assert_allclose(terms.products(c, V[0], rows), exact[:, rows] @ V[0], atol=1e-12)
    found = terms.pairings(V[0], V[1], n_terms)
    assert_allclose(c[0] @ found, np.sum(V[0] * (exact[0] @ V[1])), rtol=1e-10)


def test_the_number_of_threads_changes_no_bit():
    rows, V = np.arange(34), np.random.default_rng(0).standard_normal((34, 200))
    one, two = (ChebyshevTerms(KARATE, n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.entries(C, rows, rows), two.entries(C, rows, rows))
    assert np.array_equal(one.product(C[0], V), two.product(C[0], V))
    assert np.array_equal(one.products(C, V, rows[:5]), two.products(C, V, rows[:5]))


def test_many_rows_are_combined_in_parts(monkeypatch):
    monkeypatch.setattr("grfpp.linalg.functions.chebyshev_terms._KEPT", 34 * 34 * 3)
    terms, every = ChebyshevTerms(KARATE, 1), np.arange(34)
    exact = np.array([dense(KARATE, terms, each) for each in C])
    assert_allclose(terms.entries(C, every, every), exact, atol=1e-12)


def test_a_graph_without_edges():
    terms = ChebyshevTerms(grfpp.Graph(np.zeros((3, 3))))
    c = np.array([[2.0, 5.0, 0.5]])  # T_2(0) = -1
    assert_allclose(terms.entries(c, np.array([0, 1]), np.array([1])), [[[0.0], [1.5]]])
    assert_allclose(terms.diagonals(c, np.array([2])), [[1.5]])


def test_values_at_points_give_coefficients():
    x, matrix = chebyshev_points(16, 2.0)
    assert_allclose(matrix[:8] @ chebyshev.chebval(x / 2.0, C[0]), C[0], atol=1e-13)
    assert np.abs(matrix[8:] @ chebyshev.chebval(x / 2.0, C[0])).max() < 1e-13
