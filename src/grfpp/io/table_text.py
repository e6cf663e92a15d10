"""Text edge lists of every dialect -> the table ``listed`` of a database.

The text is copied as UTF-8 without comments and with one separator, in chunks; DuckDB parses the
copy. The first line determines dialect and header; if it is ambiguous, the lines below do.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from grfpp.errors import InputError, shown
from grfpp.io.packed import PACKINGS, opened_member, reading_errors, too_large
from grfpp.io.table_options import EdgeListOptions, ListFile, columns_of, is_header, is_number
from grfpp.io.table_sql import Database, Origin, bad_row
from grfpp.io.text import at_line, encoding_of, not_text, zero_byte

#: Called with the number of bytes that were read, and that of all bytes, 0 if it is unknown.
Report = Callable[[int, int], None]
#: A line, counted from 1, and its fields.
_Record = tuple[int, list[str]]

TEXT_SUFFIXES = (".txt", ".tsv", ".csv", ".edges", ".edgelist")

#: Characters that are read at a time: regular expressions on some megabytes are efficient.
_CHUNK = 1 << 22
#: Characters of the longest line, DuckDB's default limit.
_MAX_LINE = 1 << 21
#: Stands for separators of several characters in the copy.
_UNIT_SEPARATOR = "\x1f"
_SEPARATOR_NAMES = {" ": "white space", "\t": "tabs", ",": "commas", ";": "semicolons"}
#: A line that is not empty and no comment.
_FIRST_LINE = re.compile(r"^[ \t]*[^#%\s].*", re.MULTILINE)
#: A field in quotes, which may hold separators, comment signs and line ends.
_QUOTED = r'"(?:[^"]|"")*"'
_QUOTED_FIELD = re.compile(rf"(?:(?<=[;,\t ])|^){_QUOTED}", re.MULTILINE)
_NO_RECORD = re.compile(rf"({_QUOTED})|^[ \t]*(?:[#%].*|$)", re.MULTILINE)
_COMMENT = re.compile(rf"({_QUOTED})|(?:^|(?<=[ \t]))[#%].*", re.MULTILINE)
_WHITE_SPACE = re.compile(rf"({_QUOTED})|[ \t]+")
_RUN = re.compile(r"[ \t]+")
_EDGE_OF_LINE = re.compile(r"^ +| +$", re.MULTILINE)
#: Characters in which the end of the first line is searched.
_HEAD = 1 << 16
#: Characters of a dictionary in a line: Python's parser needs far more memory than the text.
_MAX_ATTRIBUTES = 100_000
#: A line ``u v {'weight': 2.0}``, as networkx writes edges.
_WITH_ATTRIBUTES = re.compile(r"[ \t]*[^\s,;{}]+([ \t,;])[^\s,;{}]+\1\{.*\}[ \t]*")
_SEVERAL_NUMBERS = r"{0} LIKE '% %' AND regexp_full_match({0}, '-?[0-9.]+(\s+-?[0-9.]+)+')"
_IS_WHOLE = "({0} = try_cast({0} AS BIGINT)::VARCHAR) IS TRUE"


@dataclass(frozen=True)
class _Dialect:
    """The separator of fields: `separator` in the file, `written` in the copy.

    Comments begin with ``#`` or ``%`` at the beginning of a line or, in lists that are separated by
    white space, of a word. `given` means that an option has set the separator, `with_attributes`
    that a dictionary follows each edge.
    """

    separator: str
    given: bool
    with_attributes: bool = False

    @classmethod
    def of(cls, text: str, suffix: str, separator: str | None) -> _Dialect:
        """The dialect of a text that begins with its first line of fields."""
        if separator is not None:
            return cls(separator, given=True)
        if match := _WITH_ATTRIBUTES.fullmatch(text.partition("\n")[0]):
            return cls(match[1], given=False, with_attributes=True)
        line = _QUOTED_FIELD.sub("", text[:_HEAD]).partition("\n")[0]
        if suffix == ".tsv" and "\t" in line.strip():
            return cls("\t", given=False)
        fields = _COMMENT.sub(r"\1", line)
        return cls(next((mark for mark in ";," if mark in fields), " "), given=False)

    @property
    def written(self) -> str:
        is_plain = len(self.separator) == 1 and self.separator.isascii()
        return self.separator if is_plain else _UNIT_SEPARATOR

    @property
    def quote(self) -> str:
        return "" if self.written == _UNIT_SEPARATOR else '"'

    def __str__(self) -> str:
        return _SEPARATOR_NAMES.get(self.separator, repr(self.separator))

    def cleaned(self, text: str, name: str, number: int) -> str:
        """Text without comments, with fields separated as in the copy; `number` is its line."""
        if self.with_attributes:
            text = _weights_of_attributes(text, name, number)
        if self.separator != " ":
            if text[:1] in " \t" or any(mark in text for mark in ("#", "%", "\n ", "\n\t")):
                text = _NO_RECORD.sub(r"\1", text)
            return text.replace(self.separator, self.written)
        if "#" in text or "%" in text:
            text = _COMMENT.sub(r"\1", text)
        mark = None if self.given else next((mark for mark in ",;" if mark in text), None)
        if mark is not None:
            line = number + text.count("\n", 0, text.index(mark))
            problem = f"a {mark!r}, but the lines before are separated by white space"
            raise at_line(name, line, problem, "pass separator")
        if '"' in text:
            text = _WHITE_SPACE.sub(lambda match: match[1] or " ", text)
        elif "\t" in text or "  " in text:
            text = _RUN.sub(" ", text)
        if " \n" in text or "\n " in text or " " in (text[:1], text[-1:]):
            text = _EDGE_OF_LINE.sub("", text)
        return text

    def records(self, lines: Iterator[str], name: str, first: int) -> Iterator[_Record]:
        """The line and the fields of each record of the copy, whose first line is line `first`."""
        quoting: Any = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        reader = csv.reader(lines, delimiter=self.written, skipinitialspace=True, quoting=quoting)
        line = first
        try:
            for fields in reader:
                if fields:
                    yield line, [field.strip(" \t") for field in fields]
                line = reader.line_num + first
        except csv.Error as error:
            raise at_line(name, line, f"cannot be split into fields ({error})") from None


@dataclass(frozen=True)
class _FirstLine:
    """The first line with fields, and the form of all lines.

    Parameters
    ----------
    number
        Its number in the file, from 1.
    fields
        The fields of source, target and weight.
    is_header
        Whether it holds column names; ``None`` if that depends on the lines below.
    guessed
        Whether `is_header` is inferred, without an option.
    columns
        The positions of source, target and, if there is one, weight.
    n_fields
        Smallest number of fields of a line.
    open_end
        Whether further fields may follow.
    """

    number: int
    fields: list[str]
    is_header: bool | None
    guessed: bool
    columns: tuple[int, ...]
    n_fields: int
    open_end: bool

    @classmethod
    def of(
        cls, number: int, fields: list[str], options: EdgeListOptions, dialect: _Dialect
    ) -> _FirstLine:
        """Interpret the fields of the line."""
        selected, n = options.columns, len(fields)
        named, guessed = options.header, options.header is None and not options.by_name
        if guessed:
            indices = range(n) if selected is None else [int(i) for i in selected if int(i) < n]
            named = is_header([fields[i] for i in indices])
        if named is not False and (named or options.by_name):
            columns, open_end = columns_of(fields, selected), False
            return cls(number, [fields[i] for i in columns], True, guessed, columns, n, open_end)
        if selected is None and n not in (2, 3):
            advice = "separator" if n < 2 else "columns: those of source, target and weight"
            problem = f"found {n} fields separated by {dialect}, not 2 or 3, in "
            raise InputError(problem + shown(" ".join(fields)), advice=f"pass {advice}")
        columns = tuple(range(n)) if selected is None else tuple(map(int, selected))
        if max(columns) >= n:
            raise InputError(f"there is no column {max(columns)}, found {n} columns from 0")
        fields = [fields[i] for i in columns]
        return cls(number, fields, named, guessed, columns, max(columns) + 1, selected is not None)


@dataclass(frozen=True)
class TextList:
    """A text edge list that was copied to a file, whose first line is line `first` of the list."""

    name: str
    copy: Path
    n_lines: int
    _dialect: _Dialect
    _first_line: _FirstLine
    _first: int

    @property
    def origin(self) -> Origin:
        """Its name and positions in messages."""
        return Origin(self.name, lambda row: f"line {self._record(row)[0]}")

    def load(self, database: Database) -> bool:
        """Fill the table ``listed``, and return whether all nodes are whole numbers."""
        dialect, first = self._dialect, self._first_line
        source, target, *weights = (f"nullif(trim(c{i}), '')" for i in first.columns)
        # DuckDB reads 1_000 as a number, other readers do not.
        weight = "CASE WHEN NOT contains({0}, '_') THEN try_cast({0} AS DOUBLE) END"
        weight = weight.format(weights[0]) if weights else "1.0::DOUBLE"
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(first.n_fields))
        parameters: dict[str, Any] = {"file": str(self.copy), "strict": not first.open_end}
        parameters |= {"delim": dialect.written, "quote": dialect.quote}
        database.run(
            f"CREATE TABLE listed AS SELECT {source} AS s, {target} AS t, {weight} AS w "
            "FROM read_csv($file, delim = $delim, quote = $quote, escape = $quote, "
            f"columns = {{{columns}}}, auto_detect = false, header = false, "
            "strict_mode = $strict, store_rejects = true, rejects_limit = 1000)",
            parameters,
        )
        rejected = database.first("SELECT error_message FROM reject_errors ORDER BY line LIMIT 1")
        if rejected is not None:
            raise self._rejected(*rejected)
        if (bad := bad_row(database)) is not None:
            raise self._bad_row(bad[0])
        if not dialect.given and dialect.separator != " ":
            self._require_one_separator(database)
        return self._resolve_header(database)

    def _require_one_separator(self, database: Database) -> None:
        """Check that no name is several numbers, as in lines with another separator."""
        several = " OR ".join(f"({_SEVERAL_NUMBERS.format(end)})" for end in "st")
        row = database.first(f"SELECT rowid FROM listed WHERE {several} ORDER BY rowid LIMIT 1")
        if row is not None:
            line, fields = self._record(row[0])
            problem = f"{shown(' '.join(fields))} has another separator than the lines before"
            raise at_line(self.name, line, problem, "pass separator")

    def _resolve_header(self, database: Database) -> bool:
        """Determine whether the first line is an edge; return whether all nodes are numbers."""
        first = self._first_line
        n_rows = database.one("SELECT count(*) FROM listed")
        if not n_rows:
            raise InputError(f"{self.name} holds no edges, only column names")
        in_doubt = first.is_header is None and n_rows > 1
        below = "rowid > 0" if in_doubt else "true"
        both = f"{_IS_WHOLE.format('s')} AND {_IS_WHOLE.format('t')}"
        other = f"SELECT 1 FROM listed WHERE {below} AND NOT ({both}) LIMIT 1"
        is_whole = database.first(other) is None
        if not (in_doubt or (first.is_header and first.guessed)):
            return is_whole
        names = dict(zip("st", first.fields, strict=False))
        known = f"SELECT 1 FROM listed WHERE {below} AND (s IN ($s, $t) OR t IN ($s, $t)) LIMIT 1"
        is_known = database.first(known, names) is not None
        if (first.is_header and is_known) or (in_doubt and not (is_known or is_whole)):
            ends = " and ".join(shown(field) for field in first.fields[:2])
            problem = f"{ends} may be the names of the columns or of two nodes"
            raise at_line(self.name, first.number, problem, "pass header=True or header=False")
        if in_doubt and not is_known:
            database.run("DELETE FROM listed WHERE rowid = 0")
        return is_whole

    def _rejected(self, message: str) -> InputError:
        """Make the error about the first record that does not have the fields of an edge."""
        first, line = self._first_line, self._first
        for line, fields in self._records():
            more = len(fields) - first.n_fields
            if more < 0 or (more > 0 and not first.open_end):
                advice = "pass columns if some lines have a weight and others none"
                problem = f"expected {first.n_fields} fields separated by {self._dialect}"
                problem += f", found {shown(' '.join(fields))}"
                return at_line(self.name, line, problem, None if first.is_header else advice)
        return at_line(self.name, line, f"cannot be split into fields: {message}")

    def _bad_row(self, row: int) -> InputError:
        line, fields = self._record(row)
        edge = [fields[i] for i in self._first_line.columns]
        problem = f"an empty field in {shown(' '.join(fields))}"
        if all(edge):
            form = "finite and not negative" if is_number(edge[2]) else "a number"
            problem = f"the weight must be {form}, found {shown(edge[2])}"
        return at_line(self.name, line, problem)

    def _record(self, row: int) -> _Record:
        """The line and the fields of a row, for errors: it reads the copy from its beginning."""
        return next(islice(self._records(), row, None))

    def _records(self) -> Iterator[_Record]:
        with self.copy.open(encoding="utf-8", newline="") as lines:
            yield from self._dialect.records(lines, self.name, self._first)


def copy_text(
    file: ListFile, options: EdgeListOptions, folder: Path, *, limit: int | None, report: Report
) -> TextList:
    """Copy a text edge list to `folder`, as one that DuckDB can parse.

    Parameters
    ----------
    limit
        Largest number of characters, if any.
    report
        Called with the number of bytes that were read and that of all, if it is known.
    """
    name = file.name
    chunks = _chunks(file, options.encoding)
    number, text = _from_first_line(chunks, name)
    dialect = _Dialect.of(text, file.suffix, options.separator)
    text = dialect.cleaned(text, name, number)
    lines = io.StringIO(text, newline="\n")
    _, fields = next(dialect.records(lines, name, number), (number, []))
    try:
        first_line = _FirstLine.of(number, fields, options, dialect)
    except InputError as error:
        raise at_line(name, number, error.problem, error.advice) from None
    n_skipped = text.count("\n", 0, lines.tell()) if first_line.is_header else 0
    first, text = number + n_skipped, text.split("\n", n_skipped)[n_skipped]
    copy, n_lines, n_characters = folder / "listed.txt", 1, 0
    size = 0 if file.path.suffix.lower() in PACKINGS else file.path.stat().st_size
    with copy.open("w", encoding="utf-8", newline="") as stream:
        cleaned = (dialect.cleaned(piece, name, line) for line, piece in chunks)
        for piece in chain([text], cleaned):
            stream.write(piece)
            n_lines += piece.count("\n")
            n_characters += len(piece)
            if limit is not None and n_characters > limit:
                raise too_large(f"more than {limit:,}", name)
            report(min(n_characters, size), size)
    return TextList(name, copy, n_lines, dialect, first_line, first)


def _chunks(file: ListFile, encoding: str | None) -> Iterator[tuple[int, str]]:
    """The text in chunks of whole lines, each with the number of its first line."""
    path, _, name = file
    number = 1
    with reading_errors(path, path.suffix.lower()), opened_member(*file) as binary:
        encoding = encoding or encoding_of(binary.peek(4)[:4])  # type: ignore[attr-defined]
        stream = io.TextIOWrapper(binary, encoding)
        while True:
            try:
                text = stream.read(_CHUNK)
                if text and not text.endswith("\n"):
                    text += stream.readline(_MAX_LINE)
            except UnicodeError:
                raise not_text(name, _line_of_bad_bytes(file, encoding), encoding) from None
            if not text:
                return
            text = text.removeprefix("\ufeff") if number == 1 else text
            if (zero := text.find("\0")) >= 0:
                raise zero_byte(name, number + text.count("\n", 0, zero))
            yield number, text
            number += text.count("\n")


def _weights_of_attributes(text: str, name: str, number: int) -> str:
    """Lines ``u v {'weight': 2.0}`` with the weight in place of the attributes; 1 by default."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if not line.strip() or line.lstrip()[0] in "#%":
            continue
        ends, brace, attributes = line.partition("{")
        try:
            with warnings.catch_warnings(action="ignore"):  # about backslashes
                values = ast.literal_eval(brace + attributes[:_MAX_ATTRIBUTES])
            lines[i] = f"{ends}{float(0 + values.get('weight', 1))}"  # text cannot be added
        except Exception:  # `literal_eval` raises many classes
            problem = f"expected an edge and a dictionary of plain values, found {shown(line)}"
            raise at_line(name, number + i, problem) from None
    return "\n".join(lines)


def _line_of_bad_bytes(file: ListFile, encoding: str) -> int:
    with opened_member(*file) as binary:
        lines = io.TextIOWrapper(binary, encoding, errors="replace")
        return next((n for n, line in enumerate(lines, 1) if "\ufffd" in line), 1)


def _from_first_line(chunks: Iterator[tuple[int, str]], name: str) -> tuple[int, str]:
    """The first chunk that has a line with fields, from that line on, and the line's number."""
    for number, text in chunks:
        if number == 1 and text.startswith("%%MatrixMarket"):
            raise InputError(f"{name} is a Matrix Market file", advice="rename it to .mtx")
        if (match := _FIRST_LINE.search(text)) is not None:
            start = match.start()
            return number + text.count("\n", 0, start), text[start:]
    raise InputError(f"{name} holds no edges: it is empty, or has only comments")
