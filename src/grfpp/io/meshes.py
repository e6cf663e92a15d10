"""Meshes -> graphs of their edges.

trimesh reads STL, PLY and glTF files, meshio VTK and binary PLY with faces of several sizes; what
they return is compared with the counts that a file declares. OFF and OBJ files are read here:
trimesh cuts their polygons into triangles, whose diagonals are no edges, and skips damaged lines.
"""

from __future__ import annotations

import io
import logging
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._checks import one_of
from grfpp._imports import require
from grfpp.errors import InputError, InputWarning, shown, warn_user
from grfpp.io.matrices import as_array, packages, require_real, unweighted
from grfpp.io.text import at_line, decode, errors_about, input_errors
from grfpp.typing import FloatArray, IntArray

MeshWeights = Literal["unit", "length", "cotangent"]
#: Faces: an array with the corners of one in a row, or a list of lists.
Polygons = Sequence[Sequence[int]] | npt.NDArray[Any]

#: Cotangents that are closer to zero are those of right angles, but for rounding.
_ZERO_COTANGENT = 1e-12
#: Sine below which two sides of a triangle lie on one line.
_FLAT_SINE = 1e-12
#: Cells of meshio that are not part of a surface, and are ignored.
_NO_FACES = ("vertex", "line", "polyline")
_PLY_ELEMENT = re.compile(rb"^\s*element\s+(\S+)\s+(\d{1,15})\s*$", re.MULTILINE)
_OFF_KEYWORD = re.compile(r"(?:ST)?C?N?OFF(.*)")
#: Keywords of textures, normals, groups, materials and curves, which are ignored.
_OBJ_IGNORED = {
    "vt", "vn", "vp", "vc", "l", "p", "g", "o", "s", "mg", "mtllib", "usemtl", "usemap",
    "maplib", "cstype", "deg", "bmat", "step", "curv", "curv2", "surf", "parm", "trim", "hole",
    "scrv", "sp", "end", "con", "bevel", "c_interp", "d_interp", "lod", "shadow_obj",
    "trace_obj", "ctech", "stech", "call", "csh",
}  # fmt: skip


class Mesh(NamedTuple):
    """Points and faces; no two points are equal. Points without a face are included."""

    #: Coordinates of the points, one row each.
    vertices: FloatArray
    #: The three points of each triangle; larger faces are cut into fans.
    faces: IntArray
    #: The index of each point before equal points were merged (the first of equal ones).
    origin: IntArray
    #: Both ends of every side of every face, without the diagonals of the fans.
    sides: IntArray
    #: The largest number of corners of a face.
    largest: int

    def adjacency(self, weights: MeshWeights = "unit") -> sp.csr_array:
        """Weight matrix of the mesh.

        ``"unit"`` is 1 for every side of a face, ``"length"`` the inverse of a side's length,
        ``"cotangent"`` half the sum of the cotangents of the opposite angles. Negative weights are
        dropped with a warning, since walks need positive ones.

        Examples
        --------
        >>> mesh = merged([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [[0, 1, 2]])
        >>> for weights in ("unit", "length", "cotangent"):
        ...     print(mesh.adjacency(weights).toarray()[1].round(2))
        [1. 0. 1.]
        [0.5  0.   0.35]
        [0.5 0.  0. ]
        """
        one_of(weights, "mesh_weights", ("unit", "length", "cotangent"))
        if weights == "cotangent":
            if self.largest > 3:
                problem = f"'cotangent' needs triangles, found a face of {self.largest} corners"
                advice = "cut the faces into triangles first, or use 'length'"
                raise InputError(problem, argument="mesh_weights", advice=advice)
            return _cotangents(self.vertices, self.faces)
        n = len(self.vertices)
        # Merging may shrink a side to a point.
        matrix = unweighted(self.sides[self.sides[:, 0] != self.sides[:, 1]], n)
        if weights == "length":
            rows, columns = matrix.tocoo().coords
            lengths = np.linalg.norm(self.vertices[rows] - self.vertices[columns], axis=1)
            with np.errstate(divide="ignore", over="ignore"):
                matrix = sp.csr_array((1 / lengths, (rows, columns)), shape=(n, n))
            if not ((matrix.data > 0) & (matrix.data < np.inf)).all():
                raise InputError("edges are too short or too long", advice="scale the mesh")
        return matrix

    def with_masses(self) -> tuple[sp.csr_array, dict[str, Any]]:
        """Cotangent weights, and loops that make every degree the mass times one rate.

        The mass of a point is a third of the area of its triangles. See `Graph.from_mesh`.
        """
        matrix = self.adjacency("cotangent")
        corners = np.pad(self.vertices, ((0, 0), (0, 3 - self.vertices.shape[1])))[self.faces]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            areas = np.repeat(np.linalg.norm(across, axis=1) / 6, 3)
            mass = np.bincount(self.faces.ravel(), areas, minlength=len(self.vertices))
            degrees = matrix.sum(axis=1)
            rate = float(np.max(degrees[degrees > 0] / mass[degrees > 0], initial=0.0))
        if not 0 < rate < np.inf:
            raise InputError("areas are too small or too large, or there are none: scale the mesh")
        loops = sp.diags_array(np.maximum(rate * mass - degrees, 0.0))
        return sp.csr_array(matrix + loops), {"mass": mass, "rate": rate}

    def triangulated(self) -> Mesh:
        """The mesh whose faces are its triangles, so that diagonals are edges too."""
        sizes = np.full(len(self.faces), 3)
        return self._replace(sides=_sides(self.faces.ravel(), sizes), largest=3)

    def labels(self) -> list[int] | None:
        """The points' indices before equal ones were merged; ``None`` if these are unchanged."""
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
        return merged(*_faces_of_cells(source))
    return None


def merged(vertices: Any, faces: Any) -> Mesh:
    """Check a mesh and merge equal points, in the order in which they first appear."""
    points, (corners, sizes) = as_array(vertices, "vertices"), _corners(faces)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise InputError(f"vertices must have shape (n, 3), found {points.shape}")
    require_real(points.dtype, "vertices")
    if not np.isfinite(points).all():
        row = int(np.argmin(np.isfinite(points).all(axis=1)))
        raise InputError(f"vertices must be finite, found {points[row].tolist()} at {row}")
    if corners.size and not 0 <= corners.min() <= corners.max() < len(points):
        wrong = corners.min() if corners.min() < 0 else corners.max()
        raise InputError(f"faces name vertex {wrong}, but there are {len(points)}, from 0")
    first, new_index = _equal_rows(points)
    corners = new_index[corners]
    triangles, sides = _triangles(corners, sizes), _sides(corners, sizes)
    return Mesh(points[first].astype(np.float64), triangles, first, sides, sizes.max(initial=3))


def _equal_rows(points: FloatArray) -> tuple[IntArray, IntArray]:
    """The first of each class of equal rows, in order, and the class of each row."""
    order = np.lexsort(points.T)  # stable, and several times as fast as `numpy.unique`
    starts = np.ones(len(points), dtype=bool)
    starts[1:] = (points[order[1:]] != points[order[:-1]]).any(axis=1)
    first = order[starts]
    group = np.empty(len(points), dtype=np.int64)
    group[order] = np.argsort(np.argsort(first))[np.cumsum(starts) - 1]
    return np.sort(first), group


def _corners(faces: Any) -> tuple[IntArray, IntArray]:
    """The corners of all faces, concatenated, and the number of corners of each face."""
    if isinstance(faces, list) and len({np.shape(face) for face in faces}) > 1:
        for face in faces:
            if np.ndim(face) != 1 or np.asarray(face).dtype.kind not in "iu" or len(face) < 3:
                raise InputError(f"a face must list three vertices at least, found {shown(face)}")
        sizes = np.array([len(face) for face in faces])
        return np.concatenate([np.asarray(face, np.int64) for face in faces]), sizes
    corners = as_array(faces, "faces")
    if corners.shape[:1] == (0,):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if corners.ndim != 2 or corners.shape[1] < 3 or corners.dtype.kind not in "iu":
        found = f"{corners.dtype} {corners.shape}"
        raise InputError(f"faces must be whole numbers of shape (n, 3) or more, found {found}")
    return corners.astype(np.int64).ravel(), np.full(len(corners), corners.shape[1])


def _sides(corners: IntArray, sizes: IntArray) -> IntArray:
    """Both ends of every side of every polygon, without diagonals."""
    following = np.arange(1, len(corners) + 1)
    ends = np.cumsum(sizes)
    following[ends - 1] = ends - sizes
    return np.column_stack([corners, corners[following]])


def _triangles(corners: IntArray, sizes: IntArray) -> IntArray:
    """Cut polygons into fans of triangles, around the first corner of each."""
    starts = np.cumsum(sizes) - sizes
    offset = np.arange(len(corners)) - np.repeat(starts, sizes)
    second = np.flatnonzero((offset > 0) & (offset < np.repeat(sizes, sizes) - 1))
    first = np.repeat(starts, sizes - 2)
    return np.column_stack([corners[first], corners[second], corners[second + 1]])


def _cotangents(vertices: FloatArray, faces: IntArray) -> sp.csr_array:
    n = len(vertices)
    # Cotangents do not depend on the scale, and squares of numbers around 1 do not overflow.
    points = vertices / max(float(np.abs(vertices).max(initial=0)), 1e-300)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    # The angle at a faces the side from b to c.
    a, b, c = np.concatenate([faces, faces[:, [1, 2, 0]], faces[:, [2, 0, 1]]]).T
    to_b, to_c = points[b] - points[a], points[c] - points[a]
    across = np.linalg.norm(np.cross(to_b, to_c), axis=1)
    along = np.einsum("ij,ij->i", to_b, to_c)
    valid = across > _FLAT_SINE * np.hypot(across, along)
    ends = np.column_stack([b, c])[valid]
    half = sp.csr_array((0.5 * along[valid] / across[valid], ends.T), shape=(n, n))
    n_flat = _n_edges(_sides(faces.ravel(), np.full(len(faces), 3))) - _n_edges(ends)
    if n_flat:
        _warn_left_out("edges belong to flat triangles alone, without cotangents", n_flat)
    matrix = sp.csr_array(half + half.T)
    n_negative = int((matrix.data < -_ZERO_COTANGENT).sum()) // 2
    matrix.data[matrix.data < _ZERO_COTANGENT] = 0
    matrix.eliminate_zeros()
    if n_negative:
        _warn_left_out("edges have negative cotangent weights", n_negative)
    return matrix


def _n_edges(ends: IntArray) -> int:
    """Number of distinct pairs of distinct points."""
    return len(np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0))


def _warn_left_out(problem: str, n_edges: int) -> None:
    advice = "pass mesh_weights='length' to keep all edges"
    warn_user(InputWarning(f"{problem}: they are left out", advice=advice, n_edges=n_edges))


# --- files ----------------------------------------------------------------------------------------


def read_mesh(data: bytes, name: str, suffix: str) -> Mesh:
    """Read a mesh file; its parts become one mesh."""
    with np.errstate(invalid="ignore"):  # signalling NaN of float32: refused later, not warned of
        vertices, faces = _READERS[suffix](data, name)
        if not len(faces):
            raise InputError(f"{name} holds no triangles")
        with errors_about(name):
            mesh = merged(vertices, faces)
    # STL files do not number their points, so that there are no names to keep.
    return mesh._replace(origin=np.arange(len(mesh.vertices))) if suffix == ".stl" else mesh


def _by_trimesh(data: bytes, name: str, kind: str) -> Any:
    """Vertices and faces; of a PLY file what trimesh reads before it cuts polygons."""
    trimesh = require("trimesh", f"{name}: reading .{kind} files")
    logging.getLogger("trimesh").addHandler(logging.NullHandler())  # it logs what it raises
    # Any part of trimesh may fail, each in its own way; numpy warns of numbers that are checked.
    problem = f"{name} is not a .{kind} file that trimesh reads"
    with input_errors(problem), warnings.catch_warnings(action="ignore"):
        if kind == "ply":
            raw = trimesh.exchange.ply.load_ply(io.BytesIO(data), skip_materials=True)
            return raw["metadata"]["_ply_raw"]
        mesh = trimesh.load_scene(io.BytesIO(data), file_type=kind, process=False).to_mesh()
        return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def _by_meshio(data: bytes, name: str, kind: str) -> tuple[FloatArray, Polygons]:
    meshio = require("meshio", f"{name}: reading .{kind} files")
    with tempfile.TemporaryDirectory() as folder:  # its readers take no bytes
        path = Path(folder) / f"mesh.{kind}"
        path.write_bytes(data)
        problem = f"{name} is not a .{kind} file that meshio reads"
        with (
            input_errors(problem, Exception, SystemExit),
            warnings.catch_warnings(action="ignore"),
        ):
            mesh = getattr(meshio, kind).read(path)
    with errors_about(name):
        return _faces_of_cells(mesh)


def _faces_of_cells(mesh: Any) -> tuple[FloatArray, Polygons]:
    """Points and faces of a ``meshio.Mesh``."""
    polygons: list[list[int]] = []
    for block in mesh.cells:
        if block.type in ("triangle", "quad") or block.type.startswith("polygon"):
            polygons += np.asarray(block.data).tolist()
        elif block.type not in _NO_FACES:
            raise InputError(f"cells of type {block.type}; a surface has triangles and polygons")
    return np.asarray(mesh.points, dtype=np.float64), polygons


def _read_stl(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read an STL file. trimesh reads what it can of a truncated one: triangles are counted."""
    n_binary = int.from_bytes(data[80:84], "little")
    is_binary = len(data) == 84 + 50 * n_binary
    keywords = [] if is_binary else re.findall(rb"(?m)^\s*(endfacet|endsolid)\b", data.lower())
    if not is_binary and (b"\0" in data or keywords[-1:] != [b"endsolid"]):
        sizes = f"{len(data):,} bytes, as a binary one for {n_binary:,} triangles"
        raise InputError(f"{name} is not an STL file, or truncated: {sizes}")
    n_declared = n_binary if is_binary else keywords.count(b"endfacet")
    vertices, faces = _by_trimesh(data, name, "stl")
    if len(faces) != n_declared:
        raise InputError(f"{name} is damaged: {len(faces):,} of {n_declared:,} triangles")
    return vertices, faces


def _read_ply(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read a PLY file. meshio runs for hours where a header declares 10^12 faces."""
    header, end, body = data.partition(b"end_header")
    counts = {title: int(count) for title, count in _PLY_ELEMENT.findall(header)}
    n_points, n_faces = counts.get(b"vertex", 0), counts.get(b"face", 0)
    if not end or not data.startswith(b"ply") or sum(counts.values()) > len(body):
        sizes = f"{len(data):,} bytes for {n_points:,} vertices and {n_faces:,} faces"
        raise InputError(f"{name} is not a PLY file, or truncated: {sizes}")
    try:
        points, polygons = _ply_elements(_by_trimesh(data, name, "ply"))
    except (KeyError, TypeError, ValueError) as error:
        properties = header.partition(b"element face")[2].count(b"property")
        if b"ascii" in header or properties > 1:
            raise InputError(f"{name}: faces of several sizes, or damaged: {error}") from None
        # meshio knows one of the two names of corners.
        renamed = re.sub(rb"\bvertex_index\b", b"vertex_indices", header)
        points, polygons = _by_meshio(renamed + end + body, name, "ply")
    if (len(points), len(polygons)) != (n_points, n_faces):
        sizes = f"{len(points):,} of {n_points:,} vertices, {len(polygons):,} of {n_faces:,} faces"
        raise InputError(f"{name} is damaged: {sizes}")
    return points, polygons


def _ply_elements(elements: Any) -> tuple[FloatArray, Polygons]:
    """Points and faces of trimesh's raw PLY elements, before it cuts polygons."""
    vertex, face = elements["vertex"]["data"], elements["face"]["data"]
    title = "vertex_index" if "vertex_index" in elements["face"]["properties"] else "vertex_indices"
    corners = face[title]
    if isinstance(face, np.ndarray):  # binary: each row has its length and its corners
        if (corners["f0"] != corners["f1"].shape[1]).any():
            raise ValueError("lists of several lengths")
        corners = corners["f1"]
    points = np.column_stack([np.asarray(vertex[axis]).reshape(-1) for axis in "xyz"])
    return points, [np.asarray(polygon).tolist() for polygon in corners]


def _words(data: bytes, name: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each line that holds more than a comment, and its number from 1."""
    for number, line in enumerate(decode(data, name).split("\n"), start=1):
        if words := line.partition("#")[0].split():
            yield number, words


def _read_off(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read an OFF file: the keyword, the counts, a line a vertex, a line a face."""
    lines = _words(data, name)
    number, words = next(lines, (1, [""]))
    keyword = _OFF_KEYWORD.fullmatch(words[0])
    if keyword is None or words[1:2] == ["BINARY"]:
        raise at_line(name, number, f"expected OFF in text form, found {shown(' '.join(words))}")
    counts = [*filter(None, [keyword[1]]), *words[1:]]  # some write "OFF8 12 0"
    try:
        if not counts:
            number, counts = next(lines, (number, counts))
        n_points, n_faces = (int(word) for word in counts[:2])
        points: list[list[float]] = []
        polygons: list[list[int]] = []
        for number, words in islice(lines, max(n_points, 0)):  # noqa: B007  (for the error)
            points.append(_coordinates(words))
        for number, words in islice(lines, max(n_faces, 0)):  # noqa: B007  (for the error)
            size = int(words[0])
            polygons.append(_polygon([int(word) for word in words[1 : size + 1]], size))
    except ValueError as error:
        raise at_line(name, number, f"not OFF: {error}") from None
    if (len(points), len(polygons)) != (n_points, n_faces):
        sizes = f"{len(points):,} of {n_points:,} vertices, {len(polygons):,} of {n_faces:,} faces"
        raise at_line(name, number, f"the file ends after {sizes}; is it truncated?")
    return np.array(points).reshape(-1, 3), polygons


def _read_obj(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read the vertices and the faces of an OBJ file; all its groups together."""
    points: list[list[float]] = []
    polygons: list[list[int]] = []
    joined = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")  # lines that go on in the next
    for number, (keyword, *words) in _words(joined, name):
        try:
            if keyword == "v":
                points.append(_coordinates(words))
            elif keyword in ("f", "fo"):
                corners = [int(word.partition("/")[0]) for word in words]
                # Counted from 1 or, below zero, from the latest vertex backwards.
                indices = [i - 1 if i > 0 else len(points) + i for i in corners]
                polygons.append(_polygon(indices, len(indices), 0 not in corners))
            elif keyword not in _OBJ_IGNORED:
                raise ValueError(f"unknown keyword {shown(keyword)}")
        except ValueError as error:
            raise at_line(name, number, f"not OBJ: {error}") from None
    return np.array(points).reshape(-1, 3), polygons


def _coordinates(words: Sequence[str]) -> list[float]:
    """Read a point; further numbers (colours, normals) are ignored."""
    x, y, z = map(float, words[:3])
    return [x, y, z]


def _polygon(corners: list[int], size: int, valid: bool = True) -> list[int]:
    if len(corners) != size or size < 3 or not valid:
        raise ValueError(f"a face needs three corners or more, found {shown(corners)}")
    return corners


_READERS: dict[str, Callable[[bytes, str], tuple[FloatArray, Polygons]]] = {
    ".stl": _read_stl,
    ".off": _read_off,
    ".ply": _read_ply,
    ".obj": _read_obj,
    ".glb": lambda data, name: _by_trimesh(data, name, "glb"),
    ".vtk": lambda data, name: _by_meshio(data, name, "vtk"),
    ".vtu": lambda data, name: _by_meshio(data, name, "vtu"),
}
SUFFIXES = tuple(_READERS)
