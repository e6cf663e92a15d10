"""Bytes of a text file -> text, and errors that name the line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager

from grfpp.errors import InputError


def at_line(name: str, number: int, problem: str, advice: str | None = None) -> InputError:
    """Make an error about line `number` (counted from 1) of the file `name`."""
    return InputError(f"{name}, line {number}: {problem}", advice=advice)


@contextmanager
def errors_about(name: str) -> Iterator[None]:
    """Prefix the message of every `InputError` in this context by the name of a file."""
    try:
        yield
    except InputError as error:
        if error.argument:
            raise InputError(f"{name}: {error}") from None
        raise InputError(f"{name}: {error.problem}", advice=error.advice) from None


@contextmanager
def input_errors(problem: str, *kinds: type[BaseException]) -> Iterator[None]:
    """Raise errors of some classes, by default of any, as `InputError` that begins with `problem`.

    Examples
    --------
    >>> with input_errors("edges.txt cannot be read", OSError):
    ...     raise OSError("disk error")
    Traceback (most recent call last):
    grfpp.errors.InputError: edges.txt cannot be read: disk error
    """
    classes = kinds or (Exception,)
    try:
        yield
    except InputError:
        raise
    except classes as error:
        raise InputError(f"{problem}: {one_line(error)}") from None


def one_line(error: BaseException) -> str:
    """The beginning of an error's message in one line; the name of its class if it is empty."""
    return " ".join(str(error).split())[:150] or type(error).__name__


def encoding_of(data: bytes) -> str:
    """The encoding that the byte-order mark names, else UTF-8 with or without a mark."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # begins with that of UTF-16
        return "utf-32"
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "utf-16" if is_utf16 else "utf-8-sig"


def decode(data: bytes, name: str) -> str:
    r"""Decode UTF-8, or what the byte-order mark says, with the line ends of any system.

    Examples
    --------
    >>> decode("é 1\r\n".encode("utf-16"), "edges.txt")
    'é 1\n'
    """
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        valid = data[: getattr(error, "start", 0)].decode(encoding, "replace")
        raise not_text(name, valid.count("\n") + 1, encoding) from None
    if "\0" in text:
        raise zero_byte(name, text.count("\n", 0, text.index("\0")) + 1)
    # str.splitlines would also split at form feeds, where editors count no line.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def not_text(name: str, number: int, encoding: str) -> InputError:
    """Make the error about bytes that are not text in an encoding."""
    is_utf8 = encoding == "utf-8-sig"
    advice = "pass encoding='latin-1' or the like if it is text" if is_utf8 else None
    return at_line(name, number, f"not {'UTF-8' if is_utf8 else encoding} text", advice)


def zero_byte(name: str, number: int) -> InputError:
    """Make the error about a zero byte in a text."""
    advice = "pass encoding, such as 'utf-16-le', if it is text"
    return at_line(name, number, "a zero byte, so this is a binary file", advice)
