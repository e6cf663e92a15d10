"""Packed files: whatever is wrong with one, now or when it is read, is one error."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from grfpp import memory
from grfpp.errors import InputError
from grfpp.io.storage.paths import existing_file

_CHUNK = 1 << 18
# While a file is read, its pieces are there and what they are joined to; then something is made of
# it. Who knows how much that takes asks for it (`parsing_memory`).
_TIMES_IN_MEMORY = 4
# Not LZMA: a few bytes can ask for gigabytes.
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_DAMAGED = (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError)
# All but the first: zip files with a password, an odd compression, or a damaged list of members.
_UNREADABLE = (OSError, RuntimeError, NotImplementedError, ValueError, LookupError)


class Readable(Protocol):
    """What can be read piece by piece."""

    def read(self, size: int, /) -> bytes:
        """Give the next bytes, none at the end."""
        ...


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file."""
    with explained(path, "zip"), zipfile.ZipFile(existing_file(path)) as archive:
        yield archive


@contextmanager
def opened_gzip(path: Path) -> Iterator[Readable]:
    """Open what a gzip file holds."""
    with explained(path, "gzip"), gzip.open(existing_file(path)) as stream:
        yield stream


@contextmanager
def opened_tar_member(path: Path, name: str) -> Iterator[Readable]:
    """Open the file of a packed tar archive whose path ends like this; nothing is unpacked."""
    import tarfile  # needed by one data set only

    file = existing_file(path)
    with explained(path, "tar.gz", tarfile.TarError), tarfile.open(file, "r:gz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(name):
                stream = archive.extractfile(member)
                assert stream is not None
                yield stream
                return
        raise InputError(f"{path} holds no file {name}")


def read_member(archive: zipfile.ZipFile, name: str, path: str | Path) -> bytes:
    """Read one file of a zip file; its size is known before anything is unpacked."""
    check_size(archive.getinfo(name).file_size, path)
    with opened_member(archive, name, path) as stream:
        return read_all(stream, path)


def opened_member(archive: zipfile.ZipFile, name: str, path: str | Path) -> IO[bytes]:
    """Open one file of a zip file, if it is packed in a way that takes little memory."""
    member = archive.getinfo(name)
    if member.compress_type not in _PACKINGS:
        raise InputError(f"{path}: {name} is packed in an unusual way; pack it anew")
    return archive.open(member)


def read_all(stream: Readable, path: str | Path) -> bytes:
    """Read to the end, but not more than memory bears: packed files can be tiny and hold much."""
    limit = memory.available_bytes() // _TIMES_IN_MEMORY
    chunks: list[bytes] = []
    size = 0
    while chunk := stream.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise _too_large(f"more than {limit:,}", path)
    return b"".join(chunks)


def check_size(n_bytes: int, path: str | Path) -> None:
    """Raise when a file is known to hold more than memory bears."""
    needed = n_bytes * _TIMES_IN_MEMORY
    if needed > memory.ALWAYS_THERE and needed > memory.available_bytes():
        raise _too_large(f"{n_bytes:,}", path)


def _too_large(size: str, path: str | Path) -> InputError:
    return InputError(f"{path} holds {size} bytes, too much for the memory that is free")


@contextmanager
def explained(path: Path, kind: str, *others: type[Exception]) -> Iterator[None]:
    """Make one error of whatever a file of some kind is refused with."""
    damaged: tuple[type[Exception], ...] = (*_DAMAGED, *others)
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except damaged as error:
        raise InputError(f"{path} is truncated, or not a {kind} file: {error}") from None
    except _UNREADABLE as error:
        raise InputError(f"cannot read {path}: {error}") from None
