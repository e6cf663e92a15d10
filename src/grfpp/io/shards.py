"""Sparse features in a folder of shards: a header, and files for consecutive rows of each side."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError, shown
from grfpp.imports.optional import require
from grfpp.io.folder.writer import new_checksum
from grfpp.io.storage.atomic import atomic_write
from grfpp.io.structure import check_compressed
from grfpp.linalg.growing import Block, GrowingMatrix
from grfpp.linalg.sparse import csr
from grfpp.memory import require_bytes

FORMAT = "grfpp-feature-shards-1"
#: The file that makes a folder one of features.
HEADER = "features.json"
SIDES = ("left", "right")
ShardFormat = Literal["parquet", "npz"]


def write_shard(
    folder: str, name: str, format: ShardFormat, first_row: int, matrix: sp.csr_array
) -> dict[str, Any]:
    """Write some rows of one side; what the header is to say of the file."""
    rows = np.arange(first_row, first_row + matrix.shape[0], dtype=np.int64)
    if format == "npz":
        arrays = {part: getattr(matrix, part) for part in ("data", "indices", "indptr")}
        content = _npz({"node": rows, **arrays})
    else:
        arrow = require("pyarrow", "features in Parquet files")
        offsets = matrix.indptr.astype(np.int64)
        lists = [
            arrow.LargeListArray.from_arrays(offsets, arrow.array(each))
            for each in (matrix.indices, matrix.data)
        ]
        content = _parquet({"node": arrow.array(rows), "columns": lists[0], "values": lists[1]})
    found = _write(Path(folder) / f"{name}.{format}", content)
    return {
        **found,
        "first_node": first_row,
        "n_nodes": int(matrix.shape[0]),
        "n_entries": int(matrix.nnz),
    }


def write_names(folder: Path, format: ShardFormat, names: npt.NDArray[Any]) -> dict[str, Any]:
    """Write the names of all nodes."""
    if format == "npz":
        content = _npz({"name": names})
    else:
        content = _parquet({"name": require("pyarrow").array(names)})
    return _write(folder / f"nodes.{format}", content)


def write_header(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write what there is, and what made it."""
    with atomic_write(folder / HEADER) as stream:
        stream.write(json.dumps({"format": FORMAT, **facts}, indent=1).encode())


def load_features(folder: str | Path) -> tuple[sp.csr_array, sp.csr_array]:
    """Read the features ``X, Y`` that `DistributedEstimate.save_features` wrote.

    Parameters
    ----------
    folder
        With a ``features.json``.

    Returns
    -------
    csr_array, csr_array
        As `KernelEstimate.features` gives them, to the last bit.

    Raises
    ------
    InputError
        Where a file is missing, or is not the one that was written.
    """
    place = Path(folder)
    header = _header(place)
    try:
        left, right = (_side(place, header, side) for side in SIDES)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"{place / HEADER} is damaged ({error!r})") from None
    return left, right


def _side(place: Path, header: Mapping[str, Any], side: str) -> sp.csr_array:
    n, width, shards = int(header["n_nodes"]), int(header["n_columns"]), header["shards"]
    dtype = np.dtype(header["dtype"])
    n_entries = sum(int(shard[side]["n_entries"]) for shard in shards)
    require_bytes(n_entries * (4 + dtype.itemsize) + 8 * n, f"the features in {place}")
    matrix, row = GrowingMatrix(n, width, n_entries, dtype), 0
    for shard in shards:
        facts = shard[side]
        part = _shard(place, facts, header["file_format"], width)
        if facts["first_node"] != row or part.shape[0] != facts["n_nodes"]:
            raise InputError(f"{place / facts['file']} does not hold the rows from {row} on")
        matrix.append(Block(part.indptr[1:].astype(np.int64), part.indices, part.data))
        row += part.shape[0]
    if row != n:
        raise InputError(f"{place} has features of {row} nodes, and its header says {n}")
    return matrix.finish()


def _shard(place: Path, facts: Mapping[str, Any], format: ShardFormat, width: int) -> sp.csr_array:
    file = place / Path(str(facts["file"])).name
    content = _read(file)
    checksum = new_checksum()
    checksum.update(content)
    if checksum.hexdigest() != facts["checksum"]:
        raise InputError(f"{file} is damaged, or is not the file that was written: its checksum")
    if format == "npz":
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            data, columns, indptr = (arrays[part] for part in ("data", "indices", "indptr"))
    else:
        require("pyarrow", "features in Parquet files")
        table = require("pyarrow.parquet").read_table(io.BytesIO(content)).combine_chunks()
        lists, values = (_chunk(table, name) for name in ("columns", "values"))
        indptr = np.asarray(lists.offsets)
        columns, data = np.asarray(lists.values), np.asarray(values.values)
    check_compressed(columns, indptr, len(data), (len(indptr) - 1, width), spare=False)
    return csr(data, columns.astype(np.int32, copy=False), indptr, width)


def _chunk(table: Any, name: str) -> Any:
    column = table[name]
    return column.chunk(0) if column.num_chunks else column.combine_chunks()


def _header(place: Path) -> dict[str, Any]:
    try:
        header = json.loads(_read(place / HEADER))
        found = header["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{place / HEADER} is not the header of a folder of features") from None
    if found != FORMAT or header.get("file_format") not in get_args(ShardFormat):
        raise InputError(f"{place} holds {shown(found)}, not {FORMAT!r}")
    return dict(header)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def _write(file: Path, content: bytes) -> dict[str, Any]:
    checksum = new_checksum()
    checksum.update(content)
    with atomic_write(file) as stream:
        stream.write(content)
    return {"file": file.name, "n_bytes": len(content), "checksum": checksum.hexdigest()}


def _npz(arrays: Mapping[str, Any]) -> bytes:
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def _parquet(columns: Mapping[str, Any]) -> bytes:
    arrow, content = require("pyarrow", "features in Parquet files"), io.BytesIO()
    require("pyarrow.parquet").write_table(arrow.table(dict(columns)), content)
    return content.getvalue()
