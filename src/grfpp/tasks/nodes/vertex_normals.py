"""Normals at the vertices of a triangle mesh."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from grfpp.arguments import one_of
from grfpp.errors import InputError
from grfpp.io.meshes.mesh import merged
from grfpp.tasks.nodes.directions import unit_vectors
from grfpp.typing import FloatArray

Weighting = Literal["angle", "area", "equal"]


def vertex_normals(
    vertices: npt.ArrayLike, faces: npt.ArrayLike, weighting: Weighting = "angle"
) -> FloatArray:
    """Unit normals at the vertices, the weighted means of those of the triangles around.

    Parameters
    ----------
    vertices, faces
        The mesh; triangles counter-clockwise from outside.
    weighting
        How much a triangle counts: by its ``"angle"`` at the vertex, which does not depend on how
        a flat face is cut into triangles (and is what trimesh does), by its ``"area"``, or all
        ``"equal"``.

    Returns
    -------
    numpy.ndarray
        A row a vertex; zeros where a vertex has no triangle, where all its triangles are shrunk
        to lines, or where their normals cancel.

    Examples
    --------
    >>> corner = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> vertex_normals(corner, [[0, 2, 1], [0, 1, 3], [0, 3, 2]])[0]
    array([-0.57735027, -0.57735027, -0.57735027])
    """
    one_of(weighting, "weighting", ("angle", "area", "equal"))
    mesh = merged(vertices, faces)  # checks; equal points are one only in what it returns
    if mesh.vertices.shape[1] != 3:
        raise InputError(f"normals need vertices of shape (n, 3), found {np.shape(vertices)}")
    if mesh.largest > 3:
        raise InputError(f"faces must have shape (n, 3), found faces of {mesh.largest} corners")
    if not len(mesh.faces):
        raise InputError("the mesh has no faces, so it has no normals")
    triangles = np.asarray(faces, dtype=np.int64)
    points = np.asarray(vertices, dtype=np.float64)
    points = points - points.mean(axis=0)
    # In units of the mesh's own size no product leaves the range of float64.
    points /= np.abs(points).max() or 1.0
    corners = points[triangles]
    normals = _across(corners)
    if weighting != "area":
        normals = unit_vectors(normals)
    shares = _angles(corners) if weighting == "angle" else np.ones(triangles.shape)

    def summed(values: FloatArray) -> FloatArray:
        weights = (shares * values[:, np.newaxis]).ravel()
        return np.asarray(np.bincount(triangles.ravel(), weights, len(points)))

    sums = np.stack([summed(each) for each in normals.T], axis=1)
    # What is left of normals that cancel is rounding, and points anywhere.
    total = summed(np.linalg.norm(normals, axis=1))
    sums[np.linalg.norm(sums, axis=1) <= 1e-12 * total] = 0.0
    return unit_vectors(sums)


def _across(corners: FloatArray) -> FloatArray:
    """Vectors across triangles, twice as long as their areas; zero for those shrunk to lines."""
    sides = corners[:, [1, 2, 0]] - corners
    across = np.cross(sides[:, 0], sides[:, 1])
    # Such a triangle has a wide angle, and rounding would tell where its normal points.
    longest = (sides**2).sum(axis=2).max(axis=1)
    across[np.linalg.norm(across, axis=1) <= 1e-12 * longest] = 0.0
    return across


def _angles(corners: FloatArray) -> FloatArray:
    """Angles of triangles at their corners."""
    sides = unit_vectors((corners[:, [1, 2, 0]] - corners).reshape(-1, 3)).reshape(-1, 3, 3)
    return np.asarray(np.arccos(np.clip(-(sides * sides[:, [2, 0, 1]]).sum(axis=2), -1.0, 1.0)))
