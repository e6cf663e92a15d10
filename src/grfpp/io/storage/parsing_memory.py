"""How much memory a text or mesh file takes until a graph is made of it.

Far more than its size: a line of eight bytes becomes a list of Python numbers. The figures are
those of files whose bytes say as much as they can, measured; the tests measure them again.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from grfpp.memory import require_bytes


class _Cost(NamedTuple):
    per_byte: int
    mark: bytes  # what begins or ends each thing that is listed
    per_mark: int


_EDGE_LIST = _Cost(9, b"\n", 300)
_COSTS = {
    ".mtx": _Cost(7, b"\n", 180),
    ".gml": _Cost(46, b"[", 280),
    ".graphml": _Cost(14, b"<", 900),
    ".stl": _Cost(17, b"\n", 0),
    ".off": _Cost(6, b"\n", 280),
    ".obj": _Cost(6, b"\n", 290),
    ".ply": _Cost(6, b"\n", 0),
}
_PLY_ELEMENT = re.compile(rb"^\s*element\s+\S+\s+(\d{1,15})", re.MULTILINE)
_PLY_HEADER_BYTES = 1 << 16
_PER_PLY_ELEMENT = 600


def require_memory(data: bytes, suffix: str, name: str) -> None:
    """Raise when memory does not suffice to read a file with this content."""
    require_bytes(parsing_bytes(data, suffix), f"reading {name}")


def parsing_bytes(data: bytes, suffix: str) -> int:
    r"""Bytes that are used at most while a file is read, its content among them.

    Examples
    --------
    >>> parsing_bytes(b"0 1\n" * 1000, ".txt")
    336000
    """
    cost = _COSTS.get(suffix, _EDGE_LIST)
    total = cost.per_byte * len(data)
    if cost.per_mark:
        total += cost.per_mark * data.count(cost.mark)
    if suffix == ".ply":
        # Its rows have no marks in binary files; there are no more of them than bytes.
        counts = sum(map(int, _PLY_ELEMENT.findall(data[:_PLY_HEADER_BYTES])))
        total += _PER_PLY_ELEMENT * min(counts, len(data))
    return total
