"""The compiled loops of `grfpp.linalg`; imported where they are needed, since numba loads slowly.

Every sum runs in the order of the matrix's entries, whatever the number of columns, the range of
rows or the number of threads: so do the bits of the results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32

from grfpp._compiled import announce_compilation, compiled

announce_compilation()


@compiled()
def rows_times(
    indptr: Any,
    indices: Any,
    data: Any,
    dense: Any,
    base: Any,
    out: Any,
    total: Any,
    scale: float,
    keep: float,
    weight: float,
    start: int,
    stop: int,
) -> None:
    """``out ← scale · A @ dense + keep · base`` and ``total += weight · out`` for some rows.

    One pass over memory for a product, for a step of a three-term recurrence (``base`` is ``out``)
    and for ``(I − c A) @ dense`` (``base`` is ``dense``).
    """
    width = dense.shape[1]
    if width == 1:
        for row in range(start, stop):
            value = keep * base[row, 0] if keep != 0.0 else 0.0
            for entry in range(indptr[row], indptr[row + 1]):
                # Unsigned: numba would add a branch for indices that count from the end.
                value += scale * data[entry] * dense[uint32(indices[entry]), 0]
            out[row, 0] = value
            if weight != 0.0:
                total[row, 0] += weight * value
        return
    for row in range(start, stop):
        for c in range(width):
            out[row, c] = keep * base[row, c] if keep != 0.0 else 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            value = scale * data[entry]
            column = uint32(indices[entry])
            for c in range(width):
                out[row, c] += value * dense[column, c]
        if weight != 0.0:
            for c in range(width):
                total[row, c] += weight * out[row, c]


@compiled()
def columns_times(
    indptr: Any, indices: Any, data: Any, dense: Any, out: Any, start: int, stop: int
) -> None:
    """Add ``A.T @ dense`` to the rows ``start … stop-1`` of `out`, which this thread owns."""
    width = dense.shape[1]
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            if start <= column < stop:
                value = data[entry]
                for c in range(width):
                    out[column, c] += value * dense[row, c]


@compiled()
def combine(
    out: Any, a: Any, x: Any, b: Any, partner: Any, sums: Any, start: int, stop: int
) -> None:
    """``out ← a · out + b · x`` with a factor for each column; ``sums += Σ_rows out · partner``."""
    width = out.shape[1]
    for row in range(start, stop):
        for c in range(width):
            value = a[c] * out[row, c] + b[c] * x[row, c]
            out[row, c] = value
            sums[c] += value * partner[row, c]


@compiled()
def mix(mixed: Any, coefficients: Any, terms: Any) -> None:
    """Add ``Σ_k c[j, k] terms[k]``. BLAS would sum in an order that depends on the width."""
    width = terms.shape[2]
    total = np.empty(width)
    for row in range(terms.shape[1]):
        for j in range(coefficients.shape[0]):
            for c in range(width):
                total[c] = mixed[j, row, c]
            for k in range(coefficients.shape[1]):
                factor = coefficients[j, k]
                for c in range(width):
                    total[c] += factor * terms[k, row, c]
            for c in range(width):
                mixed[j, row, c] = total[c]


@compiled()
def row_tails(values: Any, indptr: Any) -> Any:
    """For every value of a CSR matrix the sum from it to the last one of its row."""
    tails = np.empty_like(values)
    for row in range(len(indptr) - 1):
        total = 0.0
        for entry in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
            total += values[entry]
            tails[entry] = total
    return tails
