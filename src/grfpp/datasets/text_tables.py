"""Tables of numbers in text files, a row a line: parsed in bulk, errors that name the line."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.io.files import Readable
from grfpp.io.text import at_line, decode, shown
from grfpp.typing import FloatArray, IntArray

_CHUNK = 1 << 22
_AROUND_MARKS = re.compile(rb"[ \t\r]*([,\n])[ \t]*")
_DIGITS = b"0123456789"
#: Numbers with more digits may not fit 64 bits.
_MOST_DIGITS = 18


def natural_numbers(
    stream: Readable, name: str, n_columns: int, most: int
) -> npt.NDArray[np.int32]:
    """Read a table of whole numbers from 1 to `most`, separated by commas.

    Pieces of some megabytes are parsed as arrays of digits, so that tens of millions of lines take
    a second or two and little memory.

    Parameters
    ----------
    stream, name
        The file and what errors call it.
    n_columns
        How many numbers each line must have.
    most
        The largest number that is allowed.

    Returns
    -------
    array of shape ``(n_lines, n_columns)``
    """
    parts = [np.empty((0, n_columns), dtype=np.int32)]
    n_lines, rest = 0, b""
    while chunk := stream.read(_CHUNK):
        lines, rest = _whole_lines(rest + chunk)
        parts.append(_natural_numbers(lines, name, n_lines, n_columns, most))
        n_lines += len(parts[-1])
    if rest.strip():
        lines = rest.rstrip() + b"\n"
        parts.append(_natural_numbers(lines, name, n_lines, n_columns, most))
    return np.concatenate(parts)


def _whole_lines(text: bytes) -> tuple[bytes, bytes]:
    """Split off what follows the last line that is whole and not empty.

    Empty lines are kept back: at the end of a file they mean nothing, elsewhere they are wrong.
    """
    full = text[: text.rfind(b"\n") + 1].rstrip()
    end = text.index(b"\n", len(full)) + 1 if full else 0
    return text[:end], text[end:]


def _natural_numbers(
    lines: bytes, name: str, n_before: int, n_columns: int, most: int
) -> npt.NDArray[np.int32]:
    n_lines = lines.count(b"\n")
    wanted = (b"," * (n_columns - 1) + b"\n") * n_lines
    compact = lines.replace(b", ", b",")  # how nearly all files are written
    if compact.translate(None, _DIGITS) != wanted:
        compact = _AROUND_MARKS.sub(rb"\1", lines.lstrip(b" \t"))
    if compact.translate(None, _DIGITS) == wanted:
        values = _digits_to_numbers(np.frombuffer(compact, dtype=np.uint8))
        if values is not None and n_lines and values.min() >= 1 and values.max() <= most:
            return values.astype(np.int32).reshape(n_lines, n_columns)
    if not lines:
        return np.empty((0, n_columns), dtype=np.int32)
    raise _first_error(lines, name, n_before, n_columns, most)


def _digits_to_numbers(text: npt.NDArray[np.uint8]) -> IntArray | None:
    """Numbers between marks; ``None`` when one has no digits or too many."""
    ends = np.flatnonzero(text < ord("0"))  # commas and line ends
    n_digits = np.diff(ends, prepend=-1) - 1
    if not len(ends) or n_digits.min() < 1 or n_digits.max() > _MOST_DIGITS:
        return None
    values = np.zeros(len(ends), dtype=np.int64)
    for place in range(int(n_digits.max())):
        long = np.flatnonzero(n_digits > place)
        values[long] += (text[ends[long] - 1 - place].astype(np.int64) - ord("0")) * 10**place
    return values


def _first_error(lines: bytes, name: str, n_before: int, n_columns: int, most: int) -> InputError:
    """Go through the lines one by one, to say which is wrong."""
    wanted = "a whole number" if n_columns == 1 else f"{n_columns} whole numbers"
    for number, line in enumerate(lines.split(b"\n")[:-1], start=n_before + 1):
        words = [word.strip() for word in line.split(b",")]
        if len(words) != n_columns or not all(
            word.isdigit() and len(word) <= _MOST_DIGITS and 1 <= int(word) <= most
            for word in words
        ):
            found = shown(line.strip().decode("utf-8", "replace"))
            return at_line(name, number, f"expected {wanted} from 1 to {most:,}, found {found}")
    return InputError(f"{name}: expected {wanted} from 1 to {most:,} in each line")


def integers(data: bytes, name: str, n_rows: int | None = None) -> IntArray:
    """Read a table of whole numbers of any sign; a single column becomes a vector."""
    table = _table(data, name, n_rows, np.int64, "whole numbers")
    return table[:, 0] if table.shape[1] == 1 else table


def numbers(data: bytes, name: str, n_rows: int | None = None) -> FloatArray:
    """Read a table of finite numbers."""
    table = _table(data, name, n_rows, np.float64, "numbers")
    wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(wrong):
        raise at_line(name, int(wrong[0]) + 1, "numbers must be finite")
    return table


def _table(
    data: bytes,
    name: str,
    n_rows: int | None,
    kind: type[np.int64 | np.float64],
    wanted: str,
) -> npt.NDArray[Any]:
    text = decode(data, name).rstrip()
    if not text:
        raise InputError(f"{name} is empty")
    n_lines = text.count("\n") + 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # older numpy only warns that 1.5 is no whole number
            table = np.loadtxt(io.StringIO(text), dtype=kind, comments=None, delimiter=",", ndmin=2)
        if len(table) != n_lines:  # numpy skips empty lines, which would shift the others
            raise ValueError
    except (ValueError, OverflowError, Warning):
        raise _wrong_line(text, name, kind, wanted) from None
    if n_rows is not None and n_lines != n_rows:
        raise at_line(
            name,
            min(n_lines, n_rows + 1),
            f"expected {n_rows:,} lines, found {n_lines:,}; is the file truncated?",
        )
    return table


def _wrong_line(text: str, name: str, kind: type[np.int64 | np.float64], wanted: str) -> InputError:
    n_columns = len(text.partition("\n")[0].split(","))
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split(",")
        if len(words) != n_columns:
            return at_line(
                name, number, f"expected {n_columns} {wanted} as before, found {len(words)}"
            )
        try:
            for word in words:
                kind(word.strip())
        except (ValueError, OverflowError):
            return at_line(name, number, f"expected {wanted}, found {shown(line.strip())}")
    return InputError(f"{name}: expected {wanted} in each line")
