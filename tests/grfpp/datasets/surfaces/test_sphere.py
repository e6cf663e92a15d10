"""A triangulated sphere."""

import numpy as np

from grfpp.datasets import (
    triangulated_sphere,
)


def test_sphere():
    sphere = triangulated_sphere(2)
    assert (sphere.graph.n_nodes, sphere.graph.n_edges, len(sphere.faces)) == (162, 480, 320)
    np.testing.assert_allclose(np.linalg.norm(sphere.vertices, axis=1), 1)
