"""Gaussian numbers as a pure function of where they stand: no generator, no order of drawing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.typing import FloatArray, WordArray
from grfpp.walks.streams import NODE_STRIDE, WALK_STRIDE, mix64


def gaussian_rows(words: WordArray, nodes: npt.NDArray[Any], n_columns: int) -> FloatArray:
    """Standard normal numbers of shape ``(len(nodes), n_columns)``.

    Rows of one word (whose numbers they are) and one node are the same.

    Examples
    --------
    >>> rows = gaussian_rows(np.array([5, 5, 5], dtype=np.uint64), np.array([0, 1, 0]), 4)
    >>> bool((rows[0] == rows[2]).all()), bool((rows[0] == rows[1]).any())
    (True, False)
    """
    from scipy.special import ndtri

    rows = mix64(words + (nodes.astype(np.uint64) + np.uint64(1)) * np.uint64(NODE_STRIDE))
    columns = np.arange(1, n_columns + 1, dtype=np.uint64) * np.uint64(WALK_STRIDE)
    bits = mix64(rows[:, None] + columns[None, :])
    # 52 bits and half a unit more, which float64 holds exactly: neither 0 nor 1 can come up.
    uniform = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return np.asarray(ndtri(uniform))
