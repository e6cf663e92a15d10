"""Triangle meshes as pixels: what is nearest to the viewer at each, in plain numpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grfpp.typing import FloatArray, IntArray

#: Pixels that are looked at together: bounds the memory.
_AT_ONCE = 500_000
#: Where the light comes from: right, up, towards the viewer.
_LIGHT = np.array([-0.35, 0.55, 0.75]) / np.linalg.norm([-0.35, 0.55, 0.75])


@dataclass(frozen=True, eq=False)
class View:
    """What is seen through each pixel.

    Attributes
    ----------
    face
        Number of the nearest triangle, −1 where there is none.
    shares
        Weights of its three corners; they add up to 1.
    shade
        Brightness by the light, 0 to 1.
    """

    face: IntArray
    shares: FloatArray
    shade: FloatArray

    @property
    def is_seen(self) -> npt.NDArray[np.bool_]:
        """Whether there is a triangle behind a pixel."""
        return self.face >= 0


def look_at(
    vertices: FloatArray, faces: IntArray, towards: FloatArray, n_pixels: int = 600
) -> View:
    """Look at a mesh from far away, so that it fills a square.

    Parameters
    ----------
    vertices, faces
        The mesh. Triangles are lit from either side.
    towards
        The direction in which the viewer is.
    n_pixels
        Of the square's side.

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> view = look_at(corners, np.array([[0, 1, 2]]), np.array([0.0, 0.0, 1.0]), 100)
    >>> round(float(view.is_seen.mean()), 1)  # half of a square, and a margin
    0.4
    """
    rotated = vertices @ turn(towards)
    low, high = rotated.min(axis=0), rotated.max(axis=0)
    middle, extent = (low + high) / 2, 1.06 * float((high - low)[:2].max())
    placed = (rotated - middle) / (extent or 1.0)
    corners = placed[faces]
    corners[:, :, 0] += 0.5
    corners[:, :, 1] = 0.5 - corners[:, :, 1]  # rows of pixels are counted from above
    corners[:, :, :2] *= n_pixels

    depth = np.full(n_pixels * n_pixels, -np.inf)
    face = np.full(n_pixels * n_pixels, -1, dtype=np.int64)
    shares = np.zeros((n_pixels * n_pixels, 3))
    for pixel, near, number, weights in _covered(corners, n_pixels):
        # The nearest last: of several values for one pixel, the last one stays.
        order = np.argsort(near, kind="stable")
        order = order[near[order] > depth[pixel[order]]]
        depth[pixel[order]] = near[order]
        face[pixel[order]] = number[order]
        shares[pixel[order]] = weights[order]
    shape = (n_pixels, n_pixels)
    return View(
        face.reshape(shape),
        shares.reshape(*shape, 3),
        _shade(placed, faces)[face].reshape(shape),
    )


def turn(towards: FloatArray) -> FloatArray:
    """Columns: right, up, and towards the viewer."""
    ahead = np.asarray(towards, dtype=np.float64) / np.linalg.norm(towards)
    helper = np.array([0.0, 0.0, 1.0]) if abs(ahead[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    right = np.cross(helper, ahead)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(ahead, right), ahead], axis=1)


def _shade(placed: FloatArray, faces: IntArray) -> FloatArray:
    """Brightness of each triangle, the same on both of its sides."""
    corners = placed[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across *= np.sign(across[:, [2]])  # the side that is seen
    lengths = np.linalg.norm(across, axis=1)
    lit = np.clip(across @ _LIGHT, 0, None) / np.where(lengths > 0, lengths, 1.0)
    return np.asarray(0.5 + 0.5 * lit)


def _covered(
    corners: FloatArray, n_pixels: int
) -> Iterator[tuple[IntArray, FloatArray, IntArray, FloatArray]]:
    """Pixels whose middle lies in a triangle: number, depth, the triangle, corners' weights."""
    flat = corners[:, :, :2]
    low = np.clip(np.ceil(flat.min(axis=1) - 0.5), 0, n_pixels).astype(np.int64)
    high = np.clip(np.ceil(flat.max(axis=1) - 0.5), 0, n_pixels).astype(np.int64)
    area = _doubled_area(corners)
    box = (high - low).clip(0).prod(axis=1) * (area != 0)
    for part in _parts(box):
        number = np.repeat(part, box[part])
        first = np.repeat(np.cumsum(box[part]) - box[part], box[part])
        down, right = np.divmod(np.arange(len(number)) - first, (high - low)[number, 0])
        column, row = low[number, 0] + right, low[number, 1] + down
        weights = _weights(flat[number], np.stack([column, row], axis=1) + 0.5, area[number])
        inside = (weights >= 0).all(axis=1)
        number, weights = number[inside], weights[inside]
        near = (weights * corners[number, :, 2]).sum(axis=1)
        yield (row * n_pixels + column)[inside], near, number, weights


def _parts(box: IntArray) -> Iterator[IntArray]:
    """Triangles whose boxes hold any pixels, as many at a time as memory allows."""
    some = np.flatnonzero(box)
    part_of = np.cumsum(box[some]) // _AT_ONCE
    yield from np.split(some, np.flatnonzero(np.diff(part_of)) + 1) if len(some) else ()


def _doubled_area(corners: FloatArray) -> FloatArray:
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.asarray(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])


def _weights(corners: FloatArray, points: FloatArray, area: FloatArray) -> FloatArray:
    """Barycentric coordinates of points in the plane."""
    to = corners - points[:, None]
    after, before = to[:, [1, 2, 0]], to[:, [2, 0, 1]]
    parts = after[:, :, 0] * before[:, :, 1] - after[:, :, 1] * before[:, :, 0]
    return np.asarray(parts / area[:, None])
