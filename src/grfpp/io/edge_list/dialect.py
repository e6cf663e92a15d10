"""How the lines of a text edge list are split into fields."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grfpp.errors import InputError
from grfpp.io.text import shown

WHITE = " \t"
_NAMES = {None: "white space", "\t": "tabs", ",": "commas", ";": "semicolons"}
_COMMENT_AT_START = re.compile(r"[ \t]*[#%]")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))[#%].*")
# In quotes, with those that are meant doubled; or without any white space.
_WORD = re.compile(r'"((?:[^"]|"")*)"(?![^ \t])|([^ \t]+)')
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Dialect:
    """What separates the fields of a line, and where comments can stand.

    A comment begins with ``#`` or ``%``, at the beginning of a line or, where white space
    separates the fields, after white space.

    Parameters
    ----------
    separator
        ``None`` for runs of spaces and tabs.
    given
        Whether somebody has said so; if not, lines that look otherwise are refused.
    """

    separator: str | None
    given: bool = False

    @classmethod
    def of(cls, line: str, suffix: str, separator: str | None) -> Dialect:
        """That of a file with this suffix, whose first line with fields is known."""
        if separator is not None:
            return cls(None if separator == " " else separator, given=True)
        if suffix == ".tsv" and "\t" in line.strip():
            return cls("\t")
        fields = _COMMENT.sub("", line)
        return cls(next((mark for mark in ";," if mark in fields), None))

    @property
    def described(self) -> str:
        """What separates the fields, for messages."""
        return _NAMES.get(self.separator, repr(self.separator))

    @property
    def quotes(self) -> bool:
        """Whether fields can be in quotes, and go over several lines then."""
        return self.separator is not None and len(self.separator) == 1

    def is_empty(self, line: str) -> bool:
        """Whether a line holds nothing, or nothing but a comment."""
        return not line.strip(WHITE) or _COMMENT_AT_START.match(line) is not None

    def split(self, line: str) -> list[str]:
        """Split one line without regard to quotes that go over several."""
        if self.separator is None:
            fields = _COMMENT.sub("", line)
            if not self.given and ("," in fields or ";" in fields):
                raise InputError(
                    f"{shown(line.strip())} has a comma or semicolon, but the lines before are "
                    "separated by white space",
                    option=("separator", ",", " "),
                )
            return [
                word if word else quoted.replace('""', '"')
                for quoted, word in _WORD.findall(fields)
            ]
        if self.separator == "\t" and not self.given and _COMMENT.search(line):
            raise InputError(
                f"{shown(line.strip())}: a comment, or a part of a name? Comments of tables stand "
                "on lines of their own",
                option=("separator", "\t", " "),
            )
        return self._checked(line.split(self.separator))

    def _checked(self, fields: list[str]) -> list[str]:
        fields = [field.strip(WHITE) for field in fields]
        for field in fields:
            parts = field.split() if " " in field or "\t" in field else ()
            if parts and not self.given and all(map(_NUMBER.fullmatch, parts)):
                raise InputError(
                    f"{shown(field)} is separated otherwise than the lines before",
                    option=("separator", self.separator),
                )
        return fields


class Records:
    """The fields of each record of some lines; `number` is the line that the last one began at."""

    def __init__(self, lines: Sequence[str], number: int, dialect: Dialect) -> None:
        self.number, self._next = number, number
        self._lines, self._dialect = lines, dialect
        self._between, self._ended = True, False

    def __iter__(self) -> Iterator[list[str]]:
        if self._dialect.quotes and any('"' in line for line in self._lines):
            yield from self._quoted()
            return
        for line in self._numbered():
            self._between = True
            yield self._dialect.split(line)

    def _numbered(self) -> Iterator[str]:
        """The lines that hold something; in quotes, all of them."""
        for line in self._lines:
            self._next += 1
            if self._between:
                if self._dialect.is_empty(line):
                    continue
                self.number, self._between = self._next - 1, False
            yield line
        self._ended = True

    def _quoted(self) -> Iterator[list[str]]:
        reader = csv.reader(
            (line + "\n" for line in self._numbered()),
            delimiter=self._dialect.separator or ",",
            skipinitialspace=True,
        )
        try:
            for fields in reader:
                if self._ended:
                    raise InputError("a quote is opened and never closed")
                self._between = True
                yield self._dialect._checked(fields)
        except csv.Error as error:
            raise InputError(f"cannot be split into fields ({error})") from None
