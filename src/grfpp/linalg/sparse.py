"""Sparse matrices that take the arrays they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


def csr(
    values: npt.NDArray[Any],
    columns: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.integer[Any]],
    n_columns: int,
) -> sp.csr_array:
    """A CSR array on these arrays, without copying the long ones.

    scipy wants one type for both index arrays and would widen `columns` to that of `indptr`.
    """
    if len(columns) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32, copy=False)
    return sp.csr_array((values, columns, indptr), shape=(len(indptr) - 1, n_columns))
