"""Triangle meshes: those of Thingi10K that the paper uses, and a sphere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grfpp._checks import whole
from grfpp._memory import require_bytes
from grfpp.datasets.fetch import fetch
from grfpp.datasets.registry import mesh_table
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io import load_mesh as read_mesh_file
from grfpp.io.meshes import Mesh, MeshWeights, merged
from grfpp.linalg.csr import readonly
from grfpp.typing import FloatArray, IntArray

#: Peak memory of a face: its sides in both orders, sorted, and their graph.
_BYTES_PER_FACE = 400


@dataclass(frozen=True, eq=False, repr=False)
class TriangleMesh:
    """Points, triangles, and the graph of their sides.

    Attributes
    ----------
    name
        Name in the data set.
    vertices
        Coordinates of the points, one row each; no two points are equal.
    faces
        Indices of the three points of each triangle.
    graph
        Node ``i`` is vertex ``i``; every side of a triangle is an edge of weight 1.

    Examples
    --------
    >>> from grfpp.datasets import triangulated_sphere
    >>> mesh = triangulated_sphere(1)
    >>> mesh.vertices.shape, mesh.faces.shape, mesh.graph.n_edges
    ((42, 3), (80, 3), 120)
    """

    name: str
    vertices: FloatArray
    faces: IntArray
    graph: Graph

    def __repr__(self) -> str:
        sizes = f"{len(self.vertices)} vertices, {len(self.faces)} faces"
        return f"TriangleMesh({self.name!r}, {sizes})"


def load_mesh(name: str | int, *, stand_in: bool = False, download: bool = True) -> TriangleMesh:
    """Load a mesh by its number in Thingi10K, such as ``"101332"``.

    `mesh_table` lists them. Some meshes of the paper are not available; `stand_in` replaces them by
    others of nearly the same size.

    Parameters
    ----------
    name
        The number of the mesh.
    stand_in
        Whether to load the stand-in of a mesh that is not available.
    download
        Whether to download a missing file.

    Examples
    --------
    >>> from grfpp.datasets import at_hand, load_mesh
    >>> if at_hand("101332"):
    ...     mesh = load_mesh("101332")

    References
    ----------
    Zhou and Jacobson, "Thingi10K: a dataset of 10,000 3D-printing models", 2016.
    """
    number = str(name)
    substitutes = {mesh.paper_name: mesh for mesh in mesh_table() if mesh.is_stand_in}
    if (mesh := substitutes.get(number)) is not None:
        if not stand_in:
            advice = f"pass stand_in=True, or load {mesh.name!r} ({mesh.n_vertices:,} vertices)"
            raise InputError(f"mesh {number} of the paper is not available", advice=advice)
        number = mesh.name
    return triangle_mesh(number, read_mesh_file(fetch(number, "meshes", download=download)))


def triangle_mesh(name: str, mesh: Mesh, weights: MeshWeights = "unit") -> TriangleMesh:
    """Make a mesh immutable, and add the graph of its triangles."""
    graph = Graph(mesh.triangulated().adjacency(weights))
    return TriangleMesh(name, readonly(mesh.vertices), readonly(mesh.faces), graph)


def triangulated_sphere(n_subdivisions: int = 3) -> TriangleMesh:
    """A mesh of the unit sphere: an icosahedron whose triangles are repeatedly cut into four.

    Examples
    --------
    >>> triangulated_sphere(3)
    TriangleMesh('sphere', 642 vertices, 1280 faces)
    """
    n = whole(n_subdivisions, "n_subdivisions", 0, 20)
    require_bytes(20 * 4**n * _BYTES_PER_FACE, f"a sphere of {20 * 4**n} faces")
    return triangle_mesh("sphere", merged(*icosphere(n)))


def icosphere(n_subdivisions: int) -> tuple[FloatArray, IntArray]:
    """Cut the triangles of an icosahedron into four, several times, on the unit sphere.

    Gives ``10 · 4^n + 2`` points and ``20 · 4^n`` triangles, each counter-clockwise from outside.
    """
    vertices, faces = _icosahedron()
    for _ in range(n_subdivisions):
        sides = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        edges, side_of = np.unique(sides, axis=0, return_inverse=True)
        middles = vertices[edges].mean(axis=1)
        middles /= np.linalg.norm(middles, axis=1, keepdims=True)
        ab, bc, ca = (side_of.reshape(-1, 3) + len(vertices)).T
        a, b, c = faces.T
        quarters = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        faces = np.concatenate([np.stack(quarter, axis=1) for quarter in quarters])
        vertices = np.concatenate([vertices, middles])
    return vertices, faces


def _icosahedron() -> tuple[FloatArray, IntArray]:
    """Two poles, and two rings of five vertices, one turned by 36 degrees."""
    upper = 2 * np.pi * np.arange(5) / 5
    angle = np.concatenate([upper, upper + np.pi / 5])
    height, radius = np.repeat([1, -1], 5) / np.sqrt(5), 2 / np.sqrt(5)
    rings = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
    vertices = np.concatenate([[[0, 0, 1]], rings, [[0, 0, -1]]])
    faces = []
    for i in range(5):
        u, v = 1 + i, 1 + (i + 1) % 5  # neighbours on the upper ring
        x, y = u + 5, v + 5  # those of the lower ring that follow them
        faces += [(0, u, v), (u, x, v), (v, x, y), (11, y, x)]
    return vertices, np.array(faces)
