"""Vectors of which only the direction counts, such as normals of a surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.typing import FloatArray


def unit_vectors(vectors: npt.ArrayLike) -> FloatArray:
    """Scale every row to length 1; rows of zeros, which have no direction, stay as they are.

    Examples
    --------
    >>> unit_vectors([[3.0, 4.0], [0.0, 0.0], [1e-300, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ],
           [1. , 0. ]])
    """
    rows = _rows(vectors, "vectors")
    # Squares of very small or large numbers would leave the range of float64.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    result: FloatArray = np.divide(scaled, lengths, out=scaled, where=lengths > 0)
    return result


def cosines(predicted: npt.ArrayLike, true: npt.ArrayLike) -> FloatArray:
    """Cosine of the angle between rows, from −1 to 1.

    A prediction of zeros has no direction and counts as 0, as if it were at a right angle. Where
    the true vector is zero there is nothing to compare with: NaN.

    Examples
    --------
    >>> cosines([[2, 0], [0, 0], [1, 0]], [[1, 1], [1, 0], [0, 0]])
    array([0.70710678, 0.        , nan])
    """
    first, second = _rows(predicted, "predicted"), _rows(true, "true")
    if first.shape != second.shape:
        raise InputError(
            f"predicted and true vectors must have one shape, found {first.shape} and "
            f"{second.shape}"
        )
    result = np.clip((unit_vectors(first) * unit_vectors(second)).sum(axis=1), -1.0, 1.0)
    result[~second.any(axis=1)] = np.nan
    return np.asarray(result)


def mean_cosine(predicted: npt.ArrayLike, true: npt.ArrayLike) -> float:
    """Mean of `cosines` over the rows that have a true direction.

    Examples
    --------
    >>> mean_cosine([[2, 0], [0, 0], [1, 0]], [[1, 1], [1, 0], [0, 0]])
    0.35355339
    """
    each = cosines(predicted, true)
    if np.isnan(each).all():
        raise InputError("no row of the true vectors has a direction: there is nothing to compare")
    return float(each[~np.isnan(each)].mean())


def angles(predicted: npt.ArrayLike, true: npt.ArrayLike) -> FloatArray:
    """Angle between rows in degrees, 0 to 180; otherwise as `cosines`.

    Examples
    --------
    >>> angles([[2, 0], [0, 0], [1, 0]], [[1, 1], [1, 0], [0, 0]])
    array([45., 90., nan])
    """
    return np.degrees(np.arccos(cosines(predicted, true)))


def _rows(vectors: Any, name: str) -> FloatArray:
    array = np.asarray(vectors)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "buif":
        raise InputError(
            f"{name} must be real numbers of shape (n, c), a vector a row, found shape "
            f"{array.shape} and dtype {array.dtype}"
        )
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise InputError(f"{name} must be finite, found {array[row].tolist()} in row {row}")
    return array.astype(np.float64)
