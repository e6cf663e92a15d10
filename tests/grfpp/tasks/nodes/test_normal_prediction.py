"""Normals that are hidden and predicted."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.datasets import triangulated_sphere
from grfpp.tasks.nodes.normal_prediction import hide, hide_normals, predict_normals


def test_the_asked_share_is_hidden_and_the_same_seed_hides_the_same():
    sphere = triangulated_sphere(3)
    task, again, other = (hide_normals(sphere, 0.8, seed) for seed in (0, 0, 1))
    assert len(task.hidden) == round(0.8 * 642)
    assert not set(task.hidden) & set(task.known)
    assert len(task.hidden) + len(task.known) == 642
    np.testing.assert_array_equal(task.hidden, again.hidden)
    assert set(task.hidden) != set(other.hidden)


@pytest.mark.parametrize("mask", [0, 1, -0.2, 1.5, np.nan, "most", None])
def test_nonsensical_masks_are_refused(mask):
    with pytest.raises(grfpp.InputError, match=r"mask must be a number in \(0, 1\)"):
        hide_normals(triangulated_sphere(1), mask)


def test_masks_that_hide_nothing_or_everything_are_refused():
    sphere = triangulated_sphere(0)
    for mask, count in ((0.01, 0), (0.99, 12)):
        with pytest.raises(grfpp.InputError, match=f"hides {count} of the 12 vertices"):
            hide_normals(sphere, mask)


def test_vertices_without_a_normal_take_no_part():
    graph = grfpp.Graph(nx.path_graph(6))
    normals = np.zeros((6, 3))
    normals[[0, 1, 3, 5], 2] = 1.0
    task = hide(graph, normals, 0.5, 0)
    assert sorted([*task.hidden, *task.known]) == [0, 1, 3, 5]
    with pytest.raises(grfpp.InputError, match="1 vertices of the mesh have a normal"):
        hide(graph, normals * (np.arange(6) == 0)[:, None], 0.5)


def test_hidden_vertices_in_parts_without_a_known_one_are_counted_as_zero():
    parts = nx.disjoint_union_all([nx.cycle_graph(4)] * 30)
    normals = np.tile([0.0, 0.0, 1.0], (120, 1))
    task = hide(grfpp.Graph(parts), normals, 0.9, 0)
    with_known = {node // 4 for node in task.known.tolist()}
    lost = [node for node in task.hidden.tolist() if node // 4 not in with_known]
    assert task.n_cut_off == len(lost) > 0
    walks = {"how": "paper", "random_state": 0, "n_walks": 64}
    for options in ({}, {"how": "paper", "estimate": "exact"}, walks):
        found = predict_normals(task, **options)
        assert found.n_unreached == len(lost)
        assert found.cosine == pytest.approx(1 - len(lost) / len(task.hidden))
        assert (found.angles()[lost] == 90).all()
        assert np.isnan(found.angles()[task.known]).all()
