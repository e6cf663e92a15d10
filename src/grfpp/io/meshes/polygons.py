"""What the mesh formats share: numbers out of words, sides and triangles of polygons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.io.text import shown
from grfpp.typing import IntArray

#: Corners of faces: an array where all have as many, else a list of lists.
Polygons = Sequence[Sequence[int]] | npt.NDArray[Any]


def coordinates(words: Sequence[str]) -> list[float]:
    """Read a point; what follows its three numbers (colours, normals) is left out."""
    try:
        x, y, z = map(float, words[:3])
    except ValueError:
        text = shown(" ".join(words))
        raise InputError(f"expected the three coordinates of a point, found {text}") from None
    return [x, y, z]


def whole_numbers(words: Sequence[str]) -> list[int]:
    """Read whole numbers."""
    try:
        return [int(word) for word in words]
    except ValueError:
        raise InputError(f"expected whole numbers, found {shown(' '.join(words))}") from None


def checked_polygon(corners: list[int], n_vertices: int, name: str = "the face") -> list[int]:
    """Check that a polygon has three corners at least and that they exist."""
    if len(corners) < 3:
        raise InputError(f"{name} needs three corners at least, found {len(corners)}")
    for corner in corners:
        if not 0 <= corner < n_vertices:
            raise InputError(f"{name} names vertex {corner}, but there are {n_vertices}, from 0")
    return corners


def sides(polygons: Polygons) -> IntArray:
    """Both ends of every side of every polygon, and no diagonal.

    Examples
    --------
    >>> sides([[0, 1, 2, 3]]).tolist()
    [[0, 1], [1, 2], [2, 3], [3, 0]]
    """
    if isinstance(polygons, np.ndarray):
        return np.stack([polygons, np.roll(polygons, -1, axis=1)], axis=2).reshape(-1, 2)
    ends = [
        (corners[i - 1], corners[i]) for corners in polygons for i in (*range(1, len(corners)), 0)
    ]
    return np.array(ends, dtype=np.int64).reshape(-1, 2)


def triangles(polygons: Polygons) -> IntArray:
    """Cut polygons into fans of triangles; those of an array all have the same size."""
    if isinstance(polygons, np.ndarray):
        fans = [polygons[:, [0, i, i + 1]] for i in range(1, polygons.shape[1] - 1)]
        return np.stack(fans, axis=1).reshape(-1, 3).astype(np.int64)
    corners_of_all = [
        (corners[0], corners[i], corners[i + 1])
        for corners in polygons
        for i in range(1, len(corners) - 1)
    ]
    return np.array(corners_of_all, dtype=np.int64).reshape(-1, 3)
