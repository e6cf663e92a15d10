"""Look a graph's folder through: checksums, and whether every number leads to where there is one.

Files are read from their beginning to their end, a piece at a time, and not through the memory
maps: what has been looked at does not stay in the process's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.io.folder.header import ARRAYS, Header
from grfpp.io.folder.writer import array_file, new_checksum

_PIECE = 1 << 20  # entries


def verify_folder(folder: Path, header: Header) -> None:
    """Raise `InputError`, naming the file, unless all arrays are as they were written and sound."""
    for name in header.arrays:
        _check_sum(folder, header, name)
    for side in ("", "in_") if header.directed else ("",):
        _check_rows(folder, header, f"{side}indptr", f"{side}indices")
    positive = [name for name in ("weights", "in_weights") if name in header.arrays]
    for name in positive:
        _require(folder, header, name, lambda piece: np.isfinite(piece) & (piece > 0), "weights")
    for name in ("out_strength", "in_strength"):
        if name in header.arrays:
            _require(
                folder, header, name, lambda piece: np.isfinite(piece) & (piece >= 0), "strengths"
            )
    if "name_order" in header.arrays:
        _check_order(folder, header)
    if "name_ends" in header.arrays:
        _check_ends(folder, header)


def pieces(folder: Path, name: str) -> Iterator[npt.NDArray[Any]]:
    """The entries of an array, some at a time."""
    dtype = np.dtype(ARRAYS[name][0])
    with array_file(folder, name).open("rb") as stream:
        while data := stream.read(_PIECE * dtype.itemsize):
            if len(data) % dtype.itemsize:
                raise damaged(folder, name, "it ends within a number")
            yield np.frombuffer(data, dtype)


def damaged(folder: Path, name: str, problem: str) -> InputError:
    """What to say of a file that is not as it was written."""
    return InputError(
        f"{array_file(folder, name)} is damaged: {problem}; convert or save the graph anew"
    )


def _check_sum(folder: Path, header: Header, name: str) -> None:
    total = new_checksum()
    for piece in pieces(folder, name):
        total.update(piece)
    if total.hexdigest() != header.arrays[name].checksum:
        raise damaged(folder, name, "its checksum is not the one that the header has")


def _require(
    folder: Path,
    header: Header,
    name: str,
    is_sound: Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]],
    what: str,
) -> None:
    start = 0
    for piece in pieces(folder, name):
        bad = ~is_sound(piece)
        if bad.any():
            at = int(np.argmax(bad))
            raise damaged(folder, name, f"{what} cannot be {piece[at]!r}, as entry {start + at} is")
        start += len(piece)


def _check_rows(folder: Path, header: Header, indptr: str, indices: str) -> None:
    """Row ends ascend from 0 to the last edge; edges lead to nodes, in ascending order."""
    last = -1
    for number, piece in enumerate(pieces(folder, indptr)):
        if (number == 0 and piece[0] != 0) or piece[0] < last or (np.diff(piece) < 0).any():
            raise damaged(folder, indptr, "the ends of rows do not ascend from 0")
        last = int(piece[-1])
    if last != header.n_stored:
        raise damaged(folder, indptr, f"its last row ends at {last} of {header.n_stored} edges")
    ends = np.memmap(array_file(folder, indptr), "<i8", "r")
    start, before = 0, -1
    for piece in pieces(folder, indices):
        if piece.min() < 0 or piece.max() >= header.n_nodes:
            bad = (piece < 0) | (piece >= header.n_nodes)
            at = int(np.argmax(bad))
            raise damaged(
                folder,
                indices,
                f"edge {start + at} leads to node {piece[at]} of {header.n_nodes}",
            )
        falls = start + np.flatnonzero(np.diff(piece, prepend=before) <= 0)
        if not np.array_equal(np.asarray(ends[np.searchsorted(ends, falls)]), falls):
            raise damaged(folder, indices, "edges of a row are not in order, or there twice")
        start, before = start + len(piece), int(piece[-1])


def _check_order(folder: Path, header: Header) -> None:
    seen = np.zeros(header.n_nodes, bool)
    for piece in pieces(folder, "name_order"):
        if piece.min() < 0 or piece.max() >= header.n_nodes:
            raise damaged(folder, "name_order", "it leads to nodes that there are none of")
        seen[piece] = True
    if not seen.all():
        raise damaged(folder, "name_order", "it does not lead to every node")


def _check_ends(folder: Path, header: Header) -> None:
    last = 0
    for piece in pieces(folder, "name_ends"):
        if piece[0] < last or (np.diff(piece) < 0).any():
            raise damaged(folder, "name_ends", "the ends of names do not ascend")
        last = int(piece[-1])
    if last != header.arrays["name_text"].length:
        raise damaged(folder, "name_ends", "names do not end where their text does")
