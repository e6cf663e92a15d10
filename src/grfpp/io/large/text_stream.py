"""Text files of any size as UTF-8 with plain line ends, some whole lines at a time.

The same outcome as `grfpp.io.encodings.as_utf8` has for what is all in memory.
"""

from __future__ import annotations

import codecs
import gzip
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from grfpp.errors import InputError
from grfpp.io.encodings import NOT_UTF8, encoding_by_mark
from grfpp.io.files import only_member
from grfpp.io.storage.packed import explained, opened_member
from grfpp.io.text import at_line

_CHUNK = 1 << 23
#: Nothing that has to be seen as a whole is longer: a line, or a field in quotes with its lines.
LONGEST_RECORD = 1 << 28


@dataclass
class TextStream:
    """The bytes of a text file, unpacked."""

    name: str
    #: Of the file as it is, packed or not.
    size: int
    _path: Path
    _kind: str
    _file: IO[bytes]
    _unpacked: Any

    @property
    def position(self) -> int:
        """Bytes of the file that have been read."""
        return self._file.tell()

    def read(self) -> bytes:
        """Some more bytes."""
        with explained(self._path, self._kind):
            return cast(bytes, self._unpacked.read(_CHUNK))


@contextmanager
def opened_text(file: Path, suffix: str, name: str) -> Iterator[TextStream]:
    """Open a text file that may be packed, as `grfpp.io.files.known_file` gives it."""
    packing = file.suffix.lower()
    kind = {".gz": "gzip", ".zip": "zip"}.get(packing, suffix)
    with ExitStack() as stack:
        # Not about the whole block: what goes wrong there need not be about this file.
        with explained(file, kind):
            stream = stack.enter_context(file.open("rb"))
            unpacked: Any = stream
            if packing == ".gz":
                unpacked = stack.enter_context(gzip.GzipFile(fileobj=stream))
            elif packing == ".zip":
                archive = stack.enter_context(zipfile.ZipFile(stream))
                member = only_member(archive, suffix, name)
                unpacked = stack.enter_context(opened_member(archive, member, name))
            size = file.stat().st_size
        yield TextStream(name, size, file, kind, stream, unpacked)


def utf8_pieces(stream: TextStream, encoding: str | None) -> Iterator[bytes]:
    """The text in pieces that may begin and end within a line."""
    piece = stream.read()
    found = encoding or encoding_by_mark(piece) or "utf-8"
    is_utf8 = codecs.lookup(found).name in ("utf-8", "utf-8-sig")
    decoder = codecs.getincrementaldecoder("utf-8" if is_utf8 else found)()
    if is_utf8:
        piece = piece.removeprefix(codecs.BOM_UTF8)
    n_lines, held, begins = 0, b"", True
    while True:
        final = not piece
        try:
            plain = is_utf8 and piece and piece.isascii() and not decoder.getstate()[0]
            text = "" if plain else decoder.decode(piece, final)
        except UnicodeDecodeError as error:
            pending = len(error.object) - len(piece)
            line = n_lines + error.object.count(b"\n", 0, max(0, error.start - pending)) + 1
            what = NOT_UTF8 if is_utf8 else f"not {found} text"
            other = ("encoding", "latin-1", ...) if is_utf8 else ()
            raise at_line(stream.name, line, what, option=other) from None
        except UnicodeError as error:
            raise InputError(f"{stream.name}: not {found} text ({error})") from None
        data = piece if is_utf8 else text.removeprefix("\ufeff" if begins else "").encode()
        begins = False
        if (zero := data.find(b"\0")) >= 0:
            wide = () if encoding else ("encoding", "utf-16-le", ...)
            line = n_lines + data.count(b"\n", 0, zero) + 1
            raise at_line(stream.name, line, "a zero byte; is it a binary file?", option=wide)
        data = held + data
        # What ends in \r may go on with \n.
        held = b"\r" if data.endswith(b"\r") and not final else b""
        data = data.removesuffix(held) if held else data
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        n_lines += data.count(b"\n")
        if data:
            yield data
        if final:
            return
        piece = stream.read()


def whole_lines(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The same text in pieces that end where a line does, but for the last."""
    rest = b""
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = piece[end:]
        else:
            rest += piece
            if len(rest) > LONGEST_RECORD:
                raise InputError(f"{name}: a line of more than {LONGEST_RECORD:,} bytes")
    if rest:
        yield rest
