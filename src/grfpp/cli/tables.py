"""Tables of nodes that commands read and write: comma-separated values, and Parquet by DuckDB."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from grfpp.cli.results import write_csv
from grfpp.errors import InputError
from grfpp.io.atomic import atomic_write
from grfpp.io.files import read_text
from grfpp.io.packed import existing_file
from grfpp.io.table_sql import Database
from grfpp.nodes import NodeNames
from grfpp.typing import FloatArray, IntArray


def read_rows(path: Path, names: NodeNames, option: str, what: str) -> dict[int, list[str]]:
    """The cells of a table that follow the node in the first column, by node index.

    The first line holds the names of the columns if its first cell is not the name of a node.
    """
    rows: dict[int, list[str]] = {}
    try:
        lines = _parquet_lines(path) if path.suffix.lower() == ".parquet" else _csv_lines(path)
    except csv.Error as error:
        raise InputError(f"{path} is not a table: {error}", argument=option) from None
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        where = f"--{option} {path}, line {number}"
        name, *cells = (cell.strip() for cell in line)
        try:
            node = names.index_of_text(name, f"{where}: nodes")
        except InputError:
            if number > 1:
                raise
            continue
        if not cells or node in rows:
            raise InputError(f"{where}: must hold a node, each once, and its {what}, found {line}")
        rows[node] = cells
    return rows


def _csv_lines(path: Path) -> list[list[str]]:
    return list(csv.reader(read_text(path).splitlines(), strict=True))


def _parquet_lines(path: Path) -> list[list[str]]:
    """The names of the columns and the rows, as text."""
    with TemporaryDirectory() as folder, Database(Path(folder), purpose=f"reading {path}") as data:
        text = "SELECT COLUMNS(*)::VARCHAR FROM read_parquet($path)"
        found = data.run(text, {"path": str(existing_file(path))})
        names = [column[0] for column in found.description]
        return [names, *(["" if c is None else c for c in row] for row in found.fetchall())]


def read_values(
    path: Path, names: NodeNames, option: str = "values"
) -> tuple[IntArray, FloatArray]:
    """Nodes, and a row of numbers for each."""
    rows = read_rows(path, names, option, "numbers")
    lengths = sorted({len(cells) for cells in rows.values()})
    if len(lengths) > 1:
        problem = f"must have as many numbers on each line of {path}, found {lengths}"
        raise InputError(problem, argument=option)
    try:
        values = np.array([[float(cell) for cell in cells] for cells in rows.values()])
    except ValueError as error:
        problem = f"must have as many numbers on each line of {path}: {error}"
        advice = "leave out nodes without numbers, and other columns"
        raise InputError(problem, argument=option, advice=advice) from None
    if not np.isfinite(values).all() or not rows:
        problem = f"must have finite numbers in {path}, of one node at least"
        raise InputError(problem, argument=option)
    return np.array(list(rows), np.int64), values


def write_table(path: Path | None, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as comma-separated values, or as Parquet by the suffix; nothing without a path.

    Missing values are ``None`` or empty text.
    """
    if path is None or path.suffix.lower() != ".parquet":
        write_csv(path, list(columns), zip(*columns.values(), strict=True))
        return
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    with TemporaryDirectory() as folder, Database(Path(folder), purpose=f"writing {path}") as data:
        data.register("result", arrays)
        whole = Path(folder, "result.parquet")
        data.run(f"COPY (SELECT * FROM result) TO '{whole}' (FORMAT parquet)")
        with atomic_write(path) as stream:
            stream.write(whole.read_bytes())
