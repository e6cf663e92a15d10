"""Files -> weight matrices: the suffix says the format, whose reader is called."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from grfpp.errors import InputError
from grfpp.io import meshes, tables
from grfpp.io.folder.layout import SUFFIX
from grfpp.io.folder.reader import is_folder_path
from grfpp.io.markup import PARSERS, matrix_of
from grfpp.io.matrices import read_mtx, read_npz
from grfpp.io.packed import COMPRESSED, existing_file, read_bytes
from grfpp.io.table_options import ListFile, ListRequest
from grfpp.io.table_text import TEXT_SUFFIXES
from grfpp.io.text import decode

_PACKED = (*COMPRESSED, ".zip")
_BINARY = (".npz", *tables.BINARY_SUFFIXES)


def read_file(path: str | os.PathLike[str], request: ListRequest) -> tuple[Any, Any]:
    """Read a graph from a file; its suffix says the format, in either case.

    Text and meshes may be compressed (``.gz``, ``.bz2``, ``.xz``), or the only such file of a
    ``.zip``. The `request` is for lists of edges.
    """
    file, suffix = known_file(path)
    name = str(path)
    if suffix in tables.SUFFIXES:
        return tables.read_list_file(ListFile(file, suffix, name), request)
    request.options.require_only((), f"{suffix} files")
    if suffix == ".npz":
        return read_npz(file)
    data = read_bytes(file, suffix, name)
    if suffix in meshes.SUFFIXES:
        mesh = meshes.read_mesh(data, name, suffix)
        return mesh.adjacency(), mesh.labels()
    if suffix in PARSERS:
        return matrix_of(PARSERS[suffix](data, name), name, suffix)
    return read_mtx(data, name), None


def load_mesh(path: str | os.PathLike[str]) -> meshes.Mesh:
    """Read the points and triangles of a mesh file; row ``i`` is node ``i`` of its graph."""
    file, suffix = known_file(path)
    if suffix not in meshes.SUFFIXES:
        raise InputError(f"{path} is not a mesh file: {', '.join(meshes.SUFFIXES)} are")
    return meshes.read_mesh(read_bytes(file, suffix, str(path)), str(path), suffix)


def read_attribute(path: str | os.PathLike[str], attribute: str) -> list[Any]:
    """Read one attribute of all nodes of a GML or GraphML file, in the order of the graph's rows.

    Nodes without it, or whose text is empty, have ``None``. It is an error when the format has no
    attributes, or when no node has this one (the message names those there are).
    """
    file, suffix = (Path(path), SUFFIX) if is_folder_path(path) else known_file(path)
    if suffix not in PARSERS:
        problem = f"{path} has no attributes of nodes, as {' and '.join(PARSERS)} files may"
        raise InputError(problem, advice="give the labels in a table")
    graph = PARSERS[suffix](read_bytes(file, suffix, str(path)), str(path))
    nodes = list(graph.nodes(data=True))
    if not any(attribute in values for _, values in nodes):
        known = sorted({str(name) for _, values in nodes for name in values})
        listed = f"there are {', '.join(known[:8])}" if known else "nodes have none at all"
        raise InputError(f"{path}: no node has an attribute {attribute!r}; {listed}")
    return [_value_or_none(values.get(attribute)) for _, values in nodes]


def _value_or_none(value: Any) -> Any:
    """The value of an attribute; ``None`` for empty text and NaN, which some programs write."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if is_nan or (isinstance(value, str) and not value.strip()) else value


def known_file(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """The path of a file that exists, and the suffix of its content, unpacked."""
    file = existing_file(path)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] != [] and suffixes[-1] in _PACKED
    suffix = "".join(suffixes[:-1][-1:] if packed else suffixes[-1:])
    plain = (*TEXT_SUFFIXES, *PARSERS, ".mtx", *meshes.SUFFIXES)
    if suffix not in plain and (suffix not in _BINARY or packed):
        raise InputError(
            f"{path}: the suffix {''.join(file.suffixes) or '(none)'} is unknown; known are "
            f"{' '.join(plain)}, each also with {' '.join(_PACKED)}, and {' '.join(_BINARY)}"
        )
    return file, suffix


def read_text(path: str | Path) -> str:
    """The text of a file, which may be compressed, with plain line ends."""
    return decode(read_bytes(existing_file(path), ".txt", str(path)), str(path))
