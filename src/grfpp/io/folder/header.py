"""What the header of a graph's folder says, checked when it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from grfpp.errors import InputError, shown

HEADER = "header.json"
SUFFIX = ".grf"
_FORMAT, _VERSION = "grfpp-graph-folder", 1
_LONGEST = 1 << 16

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
_KINDS = ("sym", "rw", None)
#: Normalisations by the strengths of both ends, of the row, of the column.
SYMMETRIES: tuple[Literal["sym", "rw", "rw_reversed"], ...] = ("sym", "rw", "rw_reversed")


@dataclass(frozen=True)
class StoredArray:
    """One array's file: how many entries, and the checksum of its bytes (BLAKE2b, 16 bytes)."""

    length: int
    checksum: str


@dataclass(frozen=True, kw_only=True)
class Header:
    """Everything about a graph that is known without its arrays.

    `directed` is about the matrix whose rows are stored; `kind` and `value` say how it is scaled
    (see `grfpp.scaled_weights.ScaledWeights`). `symmetric` are the normalisations, out of
    `SYMMETRIES`, that give a symmetric matrix; `tame` says that no product of strengths leaves the
    range of float64. `spectral_radius` is there where it was known.
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
    arrays: Mapping[str, StoredArray] = field(default_factory=dict)

    @property
    def lengths(self) -> dict[str, int]:
        """Entries that arrays have by what they are about."""
        return {"nodes": self.n_nodes, "nodes + 1": self.n_nodes + 1, "edges": self.n_stored}

    def expected(self) -> list[str]:
        """The arrays that such a graph has."""
        names = ["indptr", "indices"]
        weighted = "weights" in self.arrays
        if weighted:
            names += ["weights"]
        if weighted or self.directed:
            names += ["out_strength"]
        if self.directed:
            names += ["in_strength", "in_indptr", "in_indices"]
            names += ["in_weights"] if weighted else []
        match self.names:
            case "whole":
                names += ["name_numbers"] + ["name_order"] * ("name_order" in self.arrays)
            case "text":
                names += ["name_text", "name_ends", "name_order"]
        return names

    def to_json(self) -> str:
        """The text of the file."""
        return json.dumps({"format": _FORMAT, "version": _VERSION, **asdict(self)}, indent=1)

    @classmethod
    def read(cls, folder: Path) -> tuple[Header, bytes]:
        """Read and check a header; also its bytes."""
        file = folder / HEADER
        try:
            with file.open("rb") as stream:
                text = stream.read(_LONGEST + 1)
        except OSError as error:
            raise InputError(
                f"{folder} is not a graph's folder: {HEADER} cannot be read "
                f"({error.strerror or error})"
            ) from None
        try:
            return cls._parsed(text, file), text
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{file} is not a whole header of a graph ({type(error).__name__}: {error})"
            ) from None

    @classmethod
    def _parsed(cls, text: bytes, file: Path) -> Header:
        if len(text) > _LONGEST:
            raise ValueError("it is too long")
        found = json.loads(text)
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise InputError(f"{file} was not written by grfpp: it does not say {_FORMAT!r}")
        if not isinstance(found.get("version"), int) or found["version"] > _VERSION:
            raise InputError(
                f"{file} is of version {shown(found.get('version'))}, and this grfpp reads up to "
                f"version {_VERSION}; install a newer grfpp, or convert the graph anew"
            )
        arrays = {
            str(name): StoredArray(_whole(each["length"]), _text(each["checksum"]))
            for name, each in found["arrays"].items()
        }
        header = cls(
            n_nodes=_whole(found["n_nodes"]),
            n_stored=_whole(found["n_stored"]),
            n_loops=_whole(found["n_loops"]),
            directed=_truth(found["directed"]),
            symmetric=tuple(_text(each) for each in found["symmetric"]),
            tame=_truth(found["tame"]),
            kind=found["kind"],
            value=_positive(found["value"]),
            names=found["names"],
            spectral_radius=(
                None if found["spectral_radius"] is None else _size(found["spectral_radius"])
            ),
            arrays=arrays,
        )
        header._check()
        return header

    def _check(self) -> None:
        if self.kind not in _KINDS or self.names not in ("whole", "text", None):
            raise ValueError(f"kind {self.kind!r}, names {self.names!r}")
        if not set(self.symmetric) <= set(SYMMETRIES):
            raise ValueError(f"symmetric {self.symmetric!r}")
        if not 1 <= self.n_nodes <= np.iinfo(np.int32).max:
            raise ValueError(f"{self.n_nodes} nodes")
        expected = self.expected()
        if set(expected) != set(self.arrays):
            wrong = sorted(set(expected) ^ set(self.arrays))
            raise ValueError(f"the arrays of such a graph are {expected}, not {wrong[0]!r}")
        for name, each in self.arrays.items():
            length = self.lengths.get(ARRAYS[name][1], each.length)
            if each.length != length:
                raise ValueError(f"{name} of length {each.length} instead of {length}")


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise ValueError(f"{shown(value)} is no number of anything")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{shown(value)} is neither true nor false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is no text")
    return value


def _size(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{shown(value)} is no number")
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{value} is no size")
    return float(value)


def _positive(value: Any) -> float:
    if not _size(value) > 0:
        raise ValueError(f"{value} is not positive")
    return float(value)
