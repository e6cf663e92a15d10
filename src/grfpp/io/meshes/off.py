"""OFF meshes.

Not by trimesh: of 1,956 damaged files its version 5.2 reads 254 that are refused here, 84 of them
with triangles missing, and it fails on sound files of polygons that are not all of one size.
"""

from __future__ import annotations

import re

import numpy as np

from grfpp.errors import InputError
from grfpp.io.meshes.polygons import Polygons, checked_polygon, coordinates, whole_numbers
from grfpp.io.text import Lines, decode, shown
from grfpp.typing import FloatArray

# Texture, colour and normal come after the three coordinates; 4OFF and nOFF have others.
_KEYWORD = re.compile(r"(?:ST)?C?N?OFF(.*)")


def read_off(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read an OFF file: the keyword, the counts, a line a vertex, a line a face."""
    with Lines(decode(data, name), name) as lines:
        words = lines.following("its header")
        keyword = _KEYWORD.fullmatch(words[0])
        if keyword is None or words[1:2] == ["BINARY"]:
            raise InputError(f"expected OFF in text form, found {shown(' '.join(words))}")
        words = [keyword[1], *words[1:]] if keyword[1] else words[1:]  # some write "OFF8 12 0"
        counts = whole_numbers((words or lines.following("its counts"))[:2])
        if len(counts) < 2 or min(counts) < 0:
            raise InputError("expected the numbers of vertices and of faces")
        n_vertices, n_faces = counts
        points, polygons = [], []
        for i in range(n_vertices):
            points.append(coordinates(lines.following(f"vertex {i + 1:,} of {n_vertices:,}")))
        for i in range(n_faces):
            words = lines.following(f"face {i + 1:,} of {n_faces:,}")
            size = whole_numbers(words[:1])[0]
            corners = whole_numbers(words[1 : max(size, 0) + 1])
            if len(corners) != size:
                raise InputError(f"a face of {size} corners lists {len(corners)}")
            polygons.append(checked_polygon(corners, n_vertices))
    if not points:
        raise InputError(f"{name} holds no vertices")
    return np.array(points), polygons
