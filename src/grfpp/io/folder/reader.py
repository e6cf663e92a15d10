"""Open a graph's folder: its header is read, its arrays are mapped."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.io.folder.header import ARRAYS, HEADER, SUFFIX, Header
from grfpp.io.folder.maps import mapped_array
from grfpp.io.folder.stamp import is_stamped, stats_of, write_stamp
from grfpp.io.folder.verify import damaged, verify_folder
from grfpp.io.folder.writer import array_file, new_checksum
from grfpp.memory import available_bytes


@dataclass(frozen=True, eq=False)
class GraphFolder:
    """A folder that has been opened: what its header says, and its arrays, mapped when needed."""

    path: Path
    header: Header
    #: Of the header, which has the checksums of all else.
    fingerprint: str
    #: What the system said of its files.
    stats: dict[str, list[int]]

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = False) -> GraphFolder:
        """Open a folder that `Graph.save` or ``grfpp convert`` wrote.

        Sizes of files are compared with the header. Files that nobody has looked through since they
        were last written (see `grfpp.io.folder.stamp`) are looked through now; with `verify` all
        are, in any case.
        """
        folder = _existing(path)
        header, text = Header.read(folder)
        files = [array_file(folder, name) for name in header.arrays]
        stats = stats_of([folder / HEADER, *files])
        for name, each in header.arrays.items():
            found = stats[array_file(folder, name).name][1]
            expected = each.length * np.dtype(ARRAYS[name][0]).itemsize
            if found != expected:
                raise damaged(
                    folder, name, f"it has {found:,} bytes, and the header says {expected:,}"
                )
        if verify or not is_stamped(folder, stats):
            verify_folder(folder, header)
            if stats_of([folder / HEADER, *files]) != stats:
                raise InputError(f"{folder} is being written by somebody else; open it again")
            write_stamp(folder, files)
        fingerprint = new_checksum()
        fingerprint.update(text)
        return cls(folder, header, fingerprint.hexdigest(), stats)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """An array, mapped and read-only."""
        return self._arrays[name]

    def get(self, name: str) -> npt.NDArray[Any] | None:
        """An array, or ``None`` where the folder does not have it."""
        return self._arrays[name] if name in self.header.arrays else None

    @cached_property
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        self.require_unchanged()
        return {name: self._mapped(name) for name in self.header.arrays}

    def _mapped(self, name: str) -> npt.NDArray[Any]:
        dtype = np.dtype(ARRAYS[name][0])
        if not self.header.arrays[name].length:
            empty = np.empty(0, dtype)
            empty.flags.writeable = False
            return empty
        try:
            file = array_file(self.path, name)
            return mapped_array(file, dtype, read_ahead=self._fits_into_memory)
        except (OSError, ValueError) as error:
            raise damaged(self.path, name, f"it cannot be mapped ({error})") from None

    def descriptor(self, name: str) -> int | None:
        """The descriptor of an array's file, for ``pread``; closed when nobody has this any more.

        ``None`` where the system has no such call.
        """
        if not hasattr(os, "pread"):
            return None
        if name not in self._descriptors:
            file = array_file(self.path, name)
            try:
                opened = os.open(file, os.O_RDONLY)
            except OSError as error:
                raise damaged(self.path, name, f"it cannot be opened ({error})") from None
            weakref.finalize(self, os.close, opened)
            self.require_unchanged()
            self._descriptors[name] = opened
        return self._descriptors[name]

    @cached_property
    def _descriptors(self) -> dict[str, int]:
        return {}

    @cached_property
    def _fits_into_memory(self) -> bool:
        return sum(size for _, size, *_ in self.stats.values()) < available_bytes()

    @cached_property
    def _files(self) -> list[tuple[str, str, list[int]]]:
        return [(name, str(self.path / name), known) for name, known in self.stats.items()]

    def require_unchanged(self) -> None:
        """Raise `InputError` where a file is not the one that was opened, or has been written to.

        Maps keep what was there when a folder is replaced; but whoever opens it by its path, as
        other processes do, would find another graph.
        """
        changed = None
        for name, file, known in self._files:
            try:
                now = os.stat(file)  # noqa: PTH116  (as fast as it gets: every answer asks)
            except OSError:
                changed = name
                break
            if [now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns] != known:
                changed = name
                break
        if changed is not None:
            raise InputError(
                f"{self.path} has changed since it was opened ({changed} is another): open it again"
            )


def is_folder_path(source: Any) -> bool:
    """Whether something is the path of a graph's folder, by its suffix."""
    if not isinstance(source, str | os.PathLike):
        return False
    name = os.fspath(source)
    return isinstance(name, str) and name.rstrip("/\\").lower().endswith(SUFFIX)


def folder_bytes(path: str | os.PathLike[str]) -> int:
    """Bytes of a graph's files: the header and the arrays."""
    files = [Path(path) / HEADER, *Path(path).glob("*.bin")]
    return sum(file.stat().st_size for file in files)


def _existing(path: str | os.PathLike[str]) -> Path:
    if "\0" in str(path):
        raise InputError(f"cannot read {str(path)!r}: names of files have no zero bytes")
    try:
        folder = Path(path).expanduser().resolve()
        if not folder.is_dir():
            what = "is a file; graphs on disk are folders" if folder.exists() else "does not exist"
            raise InputError(f"{path} {what}")
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {str(path)!r}: {error}") from None
    return folder
