"""Sparse features in a folder of shards: a header, and files for consecutive rows of each side."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from grfpp._imports import require
from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.io.atomic import atomic_write
from grfpp.io.folder.layout import new_checksum
from grfpp.io.matrices import check_compressed
from grfpp.io.text import input_errors
from grfpp.linalg.csr import Block, GrowingMatrix, csr

FORMAT = "grfpp-feature-shards-1"
#: The file that makes a folder one of features.
HEADER = "features.json"
SIDES = ("left", "right")
ShardFormat = Literal["parquet", "npz"]


def write_shard(
    folder: str, name: str, format: ShardFormat, first_row: int, matrix: sp.csr_array
) -> dict[str, Any]:
    """Write some rows of one side; return the file's entry of the header."""
    rows = np.arange(first_row, first_row + matrix.shape[0], dtype=np.int64)
    parts = {part: getattr(matrix, part) for part in ("data", "indices", "indptr")}
    if format == "parquet":
        lists = require("pyarrow", "features in Parquet files").LargeListArray.from_arrays
        offsets = matrix.indptr.astype(np.int64)
        parts = {"columns": lists(offsets, matrix.indices), "values": lists(offsets, matrix.data)}
    entry = write_columns(folder, name, format, {"node": rows, **parts})
    sizes = {"n_nodes": int(matrix.shape[0]), "n_entries": int(matrix.nnz)}
    return {**entry, "first_node": first_row, **sizes}


def write_header(folder: Path, header: Mapping[str, Any]) -> None:
    """Write the header: shapes, shards, and how the estimate was made."""
    with atomic_write(folder / HEADER) as stream:
        stream.write(json.dumps({"format": FORMAT, **header}, indent=1).encode())


def load_features(folder: str | Path) -> tuple[sp.csr_array, sp.csr_array]:
    """Read the features ``X, Y`` that `DistributedEstimate.save_features` wrote.

    Parameters
    ----------
    folder
        The folder, with its ``features.json``.

    Returns
    -------
    csr_array, csr_array
        The same as of `KernelEstimate.features`, to the last bit.

    Raises
    ------
    InputError
        If a file is missing, or is not the one that was written.

    Examples
    --------
    >>> import grfpp, networkx as nx, tempfile
    >>> from distributed import Client
    >>> from grfpp.distributed import load_features, sample
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> folder = f"{tempfile.mkdtemp()}/features"
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     sample(client, W, grfpp.Diffusion(1.0), seed=0).save_features(folder, format="npz")
    >>> X, Y = load_features(folder)
    >>> X.shape == Y.shape
    True
    """
    folder = Path(folder)
    with input_errors(f"{folder / HEADER} is damaged"):
        header = json.loads(_read(folder / HEADER))
        if header["format"] != FORMAT or header["file_format"] not in get_args(ShardFormat):
            raise InputError(f"{folder} holds {shown(header['format'])}, not {FORMAT!r}")
        left, right = (_side(folder, header, side) for side in SIDES)
    return left, right


def _side(folder: Path, header: Mapping[str, Any], side: str) -> sp.csr_array:
    n, width, shards = int(header["n_nodes"]), int(header["n_columns"]), header["shards"]
    dtype = np.dtype(header["dtype"])
    n_entries = sum(int(shard[side]["n_entries"]) for shard in shards)
    require_bytes(n_entries * (4 + dtype.itemsize) + 8 * n, f"the features in {folder}")
    matrix, row = GrowingMatrix(n, width, n_entries, dtype), 0
    for entry in (shard[side] for shard in shards):
        part = _shard(folder, entry, header["file_format"], width)
        if entry["first_node"] != row or part.shape[0] != entry["n_nodes"]:
            raise InputError(f"{folder / entry['file']} does not hold the rows from {row} on")
        matrix.append(Block(part.indptr[1:].astype(np.int64), part.indices, part.data))
        row += part.shape[0]
    if row != n:
        raise InputError(f"{folder} has features of {row} nodes, but its header has {n} nodes")
    return matrix.finish()


def _shard(folder: Path, entry: Mapping[str, Any], format: ShardFormat, width: int) -> sp.csr_array:
    file = folder / Path(str(entry["file"])).name
    content = _read(file)
    if new_checksum(content).hexdigest() != entry["checksum"]:
        raise InputError(f"{file} is damaged: its checksum is not that of the header")
    if format == "npz":
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            data, columns, indptr = (arrays[part] for part in ("data", "indices", "indptr"))
    else:
        require("pyarrow", "features in Parquet files")
        table = require("pyarrow.parquet").read_table(io.BytesIO(content)).combine_chunks()
        lists, values = (table[name].combine_chunks() for name in ("columns", "values"))
        indptr = np.asarray(lists.offsets)
        columns, data = np.asarray(lists.values), np.asarray(values.values)
    check_compressed(columns, indptr, len(data), (len(indptr) - 1, width), spare=False)
    return csr(data, columns.astype(np.int32, copy=False), indptr, width)


def _read(file: Path) -> bytes:
    with input_errors(f"cannot read {file}", OSError):
        return file.read_bytes()


def write_columns(
    folder: str | Path, name: str, format: ShardFormat, columns: Mapping[str, Any]
) -> dict[str, Any]:
    """Write columns to a file; return its entry of the header."""
    stream = io.BytesIO()
    if format == "npz":
        np.savez(stream, **columns)
    else:
        table = require("pyarrow", "features in Parquet files").table(dict(columns))
        require("pyarrow.parquet").write_table(table, stream)
    content, file = stream.getvalue(), Path(folder) / f"{name}.{format}"
    with atomic_write(file) as target:
        target.write(content)
    checksum = new_checksum(content).hexdigest()
    return {"file": file.name, "n_bytes": len(content), "checksum": checksum}
