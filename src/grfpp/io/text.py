"""Bytes of a text file -> lines and tables, and errors that name the line."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError

_SHOWN = 40


def at_line(name: str, number: int, what: str, **remedies: Any) -> InputError:
    """Make an error about line `number` (counted from 1) of the file `name`."""
    return InputError(f"{name}, line {number}: {what}", **remedies)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of a file, or of what is in it, before what is found wrong with it."""
    try:
        yield
    except InputError as error:
        problem = str(error) if error.argument else error.problem
        remedies = {} if error.argument else error.remedies
        raise InputError(f"{name}: {problem}", **remedies) from None


def shown(text: str) -> str:
    """Quote a piece of a file, cut to a length that fits an error message."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 with or without a byte-order mark, with the line ends of any system."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise at_line(name, line, "not UTF-8 text; is it a binary file?") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise at_line(name, line, "a zero byte; is it a binary file?")
    # str.splitlines would also break at form feeds and the like, where editors count no line.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class Lines:
    """The words of each line of a text that holds more than a comment.

    As a context it tells of every `InputError` in it at which line of the file `name` that
    happened; `n_before` lines of the file come before the text.
    """

    def __init__(self, text: str, name: str, comment: str = "#", n_before: int = 0) -> None:
        self._name, self._comment, self.number = name, comment, n_before
        self._lines = enumerate(text.split("\n"), start=n_before + 1)
        self._last = n_before + last_line(text)

    def __iter__(self) -> Iterator[list[str]]:
        for number, line in self._lines:
            content = line.partition(self._comment)[0]
            if content and not content.isspace():
                self.number = number
                yield content.split()

    def following(self, what: str) -> list[str]:
        """The words of the next line, which should tell `what`."""
        for words in self:
            return words
        raise self.ended(f"before {what}")

    def ended(self, where: str) -> InputError:
        """Make the error about a file that ends too early."""
        self.number = self._last
        return InputError(f"the file ends {where}; is it truncated?")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InputError):
            raise at_line(self._name, self.number, str(error)) from None


def last_line(text: str) -> int:
    """Give the number of the last line that is not empty."""
    return max(1, text.rstrip().count("\n") + 1)


def number_table(
    text: str | bytes, dtype: Any, comments: str | None = None, **layout: Any
) -> npt.NDArray[Any] | None:
    """Parse a table of numbers in C, as `numpy.loadtxt` does; ``None`` when it is not one."""
    lines = io.StringIO(text) if isinstance(text, str) else io.BytesIO(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # older numpy only warns that 1.5 is no whole number
            return np.loadtxt(lines, dtype, comments=comments, **layout)
    except (ValueError, OverflowError, Warning):
        return None
