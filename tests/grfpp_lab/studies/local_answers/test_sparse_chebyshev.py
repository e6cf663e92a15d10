"""Both forms of the rival give the block of the same polynomial."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.linalg.functions import chebyshev
from grfpp_lab.studies.local_answers.sparse_chebyshev import FORMS, coefficients, held_entries

GRAPHS = {
    "grid": grfpp.Graph(nx.grid_2d_graph(9, 9)).normalized("sym"),
    "weighted": grfpp.Graph(nx.karate_club_graph()).normalized("sym"),
    "other radius": grfpp.Graph(nx.barabasi_albert_graph(60, 2, seed=0)),
}


@pytest.mark.parametrize("degree", range(7))
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", GRAPHS)
def test_the_block_of_a_polynomial(name, form, degree):
    W, kernel = GRAPHS[name], grfpp.Diffusion(1.0)
    nodes = np.array([5, 0, 17, 30, 2])
    c = coefficients(W, kernel, degree)
    whole = chebyshev.combined(W, c, W.spectral_radius(), np.eye(W.n_nodes))
    found = FORMS[form](W, c, nodes)
    np.testing.assert_allclose(found, whole[np.ix_(nodes, nodes)], atol=1e-12 * np.abs(whole).max())


def test_how_far_vectors_spread():
    W = GRAPHS["grid"]
    assert held_entries(W, np.array([40]), 2) == 4  # T_1: the neighbours
    assert held_entries(W, np.array([40, 41]), 4) == 2 * 9  # T_2: two steps, or none
