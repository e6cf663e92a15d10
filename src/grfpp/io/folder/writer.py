"""Write a graph's folder, array by array and each from its beginning to its end."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from grfpp.io.folder.header import ARRAYS, HEADER, Header, StoredArray
from grfpp.io.folder.stamp import write_stamp
from grfpp.io.storage.atomic_folder import atomic_folder

_CHUNK = 1 << 24


def array_file(folder: Path, name: str) -> Path:
    """The file of an array: nothing but its numbers."""
    return folder / f"{name}.bin"


def new_checksum() -> Any:
    """What checksums are made by."""
    return hashlib.blake2b(digest_size=16)


class FolderWriter:
    """The arrays of one folder, appended to as they are made.

    Written by plain writes, not through memory maps: a full disk is an error then, not the end of
    the process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, IO[bytes]] = {}
        self._sums: dict[str, Any] = {}
        self._lengths: dict[str, int] = {}

    def append(self, name: str, values: npt.ArrayLike) -> None:
        """Write more entries of an array."""
        array = np.ascontiguousarray(values, dtype=ARRAYS[name][0])
        if name not in self._files:
            self._files[name] = array_file(self.folder, name).open("wb")
            self._sums[name], self._lengths[name] = new_checksum(), 0
        content = array.reshape(-1).view(np.uint8).data
        for start in range(0, len(content), _CHUNK):
            part = content[start : start + _CHUNK]
            self._sums[name].update(part)
            self._files[name].write(part)
        self._lengths[name] += array.size

    def length(self, name: str) -> int:
        """Entries of an array so far."""
        return self._lengths.get(name, 0)

    def discard(self, name: str) -> None:
        """Take back what was written of an array."""
        self._files.pop(name).close()
        del self._sums[name], self._lengths[name]
        array_file(self.folder, name).unlink()

    def mapped(self, name: str) -> npt.NDArray[Any]:
        """What has been written of an array, to be looked at again."""
        self._files[name].flush()
        if not self._lengths[name]:
            return np.empty(0, ARRAYS[name][0])
        return np.asarray(np.memmap(self._files[name].name, ARRAYS[name][0], "r"))

    def finish(self, header: Header) -> None:
        """Write the header, to which the arrays are added, and make sure that all is on disk."""
        for stream in self._files.values():
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
        arrays = {
            name: StoredArray(self._lengths[name], self._sums[name].hexdigest())
            for name in self._files
        }
        header = replace(header, arrays=arrays)
        header._check()
        with (self.folder / HEADER).open("wb") as file:
            file.write(header.to_json().encode())
            file.flush()
            os.fsync(file.fileno())
        write_stamp(self.folder, [array_file(self.folder, name) for name in arrays])

    def close(self) -> None:
        """Close what is open, where something went wrong."""
        for stream in self._files.values():
            stream.close()


@contextmanager
def folder_writer(path: str | Path) -> Iterator[FolderWriter]:
    """Write a folder that appears under its name only when the block ends well."""
    with atomic_folder(path, HEADER) as folder:
        writer = FolderWriter(folder)
        try:
            yield writer
        finally:
            writer.close()
