"""The graphs of the benchmark are what their names say."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from grfpp_lab.benchmark import graphs


def test_grid():
    graph = graphs.grid(10_000)
    assert (graph.n_nodes, graph.n_edges) == (10_000, 2 * 100 * 99)
    assert sorted(np.bincount(graph.out_degree)) == [0, 0, 4, 4 * 98, 98 * 98]


@pytest.mark.parametrize("n_nodes", [1, 2, 1000])
def test_any_number_of_nodes(n_nodes):
    assert graphs.grid(n_nodes).n_nodes in (1, 1024)
    assert graphs.random_regular(n_nodes).n_nodes == n_nodes
    assert graphs.scale_free(n_nodes).n_nodes == n_nodes


def test_random_regular():
    graph = graphs.random_regular(10_000)
    assert not graph.is_directed
    assert graph.out_degree.max() == 10
    assert np.mean(graph.out_degree == 10) > 0.99
    assert set(graph.weights) == {1.0}


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


def test_dense():
    graph = graphs.dense(400, 100)
    assert not graph.is_directed
    assert graph.out_degree.mean() == pytest.approx(100, rel=0.03)
    assert graph.adjacency.diagonal().max() == 0


def test_the_same_every_time():
    for make in (graphs.random_regular, graphs.scale_free):
        assert np.array_equal(make(500).indices, make(500).indices)


def test_mesh_file(monkeypatch, tmp_path):
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path))
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"thingi10k_112546\.stl\.zip is not at hand"):
        graphs.mesh_file(11_700)
    (tmp_path / "meshes").mkdir()
    for number in (112546, 104969):
        (tmp_path / "meshes" / f"thingi10k_{number}.stl.zip").touch()
    path = tmp_path / "meshes" / "thingi10k_112546.stl.zip"
    assert graphs.mesh_file(11_700) == (path, "")
    assert graphs.mesh_file(15_527)[1] == "stand-in of 15,521"
