"""Files -> weight matrices: opened, unpacked, and handed to the reader of their format."""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from grfpp.errors import InputError
from grfpp.io import edge_list
from grfpp.io.gml import read_gml
from grfpp.io.graphml import read_graphml
from grfpp.io.meshes import mesh
from grfpp.io.mtx import read_mtx
from grfpp.io.npz import read_npz
from grfpp.memory import available_bytes

_PACKED = (".gz", ".zip")
_CHUNK = 1 << 24
# Text takes several times its size while it is parsed.
_SHARE_OF_MEMORY = 4


class Readable(Protocol):
    """What can be read piece by piece."""

    def read(self, size: int, /) -> bytes:
        """Give the next bytes, none at the end."""
        ...


def read_file(
    path: str | os.PathLike[str], *, directed: bool | None = None, n_nodes: int | None = None
) -> tuple[Any, Sequence[Any] | None]:
    """Read a graph from a file; its suffix tells the format, in either case.

    Every format but ``.npz`` may be packed as ``.gz`` or as the only such file of a ``.zip``.
    `directed` and `n_nodes` are for text edge lists.
    """
    file, suffix = _checked(path)
    name = str(path)
    if suffix == ".npz":
        return read_npz(file)
    data = _read_bytes(file, suffix, name)
    if suffix in mesh.SUFFIXES:
        found = mesh.read_mesh(data, name, suffix)
        # An STL file does not number its points, so there are no labels to keep.
        return found.adjacency(), None if suffix == ".stl" else found.labels()
    if suffix == ".gml":
        return read_gml(data, name)
    if suffix == ".graphml":
        return read_graphml(data, name)
    if suffix == ".mtx":
        return read_mtx(data, name), None
    return edge_list.read_edge_list(data, name, suffix, directed=directed, n_nodes=n_nodes)


def load_mesh(path: str | os.PathLike[str]) -> mesh.Mesh:
    """Read the points and triangles of a mesh file; row ``i`` is node ``i`` of its graph."""
    file, suffix = _checked(path)
    if suffix not in mesh.SUFFIXES:
        raise InputError(f"{path} is not a mesh file: {', '.join(mesh.SUFFIXES)} are")
    return mesh.read_mesh(_read_bytes(file, suffix, str(path)), str(path), suffix)


def _checked(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Give the path of a file that exists, and the suffix of what is packed in it."""
    try:
        file = Path(path).expanduser()
        if file.is_dir():
            raise InputError(f"{str(path)!r} is a folder; pass the path of a file")
        if not file.exists():
            raise InputError(f"there is no file {path}")
    except (OSError, RuntimeError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] != [] and suffixes[-1] in _PACKED
    suffix = "".join(suffixes[:-1][-1:] if packed else suffixes[-1:])
    plain = (*edge_list.SUFFIXES, ".gml", ".graphml", ".mtx", *mesh.SUFFIXES)
    if suffix not in plain and (suffix != ".npz" or packed):
        raise InputError(
            f"{path}: the suffix {''.join(file.suffixes) or '(none)'} is unknown; known are "
            f"{' '.join(plain)}, each also with .gz or .zip, and .npz"
        )
    return file, suffix


def _read_bytes(file: Path, suffix: str, name: str) -> bytes:
    try:
        match file.suffix.lower():
            case ".gz":
                with gzip.open(file) as stream:
                    return _read_all(stream, name)
            case ".zip":
                with (
                    zipfile.ZipFile(file) as archive,
                    archive.open(_only_member(archive, suffix, name)) as stream,
                ):
                    return _read_all(stream, name)
            case _:
                with file.open("rb") as stream:
                    return _read_all(stream, name)
    except InputError:
        raise
    except (EOFError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile) as error:
        raise InputError(
            f"{name} is truncated, or not a {file.suffix.lower()} file: {error}"
        ) from None
    except (OSError, RuntimeError, NotImplementedError, ValueError, LookupError) as error:
        # RuntimeError and NotImplementedError: zip files with a password or an odd compression.
        raise InputError(f"cannot read {name}: {error}") from None


def _only_member(archive: zipfile.ZipFile, suffix: str, name: str) -> str:
    found = [
        member
        for member in archive.namelist()
        if member.lower().endswith(suffix) and not member.startswith("__MACOSX")
    ]
    if len(found) != 1:
        raise InputError(f"{name} must hold one {suffix} file, found {len(found)}")
    return found[0]


def _read_all(stream: Readable, name: str) -> bytes:
    """Read to the end, but not more than memory bears: packed files can be tiny and hold much."""
    limit = available_bytes() // _SHARE_OF_MEMORY
    chunks: list[bytes] = []
    size = 0
    while chunk := stream.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise InputError(
                f"{name} holds more than {limit:,} bytes, too much for the memory that is free"
            )
    return b"".join(chunks)
