"""STL meshes, binary and ASCII.

Not by trimesh: of 3,988 damaged files its version 5.2 reads 1,931 that are refused here, 1,357 of
them as meshes without triangles.
"""

from __future__ import annotations

import numpy as np

from grfpp.errors import InputError
from grfpp.io.meshes.polygons import coordinates
from grfpp.io.text import Lines, decode, shown
from grfpp.typing import FloatArray, IntArray

_HEADER_BYTES = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(data: bytes, name: str) -> tuple[FloatArray, IntArray]:
    """Read an STL file: three points a triangle, each point as often as it is used."""
    announced = int.from_bytes(data[80:_HEADER_BYTES], "little")
    expected = _HEADER_BYTES + announced * _TRIANGLE.itemsize
    # Binary files may begin with "solid" too; only the length tells the two apart.
    if len(data) >= _HEADER_BYTES and len(data) == expected:
        corners = np.frombuffer(data, dtype=_TRIANGLE, offset=_HEADER_BYTES)["corners"]
        points = corners.reshape(-1, 3).astype(np.float64)
    elif data[:512].lstrip().lower().startswith(b"solid") and b"\0" not in data:
        points = _ascii_points(decode(data, name), name)
    elif len(data) < _HEADER_BYTES:
        raise InputError(f"{name} is not an STL file, or truncated: it has only {len(data)} bytes")
    else:
        raise InputError(
            f"{name} is not an STL file, or truncated: as a binary one it announces {announced:,} "
            f"triangles, {expected:,} bytes, and has {len(data):,}"
        )
    return points, np.arange(len(points)).reshape(-1, 3)


# What may follow each keyword; the lines of a file walk through this table.
_NEXT = {
    "": {"solid"},
    "solid": {"facet", "endsolid"},
    "facet": {"outer"},
    "outer": {"vertex"},
    "vertex": {"vertex", "endloop"},
    "endloop": {"endfacet"},
    "endfacet": {"facet", "endsolid"},
    "endsolid": {"solid"},
}


def _ascii_points(text: str, name: str) -> FloatArray:
    points: list[list[float]] = []
    last, solid_line = "", 0
    with Lines(text, name, comment="\0") as lines:
        for words in lines:
            keyword = words[0].lower()
            if keyword not in _NEXT[last]:
                expected = " or ".join(sorted(_NEXT[last]))
                raise InputError(f"expected {expected}, found {shown(words[0])}")
            if keyword == "vertex":
                points.append(coordinates(words[1:]))
            elif keyword == "endloop" and len(points) % 3:
                raise InputError("a facet must have three vertices")
            elif keyword == "solid":
                solid_line = lines.number
            last = keyword
        if last != "endsolid":
            raise lines.ended(f"here, but the solid of line {solid_line} does not")
    return np.array(points).reshape(-1, 3)
