import numpy as np
from numpy.testing import assert_allclose
from small_graphs import directed, karate

from grfpp import Graph
from grfpp.walks.growth import log_growth


def test_powers_of_symmetric_weights_grow_by_the_spectral_radius():
    assert_allclose(log_growth(karate(0.7), 5), np.arange(6) * np.log(0.7))


def test_directed_powers_are_no_larger():
    graph = Graph(directed()).normalized("rw", 1.3)
    W = graph.adjacency.toarray()
    wanted = [np.linalg.norm(np.linalg.matrix_power(W, k), np.inf) for k in range(9)]
    assert_allclose(log_growth(graph, 8), np.log(wanted), atol=1e-12)


def test_without_a_cycle_powers_end():
    growth = log_growth(Graph(np.triu(np.ones((5, 5)), 1)), 8)
    assert np.isfinite(growth[:5]).all() and (growth[5:] == -np.inf).all()


def test_beyond_what_is_computed_it_goes_on_as_steep():
    chain = Graph(np.eye(400, k=1) * 2.0)
    assert_allclose(log_growth(chain, 300), np.arange(301) * np.log(2.0))


def test_a_graph_without_edges():
    growth = log_growth(Graph(np.zeros((3, 3))), 3)
    assert growth[0] == 0.0 and (growth[1:] == -np.inf).all()
