"""Paths and packed files (gzip, bzip2, xz, zip, tar): each fault is one `InputError`."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from grfpp import _memory as memory
from grfpp.errors import InputError
from grfpp.io.text import input_errors

#: Suffixes of compressed files, and what opens them.
COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_CHUNK = 1 << 18
# Chunks, the bytes that they are joined to, and the first objects that are made of these.
_COPIES_IN_MEMORY = 4
# No LZMA members: a few bytes can ask for gigabytes.
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_DAMAGED = (zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError)
# All but the first: zip files with a password, an odd method, or a damaged list of members.
_UNREADABLE = (OSError, RuntimeError, NotImplementedError, ValueError, LookupError, MemoryError)


#: Peak memory of parsers in bytes: per byte of the file, and per mark that begins or ends an
#: element. Measured on files whose bytes say as much as they can; the tests measure them again.
_TEXT_COST = (9, b"\n", 300)
_COSTS = {
    ".mtx": (7, b"\n", 180),
    ".gml": (46, b"[", 280),
    ".graphml": (14, b"<", 900),
    ".stl": (17, b"\n", 0),
    ".off": (6, b"\n", 280),
    ".obj": (6, b"\n", 290),
    ".ply": (50, b"\n", 0),  # binary faces of 13 bytes become lists of 600
}


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be read; ``~`` is the home folder.

    Pipes and devices are refused: opening one may block, and reading may never end.
    """
    if "\0" in str(path):
        raise InputError(f"cannot read {str(path)!r}: names of files have no zero bytes")
    with input_errors(f"cannot read {str(path)!r}"):
        file = Path(path).expanduser()
        if file.is_dir():
            raise InputError(f"{str(path)!r} is a folder; pass the path of a file")
        if not file.exists():
            raise InputError(f"there is no file {path}")
        if not file.is_file():
            raise InputError(f"{path} is a pipe or a device; save its content, and pass that")
    return file


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file."""
    with reading_errors(path, "zip"), zipfile.ZipFile(existing_file(path)) as archive:
        yield archive


def opened_member(file: Path, suffix: str, name: str) -> IO[bytes]:
    """Open a file for reading; a packed one as its content, of a zip file the one `suffix` file.

    Call it, and read the stream, within `reading_errors`.
    """
    packing = file.suffix.lower()
    if packing != ".zip":
        stream: IO[bytes] = COMPRESSED.get(packing, open)(file, "rb")
        return stream
    with zipfile.ZipFile(file) as archive:  # the member keeps the file open
        listed = [each for each in archive.infolist() if each.filename.lower().endswith(suffix)]
        members = [each for each in listed if not each.filename.startswith("__MACOSX")]
        if len(members) != 1:
            raise InputError(f"{name} must hold one {suffix} file, found {len(members)}")
        if members[0].compress_type not in _ZIP_METHODS:
            raise InputError(f"{name}: its compression is unusual; pack it as plain zip")
        check_size(members[0].file_size, name)
        return archive.open(members[0])


def read_bytes(file: Path, suffix: str, name: str) -> bytes:
    """Read a file, unpacked, if memory suffices to parse a file with this suffix."""
    packing = file.suffix.lower()
    is_packed = packing in COMPRESSED or packing == ".zip"
    with reading_errors(file, packing if is_packed else suffix):
        check_size(file.stat().st_size, name)
        with opened_member(file, suffix, name) as stream:
            data = read_all(stream, name)
    memory.require_bytes(parsing_bytes(data, suffix), f"reading {name}")
    return data


def read_all(stream: IO[bytes], path: str | Path) -> bytes:
    """Read to the end, but not more than fits into memory: packed files can be tiny and hold much.

    Examples
    --------
    >>> import io
    >>> read_all(io.BytesIO(b"0 1"), "edges.txt")
    b'0 1'
    """
    limit = size_limit()
    chunks: list[bytes] = []
    size = 0
    while chunk := stream.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise too_large(f"more than {limit:,}", path)
    return b"".join(chunks)


def size_limit() -> int:
    """Bytes of the largest content that is read into memory."""
    return memory.available_bytes() // _COPIES_IN_MEMORY


def check_size(n_bytes: int, path: str | Path) -> None:
    """Raise when a file is known to hold more than fits into memory."""
    if n_bytes * _COPIES_IN_MEMORY > memory.ALWAYS_THERE and n_bytes > size_limit():
        raise too_large(f"{n_bytes:,}", path)


def too_large(size: str, path: str | Path) -> InputError:
    """Make the error about a file that does not fit into memory."""
    return InputError(f"{path} holds {size} bytes, too much for the memory that is free")


def parsing_bytes(data: bytes, suffix: str) -> int:
    r"""Upper bound of the memory that parsing a file takes, its content included.

    Examples
    --------
    >>> parsing_bytes(b"0 1\n" * 1000, ".txt")
    336000
    """
    per_byte, mark, per_mark = _COSTS.get(suffix, _TEXT_COST)
    return per_byte * len(data) + per_mark * data.count(mark)


@contextmanager
def reading_errors(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever reading a file of some kind raises into an `InputError`."""
    with (
        input_errors(f"cannot read {path}", *_UNREADABLE),
        input_errors(f"{path} is truncated, or not a {kind} file", *_DAMAGED),
    ):
        yield
