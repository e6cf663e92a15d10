"""Harmonic and biharmonic fields."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp_lab.experiments.normals.harmonic import biharmonic, harmonic

GRAPH = grfpp.Graph(nx.les_miserables_graph())
RNG = np.random.default_rng(1)
KNOWN = np.sort(RNG.choice(77, size=20, replace=False))
HIDDEN = np.setdiff1d(np.arange(77), KNOWN)
VALUES = RNG.standard_normal((20, 2))
A = GRAPH.adjacency.toarray()
DEGREES = A.sum(axis=1)
L = np.diag(DEGREES) - A


@pytest.mark.parametrize(
    ("fill", "Q"),
    [
        (harmonic, L),
        (biharmonic, L @ L),
        (lambda *given: biharmonic(*given, "random-walk"), L @ np.diag(1 / DEGREES) @ L),
    ],
    ids=["harmonic", "biharmonic", "random walk"],
)
def test_dense_algebra_gives_the_same(fill, Q):
    found = fill(GRAPH, KNOWN, VALUES)
    np.testing.assert_array_equal(found[KNOWN], VALUES)
    expected = np.linalg.solve(Q[np.ix_(HIDDEN, HIDDEN)], -Q[np.ix_(HIDDEN, KNOWN)] @ VALUES)
    np.testing.assert_allclose(found[HIDDEN], expected, atol=1e-6)
    np.testing.assert_allclose(fill(GRAPH, KNOWN, VALUES[:, 0]), found[:, 0], atol=1e-6)


@pytest.mark.parametrize("fill", [harmonic, biharmonic])
def test_parts_without_a_known_node_get_the_mean(fill):
    graph = nx.disjoint_union(nx.path_graph(5), nx.cycle_graph(4))
    graph.add_node("alone")
    field = fill(graph, [0, 4], [1.0, 5.0])
    assert field[2] == pytest.approx(3.0)
    assert (np.diff(field[:5]) > 0).all()
    np.testing.assert_array_equal(field[5:], 3.0)


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_units_of_weights_and_values_do_not_matter(factor):
    graph = nx.path_graph(5)
    nx.set_edge_attributes(graph, factor, "weight")
    for fill in (harmonic, biharmonic):
        field = fill(graph, [0, 1, 4], [0.0, factor, 4 * factor])
        plain = fill(nx.path_graph(5), [0, 1, 4], [0.0, 1.0, 4.0])
        np.testing.assert_allclose(field / factor, plain, atol=1e-6)


def test_bad_input_is_refused():
    directed = grfpp.Graph([[0, 1], [0, 0]])
    for given, reason in (
        *(((directed, [0], [1.0]), "directed"), ((GRAPH, [3, 3], [1.0, 2.0]), "node 3")),
        ((GRAPH, [3], [np.nan]), "finite"),
    ):
        with pytest.raises(grfpp.InputError, match=reason):
            harmonic(*given)
