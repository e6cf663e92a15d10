"""A matrix whose structure is sound -> the weight matrix of a graph, in canonical form."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.text import naming


def canonical_matrix(matrix: Any, source: Any) -> sp.csr_array:
    """Check the weights of a float64 matrix and bring it to CSR form, in memory of its own.

    Sorted, duplicates summed, no stored zeros. Errors name the file where `source` is one.

    Examples
    --------
    >>> matrix = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    >>> canonical_matrix(matrix, None).data
    array([3.])
    """
    if isinstance(source, str | os.PathLike):
        with naming(str(source)):
            return _checked(matrix)
    return _checked(matrix)


def _checked(matrix: Any) -> sp.csr_array:
    n_rows, n_columns = matrix.shape
    if n_rows != n_columns:
        raise InputError(
            f"a weight matrix must be square (one row and one column a node), "
            f"found shape {n_rows} x {n_columns}"
        )
    if n_rows == 0:
        raise InputError("the graph has no nodes; at least one is needed")
    canonical = sp.csr_array(matrix, dtype=np.float64, copy=True)
    # First the sums: some formats make them on the way, so only these are the same for all.
    canonical.sum_duplicates()
    bad = ~np.isfinite(canonical.data)
    if bad.any():
        raise InputError(f"weights must be finite, found {_first(canonical, bad)}")
    negative = canonical.data < 0
    if negative.any():
        raise InputError(f"weights must not be negative, found {_first(canonical, negative)}")
    canonical.eliminate_zeros()
    return canonical


def _first(matrix: sp.csr_array, chosen: npt.NDArray[np.bool_]) -> str:
    """Name the first of the chosen entries: its value, its place, and how many there are."""
    position = int(np.flatnonzero(chosen)[0])
    row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
    column = int(matrix.indices[position])
    count = int(np.count_nonzero(chosen))
    return f"{matrix.data[position]} at ({row}, {column})" + (
        f" and {count - 1} more" if count > 1 else ""
    )
