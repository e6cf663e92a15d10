"""Matrix Market files.

Not by `scipy.io.mmread`: of damaged files it reads past the end (scipy 1.17 ends the process when
the last line, without a line end, has a stray character).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.edges import check_node_count, undirected
from grfpp.io.text import Lines, at_line, decode, last_line, number_table, shown

_REAL_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")


class _Header(NamedTuple):
    coordinate: bool  # entries with their places, or else the whole matrix, column by column
    pattern: bool  # places without numbers
    symmetric: bool
    n_rows: int
    n_columns: int
    n_entries: int
    line: int


def read_mtx(data: bytes, name: str) -> sp.coo_array:
    """Read a Matrix Market file; its header says whether the matrix is symmetric."""
    text = decode(data, name)
    header = _header(text, name)
    check_node_count(max(header.n_rows, header.n_columns), f"the header of {name}")
    # Each entry takes a digit and a line end at least, so that a wrong header claims no memory.
    if 2 * header.n_entries > len(text) + 1:
        raise InputError(
            f"{name} is truncated: the header announces {header.n_entries:,} entries, and the "
            f"file is only {len(text):,} characters long"
        )
    table = _table(text, header, name)
    places = _places(table, header, name)
    weights = np.ones(len(table)) if header.pattern else table["w"]
    if header.symmetric:
        return undirected(*places, weights, header.n_rows)
    return sp.coo_array((weights, places), shape=(header.n_rows, header.n_columns))


def _header(text: str, name: str) -> _Header:
    banner, _, _ = text.partition("\n")
    match banner.lower().split():
        case ["%%matrixmarket", "matrix", "coordinate" | "array" as layout, field, symmetry]:
            pass
        case _:
            raise at_line(name, 1, f"not Matrix Market: expected its banner, found {shown(banner)}")
    if field not in _REAL_FIELDS or (field == "pattern" and layout == "array"):
        raise at_line(name, 1, f"weights must be real numbers, found {shown(field)}")
    if symmetry not in ("general", "symmetric"):
        raise at_line(name, 1, f"the matrix must be general or symmetric, found {shown(symmetry)}")
    wanted = "rows, columns, entries" if layout == "coordinate" else "rows, columns"
    symmetric = symmetry == "symmetric"
    with Lines(text, name, comment="%") as lines:
        words = lines.following(f"the size ({wanted})")
        digits = all(word.isascii() and word.isdigit() for word in words)
        if len(words) != wanted.count(",") + 1 or not digits:
            raise InputError(f"expected the size ({wanted}), found {shown(' '.join(words))}")
        n_rows, n_columns, *rest = (int(word[:100]) for word in words)
        if symmetric and n_rows != n_columns:
            raise InputError(f"a symmetric matrix must be square, found {n_rows} x {n_columns}")
    stored = n_rows * (n_rows + 1) // 2 if symmetric else n_rows * n_columns
    n_entries = rest[0] if rest else stored
    pattern, by_entry = field == "pattern", layout == "coordinate"
    return _Header(by_entry, pattern, symmetric, n_rows, n_columns, n_entries, lines.number)


def _table(text: str, header: _Header, name: str) -> npt.NDArray[Any]:
    """Parse the entries in C and, when that fails, line by line, to say where it does."""
    columns: list[tuple[str, Any]] = [("w", np.float64)]
    if header.coordinate:
        columns = [("u", np.int64), ("v", np.int64), *([] if header.pattern else columns)]
    body = text.split("\n", header.line)[-1] if text.count("\n") >= header.line else ""
    if not header.n_entries and not body.partition("%")[0].strip():
        return np.empty(0, dtype=columns)
    table = number_table(body, columns, comments="%", ndmin=1)
    if table is None:
        table = _careful_table(text, columns, header, name)
    if len(table) != header.n_entries:
        counts = f"{len(table):,} entries, the header announces {header.n_entries:,}"
        raise at_line(name, last_line(text), f"the file ends after {counts}; is it truncated?")
    return table


def _careful_table(
    text: str, columns: list[tuple[str, Any]], header: _Header, name: str
) -> npt.NDArray[Any]:
    names = {"u": "a row", "v": "a column", "w": "a weight"}
    wanted = " and ".join(names[key] for key, _ in columns)
    rows = []
    with Lines(text, name, comment="%") as lines:
        for words in lines:
            if lines.number <= header.line:
                continue
            try:
                numbers = zip(columns, words, strict=True)
                rows.append(tuple(kind(word) for (_, kind), word in numbers))
            except (ValueError, OverflowError):
                text = shown(" ".join(words))
                raise InputError(f"expected {wanted}, found {text}") from None
    return np.array(rows, dtype=columns)


def _places(table: npt.NDArray[Any], header: _Header, name: str) -> tuple[Any, Any]:
    """Row and column of each entry."""
    if not header.coordinate:
        # The lower triangle by columns is the upper one by rows.
        columns, rows = (
            np.triu_indices(header.n_rows)
            if header.symmetric
            else np.divmod(np.arange(header.n_entries), header.n_rows)
        )
        return rows, columns
    for key, limit in (("u", header.n_rows), ("v", header.n_columns)):
        wrong = np.flatnonzero((table[key] < 1) | (table[key] > limit))
        if len(wrong):
            entry = table[wrong[0]]
            raise InputError(
                f"{name}: entry {wrong[0] + 1:,} is at ({entry['u']}, {entry['v']}), outside of "
                f"the {header.n_rows} x {header.n_columns} of the header"
            )
    return table["u"] - 1, table["v"] - 1
