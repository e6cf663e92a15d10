"""What the first line of an edge list tells about all of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grfpp.errors import InputError
from grfpp.io.edge_list.dialect import Dialect, Records
from grfpp.io.edge_list.layout import Layout
from grfpp.io.edge_list.parse import record_end
from grfpp.io.tables.header import is_header
from grfpp.io.tables.options import EdgeListOptions
from grfpp.io.text import at_line, shown

_FIRST_LINE = re.compile(rb"^[ \t]*[^#%\s][^\n]*", re.MULTILINE)
_TABLES = (".csv", ".tsv")
_MATRIX_MARKET = b"%%MatrixMarket"
#: A field in quotes, which may hold separators and line ends, in the first bytes of a file.
_QUOTED = re.compile(r'(?:(?<=[;,\t ])|^)"(?:[^"]|"")*"')
_HEAD = 1 << 16


@dataclass(frozen=True)
class FirstLine:
    """The first line with fields, and what follows from it.

    Parameters
    ----------
    number
        Of the line, from 1.
    fields
        Those of source, target and weight.
    named
        Whether it holds column names; ``None`` where only the lines below can tell.
    found_out
        Whether nobody has said so.
    layout
        Where the edges stand in a line.
    begin, first
        The byte and the number of the line from which on there are edges.
    """

    number: int
    fields: list[str]
    named: bool | None
    found_out: bool
    layout: Layout
    begin: int
    first: int

    @classmethod
    def of(cls, data: bytes, name: str, suffix: str, options: EdgeListOptions) -> FirstLine:
        """Find and read it."""
        line = _FIRST_LINE.search(data)
        if line is None:
            raise InputError(f"{name} holds no edges: it is empty, or has nothing but comments")
        start = line.start()
        number = data.count(b"\n", 0, start) + 1
        if data[:start].lstrip().startswith(_MATRIX_MARKET):
            raise InputError(f"{name} is a Matrix Market file: call it .mtx")
        head = data[start : start + _HEAD].decode(errors="replace")
        unquoted = _QUOTED.sub("", head).partition("\n")[0]
        dialect = Dialect.of(unquoted, suffix, options.separator)
        end = record_end(data, start, dialect)
        below = number + data.count(b"\n", start, end)
        records = Records(data[start:end].decode().split("\n"), number, dialect)
        try:
            fields = next(iter(records))
            named, layout = _layout(fields, dialect, options, table=suffix in _TABLES)
        except InputError as error:
            raise at_line(name, number, error.problem, **error.remedies) from None
        picked = [fields[place] for place in layout.chosen if place < len(fields)]
        # A word in place of the weight: names, or else a mistake. It is read with neither.
        is_edge = named is False or (named is None and len(picked) == 2)
        begin, first = (start, number) if is_edge else (end, below)
        found_out = options.header is None and not _by_name(options)
        return cls(number, picked, named, found_out, layout, begin, first)

    def no_weight(self, name: str) -> InputError:
        """What to say where it holds no names, and a word in place of the weight."""
        what = f"the weight {shown(self.fields[2])} is not a number"
        return at_line(name, self.number, what, option=("header", True))


def begins_record(data: bytes) -> bool:
    """Whether there is a line with fields."""
    return _FIRST_LINE.search(data) is not None


def _by_name(options: EdgeListOptions) -> bool:
    return any(isinstance(each, str) for each in options.columns or ())


def _layout(
    fields: list[str], dialect: Dialect, options: EdgeListOptions, *, table: bool
) -> tuple[bool | None, Layout]:
    """Whether the line holds column names, if it tells, and where edges stand."""
    named = True if _by_name(options) else options.header
    asked = options.columns
    if named is None:
        # Numbers alone: names would have said that there is a header.
        picked = (
            fields if asked is None else [fields[int(i)] for i in asked if int(i) < len(fields)]
        )
        named = is_header(picked, table=table)
    if named:
        return True, Layout.of_header(dialect, fields, asked)
    layout = Layout.of_first(dialect, fields, asked)
    if len(fields) not in layout.allowed:
        layout.edge(fields)  # which says what is wrong
    return named, layout
