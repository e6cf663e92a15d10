"""Chebyshev series of a symmetric matrix times vectors, block by block of a block-diagonal one."""

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

#: Columns that are made together.
_WIDTH = 64


def block_products(
    matrix: sp.csr_array,
    starts: IntArray,
    radius: float,
    coefficients: FloatArray,
    vectors: FloatArray,
) -> FloatArray:
    """``Σ_k c[j, k] T_k(W / radius) @ vectors`` for every ``j``, of shape ``(len(c), n, width)``.

    A block goes through all terms before the next begins: small ones stay where the processor has
    them at hand. The numbers of a block do not depend on the others, to the last bit.

    Parameters
    ----------
    matrix
        Block-diagonal.
    starts
        The first row of each block, and the number of all rows.
    radius
        A bound of the spectral radius.
    coefficients
        A row a series.
    vectors
        A column a vector.

    Examples
    --------
    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> series = np.array([[0.0, 0.0, 1.0]])                      # T_2(x) = 2 x^2 - 1
    >>> block_products(path, np.array([0, 3]), 1.0, series, np.eye(3))
    array([[[1., 0., 2.],
            [0., 3., 0.],
            [2., 0., 1.]]])
    """
    n_series, (n, width) = len(coefficients), vectors.shape
    result = np.zeros((n_series, n, width))
    largest = int(np.diff(starts).max(initial=1))
    parts = map(readonly, (matrix.indptr, matrix.indices, matrix.data, starts))
    arrays = (*parts, radius, coefficients)
    if width == 1:
        # One number a row: loops over columns would take most of the time.
        terms = np.empty((2, largest))
        _column(*arrays, vectors.reshape(n), terms, result.reshape(n_series, n))
    else:
        blocks = np.empty((2, largest, min(_WIDTH, width)))
        _columns(*arrays, np.ascontiguousarray(vectors), blocks, result)
    return result


@compiled()
def _column(
    indptr: Any,
    indices: Any,
    data: Any,
    starts: Any,
    radius: float,
    coefficients: Any,
    vector: Any,
    terms: Any,
    result: Any,
) -> None:
    for graph in range(len(starts) - 1):
        first, n = starts[graph], starts[graph + 1] - starts[graph]
        previous, current = terms[0], terms[1]
        for row in range(n):
            previous[row] = 0.0
            current[row] = vector[first + row]
        for k in range(coefficients.shape[1]):
            if k:
                factor = (1.0 if k == 1 else 2.0) / radius
                for row in range(n):
                    total = -previous[row]
                    for entry in range(indptr[first + row], indptr[first + row + 1]):
                        column = uint32(indices[entry] - first)
                        total += factor * data[entry] * current[column]
                    previous[row] = total
                previous, current = current, previous
            for j in range(len(coefficients)):
                weight = coefficients[j, k]
                if weight != 0.0:
                    for row in range(n):
                        result[j, first + row] += weight * current[row]


@compiled()
def _columns(
    indptr: Any,
    indices: Any,
    data: Any,
    starts: Any,
    radius: float,
    coefficients: Any,
    vectors: Any,
    blocks: Any,
    result: Any,
) -> None:
    total = np.empty(blocks.shape[2])  # beside the two, so that the compiler knows it for another
    for graph in range(len(starts) - 1):
        first, n = starts[graph], starts[graph + 1] - starts[graph]
        for left in range(0, vectors.shape[1], blocks.shape[2]):
            width = min(blocks.shape[2], vectors.shape[1] - left)
            previous, current = blocks[0], blocks[1]
            for row in range(n):
                for c in range(width):
                    previous[row, c] = 0.0
                    current[row, c] = vectors[first + row, left + c]
            for k in range(coefficients.shape[1]):
                if k:
                    factor = (1.0 if k == 1 else 2.0) / radius
                    for row in range(n):
                        for c in range(width):
                            total[c] = -previous[row, c]
                        for entry in range(indptr[first + row], indptr[first + row + 1]):
                            value = factor * data[entry]
                            column = uint32(indices[entry] - first)
                            for c in range(width):
                                total[c] += value * current[column, c]
                        for c in range(width):
                            previous[row, c] = total[c]
                    previous, current = current, previous
                for j in range(len(coefficients)):
                    weight = coefficients[j, k]
                    if weight != 0.0:
                        for row in range(n):
                            for c in range(width):
                                result[j, first + row, left + c] += weight * current[row, c]
