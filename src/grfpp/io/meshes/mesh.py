"""Triangle meshes -> graphs of their edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.arrays import as_array, require_real
from grfpp.io.edges import unweighted
from grfpp.io.meshes import obj, off, ply, stl
from grfpp.io.text import naming
from grfpp.typing import FloatArray, IntArray

_READERS = {".stl": stl.read_stl, ".off": off.read_off, ".ply": ply.read_ply, ".obj": obj.read_obj}
SUFFIXES = tuple(_READERS)


class Mesh(NamedTuple):
    """Points and triangles; no two points are the same."""

    #: Coordinates of the points, a row each.
    vertices: FloatArray
    #: The three points of each triangle.
    faces: IntArray
    #: The number that each point had before equal ones were merged (the first of theirs).
    origin: IntArray

    def adjacency(self) -> sp.csr_array:
        """Weight matrix of the mesh: 1 for every side of a triangle."""
        ends = self.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        ends = ends[ends[:, 0] != ends[:, 1]]  # merging may shrink a triangle to a line
        return unweighted(ends, len(self.vertices))

    def labels(self) -> list[int] | None:
        """Tell the points' numbers before the merging, or ``None`` where it changed none."""
        changed = len(self.origin) and self.origin[-1] >= len(self.origin)
        return self.origin.tolist() if changed else None


def from_mesh(vertices: Any, faces: Any) -> tuple[sp.csr_array, list[int] | None]:
    """Read points and triangles; where equal points were merged, labels tell which stayed."""
    mesh = merged(vertices, faces)
    return mesh.adjacency(), mesh.labels()


def merged(vertices: Any, faces: Any) -> Mesh:
    """Check a mesh and make equal points one, in the order in which they first appear."""
    points, corners = as_array(vertices, "vertices"), as_array(faces, "faces")
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise InputError(f"vertices must have shape (n, 3), found {points.shape}")
    require_real(points.dtype, "vertices")
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise InputError(f"vertices must be finite, found {points[row].tolist()} at {row}")
    if corners.ndim != 2 or corners.shape[1] != 3:
        raise InputError(
            f"faces must have shape (n, 3), three vertices a triangle, found {corners.shape}"
        )
    if corners.dtype.kind not in "iu" and corners.size:
        raise InputError(f"faces must hold whole numbers, found dtype {corners.dtype}")
    if corners.size and not (corners.min() >= 0 and corners.max() < len(points)):
        wrong = corners.min() if corners.min() < 0 else corners.max()
        raise InputError(f"faces name vertex {wrong}, but there are {len(points)}, from 0")
    first, place = _equal_rows(points)
    return Mesh(
        points[first].astype(np.float64), place[corners.astype(np.int64)].reshape(-1, 3), first
    )


def read_mesh(data: bytes, name: str, suffix: str) -> Mesh:
    """Read a mesh file; its parts become one mesh, polygons are cut into triangles."""
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
