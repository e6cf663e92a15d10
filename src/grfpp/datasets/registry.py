"""All data sets that have files: names, licences, addresses and checksums, from tables."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import groupby
from typing import Any, Literal, TypeVar

from grfpp._checks import one_of
from grfpp.errors import InputError, shown

#: Packages whose tables are listed; the laboratory is looked up by name and may be missing.
LIBRARY, LABORATORY = "grfpp.datasets", "grfpp_lab.datasets"


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
    family: str
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


@dataclass(frozen=True)
class MeshInfo:
    """A triangle mesh of Thingi10K and its place in the paper.

    Attributes
    ----------
    name
        Its number in Thingi10K.
    n_vertices, n_edges, n_faces
        Its size, equal vertices merged.
    role
        ``"normals"`` for the meshes whose normals the paper predicts, ``"scaling"`` for those of
        its running times (the paper gives only their sizes; they are the only meshes of Thingi10K
        that have them), ``"extra"`` for larger ones that the paper does not have.
    paper_name, paper_vertices
        Number and size of the paper's mesh, ``None`` for extra ones.
    licence, author, thing
        The model's terms, who made it, and its number on Thingiverse.
    """

    name: str
    n_vertices: int
    n_edges: int
    n_faces: int
    role: Literal["normals", "scaling", "extra"]
    paper_name: str | None
    paper_vertices: int | None
    licence: str
    author: str
    thing: str

    @property
    def is_stand_in(self) -> bool:
        """Whether it is another mesh of nearly the size of the paper's, which is not to be had.

        Results on stand-ins are not comparable mesh by mesh.
        """
        return self.paper_name not in (None, self.name)


@cache
def all_datasets() -> tuple[DatasetInfo, ...]:
    """Every data set that has files, family by family.

    Examples
    --------
    >>> [info.name for info in all_datasets() if info.family == "graphs"]
    ['karate', 'dolphins', 'polbooks', 'football', 'databases', 'eurosis', 'cora']
    """
    laboratory = _catalogue(LABORATORY) if find_spec("grfpp_lab") else ()
    return (*_catalogue(LIBRARY), *laboratory)


def _catalogue(package: str) -> tuple[DatasetInfo, ...]:
    """Data sets of one package. Each file has a row; the first row of a data set describes it."""
    entries = []
    for _, group in groupby(_table("datasets.csv", package), key=lambda row: row["name"]):
        rows = list(group)
        needed = tuple(_record(DataFile, row) for row in rows if not row["serves_instead"])
        others = [_record(DataFile, row) for row in rows if row["serves_instead"]]
        instead = others[0] if others else None
        entries.append(_record(DatasetInfo, rows[0], files=needed, instead=instead))
    return tuple(entries)


def dataset_info(name: str, family: str | None = None) -> DatasetInfo:
    """What is known of a data set; upper and lower case do not matter.

    Parameters
    ----------
    name
        What it is called in `all_datasets`.
    family
        Only look among data sets of this kind.
    """
    one_of(family, "family", (None, *{info.family: None for info in all_datasets()}))
    known = {info.name.lower(): info for info in all_datasets() if family in (None, info.family)}
    if (info := known.get(str(name).lower())) is not None:
        return info
    kind = "" if family is None else f" among the {family}"
    near = get_close_matches(str(name).lower(), known, n=1, cutoff=0.7)
    advice = f"did you mean {known[near[0]].name!r}?" if near else "`grfpp datasets` lists them"
    raise InputError(f"there is no data set {shown(name)}{kind}", advice=advice)


@cache
def mesh_table() -> tuple[MeshInfo, ...]:
    """All meshes, in the order of their sizes in the paper, the extra ones last.

    Examples
    --------
    >>> meshes = mesh_table()
    >>> len(meshes), sum(mesh.is_stand_in for mesh in meshes)
    (49, 9)
    >>> [mesh.paper_vertices for mesh in meshes if mesh.role == "scaling"]
    [11700, 15527, 24194, 35300]
    """
    return tuple(_record(MeshInfo, row) for row in _table("meshes.csv", LIBRARY))


_Record = TypeVar("_Record")


def _record(kind: type[_Record], row: dict[str, str], **others: Any) -> _Record:
    """A dataclass from a row whose columns have the names of its fields; the rest is given."""
    values = {}
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass
        if field.name in row:
            text = row[field.name] or (None if str(field.type).endswith("None") else "")
            values[field.name] = int(text) if text and str(field.type).startswith("int") else text
    return kind(**values, **others)


def _table(name: str, package: str) -> list[dict[str, str]]:
    """The rows of a table that comes with a package, by the names of its columns."""
    text = files(package).joinpath(name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
