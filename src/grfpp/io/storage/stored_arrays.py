"""The arrays of an ``.npz`` file, each unpacked when it is asked for and not before.

Not by `numpy.load`: it believes the sizes in a file. Here they are compared with each other and
with the memory that is free before anything is unpacked; three megabytes can hold three gigabytes.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.io.storage.paths import existing_file
from grfpp.memory import require_bytes

_SUFFIX = ".npy"
_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000
_CHUNK = 1 << 22
# What numpy writes; others are slow, or take as much memory as they are told to.
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# The three fields of a header, which is a dict in Python's syntax. Nothing else is wanted of it.
_TYPE = re.compile(r"'descr':\s*'([<>|=]?[buifcSU]\d{1,9})'")
_ORDER = re.compile(r"'fortran_order':\s*(True|False)")
_SHAPE = re.compile(r"'shape':\s*\(([\d,\s]{0,400})\)")


@contextmanager
def opened_arrays(path: str | Path) -> Iterator[StoredArrays]:
    """Open an ``.npz`` file; whatever is wrong with it, now or when it is read, is one error."""
    file = existing_file(path)
    try:
        with file.open("rb") as stream:
            if stream.read(len(_MAGIC)) == _MAGIC:
                raise ValueError("it holds a single array")
            stream.seek(0)
            with zipfile.ZipFile(stream) as archive:
                yield StoredArrays(archive, str(path))
    except InputError:
        raise
    except Exception as error:  # zip, zlib, numpy and struct each have their own
        raise InputError(
            f"{path} is not a whole .npz file without pickles ({error or type(error).__name__})"
        ) from None


class StoredArrays(Mapping[str, npt.NDArray[Any]]):
    """The arrays by name. Each is unpacked anew whenever it is asked for."""

    def __init__(self, archive: zipfile.ZipFile, path: str) -> None:
        self._archive, self._path = archive, path
        self._members = {
            member.filename.removesuffix(_SUFFIX): member
            for member in archive.infolist()
            if member.filename.endswith(_SUFFIX)
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def require_memory(self, names: Iterable[str], times: float, what: str) -> None:
        """Raise when there is no room for `times` what some of the arrays take; others are free."""
        total = sum(self._members[name].file_size for name in names if name in self)
        require_bytes(int(times * total), f"{what} {self._path}")

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        member = self._members[name]
        if member.compress_type not in _PACKINGS:
            raise self._damaged(name, "packed in a way that numpy does not use")
        with self._archive.open(member) as stream:
            shape, dtype, order, start = self._header(stream, name)
            n_bytes = dtype.itemsize * int(np.prod([1, *shape], dtype=object))
            if start + n_bytes != member.file_size:
                raise self._damaged(
                    name,
                    f"an array of {n_bytes:,} bytes in a member of {member.file_size - start:,}",
                )
            if not dtype.itemsize and 0 not in shape:
                raise self._damaged(name, "text without room for a letter")
            require_bytes(n_bytes, f"reading {self._path}: the array {name!r}")
            content = np.empty(n_bytes, np.uint8)
            filled = 0
            # One read more than there are bytes: the last one compares the checksum.
            while chunk := stream.read(_CHUNK):
                content[filled : filled + len(chunk)] = np.frombuffer(chunk, np.uint8)
                filled += len(chunk)
        if filled != n_bytes:
            raise self._damaged(name, f"it ends after {filled:,} of {n_bytes:,} bytes")
        if not n_bytes:
            return np.zeros(shape, dtype.newbyteorder("="))
        if dtype.kind == "U" and (content.view(f"{dtype.str[0]}u4") > sys.maxunicode).any():
            raise self._damaged(name, "text with codes that no character has")
        array: npt.NDArray[Any] = content.view(dtype).reshape(shape, order=order)
        return array.astype(dtype.newbyteorder("="), copy=False)

    def _header(self, stream: IO[bytes], name: str) -> tuple[tuple[int, ...], Any, Any, int]:
        """Shape, type and order of an array, and how many bytes come before its numbers."""
        magic = stream.read(len(_MAGIC) + 2)
        n_length = {1: 2, 2: 4}.get(magic[-2] if magic.startswith(_MAGIC) else 0)
        if len(magic) < len(_MAGIC) + 2 or n_length is None:
            raise self._damaged(name, "not an array of numbers or text")
        length = int.from_bytes(stream.read(n_length), "little")
        if length > _LONGEST_HEADER:
            raise self._damaged(name, f"a header of {length:,} bytes")
        text = stream.read(length).decode("latin1")
        fields = [pattern.search(text) for pattern in (_TYPE, _ORDER, _SHAPE)]
        if len(text) < length or None in fields:
            raise self._damaged(name, f"not an array of numbers or text: {text.strip()[:80]!r}")
        kind, fortran, numbers = (field[1] for field in fields if field)
        shape = tuple(int(number) for number in numbers.split(",") if number.strip())
        try:
            dtype = np.dtype(kind)
        except TypeError:
            raise self._damaged(name, f"no such type: {kind!r}") from None
        order = "F" if fortran == "True" else "C"
        return shape, dtype, order, len(magic) + n_length + length

    def _damaged(self, name: str, problem: str) -> InputError:
        return InputError(
            f"{self._path} is not a whole .npz file without pickles ({name!r}: {problem})"
        )
