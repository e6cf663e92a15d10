"""Text edge lists of any size, batch by batch, by the same rules as those that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Literal

import numpy as np

from grfpp.errors import InputError
from grfpp.imports.optional import require
from grfpp.io.edge_list.attributes import drop_attributes, has_attributes
from grfpp.io.edge_list.first_line import FirstLine, begins_record
from grfpp.io.edge_list.numbering import below, doubt
from grfpp.io.edge_list.parse import Edges, parse_edges
from grfpp.io.large.batches import Doubt, EdgeBatch
from grfpp.io.large.text_stream import LONGEST_RECORD, TextStream, utf8_pieces, whole_lines
from grfpp.io.tables.options import EdgeListOptions
from grfpp.io.tables.words import Words
from grfpp.typing import AnyInts, IntArray


class TextEdges:
    """The edges of an open text file."""

    entry: Literal["line", "row"] = "line"
    reads_numbers = True

    def __init__(self, stream: TextStream, suffix: str, options: EdgeListOptions) -> None:
        self.name, self._stream = stream.name, stream
        lines = whole_lines(utf8_pieces(stream, options.encoding), self.name)
        head, rest = _head(lines, self.name)
        if has_attributes(head):
            pieces = _without_attributes(chain([head], rest), self.name)
            head, rest = next(pieces), pieces
        self._first = FirstLine.of(head, self.name, suffix, options)
        self._pieces = chain([head[self._first.begin :]], rest)
        #: Whether the first of the edges is one only if those below say so.
        self._is_doubtful = self._first.named is None and len(self._first.fields) == 2
        self._first_place: int | None = None

    def progress(self) -> tuple[int, int]:
        """Bytes of the file, packed where it is."""
        return self._stream.position, self._stream.size

    def batches(self) -> Iterator[EdgeBatch]:
        """All edges but for a first one that is doubtful (see `doubt`)."""
        pyarrow = require("pyarrow", "converting edge lists")
        layout = self._first.layout
        number, is_first = self._first.first, True
        for block in _records(self._pieces, layout.dialect.quotes, self.name):
            edges = parse_edges(block, 0, number, layout, self.name)
            number += block.count(b"\n")
            if is_first and len(edges.lines):
                is_first, self._first_place = False, int(edges.lines[0])
                edges = below(edges) if self._is_doubtful else edges
            if len(edges.lines):
                source, target, is_whole = _ends(pyarrow, edges)
                yield EdgeBatch(edges.lines, source, target, edges.weights, is_whole)

    @property
    def doubt(self) -> Doubt | None:
        """What is open about the first line."""
        first = self._first
        names = (first.fields[0], first.fields[1])
        if self._is_doubtful:
            return Doubt(names, self._settle_first, self._first_place)
        if first.named and first.found_out:
            return Doubt(names, self._settle_header)
        if first.named is None and len(first.fields) == 3:
            return Doubt(names, self._settle_weight)
        return None

    def _settle_first(self, all_whole: bool, known: bool) -> bool:
        """Words over nothing but numbers are column names; words that come again are nodes."""
        if known:
            return True
        if not all_whole:
            raise doubt(self._first, self.name)
        return False

    def _settle_header(self, all_whole: bool, known: bool) -> bool:
        if known:
            raise doubt(self._first, self.name)
        return False

    def _settle_weight(self, all_whole: bool, known: bool) -> bool:
        if not all_whole:
            raise self._first.no_weight(self.name)
        return False

    def nothing(self) -> InputError:
        """What to say where there are no edges below the first line."""
        if self._first.named is None and not self._is_doubtful:
            return self._first.no_weight(self.name)
        return InputError(
            f"{self.name} holds no edges, only the column names in line {self._first.number}"
        )


def _head(lines: Iterator[bytes], name: str) -> tuple[bytes, Iterator[bytes]]:
    """As many lines as tell what all look like; and the others."""
    head = b""
    for piece in lines:
        head += piece
        if begins_record(head) and head.count(b'"') % 2 == 0:
            break
        if len(head) > LONGEST_RECORD:
            raise InputError(f"{name}: no edge in the first {len(head):,} bytes")
    return head, lines


def _without_attributes(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    number = 1
    for piece in pieces:
        yield drop_attributes(piece, name, number)
        number += piece.count(b"\n")


def _records(pieces: Iterator[bytes], quotes: bool, name: str) -> Iterator[bytes]:
    """Pieces of whole lines that do not end within quotes."""
    rest = b""
    for piece in pieces:
        data = rest + piece if rest else piece
        end = _unquoted_end(data) if quotes and b'"' in data else len(data)
        rest = data[end:]
        if len(rest) > LONGEST_RECORD:
            raise InputError(f"{name}: a quote is opened and not closed for {len(rest):,} bytes")
        if end:
            yield data[:end]
    if rest:
        yield rest


def _unquoted_end(data: bytes) -> int:
    """Where the last line ends that is not within quotes."""
    end, n_quotes = len(data), data.count(b'"')
    while end and n_quotes % 2:
        before = data.rfind(b"\n", 0, end - 1) + 1
        n_quotes -= data.count(b'"', before, end)
        end = before
    return end


def _ends(pyarrow: Any, edges: Edges) -> tuple[Any, Any, bool]:
    """Both ends of edges: as numbers where all are, else as text."""
    starts, lengths = edges.starts, edges.lengths
    whole = Words(edges.buffer).whole_numbers(starts.ravel(), lengths.ravel())
    if whole is not None:
        numbers = (np.ascontiguousarray(each) for each in whole.reshape(-1, 2).T)
        source, target = map(pyarrow.array, numbers)
        return source, target, True
    buffer = pyarrow.py_buffer(edges.buffer)
    columns = zip(starts.T, lengths.T, strict=True)
    source, target = (_texts(pyarrow, buffer, *each) for each in columns)
    return source, target, False


def _texts(pyarrow: Any, buffer: Any, starts: IntArray, lengths: AnyInts) -> Any:
    """Pieces of a buffer that lie one after the other, as Arrow text."""
    # What lies between two pieces is a piece for Arrow, too, and left out again.
    bounds = np.empty(2 * len(starts), np.int64)
    bounds[0::2], bounds[1::2] = starts, starts + lengths
    offsets = pyarrow.py_buffer(bounds)
    count = len(bounds) - 1
    pieces = pyarrow.Array.from_buffers(pyarrow.large_string(), count, [None, offsets, buffer])
    return pieces.take(pyarrow.array(np.arange(0, count, 2)))
