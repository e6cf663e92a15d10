"""Matrices from arrays and files, checked before compiled code trusts them.

Matrix Market files are parsed here with `numpy.loadtxt`: of damaged ones `scipy.io.mmread` (1.17)
ends the process on some, and fills missing numbers of symmetric arrays with zeros.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.io.archive import opened_arrays, opened_kind
from grfpp.io.text import at_line, decode, errors_about, input_errors
from grfpp.typing import AnyInts, FloatArray

GRAPH_FORMAT = "grfpp-graph-1"
Shape = tuple[int, int]
_Indices = npt.NDArray[np.integer[Any]]
_MALFORMED = "a malformed sparse matrix"
_REAL_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
#: Row pointers of the graph, of its transpose and of intermediate matrices, eight bytes each.
_BYTES_PER_NODE = 32
#: Peak memory of reading, relative to the stored arrays: these, and two copies in other types.
_TIMES_IN_MEMORY = 3.5


# --- arrays of numbers ----------------------------------------------------------------------------


def packages(source: Any) -> set[str]:
    """Name the packages that the type of `source` and its bases come from.

    Comparing names keeps heavy packages from being imported just to ask.
    """
    return {base.__module__.partition(".")[0] for base in type(source).__mro__}


def as_array(source: Any, what: str) -> npt.NDArray[Any]:
    """Convert an array-like to numpy; `what` names it in errors."""
    if "torch" in packages(source):
        return tensor_to_numpy(source)
    if isinstance(source, np.ma.MaskedArray):
        return np.asarray(source.filled(0))  # masked entries are not edges, as in scipy
    with input_errors(f"{what} is not an array of numbers", ValueError, TypeError):
        return np.asarray(source)


def tensor_to_numpy(tensor: Any) -> npt.NDArray[Any]:
    """Copy a dense torch tensor to numpy, from any device, with any floating type."""
    # Sparse ones, those on the meta device.
    with input_errors("the torch tensor cannot be read", TypeError, RuntimeError):
        tensor = tensor.detach().cpu()
        if tensor.is_floating_point():
            tensor = tensor.double()  # bfloat16 and float8 are unknown to numpy
        array: npt.NDArray[Any] = tensor.resolve_conj().resolve_neg().numpy()
    return array


def require_real(dtype: np.dtype[Any], what: str = "weights") -> None:
    """Raise unless `dtype` holds real numbers."""
    if dtype.kind not in "buif":
        raise InputError(f"{what} must be real numbers, found dtype {dtype}")


def real_numbers(values: Sequence[Any], name_of: Callable[[int], str]) -> FloatArray:
    """Convert Python objects to floats; `name_of(i)` says in errors whose value the i-th is."""
    for position, value in enumerate(values):
        if not isinstance(value, Real | np.bool_):  # numpy's integers and floats are Real
            found = f"{shown(value)} for {name_of(position)}"
            raise InputError(f"weights must be real numbers, found {found}")
    try:
        return np.array([float(value) for value in values])
    except OverflowError:
        raise InputError("a weight is too large for a 64-bit float") from None


# --- sparse matrices ------------------------------------------------------------------------------


def checked(matrix: Any) -> sp.csr_array | sp.coo_array:
    """The same sparse matrix in float64, as CSR or COO, if its structure is sound.

    Compiled code trusts the indices of a matrix, and scipy's own checks have gaps. Numbers become
    float64 before anything is summed: duplicates of ``uint8`` would overflow.

    Examples
    --------
    >>> matrix = sp.csr_array(np.eye(3))
    >>> matrix.indptr[-1] = 0
    >>> checked(matrix)
    Traceback (most recent call last):
    grfpp.errors.InputError: a malformed sparse matrix: its row pointers must not decrease
    """
    require_real(matrix.dtype)
    shape = (int(matrix.shape[0]), int(matrix.shape[1]))
    match matrix.format:
        case "csr" | "csc" | "bsr":
            by_row = matrix.format != "csc"
            return compressed(matrix.data, matrix.indices, matrix.indptr, shape, by_row=by_row)
        case "coo":
            return coordinates(matrix.data, matrix.row, matrix.col, shape)
        case "dia":
            return diagonals(matrix.data, matrix.offsets, shape)
        case "dok" | "lil":
            with input_errors(_MALFORMED, TypeError, ValueError):
                if matrix.format == "lil" and [*map(len, matrix.rows)] != [*map(len, matrix.data)]:
                    raise ValueError("as many columns as values are needed in a row")
                return checked(matrix.tocoo())
        case other:
            raise InputError(f"sparse matrices of the format {other!r} are not known")


def compressed(
    values: Any, indices: Any, indptr: Any, shape: Shape, *, by_row: bool = True
) -> sp.csr_array:
    """A matrix from the parts of one in CSR or CSC form, in BSR form where values are blocks.

    There may be more values than the rows use. Parts by column are those of the transpose by row.
    """
    values = _real(values)
    if values.ndim not in (1, 3):
        raise _malformed(f"its values must be numbers or blocks, found shape {values.shape}")
    if not by_row:
        shape = shape[::-1]
        values = values.transpose(0, 2, 1) if values.ndim == 3 else values
    block = values.shape[1:] or (1, 1)
    if 0 in block or shape[0] % block[0] or shape[1] % block[1]:
        raise _malformed(f"blocks of {block} do not tile a matrix of {shape[0]} x {shape[1]}")
    indices, indptr = _integers(indices, "indices"), _integers(indptr, "row pointers")
    n_blocks = (shape[0] // block[0], shape[1] // block[1])
    n_values = check_compressed(indices, indptr, len(values), n_blocks)
    parts = (values[:n_values], indices[:n_values], indptr)
    matrix = (sp.csr_array if values.ndim == 1 else sp.bsr_array)(parts, shape=shape)
    return sp.csr_array(matrix if by_row else matrix.T)


def check_compressed(
    indices: _Indices, indptr: _Indices, n_values: int, shape: Shape, *, spare: bool = True
) -> int:
    """Check that these arrays are the rows of a matrix of this shape; return their entries.

    With `spare` there may be more values than the rows use. scipy's ``check_format`` accepts
    pointers that rise and fall back to 0, on which its compiled code ends the process.
    """
    if len(indptr) != shape[0] + 1 or indptr[0] != 0:
        raise _malformed(f"it needs {shape[0] + 1:,} row pointers from 0, found {len(indptr):,}")
    if (indptr[1:] < indptr[:-1]).any():
        raise _malformed("its row pointers must not decrease")
    n_entries = int(indptr[-1])
    if len(indices) != n_values or n_entries > n_values or (n_entries < n_values and not spare):
        raise _malformed(f"{len(indices):,} indices and {n_values:,} values for {n_entries:,}")
    used = indices[:n_entries]
    if n_entries and not 0 <= int(used.min()) <= int(used.max()) < shape[1]:
        raise _malformed(f"columns {used.min():,} to {used.max():,}, and it has {shape[1]:,}")
    return n_entries


def coordinates(values: Any, rows: Any, columns: Any, shape: Shape) -> sp.coo_array:
    """A matrix from the rows, columns and values of its entries."""
    indices = (_integers(rows, "rows"), _integers(columns, "columns"))
    with input_errors(_MALFORMED, ValueError):
        return sp.coo_array((_real(values), indices), shape=shape)


def diagonals(values: Any, offsets: Any, shape: Shape) -> sp.coo_array:
    """A matrix from its diagonals, as in DIA form: row ``i`` of `values` lies at ``offsets[i]``."""
    values, offsets = _real(values), _integers(offsets, "offsets")
    if values.ndim != 2 or len(values) != len(offsets):
        raise _malformed(f"it has {len(offsets)} offsets for diagonals of shape {values.shape}")
    inside = (offsets > -shape[0]) & (offsets < shape[1])
    with input_errors(_MALFORMED, ValueError):
        return sp.coo_array(sp.dia_array((values[inside], offsets[inside]), shape=shape))


def canonical_matrix(matrix: Any, source: Any) -> sp.csr_array:
    """Check the weights of a float64 matrix and bring it to CSR form, in memory of its own.

    Sorted, duplicates summed, no stored zeros. Errors name the file where `source` is one.

    Examples
    --------
    >>> matrix = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    >>> canonical_matrix(matrix, None).data
    array([3.])
    """
    with errors_about(str(source)) if isinstance(source, str | os.PathLike) else nullcontext():
        n_rows, n_columns = matrix.shape
        if n_rows != n_columns:
            raise InputError(f"a weight matrix must be square, found {n_rows} x {n_columns}")
        if n_rows == 0:
            raise InputError("the graph has no nodes; at least one is needed")
        canonical = sp.csr_array(matrix, dtype=np.float64, copy=True)
        # First the sums: some formats make them on the way, so only these are the same for all.
        canonical.sum_duplicates()
        data = canonical.data
        for wrong, form in ((~np.isfinite(data), "finite"), (data < 0, "not negative")):
            if wrong.any():
                entry = int(np.argmax(wrong))
                row = int(np.searchsorted(canonical.indptr, entry, side="right")) - 1
                position = f"({row}, {canonical.indices[entry]}) and {wrong.sum() - 1} more"
                raise InputError(f"weights must be {form}, found {data[entry]} at {position}")
        canonical.eliminate_zeros()
        return canonical


def _real(values: Any) -> FloatArray:
    array = np.asarray(values)
    require_real(array.dtype)
    with np.errstate(over="ignore"):  # overflow gives infinity, which raises an error later
        return array.astype(np.float64, copy=False)


def _integers(values: Any, what: str) -> _Indices:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise _malformed(f"its {what} must be whole numbers, found {array.dtype} {array.shape}")
    return array if array.size else array.astype(np.int64)


def _malformed(problem: str) -> InputError:
    return InputError(f"{_MALFORMED}: {problem}")


# --- edges ----------------------------------------------------------------------------------------


def check_node_count(n_nodes: int, origin: str) -> None:
    """Raise if `n_nodes` nodes exceed int32 or the memory; messages name the `origin`."""
    if n_nodes > np.iinfo(np.int32).max:
        problem = f"{origin} asks for {n_nodes:,} nodes, more than this version can number"
        raise InputError(f"{problem} (2^31 - 1)", advice="number nodes from 0 without gaps")
    require_bytes(n_nodes * _BYTES_PER_NODE, f"{origin} asks for {n_nodes:,} nodes, which")


def arcs(rows: AnyInts, columns: AnyInts, weights: FloatArray, n_nodes: int) -> sp.coo_array:
    """Take each entry as one arc; entries of one arc are summed later."""
    return sp.coo_array((weights, (rows, columns)), shape=(n_nodes, n_nodes))


def undirected(rows: AnyInts, columns: AnyInts, weights: FloatArray, n_nodes: int) -> sp.coo_array:
    """Take each entry as one edge, present in both directions; a self-loop counts once."""
    back = rows != columns
    pairs = ((rows, columns), (columns, rows), (weights, weights))
    u, v, w = (np.concatenate([there, again[back]]) for there, again in pairs)
    return arcs(u, v, w, n_nodes)


def unweighted(ends: npt.NDArray[Any], n_nodes: int) -> sp.csr_array:
    """Take each row of `ends` as one edge of weight 1, however often it is listed."""
    rows, columns = ends.T.ravel(), ends[:, ::-1].T.ravel()
    joined = np.ones(len(rows), dtype=bool)  # sums of duplicates stay true
    matrix = sp.csr_array((joined, (rows, columns)), shape=(n_nodes, n_nodes))
    return matrix.astype(np.float64)


# --- files ----------------------------------------------------------------------------------------


def read_mtx(data: bytes, name: str) -> sp.coo_array:
    """Read a Matrix Market file; its header says whether the matrix is symmetric."""
    text = decode(data, name)
    stream = io.StringIO(text)
    banner = stream.readline()
    match banner.lower().split():
        case ["%%matrixmarket", "matrix", "coordinate" | "array" as layout, field, symmetry]:
            by_entry, symmetric = layout == "coordinate", symmetry == "symmetric"
        case _:
            raise at_line(name, 1, f"not Matrix Market: expected its banner, found {shown(banner)}")
    if field not in _REAL_FIELDS or (field == "pattern" and not by_entry):
        raise at_line(name, 1, f"weights must be real numbers, found {shown(field)}")
    if not symmetric and symmetry != "general":
        raise at_line(name, 1, f"weights must not be negative, found a {shown(symmetry)} matrix")
    line = 1
    words: list[str] = []
    while not words:
        content, line = stream.readline(), line + 1
        words = content.partition("%")[0].split()
        if not content:
            raise at_line(name, line - 1, "the file ends before the size; is it truncated?")
    if len(words) != 2 + by_entry or not all(word.isascii() and word.isdigit() for word in words):
        raise at_line(name, line, f"expected the size of the matrix, found {shown(content)}")
    n_rows, n_columns, *n_listed = (int(word[:100]) for word in words)
    if symmetric and n_rows != n_columns:
        raise at_line(name, line, f"a symmetric matrix of {n_rows} x {n_columns}")
    check_node_count(max(n_rows, n_columns), f"the header of {name}")
    n_stored = n_rows * (n_rows + 1) // 2 if symmetric else n_rows * n_columns
    n_entries = n_listed[0] if by_entry else n_stored
    # An entry has at least a digit and a line end, so that a wrong header allocates no memory.
    table: Any = ()
    if 2 * n_entries <= len(text):
        table = _number_rows(stream, 2 * by_entry + (field != "pattern"), name)
    if len(table) != n_entries:
        counts = f"the header announces {n_entries:,} entries, found {len(table):,}"
        raise InputError(f"{name} is truncated, or damaged: {counts}")
    weights = np.ones(n_entries) if field == "pattern" else table["w"]
    if by_entry:
        rows, columns = table["u"] - 1, table["v"] - 1
    elif symmetric:
        columns, rows = np.triu_indices(n_rows)  # the lower triangle by columns
    else:
        columns, rows = np.divmod(np.arange(n_entries), max(n_rows, 1))
    with errors_about(name):
        matrix = coordinates(weights, rows, columns, (n_rows, n_columns))
    return undirected(rows, columns, weights, n_rows) if symmetric else matrix


def _number_rows(stream: io.StringIO, n_columns: int, name: str) -> npt.NDArray[Any]:
    """The rows of numbers that a stream still holds: indices ``u`` and ``v``, and weights ``w``."""
    columns = [("u", np.int64), ("v", np.int64), ("w", np.float64)]
    dtype = columns[2:] if n_columns == 1 else columns[:n_columns]
    try:
        with warnings.catch_warnings():
            # Of files without entries, and of older numpy about 1.5 as a whole number.
            warnings.filterwarnings("ignore", "loadtxt: input contained no data")
            warnings.simplefilter("error", DeprecationWarning)
            return np.loadtxt(stream, dtype, comments="%", ndmin=1)
    except (ValueError, OverflowError, DeprecationWarning) as error:
        raise InputError(f"{name}: expected {n_columns} numbers an entry: {error}") from None


def read_npz(path: Path) -> tuple[Any, Sequence[Any] | None]:
    """Read the ``.npz`` file of `Graph.save` or `scipy.sparse.save_npz`; nothing is unpickled."""
    with opened_arrays(path) as arrays:
        if arrays.keys() >= {"format", "shape", "data"}:
            arrays.require_memory(arrays, _TIMES_IN_MEMORY, "the matrix in")
            with (
                errors_about(f"{path}: the stored matrix is damaged"),
                input_errors("scipy cannot read it"),
                warnings.catch_warnings(action="error"),
            ):
                check_node_count(int(arrays["shape"].max()), "it")
                return checked(sp.load_npz(path)), None
    return read_saved_graph(path)


def read_saved_graph(path: str | Path) -> tuple[sp.csr_array, Sequence[Any] | None]:
    """Read what `Graph.save` wrote: the weight matrix and the names of the nodes."""
    with (
        opened_kind(path, GRAPH_FORMAT) as (arrays, _),
        errors_about(f"{path}: the stored graph is damaged"),
    ):
        optional = ("node_ids",) if "node_ids" in arrays else ()
        parts = ("weights", "indices", "indptr", *optional)
        weights, indices, indptr, *names = arrays.read(parts, _TIMES_IN_MEMORY, "the graph in")
        n_nodes = max(0, indptr.size - 1)
        check_node_count(n_nodes, str(path))
        matrix = compressed(weights, indices, indptr, (n_nodes, n_nodes))
        if weights.ndim != 1 or matrix.nnz != len(weights):
            raise InputError(f"its rows hold {matrix.nnz:,} of {len(weights):,} weights")
        if names and (names[0].shape != (n_nodes,) or names[0].dtype.kind not in "iuU"):
            raise InputError(f"{names[0].dtype} {names[0].shape} as names of {n_nodes} nodes")
        return matrix, names[0].tolist() if names else None
