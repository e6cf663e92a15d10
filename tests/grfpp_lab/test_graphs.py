"""Graphs that are made on the spot are what their names say."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from grfpp.datasets import mesh_table
from grfpp_lab import graphs


def test_scale_free():
    graph = graphs.scale_free(20_000)
    degree = graph.out_degree
    assert not graph.is_directed
    assert connected_components(graph.adjacency)[0] == 1
    # Every node brings five links, some of which meet.
    assert 9.8 < degree.mean() <= 10
    # The tail is a power law: P(degree ≥ k) ~ k^-2, so the largest is about m √n.
    assert 200 < degree.max() < 3000
    for k in (20, 40, 80):
        assert np.mean(degree >= k) == pytest.approx(30 / (k * (k + 1)), rel=0.25)


def test_block_models_and_lfr():
    made, again = (graphs.block_model(1000, 4, 6.0, 0.8, n_hubs=3, seed=2) for _ in range(2))
    assert (again.labels == made.labels).all()
    assert np.sort(made.graph.out_degree)[-3:].min() >= 25
    # The share of edges inside of communities; by chance 0.25 and 0.15.
    for each, low, high in ((made, 0.7, 0.9), (graphs.lfr(1000, 0.4, 8.0, 0), 0.4, 1.0)):
        assert each.graph.n_nodes == len(each.labels) == 1000
        source, target = each.graph.adjacency.nonzero()
        assert low < (each.labels[source] == each.labels[target]).mean() < high


def test_sizes_of_the_papers_meshes_and_of_spheres_are_those_of_the_data():
    sizes = [mesh.paper_vertices for mesh in mesh_table() if mesh.role == "scaling"]
    assert [mesh.n_nodes for mesh in graphs.PAPER_MESHES] == sizes
    assert graphs.LARGEST.dense_seconds is None
    for name, n_nodes in graphs.spheres((1, 2, 3)):
        assert len(graphs.mesh_named(name).vertices) == n_nodes


def test_what_is_not_at_hand_is_named_by_its_file(no_data):
    assert graphs.why_absent("60246") == "meshes/thingi10k_60246.stl.zip is not at hand"
    (no_data / "meshes").mkdir()
    (no_data / "meshes" / "thingi10k_60246.stl.zip").touch()
    assert graphs.why_absent("60246") is None


def test_grids_their_patches_and_scattered_nodes():
    grid = graphs.grid(10_000)
    assert (grid.n_nodes, grid.n_edges) == (10_000, 2 * 100 * 99)
    assert sorted(np.bincount(grid.out_degree)) == [0, 0, 4, 4 * 98, 98 * 98]
    grid = graphs.grid(100)
    assert graphs.grid_patch(grid, 4).tolist() == [44, 45, 54, 55]
    assert len(graphs.grid_patch(grid, 5)) == 5
    assert len(np.unique(graphs.random_nodes(grid, 20, seed=0))) == 20
    assert len(graphs.random_nodes(grid, 200, seed=0)) == 100


def test_random_graphs_of_any_size():
    for make in (graphs.random_regular, graphs.scale_free):
        assert np.array_equal(make(500).indices, make(500).indices)
    for n_nodes in (1, 2, 1000):
        assert graphs.grid(n_nodes).n_nodes in (1, 1024)
        assert graphs.random_regular(n_nodes).n_nodes == n_nodes
        assert graphs.scale_free(n_nodes).n_nodes == n_nodes
    regular = graphs.random_regular(10_000)
    assert not regular.is_directed
    assert regular.out_degree.max() == 10
    assert np.mean(regular.out_degree == 10) > 0.99
    assert set(regular.weights) == {1.0}
    dense = graphs.dense(400, 100)
    assert not dense.is_directed
    assert dense.out_degree.mean() == pytest.approx(100, rel=0.03)
    assert dense.adjacency.diagonal().max() == 0
