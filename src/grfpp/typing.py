"""Types of arrays in annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint64]
AnyInts = npt.NDArray[np.integer[Any]]
BoolArray = npt.NDArray[np.bool_]
