"""Meshes coloured by angular errors."""

import numpy as np

from grfpp.datasets import triangulated_sphere
from grfpp.tasks.normals import hide_normals, predict_normals
from grfpp_lab.experiments.normals.claims import PICTURE
from grfpp_lab.experiments.normals.picture import LIMIT, error_surfaces, picture_panels


def test_a_surface_a_method_with_the_angles_that_it_predicts():
    sphere = triangulated_sphere(2)
    task = hide_normals(sphere, 0.8, 3)
    parameters = {"how": "paper", "n_walks": 4, "random_state": 0, "n_jobs": 1}
    exact, grf, stitched = error_surfaces(sphere, task, {**parameters, "degree": 1}, (0, 0, 1))
    titles = ["exact kernel", "pooled, degree 1", "pooled, degree 2"]
    assert [each.title for each in (exact, grf, stitched)] == titles
    assert exact.mesh is grf.mesh is stitched.mesh
    assert exact.mesh.towards == (0, 0, 1)
    assert exact.limit == LIMIT
    for surface, degree in ((grf, 1), (stitched, 2)):
        angles = predict_normals(task, **parameters, degree=degree).angles()
        np.testing.assert_array_equal(surface.values, angles)
        assert f"{np.nanmean(angles):.1f}°" in surface.note
    assert np.nanmean(exact.values) < np.nanmean(grf.values)


def test_kriging_stands_beside_the_papers_sums():
    sphere = triangulated_sphere(2)
    task = hide_normals(sphere, 0.8, 3)
    panels = error_surfaces(sphere, task, {"random_state": 0, "n_walks": 4})
    assert [each.title for each in panels] == [
        "kriging",
        "sum, exact kernel",
        "sum, pooled, degree 2",
    ]
    kriging, exact, _ = (each.values for each in panels)
    np.testing.assert_array_equal(kriging, predict_normals(task, random_state=0).angles())
    np.testing.assert_array_equal(
        exact, predict_normals(task, how="paper", estimate="exact").angles()
    )
    assert np.nanmean(kriging) < np.nanmean(exact)


def test_the_picture_is_left_out_without_its_mesh(no_data):
    row = {"part": PICTURE, "graph": "mesh 98480", "sigma": 0.8, "seed": 12345}
    assert picture_panels([{**row, "termination": "geometric:0.1"}]) == []
