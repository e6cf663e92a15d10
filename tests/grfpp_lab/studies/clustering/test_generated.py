"""Generated graphs: connected, the same every time, with what they are named after."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from grfpp_lab.studies.clustering import generated
from grfpp_lab.studies.clustering.generated import CHOOSING_SEEDS, FAMILIES, JUDGING_SEEDS


@pytest.mark.parametrize("family", FAMILIES)
def test_graphs_are_a_function_of_the_seed(family):
    one, again = (FAMILIES[family](3) for _ in range(2))
    assert one.family == family
    assert (one.adjacency != again.adjacency).nnz == 0
    assert_array_equal(one.truth, again.truth)
    graph = nx.from_scipy_sparse_array(one.adjacency)
    assert nx.is_connected(graph)
    assert nx.number_of_selfloops(graph) == 0
    assert len(one.truth) == len(graph)
    assert one.n_clusters >= 2
    assert (one.adjacency != one.adjacency.T).nnz == 0


def test_nothing_is_judged_on_what_it_was_chosen_on():
    assert not set(CHOOSING_SEEDS) & set(JUDGING_SEEDS)
    assert len(JUDGING_SEEDS) == 30


def test_hubs_and_whiskers_are_there():
    made = generated.hubs_and_whiskers(0)
    degree = np.diff(made.adjacency.indptr)
    assert degree.max() > 5 * np.median(degree)
    assert sum(1 for _ in nx.bridges(nx.from_scipy_sparse_array(made.adjacency))) > 10


def test_mixing_is_the_share_of_edges_between_blocks():
    rng = np.random.default_rng(0)
    edges, truth = generated.block_model(np.full(4, 500), 20.0, 0.4, 0.7, rng)
    between = np.mean(truth[edges[0]] != truth[edges[1]])
    assert between == pytest.approx(0.4 * 0.75, abs=0.02)
