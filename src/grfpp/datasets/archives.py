"""Packed files: whatever is wrong with one, now or when it is read, is one error."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grfpp.errors import InputError
from grfpp.io.files import Readable

#: No table or batch of images that is read as a whole is nearly so large.
_MOST_BYTES = 1 << 28
_DAMAGED = (zipfile.BadZipFile, gzip.BadGzipFile, tarfile.TarError, zlib.error, EOFError)
#: The last two: zip files with a password or an odd compression.
_UNREADABLE = (OSError, RuntimeError, NotImplementedError)


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file."""
    with _explained(path, "zip"), zipfile.ZipFile(path) as archive:
        yield archive


@contextmanager
def opened_gzip(path: Path) -> Iterator[Readable]:
    """Open what a gzip file holds."""
    with _explained(path, "gzip"), gzip.open(path) as stream:
        yield stream


@contextmanager
def opened_tar_member(path: Path, name: str) -> Iterator[Readable]:
    """Open the file of a packed tar archive whose path ends like this; nothing is unpacked."""
    with _explained(path, "tar.gz"), tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(name):
                stream = archive.extractfile(member)
                assert stream is not None
                yield stream
                return
        raise InputError(f"{path} holds no file {name}")


def read_whole(stream: Readable, path: Path) -> bytes:
    """Read to the end, unless that is so far that the file cannot be what it should be."""
    data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path} holds more than {_MOST_BYTES:,} bytes: not what is looked for")
    return data


@contextmanager
def _explained(path: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except _DAMAGED as error:
        raise InputError(f"{path} is truncated, or not a {kind} file: {error}") from None
    except _UNREADABLE as error:
        raise InputError(f"cannot read {path}: {error}") from None
