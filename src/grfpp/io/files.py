"""Files -> weight matrices, by the reader of the format that the suffix names."""

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
from grfpp.io.packed import PACKINGS, existing_file, read_bytes
from grfpp.io.table_options import ListFile, ListRequest
from grfpp.io.table_text import TEXT_SUFFIXES
from grfpp.io.text import decode

_BINARY = (".npz", *tables.BINARY_SUFFIXES)


def read_file(path: str | os.PathLike[str], request: ListRequest) -> tuple[Any, Any]:
    """Read a graph from a file in the format of its suffix, in upper or lower case.

    Text and meshes may be compressed (``.gz``, ``.bz2``, ``.xz``), or the only such file of a
    ``.zip``. The `request` is for edge lists.
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
    r"""Read the points and triangles of a mesh file; row ``i`` is node ``i`` of its graph.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "triangle.off"
    >>> _ = path.write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    >>> load_mesh(path).faces
    array([[0, 1, 2]])
    """
    file, suffix = known_file(path)
    if suffix not in meshes.SUFFIXES:
        raise InputError(f"{path} is not a mesh file", advice=f"use {', '.join(meshes.SUFFIXES)}")
    return meshes.read_mesh(read_bytes(file, suffix, str(path)), str(path), suffix)


def read_attribute(path: str | os.PathLike[str], attribute: str) -> list[Any]:
    """Read one attribute of all nodes of a GML or GraphML file, in the order of the graph's rows.

    It is ``None`` for nodes without it or with empty text. An error is raised if the format has no
    attributes, or if no node has this one (the message names the existing ones).
    """
    file, suffix = (Path(path), SUFFIX) if is_folder_path(path) else known_file(path)
    if suffix not in PARSERS:
        problem = f"{path} has no attributes of nodes, which {' and '.join(PARSERS)} files may have"
        raise InputError(problem, advice="pass the labels in a table")
    graph = PARSERS[suffix](read_bytes(file, suffix, str(path)), str(path))
    nodes = list(graph.nodes(data=True))
    if not any(attribute in values for _, values in nodes):
        known = sorted({str(name) for _, values in nodes for name in values})
        listed = ", ".join(known[:8]) or "none"
        raise InputError(f"{path}: no node has an attribute {attribute!r}, found {listed}")
    return [_value_or_none(values.get(attribute)) for _, values in nodes]


def _value_or_none(value: Any) -> Any:
    """The value of an attribute; ``None`` for empty text and NaN, which some programs write."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if is_nan or (isinstance(value, str) and not value.strip()) else value


def known_file(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """The path of an existing file, and the suffix of its unpacked content."""
    file = existing_file(path)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] != [] and suffixes[-1] in PACKINGS
    suffix = "".join(suffixes[:-1][-1:] if packed else suffixes[-1:])
    plain = (*TEXT_SUFFIXES, *PARSERS, ".mtx", *meshes.SUFFIXES)
    if suffix not in plain and (suffix not in _BINARY or packed):
        problem = f"{path}: the suffix {''.join(file.suffixes) or '(none)'} is unknown"
        known = f"{' '.join(plain)}, each also with {' '.join(PACKINGS)}, and {' '.join(_BINARY)}"
        raise InputError(problem, advice=f"known are {known}")
    return file, suffix


def read_text(path: str | Path) -> str:
    """The text of a file, which may be compressed, with plain line ends."""
    return decode(read_bytes(existing_file(path), ".txt", str(path)), str(path))
