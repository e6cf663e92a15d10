"""The files of a graph's folder: a header in JSON, and each array as its plain numbers.

Compiled loops do not check arrays, so checksums and ranges of a folder are verified once, and the
inode, size and times of its files are then stored as a stamp. A file that was copied, edited or
truncated has another stamp, and the folder is verified again. With `verify=True`,
`grfpp.io.folder.reader.verify_consistency` also compares arrays with each other.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError, shown
from grfpp.io.atomic import atomic_write
from grfpp.io.text import input_errors
from grfpp.normalization import Rows

HEADER = "header.json"
STAMP = "verified.json"
SUFFIX = ".grf"
_FORMAT, _VERSION = "grfpp-graph-folder", 1
#: Bytes of the longest header that is read; written ones have some hundred.
_MAX_HEADER_BYTES = 1 << 16
#: Entries that are verified at a time: some megabytes.
_PIECE = 1 << 20
#: Relative error of strengths that is accepted: rounding of sums of up to 10⁷ weights.
_STRENGTH_RTOL = 1e-9

#: Every array that a folder may hold: its type, and its length in nodes, edges or neither.
ARRAYS = {
    "indptr": ("<i8", "nodes + 1"),
    "indices": ("<i4", "edges"),
    "weights": ("<f8", "edges"),
    "out_strength": ("<f8", "nodes"),
    "in_strength": ("<f8", "nodes"),
    "in_indptr": ("<i8", "nodes + 1"),
    "in_indices": ("<i4", "edges"),
    "in_weights": ("<f8", "edges"),
    "name_numbers": ("<i8", "nodes"),
    "name_text": ("|u1", "any"),
    "name_ends": ("<i8", "nodes"),
    "name_order": ("<i4", "nodes"),
}
#: Normalisations by the strengths of both ends, of the row, of the column.
SYMMETRIES: tuple[Literal["sym", "rw", "rw_reversed"], ...] = ("sym", "rw", "rw_reversed")


def array_file(folder: Path, name: str) -> Path:
    """The file of an array."""
    return folder / f"{name}.bin"


def new_checksum(content: bytes = b"") -> Any:
    """A hash object for checksums."""
    return hashlib.blake2b(content, digest_size=16)


@dataclass(frozen=True)
class StoredArray:
    """One array's file: its number of entries, and the checksum of its bytes."""

    length: int
    checksum: str


@dataclass(frozen=True, kw_only=True)
class Header:
    """The properties of a graph that are stored outside its arrays.

    `directed` is about the matrix whose rows are stored; `kind` and `value` say how it is scaled
    (see `grfpp.normalization.ScaledWeights`). `symmetric` are the normalisations, out of
    `SYMMETRIES`, that give a symmetric matrix; `tame` (a key of this file format) means that no
    product of strengths leaves the range of float64. `spectral_radius` is ``None`` if unknown.
    `replaces` has the checksums of the headers that a compaction has replaced.
    """

    n_nodes: int
    n_stored: int
    n_loops: int
    directed: bool
    symmetric: Sequence[str]
    tame: bool
    kind: str | None = None
    value: float = 1.0
    names: str | None = None
    spectral_radius: float | None = None
    replaces: Sequence[str] = ()
    arrays: Mapping[str, StoredArray] = field(default_factory=dict)

    def to_json(self) -> str:
        """The text of the file."""
        values = asdict(self)
        if not values["replaces"]:  # as earlier versions
            del values["replaces"]
        return json.dumps({"format": _FORMAT, "version": _VERSION, **values}, indent=1)

    @classmethod
    def read(cls, folder: Path) -> tuple[Header, bytes]:
        """Read and check a header; also its bytes."""
        file = folder / HEADER
        problem = f"{folder} is not a graph's folder: {HEADER} cannot be read"
        with input_errors(problem, OSError), file.open("rb") as stream:
            text = stream.read(_MAX_HEADER_BYTES)
        with input_errors(f"{file} is not a whole header of a graph"):
            content = json.loads(text)
            if content.pop("format") != _FORMAT:
                raise InputError(f"{file} was not written by grfpp: it does not say {_FORMAT!r}")
            if not 0 <= (version := content.pop("version")) <= _VERSION:
                problem = f"{file} is of version {shown(version)}, above {_VERSION}"
                raise InputError(problem, advice="install a newer grfpp, or convert it anew")
            arrays = {name: StoredArray(**entry) for name, entry in content.pop("arrays").items()}
            content.setdefault("replaces", [])  # folders of earlier versions
            known = {item.name: content[item.name] for item in fields(cls) if item.name != "arrays"}
            header = cls(arrays=arrays, **known)
            header.check()
        return header, text

    def check(self) -> None:
        """Raise `ValueError` unless values and arrays are those of a graph."""
        lengths = [array.length for array in self.arrays.values()]
        counts = (self.n_nodes, self.n_stored, self.n_loops, *lengths)
        radius = 0.0 if self.spectral_radius is None else self.spectral_radius
        sound = {
            "counts": all(type(count) is int and 0 <= count < 2**62 for count in counts),
            "n_nodes": 1 <= self.n_nodes <= np.iinfo(np.int32).max,
            "directed, tame": type(self.directed) is bool and type(self.tame) is bool,
            "value": type(self.value) in (int, float) and 0 < self.value < math.inf,
            "spectral_radius": type(radius) in (int, float) and 0 <= radius < math.inf,
            "kind": self.kind in ("sym", "rw", None),
            "names": self.names in ("whole", "text", None),
            "symmetric": set(self.symmetric) <= set(SYMMETRIES),
            "checksums": all(isinstance(a.checksum, str) for a in self.arrays.values()),
            "replaces": all(isinstance(checksum, str) for checksum in self.replaces),
        }
        if not all(sound.values()):
            raise ValueError(f"odd values: {', '.join(name for name in sound if not sound[name])}")
        if wrong := sorted(set(self._expected()) ^ set(self.arrays)):
            raise ValueError(f"such a graph has the arrays {self._expected()}: {wrong[0]!r}")
        sizes = {"nodes": self.n_nodes, "nodes + 1": self.n_nodes + 1, "edges": self.n_stored}
        for name, array in self.arrays.items():
            if array.length != sizes.get(ARRAYS[name][1], array.length):
                raise ValueError(f"{name} of length {array.length}")

    def _expected(self) -> list[str]:
        """The arrays that such a graph has."""
        weighted = "weights" in self.arrays
        names = ["indptr", "indices"] + ["weights"] * weighted
        if weighted or self.directed:
            names += ["out_strength"]
        if self.directed:
            names += ["in_strength", "in_indptr", "in_indices"] + ["in_weights"] * weighted
        if self.names == "whole":
            names += ["name_numbers"] + ["name_order"] * ("name_order" in self.arrays)
        elif self.names == "text":
            names += ["name_text", "name_ends", "name_order"]
        return names


# --- stamps ---------------------------------------------------------------------------------------


def stats_of(files: Iterable[Path]) -> dict[str, list[int]]:
    """Inode, size and times of files, by their names."""
    stats = {}
    for file in files:
        with input_errors(f"{file} cannot be read", OSError):
            known = file.stat()
        stats[file.name] = [known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns]
    return stats


def write_stamp(folder: Path, names: Iterable[str]) -> None:
    """Record that the header and these arrays are valid, unless the folder is read-only."""
    text = json.dumps(stats_of([folder / HEADER, *(array_file(folder, name) for name in names)]))
    with suppress(InputError), atomic_write(folder / STAMP) as stream:
        stream.write(text.encode())


def is_stamped(folder: Path, stats: dict[str, list[int]]) -> bool:
    """Whether files with these `stats_of` have been verified."""
    try:
        with (folder / STAMP).open("rb") as stream:
            return bool(json.loads(stream.read(_MAX_HEADER_BYTES)) == stats)
    except (OSError, ValueError, RecursionError):
        return False


# --- verification ---------------------------------------------------------------------------------


def mapped_array(folder: Path, name: str) -> npt.NDArray[Any]:
    """An array, mapped into memory and read-only."""
    file, dtype = array_file(folder, name), np.dtype(ARRAYS[name][0])
    if not file.stat().st_size:
        return np.frombuffer(b"", dtype)  # nothing can be mapped
    return np.memmap(file, dtype, "r")


def verify_folder(folder: Path, header: Header) -> None:
    """Check that all arrays are unchanged and valid; the `InputError` names the file."""
    for name, stored in header.arrays.items():
        with array_file(folder, name).open("rb") as stream:
            checksum = hashlib.file_digest(stream, new_checksum).hexdigest()
        if checksum != stored.checksum:
            raise damaged(folder, name, "its checksum is not the one that the header has")
    arrays = {name: mapped_array(folder, name) for name in header.arrays}
    for name, array in arrays.items():
        if not _is_sound(name, arrays, header):
            wrong = f"{array.min()} to {array.max()}" if len(array) else "no"
            problem = f"{wrong} entries for {header.n_nodes} nodes"
            if name == "name_ends":
                problem += ", or names that are not UTF-8"
            raise damaged(folder, name, problem)
    for name, prefix in (("out_strength", ""), ("in_strength", "in_")):
        if name in arrays and not _are_sums(arrays[name], rows_of(arrays, prefix)):
            raise damaged(folder, name, "the strengths are not the sums of the weights")


def rows_of(arrays: Mapping[str, npt.NDArray[Any]], prefix: str = "") -> Rows:
    """The rows, or with the prefix ``in_`` the columns, of a folder's arrays."""
    names = ("indptr", "indices", "weights")
    # Only weights may be absent.
    return Rows(*(arrays.get(f"{prefix}{name}") for name in names))  # type: ignore[arg-type]


def _are_sums(strength: npt.NDArray[Any], rows: Rows) -> bool:
    """Whether strengths are the sums of the rows, but for rounding."""
    return all(
        np.allclose(strength[at : at + len(sums)], sums, rtol=_STRENGTH_RTOL, atol=0.0)
        for at, sums in ((first, block.strengths()) for first, block in rows.blocks())
    )


def _is_sound(name: str, arrays: Mapping[str, npt.NDArray[Any]], header: Header) -> bool:
    """Whether offsets ascend, indices lead to nodes, and weights are finite and positive."""
    array = arrays[name]
    least, largest = (array.min(), array.max()) if len(array) else (1, 0)
    match name.removeprefix("in_"):
        case "indptr" | "name_ends":
            end = len(arrays["name_text"] if name == "name_ends" else arrays["indices"])
            ascends = _ascends(array) and least >= 0 and array[-1] == end
            if name == "name_ends":
                return ascends and _is_utf8(arrays["name_text"], array)
            return ascends and array[0] == 0
        case "weights":
            return bool(least > 0 and largest < np.inf)
        case "indices":
            ends = arrays[name.replace("indices", "indptr")]
            in_order = all(_is_in_order(array, ends, at) for at in range(0, len(array), _PIECE))
            return bool(least >= 0 and largest < header.n_nodes) and in_order
        case "name_order":
            seen = np.zeros(header.n_nodes, bool)
            if least >= 0 and largest < header.n_nodes:
                seen[array] = True
            return bool(seen.all())
    return True


def _ascends(array: npt.NDArray[Any]) -> bool:
    """Whether an array ascends, compared in pieces."""
    pieces = (array[start : start + _PIECE + 1] for start in range(0, len(array), _PIECE))
    return all(bool((piece[1:] >= piece[:-1]).all()) for piece in pieces)


def _is_utf8(text: npt.NDArray[Any], ends: npt.NDArray[Any]) -> bool:
    """Whether each name can be decoded: all of the text, and no name begins within a character."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
    try:
        for start in range(0, len(text), _PIECE):
            decoder.decode(text[start : start + _PIECE].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    pieces = (ends[start : start + _PIECE] for start in range(0, len(ends), _PIECE))
    return all(bool((text[ends[ends < len(text)]] & 0xC0 != 0x80).all()) for ends in pieces)


def _is_in_order(indices: npt.NDArray[Any], indptr: npt.NDArray[Any], start: int) -> bool:
    """Whether a piece of the indices ascends within each row."""
    before = indices[start - 1] if start else -1
    falls = start + np.flatnonzero(np.diff(indices[start : start + _PIECE], prepend=before) <= 0)
    return np.array_equal(indptr[np.searchsorted(indptr, falls)], falls)


def damaged(folder: Path, name: str, problem: str) -> InputError:
    """Make the error about a file that has changed since it was written."""
    advice = "convert or save the graph anew"
    file = folder / HEADER if name == HEADER else array_file(folder, name)
    return InputError(f"{file} is damaged: {problem}", advice=advice)
