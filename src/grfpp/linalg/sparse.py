"""Sparse matrices that take the arrays they are given."""

from __future__ import annotations

from collections.abc import Sequence
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


def stack_rows(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    """Matrices of the same width one below the other; entries keep their order.

    Examples
    --------
    >>> eye = sp.eye_array(2, format="csr")
    >>> stack_rows([eye, eye[[1]]]).toarray()
    array([[1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    if len(matrices) == 1:
        return matrices[0]
    before = np.concatenate([[0], np.cumsum([each.nnz for each in matrices])])
    ends = [each.indptr[1:] + start for each, start in zip(matrices, before[:-1], strict=True)]
    return csr(
        np.concatenate([each.data for each in matrices]),
        np.concatenate([each.indices for each in matrices]),
        np.concatenate([[0], *ends]),
        matrices[0].shape[1],
    )


def readonly(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A plain view that cannot be written to, of maps too: one type for compiled code."""
    view = np.asarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view
