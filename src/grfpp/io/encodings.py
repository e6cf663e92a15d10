"""Bytes of a text file in any encoding -> UTF-8 with plain line ends."""

from __future__ import annotations

import codecs

from grfpp.errors import InputError
from grfpp.io.text import at_line

_BLOCK = 1 << 20
NOT_UTF8 = "not UTF-8 text; it is a binary file, or in another encoding"
# UTF-32's begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def as_utf8(data: bytes, name: str, encoding: str | None = None) -> bytes:
    r"""Bring text to UTF-8 with lines that end in ``\n``, without a byte-order mark.

    Without an `encoding` it is what the byte-order mark says, else UTF-8. What is UTF-8 already is
    not copied.

    Examples
    --------
    >>> as_utf8("é 1\r\n".encode("utf-16"), "edges.txt").decode()
    'é 1\n'
    """
    found = encoding or encoding_by_mark(data)
    if codecs.lookup(found or "utf-8").name in ("utf-8", "utf-8-sig"):
        data = data.removeprefix(codecs.BOM_UTF8)
        _require_utf8(data, name)
    else:
        try:
            data = data.decode(found).removeprefix("\ufeff").encode()
        except UnicodeDecodeError as error:
            line = data[: error.start].decode(found, "replace").count("\n") + 1
            raise at_line(name, line, f"not {found} text") from None
        except UnicodeError as error:  # half of a pair of surrogates, and what codecs make up
            raise InputError(f"{name}: not {found} text ({error})") from None
    zero = data.find(b"\0")
    if zero >= 0:
        line = data.count(b"\n", 0, zero) + 1
        wide = () if encoding else ("encoding", "utf-16-le", ...)
        raise at_line(name, line, "a zero byte; is it a binary file?", option=wide)
    # Not at form feeds and the like, where str.splitlines breaks lines and editors count none.
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def encoding_by_mark(data: bytes) -> str:
    """What the byte-order mark says, if there is one."""
    return next((kind for mark, kind in _MARKS.items() if data.startswith(mark)), "")


def _require_utf8(data: bytes, name: str) -> None:
    """Decode block by block: the whole text may take four times the memory."""
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _BLOCK):
        try:
            decoder.decode(data[start : start + _BLOCK], final=start + _BLOCK >= len(data))
        except UnicodeDecodeError as error:
            # The decoder holds the bytes of a character that the block before has begun.
            held = len(error.object) - len(data[start : start + _BLOCK])
            line = data.count(b"\n", 0, start - held + error.start) + 1
            raise at_line(name, line, NOT_UTF8, option=("encoding", "latin-1", ...)) from None
