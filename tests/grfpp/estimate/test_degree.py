import networkx as nx
import numpy as np
import pytest
from small_graphs import directed, karate

import grfpp
from grfpp import Cosine, Diffusion, Graph, InputError, Matched, WalkOptions
from grfpp.estimate import degree as module
from grfpp.estimate.deflation import deflation_of
from grfpp.estimate.degree import DEGREES, at_equal_steps, predicted_error, with_fixed_degree
from grfpp.walks.planning import plan_walks


@pytest.fixture(scope="module")
def W():
    return Graph(nx.barabasi_albert_graph(600, 4, seed=1)).normalized("sym")


@pytest.mark.parametrize("degree", DEGREES)
def test_all_degrees_take_the_same_steps(degree):
    options = at_equal_steps(WalkOptions(degree="auto", n_walks=16), degree)
    assert options.degree == degree
    total = 2 * degree * options.n_walks * options.termination.mean
    assert total == pytest.approx(4 * 16 * 9)


@pytest.mark.parametrize("lam", [2.0, 8.0])
@pytest.mark.parametrize("n_vectors", [0, 8])
def test_predictions_come_true(lam, n_vectors):
    W = Graph(nx.random_regular_graph(6, 600, seed=1)).normalized("sym")
    kernel = Diffusion(lam)
    deflation = deflation_of(W, kernel, n_vectors)
    exact = kernel.exact(W)
    for degree in (2, 4):
        options = WalkOptions(degree=degree, n_walks=8, seed=0)
        predicted = predicted_error(W, kernel, options, deflation)
        K = grfpp.sample(W, kernel, degree, 8, seed=0, deflate=n_vectors, symmetrize=False)
        measured = np.linalg.norm(K.toarray() - exact) / np.linalg.norm(exact)
        assert 0.6 < predicted / measured < 1.6


def test_auto_is_recorded_and_made_again(W):
    K = grfpp.sample(W, Diffusion(20.0), "auto", 8, seed=3)
    assert K.degree in DEGREES and K.meta["degree"] == K.degree > 1
    law = Matched(K.meta["termination"]["mean"])
    again = grfpp.sample(W, Diffusion(20.0), K.degree, K.meta["n_walks"], law, seed=3)
    np.testing.assert_array_equal(K.rows([5]), again.rows([5]))
    block = grfpp.sample_submatrix(W, Diffusion(5.0), [0, 1], degree="auto", seed=0)
    assert block.shape == (2, 2)


def test_the_lowest_of_equals_and_none_whose_root_diverges(monkeypatch):
    options = WalkOptions(degree="auto", n_walks=999)
    assert with_fixed_degree(karate(), Diffusion(1.0), options).degree == 1
    monkeypatch.setattr(module, "DEGREES", (1, 2, 4))
    kernel = Cosine()  # the modulation's radius is that of the first zero
    options = with_fixed_degree(karate(0.7), kernel, WalkOptions(degree="auto", seed=0))
    assert options.degree in DEGREES
    with pytest.raises(grfpp.DivergentSeriesError):
        grfpp.sample(karate(0.9), kernel, "auto", seed=0)


def test_refusals():
    with pytest.raises(InputError, match="symmetric weights"):
        grfpp.sample(Graph(directed()).normalized("rw", 0.9), Diffusion(1.0), "auto")
    with pytest.raises(InputError, match="degree must be a number here"):
        plan_walks(karate(), Diffusion(1.0), WalkOptions(degree="auto"))
