"""Wavefront OBJ meshes.

Not by trimesh: of 1,992 damaged files its version 5.2 reads 453 that are refused here, 195 of them
with triangles missing, and 5 that are read here it reads as other meshes.
"""

from __future__ import annotations

import numpy as np

from grfpp.errors import InputError
from grfpp.io.meshes.polygons import Polygons, checked_polygon, coordinates, whole_numbers
from grfpp.io.text import Lines, decode, shown
from grfpp.typing import FloatArray

# Textures, normals, groups, materials and curves are no part of the graph.
_OTHER_KEYWORDS = {
    "vt", "vn", "vp", "vc", "l", "p", "g", "o", "s", "mg", "mtllib", "usemtl", "usemap",
    "maplib", "cstype", "deg", "bmat", "step", "curv", "curv2", "surf", "parm", "trim", "hole",
    "scrv", "sp", "end", "con", "bevel", "c_interp", "d_interp", "lod", "shadow_obj",
    "trace_obj", "ctech", "stech", "call", "csh",
}  # fmt: skip


def read_obj(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read the vertices and the faces of an OBJ file; all its groups together."""
    points: list[list[float]] = []
    polygons: list[tuple[list[int], int]] = []
    unfinished: list[str] = []
    faces: list[list[int]] = []
    with Lines(decode(data, name), name) as lines:
        for line in lines:
            words, unfinished = unfinished + line, []
            if words[-1].endswith("\\"):  # the line goes on in the next
                unfinished = [*words[:-1], words[-1][:-1]]
                continue
            keyword, values = words[0], [word for word in words[1:] if word]
            if keyword == "v":
                points.append(coordinates(values))
            elif keyword in ("f", "fo"):
                corners = whole_numbers([word.partition("/")[0] for word in values])
                polygons.append((_from_zero(corners, len(points)), lines.number))
            elif keyword not in _OTHER_KEYWORDS:
                raise InputError(f"not OBJ: unknown keyword {shown(keyword)}")
        if unfinished:
            raise InputError("the file ends within a line; is it truncated?")
        # Only now: a face may come before its vertices.
        for corners, number in polygons:
            lines.number = number
            faces.append(checked_polygon(corners, len(points)))
    return np.array(points).reshape(-1, 3), faces


def _from_zero(corners: list[int], n_vertices: int) -> list[int]:
    """Count from 0 what OBJ counts from 1 or, below zero, from the latest vertex backwards."""
    if 0 in corners:
        raise InputError("vertices are counted from 1, found 0")
    return [corner - 1 if corner > 0 else n_vertices + corner for corner in corners]
