"""Packed files: whatever is wrong with one, now or when it is read, is one error."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from grfpp.errors import InputError
from grfpp.memory import available_bytes

_CHUNK = 1 << 24
# Text takes several times its size while it is parsed.
_SHARE_OF_MEMORY = 4
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
    with explained(path, "zip"), zipfile.ZipFile(path) as archive:
        yield archive


@contextmanager
def opened_gzip(path: Path) -> Iterator[Readable]:
    """Open what a gzip file holds."""
    with explained(path, "gzip"), gzip.open(path) as stream:
        yield stream


@contextmanager
def opened_tar_member(path: Path, name: str) -> Iterator[Readable]:
    """Open the file of a packed tar archive whose path ends like this; nothing is unpacked."""
    import tarfile  # needed by one data set only

    with explained(path, "tar.gz", tarfile.TarError), tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(name):
                stream = archive.extractfile(member)
                assert stream is not None
                yield stream
                return
        raise InputError(f"{path} holds no file {name}")


def read_all(stream: Readable, path: str | Path) -> bytes:
    """Read to the end, but not more than memory bears: packed files can be tiny and hold much."""
    limit = available_bytes() // _SHARE_OF_MEMORY
    chunks: list[bytes] = []
    size = 0
    while chunk := stream.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise InputError(
                f"{path} holds more than {limit:,} bytes, too much for the memory that is free"
            )
    return b"".join(chunks)


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
