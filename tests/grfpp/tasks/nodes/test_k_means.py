"""k-means with probabilities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from grfpp.tasks.nodes.k_means import soft_clusters


def clouds(distance):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(x, 0.2, (50, 2)) for x in (0.0, distance, 2 * distance)])


@pytest.mark.parametrize("distance", [0.3, 1.0, 5.0])
def test_the_cluster_is_the_likeliest(distance):
    found = soft_clusters(clouds(distance), 3, 10, 0)
    assert_array_equal(found.probabilities.argmax(axis=1), found.labels)
    assert_allclose(found.probabilities.sum(axis=1), 1)


def test_clusters_far_apart_are_sure():
    near, far = (soft_clusters(clouds(each), 3, 10, 0).probabilities for each in (0.5, 5.0))
    assert far.max(axis=1).min() > 0.999
    assert near.max(axis=1).min() < 0.7


def test_points_in_few_places():
    found = soft_clusters(np.repeat([[0.0], [1.0]], 3, axis=0), 3, 2, 0)
    assert np.isfinite(found.probabilities).all()
    assert found.labels[0] != found.labels[3]
