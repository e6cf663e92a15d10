"""The graphs of pooled walks: what they are called is what they are."""

import numpy as np
import pytest

from grfpp_lab.experiments import graphs as shared
from grfpp_lab.experiments.refined import graphs


def test_points_are_joined_by_gaussian_weights():
    few = graphs.nearest_neighbours(60)
    assert not few.is_directed
    assert few.out_degree.min() >= graphs.N_NEIGHBOURS
    points = np.random.default_rng(0).standard_normal((60, 5))
    i, j = few.adjacency.nonzero()
    distance = np.linalg.norm(points[i] - points[j], axis=1)
    np.testing.assert_allclose(few.adjacency.toarray()[i, j], np.exp(-((distance / 0.3) ** 2)))
    all_pairs = graphs.dense(30)
    assert all_pairs.n_edges == 30 * 29 / 2
    weight = np.exp(-(np.linalg.norm(points[0] - points[1]) ** 2) / 0.5)
    # The same generator, and so the same first points.
    assert all_pairs.adjacency.toarray()[0, 1] == pytest.approx(weight)


def test_log_normal_weights_stand_on_the_same_edges_both_ways():
    plain, weighted = shared.load("karate"), graphs.load(f"karate{graphs.LOG_NORMAL}")
    assert not weighted.is_directed
    np.testing.assert_array_equal(plain.indices, weighted.indices)
    logs = np.log(weighted.weights)
    assert abs(logs.std() - graphs.SIGMA) < 0.3
    assert graphs.title_of(f"karate{graphs.LOG_NORMAL}") == "Karate, log-normal"


@pytest.mark.parametrize("name", [graphs.SCALE_FREE, graphs.GRID, graphs.RANDOM, graphs.DENSE])
def test_sizes_are_known_before(name):
    assert graphs.load(name).n_nodes == graphs.n_nodes_of(name)


def test_what_is_not_at_hand(no_data):
    assert "is not at hand" in graphs.why_not(graphs.MESH + graphs.LOG_NORMAL)
    assert "is not at hand" in graphs.why_not(graphs.CORA)
    assert graphs.why_not(graphs.LARGE_REGULAR) is None
    assert graphs.why_not("er-20") is None
