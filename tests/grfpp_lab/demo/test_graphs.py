"""The demo's graphs are what they are called, and stay the same."""

import networkx as nx
import numpy as np
import pytest

from grfpp_lab.demo.graphs import demo_graphs, icosphere


@pytest.fixture(scope="module")
def graphs():
    return {each.name: each for each in demo_graphs()}


def test_sizes(graphs):
    found = {name: (each.graph.n_nodes, each.graph.n_edges) for name, each in graphs.items()}
    assert found["karate"] == (34, 78)
    assert found["tree"] == (127, 126)
    assert found["sphere"] == (642, 1920)
    n, m = found["erdos-renyi"]
    assert n == 100
    assert abs(m - 0.06 * 100 * 99 / 2) < 4 * np.sqrt(0.06 * 100 * 99 / 2)


def test_all_are_connected_and_have_a_place_for_every_node(graphs):
    for each in graphs.values():
        assert nx.is_connected(nx.from_scipy_sparse_array(each.graph.adjacency))
        n_coordinates = 2 if each.faces is None else 3
        assert each.positions.shape == (each.graph.n_nodes, n_coordinates)
        assert len(np.unique(each.positions.round(6), axis=0)) == each.graph.n_nodes


def test_they_are_the_same_every_time(graphs):
    for again in demo_graphs():
        np.testing.assert_array_equal(again.positions, graphs[again.name].positions)
        assert (again.graph.adjacency != graphs[again.name].graph.adjacency).nnz == 0


def test_the_tree_is_drawn_level_by_level(graphs):
    tree = graphs["tree"]
    levels = nx.single_source_shortest_path_length(
        nx.from_scipy_sparse_array(tree.graph.adjacency), 0
    )
    radii = np.linalg.norm(tree.positions, axis=1)
    np.testing.assert_allclose(radii, [levels[node] for node in range(127)], atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_the_icosphere_is_a_closed_surface_that_looks_outward(n):
    vertices, faces = icosphere(n)
    assert (len(vertices), len(faces)) == (10 * 4**n + 2, 20 * 4**n)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 1)
    # Every side is passed once in each direction: closed, and all triangles turn the same way.
    sides = [tuple(side) for face in faces for side in zip(face, np.roll(face, -1), strict=True)]
    assert len(set(sides)) == len(sides)
    assert {(b, a) for a, b in sides} == set(sides)
    assert len(vertices) - len(sides) // 2 + len(faces) == 2
    a, b, c = vertices[faces].swapaxes(0, 1)
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c)
    assert outward.min() > 0
    lengths = np.linalg.norm(a - b, axis=1)
    assert lengths.max() < 1.3 * lengths.min()
