"""Sparse matrices from parts that nobody has checked yet.

Compiled code trusts the indices of a sparse matrix, and ends the process where they are wrong.
scipy's own checks have gaps (`check_format` looks no further where ``indptr`` ends in 0, matrices
in COO and LIL form are not looked at again once they are made), so whatever comes in is looked at
here, in numpy, before scipy or numba multiplies or converts it.

Everything becomes float64 before anything is summed: duplicates of ``uint8`` would wrap round.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.arrays import real_numbers, require_real
from grfpp.linalg.sparse import csr
from grfpp.typing import FloatArray

Shape = tuple[int, int]
_Indices = npt.NDArray[np.integer[Any]]


def checked(matrix: Any) -> sp.csr_array | sp.coo_array:
    """Give the same matrix in float64, as CSR or COO, once its structure is known to be sound.

    Examples
    --------
    >>> matrix = sp.csr_array(np.eye(3))
    >>> matrix.indptr[-1] = 0
    >>> checked(matrix)
    Traceback (most recent call last):
    grfpp.errors.InputError: a malformed sparse matrix: its row pointers must not decrease
    """
    require_real(matrix.dtype)
    n_rows, n_columns = matrix.shape
    shape = (int(n_rows), int(n_columns))
    match matrix.format:
        case "csr" | "csc" | "bsr":
            by_row = matrix.format != "csc"
            return compressed(matrix.data, matrix.indices, matrix.indptr, shape, by_row=by_row)
        case "coo":
            return coordinates(matrix.data, matrix.row, matrix.col, shape)
        case "dia":
            return diagonals(matrix.data, matrix.offsets, shape)
        case "dok":
            return _keys(matrix, shape)
        case "lil":
            return _lists(matrix, shape)
        case other:
            raise InputError(f"sparse matrices of the format {other!r} are not known")


def compressed(
    values: Any, indices: Any, indptr: Any, shape: Shape, *, by_row: bool = True
) -> sp.csr_array:
    """A matrix from the parts of one in CSR or CSC form, in BSR form where values are blocks."""
    values = _real(values)
    if values.ndim not in (1, 3):
        raise _malformed(f"its values must be numbers or blocks, found shape {values.shape}")
    block = values.shape[1:] or (1, 1)
    if 0 in block or shape[0] % block[0] or shape[1] % block[1]:
        raise _malformed(f"blocks of {block} do not tile a matrix of {shape[0]} x {shape[1]}")
    n_blocks = (shape[0] // block[0], shape[1] // block[1])
    indices, indptr = _integers(indices, "indices"), _integers(indptr, "row pointers")
    by_major = n_blocks if by_row else n_blocks[::-1]
    n_values = check_compressed(indices, indptr, len(values), by_major)
    # There may be room for more entries than there are.
    values, indices = values[:n_values], indices[:n_values]
    if values.ndim == 3 and by_row:
        return sp.bsr_array((values, indices, indptr), shape=shape).tocsr()
    if values.ndim == 3:  # scipy has no blocks by column: the transpose by rows, block by block
        turned = sp.bsr_array((values.transpose(0, 2, 1), indices, indptr), shape=shape[::-1])
        return turned.T.tocsr()
    if by_row:
        if indices.dtype != np.int32 and shape[1] <= np.iinfo(np.int32).max:
            indices = indices.astype(np.int32)
        return csr(values, indices, indptr.astype(np.int64, copy=False), shape[1])
    return sp.csc_array((values, indices, indptr), shape=shape).tocsr()


def check_compressed(
    indices: _Indices, indptr: _Indices, n_values: int, shape: Shape, *, spare: bool = True
) -> int:
    """Raise unless these arrays are the rows of a matrix of this shape; give how many they list.

    With `spare` there may be more of them than the rows use.
    """
    n_rows, n_columns = shape
    if len(indptr) != n_rows + 1:
        raise _malformed(f"it needs {n_rows + 1:,} row pointers, found {len(indptr):,}")
    if indptr[0] != 0:
        raise _malformed(f"its row pointers must begin with 0, found {indptr[0]}")
    if (indptr[1:] < indptr[:-1]).any():
        raise _malformed("its row pointers must not decrease")
    listed = int(indptr[-1])
    if len(indices) != n_values:
        raise _malformed(f"it has {len(indices):,} indices for {n_values:,} values")
    if listed > n_values or (listed < n_values and not spare):
        raise _malformed(f"its row pointers end at {listed:,}, and it has {n_values:,} values")
    _check_range(indices[:listed], n_columns, "column")
    return listed


def coordinates(values: Any, rows: Any, columns: Any, shape: Shape) -> sp.coo_array:
    """A matrix from the rows, columns and values of its entries."""
    values = _real(values)
    rows, columns = _integers(rows, "rows"), _integers(columns, "columns")
    if not values.shape == rows.shape == columns.shape:
        raise _malformed(
            f"it has {len(rows):,} rows and {len(columns):,} columns for values of shape "
            f"{values.shape}"
        )
    _check_range(rows, shape[0], "row")
    _check_range(columns, shape[1], "column")
    return sp.coo_array((values, (rows, columns)), shape=shape)


def diagonals(values: Any, offsets: Any, shape: Shape) -> sp.coo_array:
    """A matrix from its diagonals, as in DIA form: row ``i`` of `values` lies at ``offsets[i]``."""
    values, offsets = _real(values), _integers(offsets, "offsets")
    if values.ndim != 2 or len(values) != len(offsets):
        raise _malformed(f"it has {len(offsets)} offsets for diagonals of shape {values.shape}")
    if len(np.unique(offsets)) < len(offsets):
        raise _malformed("it has two diagonals at the same offset")
    n_rows, n_columns = shape
    parts: list[tuple[FloatArray, _Indices, _Indices]] = []
    for diagonal, offset in zip(values, offsets.tolist(), strict=True):
        places = np.arange(max(offset, 0), min(n_columns, n_rows + offset, len(diagonal)))
        # Beyond the corners there is nothing, and offsets may be too large to subtract.
        if len(places):
            parts.append((diagonal[places], places - offset, places))
    if not parts:
        return sp.coo_array(shape, dtype=np.float64)
    data, rows, columns = (np.concatenate(each) for each in zip(*parts, strict=True))
    return coordinates(data, rows, columns, shape)


def _keys(matrix: Any, shape: Shape) -> sp.coo_array:
    """Read a matrix in DOK form: a value for each pair of a row and a column."""
    keys = list(matrix.keys())
    if not all(isinstance(key, tuple) and len(key) == 2 for key in keys):
        raise _malformed("its keys must be pairs of a row and a column")
    rows, columns = (np.array([key[end] for key in keys]) for end in (0, 1))
    values = real_numbers(list(matrix.values()), lambda i: f"entry {keys[i]}")
    return coordinates(values, rows, columns, shape)


def _lists(matrix: Any, shape: Shape) -> sp.coo_array:
    """Read a matrix in LIL form: for each row a list of columns and a list of values."""
    columns_of, values_of = np.asarray(matrix.rows), np.asarray(matrix.data)
    for lists, what in ((columns_of, "columns"), (values_of, "values")):
        if lists.shape != shape[:1] or not all(isinstance(each, list) for each in lists):
            raise _malformed(f"it must have one list of {what} for each of {shape[0]} rows")
    lengths = [len(each) for each in columns_of]
    if lengths != [len(each) for each in values_of]:
        raise _malformed("a row has not as many columns as values")
    rows = np.repeat(np.arange(shape[0]), lengths)
    try:
        columns = np.array(list(chain.from_iterable(columns_of)))
    except ValueError:  # lists within the lists
        raise _malformed("its columns must be whole numbers") from None
    values = real_numbers(
        list(chain.from_iterable(values_of)), lambda i: f"entry {i} of row {rows[i]}"
    )
    return coordinates(values, rows, columns, shape)


def _real(values: Any) -> FloatArray:
    array = np.asarray(values)
    require_real(array.dtype)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as that
        return array.astype(np.float64, copy=False)


def _integers(values: Any, what: str) -> _Indices:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise _malformed(
            f"its {what} must be a list of whole numbers, found {array.dtype} of shape "
            f"{array.shape}"
        )
    return array.astype(np.int64) if array.dtype.kind not in "iu" else array


def _check_range(indices: _Indices, limit: int, what: str) -> None:
    if not len(indices):
        return
    least, largest = int(indices.min()), int(indices.max())
    if least < 0 or largest >= limit:
        wrong = least if least < 0 else largest
        raise _malformed(f"it names {what} {wrong:,}, and has {limit:,}, from 0")


def _malformed(problem: str) -> InputError:
    return InputError(f"a malformed sparse matrix: {problem}")
