"""The lines of an edge list -> where in a buffer its labels are, and the weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grfpp.errors import InputError
from grfpp.io.edge_list.blocks import plain_fields, without_comments
from grfpp.io.edge_list.dialect import Dialect, Records
from grfpp.io.edge_list.layout import Layout
from grfpp.io.tables.words import Words
from grfpp.io.text import at_line
from grfpp.typing import AnyInts, FloatArray, IntArray

_BLOCK = 1 << 21
_LONGEST_WEIGHT = 32


@dataclass(frozen=True)
class Edges:
    """Edges whose labels are pieces of a buffer.

    Row ``i`` of `starts` and `lengths` are those of the ends of edge ``i``, which stands in line
    ``lines[i]``.
    """

    buffer: bytes
    starts: IntArray
    lengths: AnyInts
    weights: FloatArray
    lines: IntArray


def record_end(data: bytes, start: int, dialect: Dialect, size: int = 1) -> int:
    """Where lines from `start` on end, of `size` bytes at least, and not within quotes."""
    end, n_quotes = start, 0
    while True:
        begin = end
        newline = data.find(b"\n", min(begin + size - 1, len(data)))
        end = newline + 1 if newline >= 0 else len(data)
        n_quotes += data.count(b'"', begin, end) if dialect.quotes else 0
        if n_quotes % 2 == 0 or end == len(data):
            return end


def parse_edges(data: bytes, start: int, number: int, layout: Layout, name: str) -> Edges:
    """Parse the lines from byte `start` on, which is the beginning of line `number`.

    Labels stay where they are in `data`. Blocks of lines that are not plain are written anew.
    """
    whole = memoryview(data)
    pieces: list[bytes | memoryview] = [whole[:start]]
    parts: list[_Found] = []
    offset, untouched = start, True
    while start < len(data):
        end = record_end(data, start, layout.dialect, _BLOCK)
        block = data[start:end] if end < len(data) or data.endswith(b"\n") else data[start:] + b"\n"
        found, written = _plain_edges(block, layout), None
        if found is None:
            found, written = _other_edges(block, number, layout, name)
            untouched = False
        starts, lengths, weights, lines = found
        parts.append((starts + offset, lengths, weights, lines + number))
        pieces.append(whole[start:end] if written is None else written)
        offset += len(block if written is None else written)
        number += data.count(b"\n", start, end)
        start = end
    buffer = data if untouched else b"".join(pieces)
    return Edges(buffer, *(np.concatenate(each) for each in zip(_NONE, *parts, strict=True)))


def _other_edges(block: bytes, number: int, layout: Layout, name: str) -> tuple[_Found, bytes]:
    """The edges of a block that is not plain, and where they stand: that block, written anew."""
    if b'"' not in block:
        written, kept = without_comments(block)
        found = _plain_edges(written, layout)
        if found is not None:
            return (*found[:3], kept[found[3]]), written
    written, lines = _careful_edges(block, number, layout, name)
    found = _plain_edges(written, _CAREFUL)
    assert found is not None
    return (*found[:3], lines - number), written


#: Starts and lengths of labels, weights, and lines.
_Found = tuple[IntArray, AnyInts, FloatArray, IntArray]
_NONE: _Found = (
    np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int32), np.zeros(0), np.zeros(0, np.int64),
)  # fmt: skip
#: How `_careful_edges` writes; there are no zero bytes in text.
_CAREFUL = Layout(Dialect("\0", given=True), (0, 1, 2), 3, range(3, 4))


def _plain_edges(block: bytes, layout: Layout) -> _Found | None:
    """The edges of a block, if it is plain; lines are counted from its first."""
    if not block:
        return _NONE
    if layout.usual not in layout.allowed:
        return None
    fields = (
        _written_fields(block) if layout is _CAREFUL
        else plain_fields(block, layout.dialect, layout.usual)
    )  # fmt: skip
    if fields is None:
        return None
    starts, ends, lines = fields
    chosen = [place for place in layout.chosen if place < layout.usual]
    starts = starts[:, chosen]
    lengths = ends[:, chosen] - starts
    if (lengths <= 0).any():
        return None
    weights = np.ones(len(starts))
    if len(chosen) == 3:
        parsed = _plain_weights(block, starts[:, 2], lengths[:, 2])
        if parsed is None:
            return None
        weights = parsed
    return starts[:, :2], lengths[:, :2].astype(np.int32), weights, lines


def _plain_weights(block: bytes, starts: IntArray, lengths: IntArray) -> FloatArray | None:
    if len(lengths) and lengths.max() > _LONGEST_WEIGHT:
        return None
    text = Words(block).table(starts, lengths)
    if b"_" in text.tobytes():
        return None  # a number for Python alone
    try:
        weights = text.astype(np.float64)
    except ValueError:
        return None
    return weights if (np.isfinite(weights) & (weights >= 0)).all() else None


def _careful_edges(block: bytes, number: int, layout: Layout, name: str) -> tuple[bytes, IntArray]:
    """Go through a block line by line, with care; write its edges in the plainest way."""
    lines = block.decode().split("\n")
    if not lines[-1]:
        lines.pop()
    records = Records(lines, number, layout.dialect)
    written: list[str] = []
    numbers: list[int] = []
    try:
        for fields in records:
            source, target, weight = layout.edge(fields)
            written += source, target, repr(float(weight))
            numbers.append(records.number)
    except InputError as error:
        raise at_line(name, records.number, error.problem, **error.remedies) from None
    text = "\0".join([*written, ""])
    return text.encode(), np.array(numbers, dtype=np.int64)


def _written_fields(block: bytes) -> tuple[IntArray, IntArray, IntArray]:
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == 0).reshape(-1, 3)
    starts = np.concatenate([[0], ends.ravel()[:-1] + 1]).reshape(-1, 3)
    return starts, ends, np.arange(len(ends))
