"""Meshes -> graphs of their edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.arrays import as_array, packages, require_real
from grfpp.io.meshes import by_packages, obj, off, ply, stl
from grfpp.io.meshes.polygons import Polygons, sides, triangles
from grfpp.io.meshes.weights import MeshWeights, mesh_matrix
from grfpp.io.text import naming
from grfpp.typing import FloatArray, IntArray

_READERS = {
    ".stl": stl.read_stl,
    ".off": off.read_off,
    ".ply": ply.read_ply,
    ".obj": obj.read_obj,
    ".glb": by_packages.read_glb,
    ".vtk": by_packages.read_vtk,
    ".vtu": by_packages.read_vtu,
}
SUFFIXES = tuple(_READERS)


class Mesh(NamedTuple):
    """Points and faces; no two points are the same. Points that no face uses are kept."""

    #: Coordinates of the points, a row each.
    vertices: FloatArray
    #: The three points of each triangle; larger faces are cut into fans.
    faces: IntArray
    #: The number that each point had before equal ones were merged (the first of theirs).
    origin: IntArray
    #: Both ends of every side of every face, without the diagonals of the fans.
    sides: IntArray
    #: The most corners of a face.
    largest: int

    def adjacency(self, weights: MeshWeights = "unit") -> sp.csr_array:
        """Weight matrix of the mesh: 1 for every side of a face, or see `mesh_matrix`."""
        return mesh_matrix(self.vertices, self.sides, self.faces, weights, self.largest)

    def triangulated(self) -> Mesh:
        """The same with the triangles for faces: their diagonals are edges too."""
        return self._replace(sides=sides(self.faces), largest=3)

    def labels(self) -> list[int] | None:
        """Tell the points' numbers before the merging, or ``None`` where it changed none."""
        changed = len(self.origin) and self.origin[-1] >= len(self.origin)
        return self.origin.tolist() if changed else None


def as_mesh(source: Any) -> Mesh | None:
    """The mesh that an object holds; ``None`` where it is no mesh."""
    if isinstance(source, tuple) and len(source) == 2:
        return merged(*source)
    if "trimesh" in packages(source) and hasattr(source, "to_mesh"):
        source = source.to_mesh()  # a scene: its parts become one mesh
    if hasattr(source, "vertices") and hasattr(source, "faces"):
        return merged(source.vertices, source.faces)
    if "meshio" in packages(source) and hasattr(source, "cells"):
        return merged(*by_packages.faces_of(source, "the mesh"))
    return None


def merged(vertices: Any, faces: Any) -> Mesh:
    """Check a mesh and make equal points one, in the order in which they first appear."""
    points, polygons = as_array(vertices, "vertices"), _polygons(faces)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise InputError(f"vertices must have shape (n, 3), found {points.shape}")
    require_real(points.dtype, "vertices")
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise InputError(f"vertices must be finite, found {points[row].tolist()} at {row}")
    corners, ends = triangles(polygons), sides(polygons)
    if ends.size and not (ends.min() >= 0 and ends.max() < len(points)):
        wrong = ends.min() if ends.min() < 0 else ends.max()
        raise InputError(f"faces name vertex {wrong}, but there are {len(points)}, from 0")
    first, place = _equal_rows(points)
    return Mesh(
        points[first].astype(np.float64),
        place[corners.astype(np.int64)].reshape(-1, 3),
        first,
        place[ends.astype(np.int64)].reshape(-1, 2),
        max(map(len, polygons), default=3),
    )


def _polygons(faces: Any) -> Polygons:
    """Faces as an array, or as a list of lists where they have different numbers of corners."""
    if isinstance(faces, list) and len({len(face) for face in faces if _is_list(face)}) > 1:
        for face in faces:
            if not _is_list(face) or np.asarray(face).dtype.kind not in "iu" or len(face) < 3:
                raise InputError(f"a face must list three vertices at least, found {face!r}")
        return [list(map(int, face)) for face in faces]
    corners = as_array(faces, "faces")
    if corners.size == 0:
        return np.zeros((0, 3), np.int64)
    if corners.ndim != 2 or corners.shape[1] < 3:
        raise InputError(
            f"faces must have shape (n, 3), three vertices a triangle, or (n, 4) and so on for "
            f"larger ones, found {corners.shape}"
        )
    if corners.dtype.kind not in "iu":
        raise InputError(f"faces must hold whole numbers, found dtype {corners.dtype}")
    return corners.astype(np.int64)


def _is_list(face: Any) -> bool:
    return isinstance(face, list | tuple | np.ndarray)


def read_mesh(data: bytes, name: str, suffix: str) -> Mesh:
    """Read a mesh file; its parts become one mesh."""
    with np.errstate(invalid="ignore"):  # signalling NaN of float32: refused later, not warned of
        vertices, faces = _READERS[suffix](data, name)
    if not len(faces):
        raise InputError(f"{name} holds no triangles")
    with naming(name):
        return merged(vertices, faces)


def _equal_rows(points: FloatArray) -> tuple[IntArray, IntArray]:
    """Give the first of each class of equal rows, in order, and the class of each row."""
    order = np.lexsort(points.T)  # stable: within a class the first row comes first
    following = points[order]
    starts = np.ones(len(points), dtype=bool)
    starts[1:] = (following[1:] != following[:-1]).any(axis=1)
    first = order[starts]
    rank = np.argsort(np.argsort(first))
    place = np.empty(len(points), dtype=np.int64)
    place[order] = rank[np.cumsum(starts) - 1]
    return np.sort(first), place
