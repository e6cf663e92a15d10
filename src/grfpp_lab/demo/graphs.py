"""The demo's four graphs, made on the spot, with a place to draw each node at."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np

from grfpp.datasets.surfaces.meshes import icosphere
from grfpp.graph import Graph
from grfpp.typing import FloatArray, IntArray

_TREE_DEPTH = 6


@dataclass(frozen=True)
class DemoGraph:
    """A graph and how to draw it."""

    #: What files and people call it.
    name: str
    title: str
    #: The graph, weights not yet normalised.
    graph: Graph
    #: Coordinates of the nodes, two each, or three when there are `faces`.
    positions: FloatArray
    #: Triangles of the surface to draw, where it is one.
    faces: IntArray | None
    #: The node whose kernel row is shown.
    start: int
    #: A sentence on where it comes from.
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


def _layout(source: nx.Graph) -> FloatArray:
    """Places by the forces of springs, always the same."""
    places = nx.spring_layout(source, weight=None, iterations=200, seed=5)
    return np.array([places[node] for node in source])
