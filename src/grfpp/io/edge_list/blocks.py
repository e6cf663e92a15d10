"""Blocks of whole lines -> where their fields are, for all lines at once.

Most lists are plain: every line has as many fields as the others. These are taken apart here, in
arrays. What is not plain is ``None`` here, and gone through line by line elsewhere, with the same
outcome or an error that names the line.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from grfpp.io.edge_list.dialect import Dialect
from grfpp.typing import IntArray

Bytes = npt.NDArray[np.uint8]

_NEWLINE, _TAB, _SPACE, _QUOTE = b'\n\t "'
_COMMENTS = tuple(b"#%")
# What may be two numbers where one is wanted.
_TWO_NUMBERS = re.compile(rb"[0-9.][ \t]+[-+.0-9]")
_MOST_WHITE = 16


def plain_fields(
    block: bytes, dialect: Dialect, n_fields: int
) -> tuple[IntArray, IntArray, IntArray] | None:
    """Find the fields of a block of lines, each of which has `n_fields`.

    Returns
    -------
    starts, ends, lines
        Where each field begins and ends, one row a line; and which lines those are, from 0.
    """
    separator = dialect.separator
    if separator is not None and (len(separator) > 1 or not separator.isascii()):
        return None
    text = np.frombuffer(block, np.uint8)
    if separator is None:
        found = _by_white_space(block, text, n_fields, given=dialect.given)
    else:
        found = _by_separator(block, text, n_fields, ord(separator), given=dialect.given)
    if found is None:
        return None
    starts, ends, lines = found
    first = text[starts if separator is None else starts[:, 0]]
    if ((first == _COMMENTS[0]) | (first == _COMMENTS[1])).any():
        return None
    if separator == "\t" and not dialect.given and (b"#" in block or b"%" in block):
        return None
    if b'"' in block and not _without_quotes(block, text, starts, ends):
        return None
    return starts, ends, lines


def without_comments(block: bytes) -> tuple[bytes, IntArray]:
    """Leave out lines that are empty or begin a comment; tell which lines stay."""
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(text == _NEWLINE) + 1
    starts = np.concatenate([[0], ends[:-1]])
    first = text[starts]
    stays = (first != _NEWLINE) & (first != _COMMENTS[0]) & (first != _COMMENTS[1])
    return text[np.repeat(stays, ends - starts)].tobytes(), np.flatnonzero(stays)


def _by_white_space(
    block: bytes, text: Bytes, n_fields: int, *, given: bool
) -> tuple[IntArray, IntArray, IntArray] | None:
    if not given and (b"," in block or b";" in block):
        return None
    gap = np.empty(len(text) + 1, dtype=bool)
    gap[0] = True
    newline = text == _NEWLINE
    np.logical_or(newline, text == _SPACE, out=gap[1:])
    gap[1:] |= text == _TAB
    changes = np.flatnonzero(gap[1:] != gap[:-1])
    starts, ends = changes[0::2], changes[1::2]
    n_in_line = np.diff(np.searchsorted(starts, np.flatnonzero(newline)), prepend=0)
    lines = np.flatnonzero(n_in_line)
    if (n_in_line[lines] != n_fields).any():
        return None
    return starts.reshape(-1, n_fields), ends.reshape(-1, n_fields), lines


def _by_separator(
    block: bytes, text: Bytes, n_fields: int, separator: int, *, given: bool
) -> tuple[IntArray, IntArray, IntArray] | None:
    marks = np.flatnonzero((text == separator) | (text == _NEWLINE))
    if len(marks) % n_fields:
        return None
    ends = marks.reshape(-1, n_fields)
    kinds = text[ends] == _NEWLINE
    if kinds[:, :-1].any() or not kinds[:, -1].all():
        return None
    starts = np.concatenate([[0], marks[:-1] + 1]).reshape(-1, n_fields)
    if b" " in block or (b"\t" in block and separator != _TAB):
        if not given and _TWO_NUMBERS.search(block):
            return None
        if not _trim(text, starts, ends):
            return None
    return starts, ends, np.arange(len(ends))


def _trim(text: Bytes, starts: IntArray, ends: IntArray) -> bool:
    """Take white space off both ends of the fields, in place; ``False`` when there is too much."""
    for _ in range(_MOST_WHITE):
        left, right = text[starts], text[ends - 1]
        left_white = ((left == _SPACE) | (left == _TAB)) & (starts < ends)
        right_white = ((right == _SPACE) | (right == _TAB)) & (starts < ends) & ~left_white
        if not (left_white.any() or right_white.any()):
            return True
        starts += left_white
        ends -= right_white
    return False


def _without_quotes(block: bytes, text: Bytes, starts: IntArray, ends: IntArray) -> bool:
    """Take quotes off the fields, in place, where whole fields are in them and hold none."""
    quoted = (text[starts] == _QUOTE) & (ends - starts > 1)
    n_quotes = block.count(b'"')
    if n_quotes != 2 * np.count_nonzero(quoted) or (text[ends - 1] != _QUOTE)[quoted].any():
        return False
    starts += quoted
    ends -= quoted
    return _trim(text, starts, ends)
