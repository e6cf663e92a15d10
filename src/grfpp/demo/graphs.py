"""The demo's four graphs, made on the spot, with a place to draw each node at."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
import numpy.typing as npt

from grfpp.graph import Graph

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_TREE_DEPTH = 6


@dataclass(frozen=True)
class DemoGraph:
    """A graph and how to draw it.

    Attributes
    ----------
    name, title
        What files and people call it.
    graph
        The graph, weights not yet normalised.
    positions
        Coordinates of the nodes, two each, or three when there are `faces`.
    faces
        Triangles of the surface to draw, where it is one.
    start
        The node whose kernel row is shown.
    about
        A sentence on where it comes from.
    """

    name: str
    title: str
    graph: Graph
    positions: FloatArray
    faces: IntArray | None
    start: int
    about: str


def demo_graphs() -> list[DemoGraph]:
    """Make all four."""
    return [karate_club(), binary_tree(), erdos_renyi(), sphere()]


def karate_club() -> DemoGraph:
    """Zachary's karate club, from networkx."""
    source = nx.karate_club_graph()
    return DemoGraph(
        "karate",
        "Karate club",
        Graph(source),
        _layout(source),
        None,
        0,
        "Friendships in a karate club, weighted by what two members do together (Zachary 1977).",
    )


def binary_tree() -> DemoGraph:
    """A complete binary tree of 127 nodes, drawn in circles around its root."""
    source = nx.balanced_tree(2, _TREE_DEPTH)
    # Nodes are numbered level by level: level d holds 2^d - 1 ... 2^(d+1) - 2.
    number = np.arange(1, source.number_of_nodes() + 1)
    depth = np.floor(np.log2(number)).astype(int)
    turn = 2 * np.pi * (number - 2**depth + 0.5) / 2**depth
    positions = depth[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return DemoGraph(
        "tree",
        "Binary tree",
        Graph(source),
        positions,
        None,
        3,
        f"A complete binary tree of depth {_TREE_DEPTH}; the root is in the middle.",
    )


def erdos_renyi() -> DemoGraph:
    """A random graph of 100 nodes, connected."""
    n, p = 100, 0.06
    source = nx.fast_gnp_random_graph(n, p, seed=1)
    return DemoGraph(
        "erdos-renyi",
        "Erdős–Rényi graph",
        Graph(source),
        _layout(source),
        None,
        0,
        f"Every two nodes are joined with probability {p}.",
    )


def sphere(n_subdivisions: int = 3) -> DemoGraph:
    """A triangulated sphere."""
    vertices, faces = icosphere(n_subdivisions)
    return DemoGraph(
        "sphere",
        "Triangulated sphere",
        Graph((vertices, faces)),
        vertices,
        faces,
        0,
        f"An icosahedron whose triangles were cut into four {n_subdivisions} times.",
    )


def icosphere(n_subdivisions: int) -> tuple[FloatArray, IntArray]:
    """Cut the triangles of an icosahedron into four, several times, on the unit sphere.

    Returns
    -------
    vertices, faces
        ``10 · 4^n + 2`` points and ``20 · 4^n`` triangles, each counter-clockwise from outside.

    Examples
    --------
    >>> vertices, faces = icosphere(1)
    >>> vertices.shape, faces.shape
    ((42, 3), (80, 3))
    """
    vertices, faces = _icosahedron()
    for _ in range(n_subdivisions):
        sides = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        edges, side_of = np.unique(sides, axis=0, return_inverse=True)
        middles = _on_sphere(vertices[edges].mean(axis=1))
        ab, bc, ca = (side_of.reshape(-1, 3) + len(vertices)).T
        a, b, c = faces.T
        faces = np.concatenate(
            [np.stack(new, axis=1) for new in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        )
        vertices = np.concatenate([vertices, middles])
    return vertices, faces


def _icosahedron() -> tuple[FloatArray, IntArray]:
    """Two poles and two rings of five."""
    turn = 2 * np.pi * np.arange(5) / 5
    height, ring = 1 / np.sqrt(5), 2 / np.sqrt(5)
    upper = np.stack([ring * np.cos(turn), ring * np.sin(turn), np.full(5, height)], axis=1)
    turn = turn + np.pi / 5
    lower = np.stack([ring * np.cos(turn), ring * np.sin(turn), np.full(5, -height)], axis=1)
    vertices = np.concatenate([[[0, 0, 1]], upper, lower, [[0, 0, -1]]])
    faces = []
    for i in range(5):
        u, v = 1 + i, 1 + (i + 1) % 5  # on the upper ring
        x, y = u + 5, v + 5  # below, half a turn of the ring further
        faces += [(0, u, v), (u, x, v), (v, x, y), (11, y, x)]
    return vertices, np.array(faces)


def _on_sphere(points: FloatArray) -> FloatArray:
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def _layout(source: nx.Graph) -> FloatArray:
    """Places by the forces of springs, always the same."""
    places = nx.spring_layout(source, weight=None, iterations=200, seed=5)
    return np.array([places[node] for node in source])
