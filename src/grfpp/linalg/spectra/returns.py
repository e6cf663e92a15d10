"""Diagonals of the powers of a symmetric matrix, block by block of a block-diagonal one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import uint32

from grfpp.linalg.compiled import compiled
from grfpp.linalg.notice import announce_compilation
from grfpp.linalg.sparse import readonly
from grfpp.typing import FloatArray, IntArray

announce_compilation()

#: Columns of a power that are made together.
_WIDTH = 64


def power_diagonals(matrix: sp.csr_array, starts: IntArray, n_lengths: int) -> FloatArray:
    """The diagonals of ``W¹ … Wⁿ``, a row a node, of a symmetric matrix.

    From half as many products: entry ``i`` of the diagonal of ``W^(a+b)`` is the product of column
    ``i`` of ``W^a`` and of ``W^b``. The numbers of a block do not depend on the others, to the last
    bit. The time is that of ``n_lengths / 2`` products of each block with itself.

    Parameters
    ----------
    matrix
        Symmetric and block-diagonal.
    starts
        The first row of each block, and the number of all rows.
    n_lengths
        The largest power.

    Examples
    --------
    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> power_diagonals(path, np.array([0, 3]), 4)
    array([[0., 1., 0., 2.],
           [0., 2., 0., 4.],
           [0., 1., 0., 2.]])
    """
    result = np.zeros((matrix.shape[0], n_lengths))
    largest = int(np.diff(starts).max(initial=1))
    blocks = np.empty((2, largest, min(_WIDTH, largest)))
    parts = map(readonly, (matrix.indptr, matrix.indices, matrix.data, starts))
    _fill(*parts, blocks, result)
    return result


@compiled()
def _fill(indptr: Any, indices: Any, data: Any, starts: Any, blocks: Any, result: Any) -> None:
    n_lengths = result.shape[1]
    for graph in range(len(starts) - 1):
        first, n = starts[graph], starts[graph + 1] - starts[graph]
        for left in range(0, n, blocks.shape[2]):
            width = min(blocks.shape[2], n - left)
            current, following = blocks[0], blocks[1]
            for row in range(n):
                for c in range(width):
                    current[row, c] = 0.0
            for c in range(width):
                current[left + c, c] = 1.0
            for k in range(1, n_lengths + 1, 2):
                # `current` has power (k - 1) / 2, the other the next.
                for row in range(n):
                    for c in range(width):
                        following[row, c] = 0.0
                    for entry in range(indptr[first + row], indptr[first + row + 1]):
                        value = data[entry]
                        column = uint32(indices[entry] - first)
                        for c in range(width):
                            following[row, c] += value * current[column, c]
                    for c in range(width):
                        here = first + left + c
                        result[here, k - 1] += following[row, c] * current[row, c]
                        if k < n_lengths:
                            result[here, k] += following[row, c] * following[row, c]
                current, following = following, current
