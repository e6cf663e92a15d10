"""Files -> weight matrices: opened, unpacked, and handed to the reader of their format."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grfpp.errors import InputError
from grfpp.io import edge_list
from grfpp.io.folder.header import SUFFIX
from grfpp.io.folder.reader import is_folder_path
from grfpp.io.markup import PARSERS, matrix_of
from grfpp.io.meshes import mesh
from grfpp.io.mtx import read_mtx
from grfpp.io.npz import read_npz
from grfpp.io.storage.packed import (
    check_size,
    explained,
    opened_gzip,
    opened_zip,
    read_all,
    read_member,
)
from grfpp.io.storage.parsing_memory import require_memory
from grfpp.io.storage.paths import existing_file
from grfpp.io.tables import frames
from grfpp.io.tables.options import EdgeListOptions

_PACKED = (".gz", ".zip")
_BINARY = (".npz", *frames.SUFFIXES)
_SHOWN = 8


def read_file(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    n_nodes: int | None = None,
    options: EdgeListOptions | None = None,
) -> tuple[Any, Sequence[Any] | None]:
    """Read a graph from a file; its suffix tells the format, in either case.

    Text may be packed as ``.gz`` or as the only such file of a ``.zip``. `directed`, `n_nodes` and
    `options` are for lists of edges.
    """
    file, suffix = known_file(path)
    name = str(path)
    options = options or EdgeListOptions()
    if suffix in frames.SUFFIXES:
        return frames.read_frame_file(
            file, name, suffix, directed=directed, n_nodes=n_nodes, options=options
        )
    if suffix not in edge_list.SUFFIXES:
        options.require_only((), f"{suffix} files")
    if suffix == ".npz":
        return read_npz(file)
    data = read_bytes(file, suffix, name)
    if suffix in mesh.SUFFIXES:
        surface = mesh.read_mesh(data, name, suffix)
        # An STL file does not number its points, so there are no labels to keep.
        return surface.adjacency(), None if suffix == ".stl" else surface.labels()
    if suffix in PARSERS:
        return matrix_of(PARSERS[suffix](data, name), name, suffix)
    if suffix == ".mtx":
        return read_mtx(data, name), None
    return edge_list.read_edge_list(
        data, name, suffix, directed=directed, n_nodes=n_nodes, options=options
    )


def load_mesh(path: str | os.PathLike[str]) -> mesh.Mesh:
    """Read the points and triangles of a mesh file; row ``i`` is node ``i`` of its graph."""
    file, suffix = known_file(path)
    if suffix not in mesh.SUFFIXES:
        raise InputError(f"{path} is not a mesh file: {', '.join(mesh.SUFFIXES)} are")
    return mesh.read_mesh(read_bytes(file, suffix, str(path)), str(path), suffix)


def read_attribute(path: str | os.PathLike[str], attribute: str) -> list[Any]:
    """Read one attribute of all nodes of a GML or GraphML file, in the order of the graph's rows.

    Nodes without it, or whose text is empty, have ``None``. It is an error when the format has no
    attributes, or when no node has this one (the message names those there are).
    """
    file, suffix = (Path(path), SUFFIX) if is_folder_path(path) else known_file(path)
    if suffix not in PARSERS:
        raise InputError(
            f"{path} has no attributes of nodes; {' and '.join(PARSERS)} files may have some",
            table="labels",
        )
    graph = PARSERS[suffix](read_bytes(file, suffix, str(path)), str(path))
    nodes = list(graph.nodes(data=True))
    if not any(attribute in values for _, values in nodes):
        known = sorted({str(name) for _, values in nodes for name in values})
        shown = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
        raise InputError(
            f"{path}: no node has an attribute {attribute!r}; "
            + (f"there are {shown}" if known else "nodes have none at all")
        )
    return [_known(values.get(attribute)) for _, values in nodes]


def _known(value: Any) -> Any:
    """What an attribute says; empty text and NaN, which some programs write, say nothing."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if is_nan or (isinstance(value, str) and not value.strip()) else value


def known_file(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Give the path of a file that exists, and the suffix of what is packed in it."""
    file = existing_file(path)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] != [] and suffixes[-1] in _PACKED
    suffix = "".join(suffixes[:-1][-1:] if packed else suffixes[-1:])
    plain = (*edge_list.SUFFIXES, *PARSERS, ".mtx", *mesh.SUFFIXES)
    if suffix not in plain and (suffix not in _BINARY or packed):
        raise InputError(
            f"{path}: the suffix {''.join(file.suffixes) or '(none)'} is unknown; known are "
            f"{' '.join(plain)}, each also with .gz or .zip, and {' '.join(_BINARY)}"
        )
    return file, suffix


def read_bytes(file: Path, suffix: str, name: str) -> bytes:
    """Read a file that `known_file` gave, unpacked, if memory bears what will be made of it."""
    match file.suffix.lower():
        case ".gz":
            with opened_gzip(file) as stream:
                data = read_all(stream, name)
        case ".zip":
            with opened_zip(file) as pack:
                data = read_member(pack, only_member(pack, suffix, name), name)
        case _:
            with explained(file, suffix), file.open("rb") as stream:
                check_size(os.fstat(stream.fileno()).st_size, name)
                data = read_all(stream, name)
    require_memory(data, suffix, name)
    return data


def only_member(archive: zipfile.ZipFile, suffix: str, name: str) -> str:
    """The one file of an archive that has the suffix."""
    members = [
        member
        for member in archive.namelist()
        if member.lower().endswith(suffix) and not member.startswith("__MACOSX")
    ]
    if len(members) != 1:
        raise InputError(f"{name} must hold one {suffix} file, found {len(members)}")
    return members[0]
