"""Arrays that nobody can change."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from grfpp.typing import IntArray

ByteArray = npt.NDArray[np.uint8]

AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])


def read_only(array: AnyArray) -> AnyArray:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


def numbered(names: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Classes in order, and for each entry the number of its class, read-only."""
    classes, labels = np.unique(names, return_inverse=True)
    return classes, read_only(labels.astype(np.int64))
