"""PLY meshes, ASCII and binary.

Not by trimesh: of 5,961 damaged files its version 5.2 reads 1,322 that are refused here, 619 of
them with corners that do not exist, and it refuses sound binary files of polygons that are not all
of one size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.io.meshes.polygons import Polygons, checked_polygon
from grfpp.io.text import Lines, at_line, decode, shown
from grfpp.typing import FloatArray

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2",
    "ushort": "u2", "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "int64": "i8", "uint64": "u8", "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
_BYTE_ORDERS = {"ascii": None, "binary_little_endian": "<", "binary_big_endian": ">"}

# The values of one element, property by property: an array, or one list a row.
Columns = dict[str, Any]


@dataclass
class _Element:
    """A table of the file: its rows and, by name, the type (and length type) of each property."""

    name: str
    count: int
    types: dict[str, str] = field(default_factory=dict)
    length_types: dict[str, str] = field(default_factory=dict)  # of the properties that are lists


def read_ply(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read the elements ``vertex`` and ``face`` of a PLY file."""
    byte_order, elements, start, n_lines = _header(data, name)
    corners = _corners(elements, name)
    tables: dict[str, Columns] = {}
    if byte_order is None:
        with Lines(decode(data[start:], name), name, comment="\0", n_before=n_lines) as lines:
            for element in elements:
                tables[element.name] = _ascii_table(lines, element)
    else:
        stream = _Bytes(data, start, byte_order, name)
        for element in elements:
            tables[element.name] = _binary_table(stream, element)
    vertex = tables["vertex"]
    points = np.column_stack([np.asarray(vertex[axis], dtype=np.float64) for axis in "xyz"])
    return points, _checked_polygons(tables["face"][corners], len(points), name)


def _corners(elements: list[_Element], name: str) -> str:
    """Check that there are vertices and faces, and name the property of the faces' corners."""
    named = {element.name: element for element in elements}
    vertex, face = (named.get(title, _Element(title, 0)) for title in ("vertex", "face"))
    if not set("xyz") <= vertex.types.keys() - vertex.length_types.keys():
        raise InputError(f"{name} has no vertices with x, y and z")
    for title in ("vertex_indices", "vertex_index"):
        if title in face.length_types and face.types[title][0] != "f":
            return title
    raise InputError(f"{name} has no faces with a list of whole numbers vertex_indices")


def _checked_polygons(polygons: Any, n_vertices: int, name: str) -> Polygons:
    for i, polygon in enumerate(polygons):
        checked_polygon(polygon, n_vertices, f"{name}: face {i}")
        if isinstance(polygons, np.ndarray):
            break  # all are as long, and their range is checked with that of all meshes
    found: Polygons = polygons
    return found


def _header(data: bytes, name: str) -> tuple[str | None, list[_Element], int, int]:
    """Give the byte order (none in ASCII), the elements, and where the header ends."""
    if not data.startswith((b"ply\n", b"ply\r")):
        raise at_line(name, 1, "not PLY: the file must begin with a line 'ply'")
    # As the first line ends so do the others; looking at each anew could eat a byte of data.
    line_end = b"\r\n" if data.startswith(b"ply\r\n") else data[3:4]
    mark = line_end + b"end_header" + line_end
    end = data.find(mark)
    if end < 0:
        raise InputError(f"{name} is not a PLY file, or truncated: its header has no end_header")
    lines = decode(data[:end].replace(line_end, b"\n"), name).split("\n")
    byte_order: str | None = "?"
    elements: list[_Element] = []
    for number, line in enumerate(lines[1:], start=2):
        match line.split():
            case [] | ["comment" | "obj_info", *_]:
                pass
            case ["format", encoding, _] if encoding in _BYTE_ORDERS:
                byte_order = _BYTE_ORDERS[encoding]
            case ["element", title, count] if (
                count.isascii() and count.isdigit() and title not in [e.name for e in elements]
            ):
                elements.append(_Element(title, int(count[:30])))
            case ["property", kind, title] if kind in _TYPES and elements:
                elements[-1].types[title] = _TYPES[kind]
            case ["property", "list", length, kind, title] if (
                elements and kind in _TYPES and _TYPES.get(length, "f")[0] != "f"
            ):
                elements[-1].types[title] = _TYPES[kind]
                elements[-1].length_types[title] = _TYPES[length]
            case _:
                raise at_line(name, number, f"not PLY: cannot read {shown(line)}")
    if byte_order == "?":
        raise InputError(f"{name} is not a PLY file: its header names no format")
    return byte_order, elements, end + len(mark), len(lines) + 1


def _ascii_table(lines: Lines, element: _Element) -> Columns:
    columns: Columns = {title: [] for title in element.types}
    for row in range(element.count):
        words = lines.following(f"{element.name} {row + 1:,} of {element.count:,}")
        try:
            _add_row(columns, element, _Words(words))
        except (ValueError, OverflowError):
            text = shown(" ".join(words))
            raise InputError(f"cannot read a {element.name} from {text}") from None
    return columns


def _binary_table(data: _Bytes, element: _Element) -> Columns:
    """Read the rows at once where all lists are as long as in the first row, else one by one."""
    columns: Columns = {title: [] for title in element.types}
    if not element.count or not element.types:
        return columns
    start = data.position
    _add_row(columns, element, data)
    parts: list[tuple[Any, ...]] = []
    for title, kind in element.types.items():
        if title in element.length_types:
            parts.append((f"{title} length", data.byte_order + element.length_types[title]))
            parts.append((title, data.byte_order + kind, (len(columns[title][0]),)))
        else:
            parts.append((title, data.byte_order + kind))
    dtype = np.dtype(parts)
    if element.count * dtype.itemsize <= len(data.content) - start:
        rows = np.frombuffer(data.content, dtype, element.count, start)
        if all(
            (rows[f"{title} length"] == len(columns[title][0])).all()
            for title in element.length_types
        ):
            data.position = start + element.count * dtype.itemsize
            return {title: rows[title] for title in element.types}
    for _ in range(element.count - 1):
        _add_row(columns, element, data)
    return columns


def _add_row(columns: Columns, element: _Element, source: _Words | _Bytes) -> None:
    for title, kind in element.types.items():
        if title in element.length_types:
            (length,) = source.take(element.length_types[title], 1)
            columns[title].append(source.take(kind, int(length)))
        else:
            columns[title].extend(source.take(kind, 1))


class _Words:
    """The numbers of a line of text, one after the other."""

    def __init__(self, words: list[str]) -> None:
        self._words = iter(words)

    def take(self, kind: str, count: int) -> list[float]:
        read = float if kind[0] == "f" else int
        values = [read(word) for word in islice(self._words, count)]
        if len(values) != count:
            raise ValueError
        return values


@dataclass
class _Bytes:
    """The numbers of a binary file, one after the other."""

    content: bytes
    position: int
    byte_order: str
    name: str

    def take(self, kind: str, count: int) -> npt.NDArray[Any]:
        start, end = self.position, self.position + count * np.dtype(kind).itemsize
        if not start <= end <= len(self.content):
            raise InputError(f"{self.name} is truncated, or damaged at byte {start:,}")
        self.position = end
        return np.frombuffer(self.content, self.byte_order + kind, count, start)
