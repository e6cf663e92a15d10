"""A triangulated sphere."""

from __future__ import annotations

import numpy as np

from grfpp.datasets.surfaces.meshes import TriangleMesh, triangle_mesh
from grfpp.io.meshes.mesh import merged
from grfpp.typing import FloatArray, IntArray


def triangulated_sphere(n_subdivisions: int = 3) -> TriangleMesh:
    """An icosahedron whose triangles are cut into four several times, as a mesh.

    Examples
    --------
    >>> triangulated_sphere(3)
    TriangleMesh('sphere', 642 vertices, 1280 faces)
    """
    return triangle_mesh("sphere", merged(*icosphere(n_subdivisions)))


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
