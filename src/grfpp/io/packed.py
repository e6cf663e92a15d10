"""Paths and packed files (gzip, bzip2, xz, zip): every error is one `InputError`."""

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

#: Suffixes of compressed files, and functions that open them.
COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
#: Suffixes of all packed files.
PACKINGS = (*COMPRESSED, ".zip")
#: Bytes that are unpacked at a time: far less than any memory, and few calls per second.
_CHUNK = 1 << 18
#: Copies of the content: the chunks, the joined bytes, and the first objects made from them.
_COPIES_IN_MEMORY = 4
#: Methods of packed zip members; not LZMA, where a few bytes can claim gigabytes.
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_DAMAGED = (zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError)


#: Peak memory of parsers in bytes: per byte of the file, and per mark that begins or ends an
#: element. Measured on files with the shortest possible elements; the tests measure it again.
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
        raise InputError(f"cannot read {str(path)!r}: file names have no zero bytes")
    with input_errors(f"cannot read {str(path)!r}"):
        file = Path(path).expanduser()
        if file.is_dir():
            raise InputError(f"{str(path)!r} is a folder", advice="pass the path of a file")
        if not file.exists():
            raise InputError(f"there is no file {path}")
        if not file.is_file():
            raise InputError(f"{path} is a pipe or a device", advice="save its content to a file")
    return file


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file."""
    with reading_errors(path, "zip"), zipfile.ZipFile(existing_file(path)) as archive:
        yield archive


def opened_member(file: Path, suffix: str, name: str) -> IO[bytes]:
    """Open a file for reading: the content of a compressed one, the one `suffix` file of a zip.

    Call it, and read the stream, within `reading_errors`.
    """
    packing = file.suffix.lower()
    if packing != ".zip":
        stream: IO[bytes] = COMPRESSED.get(packing, open)(file, "rb")
        return stream
    with zipfile.ZipFile(file) as archive:  # the member keeps the file open
        infos = [info for info in archive.infolist() if info.filename.lower().endswith(suffix)]
        members = [info for info in infos if not info.filename.startswith("__MACOSX")]
        if len(members) != 1:
            raise InputError(f"{name} must hold one {suffix} file, found {len(members)}")
        if members[0].compress_type not in _ZIP_METHODS:
            raise InputError(f"{name}: unsupported zip method", advice="pack it by 'deflate'")
        check_size(members[0].file_size, name)
        return archive.open(members[0])


def read_bytes(file: Path, suffix: str, name: str) -> bytes:
    """Read a file, unpacked, if memory suffices to parse a file with this suffix."""
    packing = file.suffix.lower()
    with reading_errors(file, packing if packing in PACKINGS else suffix):
        check_size(file.stat().st_size, name)
        with opened_member(file, suffix, name) as stream:
            data = read_all(stream, name)
    memory.require_bytes(parsing_bytes(data, suffix), f"reading {name}")
    return data


def read_all(stream: IO[bytes], path: str | Path) -> bytes:
    """Read to the end, up to the free memory, which the content of a tiny packed file may exceed.

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
    """Raise if a file of a known size does not fit into memory."""
    if n_bytes * _COPIES_IN_MEMORY > memory.MAX_UNCHECKED_BYTES and n_bytes > size_limit():
        raise too_large(f"{n_bytes:,}", path)


def too_large(size: str, path: str | Path) -> InputError:
    """Make the error about a file that does not fit into memory."""
    return InputError(f"{path} holds {size} bytes, too much for the memory that is free")


def parsing_bytes(data: bytes, suffix: str) -> int:
    r"""Upper bound of the memory for parsing a file, including its content, in bytes.

    Examples
    --------
    >>> parsing_bytes(b"0 1\n" * 1000, ".txt")
    336000
    """
    per_byte, mark, per_mark = _COSTS.get(suffix, _TEXT_COST)
    return per_byte * len(data) + per_mark * data.count(mark)


@contextmanager
def reading_errors(path: Path, kind: str) -> Iterator[None]:
    """Convert any error of reading a file of this kind to an `InputError`."""
    with (
        input_errors(f"cannot read {path}"),  # zip files with a password, an unknown method
        input_errors(f"{path} is truncated, or not a {kind} file", *_DAMAGED),
    ):
        yield
