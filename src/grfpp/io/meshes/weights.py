"""Weights for the edges of a mesh: all alike, by length, or by cotangents."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp

from grfpp.arguments import one_of
from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.io.edges import unweighted
from grfpp.typing import FloatArray, IntArray

MeshWeights = Literal["unit", "length", "cotangent"]

#: Cotangents that are closer to zero are those of right angles, but for rounding.
_ZERO = 1e-12
#: Sine below which two sides of a triangle lie on one line.
_FLAT = 1e-12


def mesh_matrix(
    vertices: FloatArray, sides: IntArray, faces: IntArray, weights: MeshWeights, largest: int = 3
) -> sp.csr_array:
    """Weight matrix of a mesh.

    Parameters
    ----------
    vertices
        Points, a row each.
    sides
        Both ends of every side of every face.
    faces
        The triangles; used for cotangents only.
    weights
        ``"unit"`` for 1, ``"length"`` for the inverse of an edge's length, ``"cotangent"`` for half
        the sum of the cotangents of the angles that face an edge. Negative ones become 0, with a
        warning: they are no weights that a walk can have.
    largest
        The most corners of a face. Cotangents are for triangles.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> sides, faces = np.array([[0, 1], [1, 2], [2, 0]]), np.array([[0, 1, 2]])
    >>> for weights in ("unit", "length", "cotangent"):
    ...     print(mesh_matrix(points, sides, faces, weights).toarray()[1].round(2))
    [1. 0. 1.]
    [0.5  0.   0.35]
    [0.5 0.  0. ]
    """
    one_of(weights, "mesh_weights", ("unit", "length", "cotangent"))
    if weights == "cotangent":
        if largest > 3:
            raise InputError(
                f"mesh_weights='cotangent' needs triangles, found a face of {largest} corners; cut "
                "the faces into triangles first, or use 'length'"
            )
        return _cotangents(vertices, faces)
    ends = sides[sides[:, 0] != sides[:, 1]]  # merging may shrink a side to a point
    matrix = unweighted(ends, len(vertices))
    if weights == "length":
        coordinates = matrix.tocoo()
        apart = np.linalg.norm(vertices[coordinates.row] - vertices[coordinates.col], axis=1)
        with np.errstate(divide="ignore", over="ignore"):
            matrix = sp.csr_array((1 / apart, coordinates.coords), shape=matrix.shape)
        if not (np.isfinite(matrix.data).all() and (matrix.data > 0).all()):
            raise InputError("edges are too short or too long to have an inverse: scale the mesh")
    return matrix


def _cotangents(vertices: FloatArray, faces: IntArray) -> sp.csr_array:
    n = len(vertices)
    # Cotangents do not depend on the scale, and squares of numbers around 1 do not overflow.
    points = vertices / max(float(np.abs(vertices).max(initial=0)), 1e-300)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    rows, columns, values = [], [], []
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):  # the angle at a faces the side from b to c
        to_b, to_c = (points[faces[:, end]] - points[faces[:, a]] for end in (b, c))
        across = np.linalg.norm(np.cross(to_b, to_c), axis=1)
        along = np.einsum("ij,ij->i", to_b, to_c)
        fine = across > _FLAT * np.hypot(across, along)  # flat triangles have no say
        rows.append(faces[fine, b])
        columns.append(faces[fine, c])
        values.append(0.5 * along[fine] / across[fine])
    ends, others = np.concatenate(rows), np.concatenate(columns)
    half = sp.csr_array((np.concatenate(values), (ends, others)), shape=(n, n))
    n_flat = _n_edges(faces, n) - _n_edges(np.stack([ends, others], axis=1), n)
    if n_flat:
        _warn(f"{n_flat} edges are sides of flat triangles alone, which have no cotangents")
    matrix = sp.csr_array(half + half.T)
    n_edges, n_negative = matrix.nnz // 2, int((matrix.data < -_ZERO).sum()) // 2
    matrix.data[matrix.data < _ZERO] = 0
    matrix.eliminate_zeros()
    if n_negative:
        _warn(
            f"{n_negative} of {n_edges} edges have negative cotangent weights, between two angles "
            "that add up to more than 180 degrees (a Delaunay mesh has none)"
        )
    return matrix


def _n_edges(polygons: IntArray, n: int) -> int:
    """How many pairs of different points are neighbours in rows of `polygons`."""
    first, second = polygons, np.roll(polygons, 1, axis=1)
    keys = np.minimum(first, second) * n + np.maximum(first, second)
    return len(np.unique(keys[first != second]))


def _warn(which: str) -> None:
    note = InputWarning(
        f"{which}: they are left out. Lengths keep all edges", option=("mesh_weights", "length")
    )
    warn_user(note, InputWarning)
