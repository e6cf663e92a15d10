"""Arrays in ``.npz`` files, by numpy and without pickles.

`numpy.load` does not check the sizes in a file, and three megabytes can unpack to three gigabytes:
here they are compared with each other and with the free memory before an array is unpacked.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.io.atomic import atomic_write
from grfpp.io.packed import existing_file
from grfpp.io.text import input_errors

_META = "meta"
#: Methods that numpy uses. Others are slow, or allocate as much memory as the file claims.
_PACKINGS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class StoredArrays(Mapping[str, npt.NDArray[Any]]):
    """The arrays of an ``.npz`` file by name; every access unpacks the array."""

    def __init__(self, archive: zipfile.ZipFile, path: str | Path) -> None:
        self._archive, self._path = archive, path
        members = archive.infolist()
        if {member.compress_type for member in members} - _PACKINGS:
            raise ValueError("an array is packed in a way that numpy does not use")
        self._members = {m.filename[:-4]: m for m in members if m.filename.endswith(".npy")}

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def require_memory(self, names: Iterable[str], times: float, what: str) -> None:
        """Raise if `times` the size of some arrays does not fit into memory."""
        total = sum(self._members[name].file_size for name in names if name in self)
        require_bytes(int(times * total), f"{what} {self._path}")

    def read(self, names: Sequence[str], times: float, what: str) -> list[npt.NDArray[Any]]:
        """Some arrays; raise if one is missing, or `times` their size does not fit into memory."""
        if missing := [name for name in names if name not in self]:
            raise InputError(f"there is no array {missing[0]!r}")
        self.require_memory(names, times, what)
        return [self[name] for name in names]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        member = self._members[name]
        with warnings.catch_warnings(action="error"):  # of headers that are almost right
            with self._archive.open(member) as stream:
                shape, _, dtype = _HEADERS[npy.read_magic(stream)](stream)
                n_bytes = dtype.itemsize * math.prod(shape)
                if dtype.kind not in "buifcSU" or dtype.subdtype or not dtype.itemsize:
                    raise ValueError(f"{name!r} holds {dtype}, not numbers or text")
                if stream.tell() + n_bytes != member.file_size:
                    raise ValueError(f"{name!r} has not the {n_bytes:,} bytes of its header")
            require_bytes(n_bytes, f"reading {self._path}: the array {name!r}")
            with self._archive.open(member) as stream:
                array: npt.NDArray[Any] = npy.read_array(stream, allow_pickle=False)
                stream.read(1)  # the end of the member, where zipfile checks its checksum
        array = array.astype(dtype.newbyteorder("="), copy=False)
        codes = np.ascontiguousarray(array).reshape(-1).view("u4") if dtype.kind == "U" else array
        if dtype.kind == "U" and (codes > sys.maxunicode).any():
            raise ValueError(f"{name!r} holds text with codes that no character has")
        return array


@contextmanager
def opened_arrays(path: str | Path) -> Iterator[StoredArrays]:
    """Open an ``.npz`` file; any error of it within the block is raised as one `InputError`."""
    file = existing_file(path)
    # Any error: zip, zlib, numpy and struct each have their own.
    with (
        input_errors(f"{path} is not a whole .npz file without pickles"),
        zipfile.ZipFile(file) as archive,
    ):
        yield StoredArrays(archive, path)


def save_arrays(
    path: str | Path, kind: str, arrays: Mapping[str, Any], meta: Mapping[str, Any] | None = None
) -> None:
    """Write named arrays and `meta`, which JSON can represent, to a file of this `kind`."""
    header = json.dumps({"format": kind, **(meta or {})})
    with atomic_write(path) as stream:
        np.savez(stream, **{_META: np.asarray(header), **arrays})


@contextmanager
def opened_kind(path: str | Path, kind: str) -> Iterator[tuple[StoredArrays, dict[str, Any]]]:
    """Open what `save_arrays` wrote: the arrays and the meta data."""
    with opened_arrays(path) as arrays:
        meta = json.loads(str(arrays[_META])) if _META in arrays else None
        if not isinstance(meta, dict) or "format" not in meta:
            raise InputError(f"{path} was not written by grfpp: it has no header")
        if meta["format"] != kind:
            raise InputError(f"{path} holds {str(meta['format'])[:80]!r}, not {kind!r}")
        yield arrays, meta
