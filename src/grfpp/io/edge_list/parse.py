"""The lines of an edge list -> where in a buffer its labels are, and the weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grfpp.errors import InputError
from grfpp.io.edge_list.blocks import plain_fields
from grfpp.io.edge_list.dialect import Dialect, Records
from grfpp.io.edge_list.layout import Layout
from grfpp.io.text import at_line
from grfpp.io.words import Words
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
    pieces: list[bytes | memoryview] = [memoryview(data)[:start]]
    parts: list[tuple[IntArray, AnyInts, FloatArray, IntArray]] = []
    offset, untouched = start, True
    while start < len(data):
        end = record_end(data, start, layout.dialect, _BLOCK)
        block = data[start:end] if end < len(data) or data.endswith(b"\n") else data[start:] + b"\n"
        found = _plain_edges(block, layout)
        if found is None:
            block, numbers = _careful_edges(block, number, layout, name)
            found = _plain_edges(block, _CAREFUL)
            assert found is not None
            found, untouched = (*found[:3], numbers), False
        else:
            found = (*found[:3], found[3] + number)
        parts.append((found[0] + offset, *found[1:]))
        pieces.append(memoryview(block))
        offset += len(block)
        number += data.count(b"\n", start, end)
        start = end
    buffer = data if untouched else b"".join(pieces)
    if not parts:
        empty = np.zeros((0, 2), np.int64)
        return Edges(buffer, empty, empty, np.zeros(0), np.zeros(0, np.int64))
    return Edges(buffer, *(np.concatenate(each) for each in zip(*parts, strict=True)))


#: How `_careful_edges` writes; there are no zero bytes in text.
_CAREFUL = Layout(Dialect("\0", given=True), (0, 1, 2), 3, range(3, 4))


def _plain_edges(
    block: bytes, layout: Layout
) -> tuple[IntArray, AnyInts, FloatArray, IntArray] | None:
    """Starts and lengths of the labels, weights and lines of a block, if it is plain."""
    if not block:
        empty = np.zeros((0, 2), np.int64)
        return empty, empty, np.zeros(0), np.zeros(0, np.int64)
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
            written += layout.edge(fields)
            numbers.append(records.number)
    except InputError as error:
        raise at_line(name, records.number, error.problem, **error.remedies) from None
    text = "\0".join([*written, ""])
    return text.encode(), np.array(numbers, dtype=np.int64)


def _written_fields(block: bytes) -> tuple[IntArray, IntArray, IntArray]:
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == 0).reshape(-1, 3)
    starts = np.concatenate([[0], ends.ravel()[:-1] + 1]).reshape(-1, 3)
    return starts, ends, np.arange(len(ends))
