"""What is known of a data set before it is read: its files, their checksums, its licence."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any, Literal, TypeVar

Family = Literal["graphs", "tudataset", "meshes", "peptides", "shapes", "images"]


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    path
        Where it lies in a data folder, with forward slashes.
    n_bytes, sha256
        Size and checksum of the file that the loaders were checked on.
    address
        Where it is downloaded from; empty where no public address is known to hold these data
        under a known checksum.
    address_sha256
        Checksum of the file at the address where that is another one, packed differently.
    """

    path: str
    n_bytes: int
    sha256: str
    address: str = ""
    address_sha256: str = ""

    @property
    def checksum(self) -> str:
        """The SHA-256 that a download must have."""
        return self.address_sha256 or self.sha256


@dataclass(frozen=True)
class DatasetInfo:
    """A data set: what it is and where its files are.

    Attributes
    ----------
    name, family
        What loaders call it, and the kind of loader that reads it.
    description
        One line on what it holds.
    licence
        Under which terms it is distributed, in short.
    page
        Where its authors tell about it; files without an address are found there.
    files
        All of them are needed.
    instead
        A public file that serves when `files` are not at hand.
    package
        An installed package that serves when `files` are not at hand.
    """

    name: str
    family: Family
    description: str
    licence: str
    page: str
    files: tuple[DataFile, ...]
    instead: DataFile | None = None
    package: str = ""

    @property
    def n_bytes(self) -> int:
        """Size of all files together."""
        return sum(file.n_bytes for file in self.files)


_Record = TypeVar("_Record")


def record(kind: type[_Record], row: dict[str, str], **others: Any) -> _Record:
    """A dataclass from a row whose columns have the names of its fields; the rest is given."""
    values = {}
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass
        if field.name in row:
            text = row[field.name] or (None if str(field.type).endswith("None") else "")
            values[field.name] = int(text) if text and str(field.type).startswith("int") else text
    return kind(**values, **others)


def table(name: str) -> list[dict[str, str]]:
    """The rows of a table that comes with this package, by the names of its columns."""
    text = files("grfpp.datasets").joinpath(name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
