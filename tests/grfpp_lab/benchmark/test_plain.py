"""Plain Python makes the same features as the engine, on average."""

from random import Random

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm

from grfpp import Graph
from grfpp_lab.benchmark import plain
from grfpp_lab.benchmark.sampling import walk_plan
from grfpp_lab.benchmark.settings import N_WALKS, P_HALT


@pytest.fixture
def graph():
    return Graph(nx.karate_club_graph()).normalized("sym")


def rows(graph, n_walks, seed):
    modulation = walk_plan(graph).modulation.tolist()
    cuts = list(zip(graph.indptr[:-1], graph.indptr[1:], strict=True))
    features, steps = plain.list_features(
        [graph.indices[a:b].tolist() for a, b in cuts],
        [graph.weights[a:b].tolist() for a, b in cuts],
        *(0, n_walks, P_HALT, modulation, Random(seed)),
    )
    dense = np.zeros(graph.n_nodes)
    dense[list(features)] = list(features.values())
    yield dense, steps
    yield plain.array_features(
        *(graph, 0, n_walks, P_HALT, modulation, np.random.default_rng(seed))
    )


def test_mean_and_number_of_steps(graph):
    exact = expm(graph.adjacency.toarray() / 2)[0]
    n_walks = 20_000
    for features, steps in rows(graph, n_walks, seed=1):
        assert np.linalg.norm(features - exact) / np.linalg.norm(exact) < 0.02
        assert steps / n_walks == pytest.approx(9, rel=0.03)


def test_dead_ends(graph):
    lonely = Graph(np.zeros((2, 2)))
    for features, steps in rows(lonely, 3, seed=0):
        assert features.tolist() == [1.0, 0.0]
        assert steps == 0


@pytest.mark.parametrize("run", [plain.time_lists, plain.time_arrays])
def test_timing_stops_at_the_budget_or_at_the_last_node(graph, run):
    modulation = walk_plan(graph).modulation.tolist()
    steps, seconds = run(graph, N_WALKS, P_HALT, modulation, 60.0)
    assert steps == pytest.approx(34 * N_WALKS * 9, rel=0.25)
    few, short = run(graph, N_WALKS, P_HALT, modulation, 0.0)
    assert 0 < few < steps
    assert short < seconds
