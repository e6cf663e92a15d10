"""Tables of numbers in text files, a row a line: parsed in bulk, errors that name the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.io.text import at_line, decode, number_table, shown
from grfpp.typing import FloatArray, IntArray


def natural_numbers(data: bytes, name: str, n_columns: int, most: int) -> npt.NDArray[np.int32]:
    """Read a table of whole numbers from 1 to `most`, `n_columns` a line, separated by commas."""
    if not data or data.isspace():
        return np.empty((0, n_columns), dtype=np.int32)
    table = _parsed(data, name, np.int32)
    if (
        table is not None
        and table.shape[1] == n_columns
        and 1 <= table.min() <= table.max() <= most
    ):
        return table

    def convert(word: str) -> None:
        if not 1 <= int(word) <= most:
            raise ValueError

    raise _first_error(data, name, n_columns, convert, "whole number", f" from 1 to {most:,}")


def integers(data: bytes, name: str, n_rows: int | None = None) -> IntArray:
    """Read a table of whole numbers of any sign; a single column becomes a vector."""
    table = _table(data, name, n_rows, np.int64, "whole number")
    return table[:, 0] if table.shape[1] == 1 else table


def numbers(data: bytes, name: str, n_rows: int | None = None) -> FloatArray:
    """Read a table of finite numbers."""
    table = _table(data, name, n_rows, np.float64, "number")
    wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(wrong):
        raise at_line(name, int(wrong[0]) + 1, "numbers must be finite")
    return table


def _table(
    data: bytes, name: str, n_rows: int | None, kind: type[np.int64 | np.float64], what: str
) -> npt.NDArray[Any]:
    if not data or data.isspace():
        raise InputError(f"{name} is empty")
    table = _parsed(data, name, kind)
    if table is None:
        n_columns = data.partition(b"\n")[0].count(b",") + 1
        raise _first_error(data, name, n_columns, kind, what)
    if n_rows is not None and len(table) != n_rows:
        counts = f"expected {n_rows:,} lines, found {len(table):,}"
        raise at_line(name, min(len(table), n_rows + 1), f"{counts}; is the file truncated?")
    return table


def _parsed(data: bytes, name: str, kind: Any) -> npt.NDArray[Any] | None:
    """Parse a table; ``None`` when some line is wrong."""
    if b"\r" in data or not data.isascii():
        data = decode(data, name).encode()
    data = data.rstrip()
    table = number_table(data, kind, delimiter=",", ndmin=2)
    # numpy skips empty lines, which would shift the others.
    return None if table is None or len(table) != data.count(b"\n") + 1 else table


def _first_error(
    data: bytes,
    name: str,
    n_columns: int,
    convert: Callable[[str], object],
    what: str,
    limits: str = "",
) -> InputError:
    """Go through the lines one by one, to say which is wrong."""
    wanted = f"expected {f'a {what}' if n_columns == 1 else f'{n_columns} {what}s'}{limits}"
    for number, line in enumerate(decode(data, name).rstrip().split("\n"), start=1):
        words = line.split(",")
        try:
            if len(words) != n_columns:
                raise ValueError
            for word in words:
                convert(word.strip())
        except (ValueError, OverflowError):
            return at_line(name, number, f"{wanted}, found {shown(line.strip())}")
    return InputError(f"{name}: {wanted} in each line")
