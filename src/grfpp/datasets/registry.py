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
        Path in a data folder, with forward slashes.
    n_bytes, sha256
        Size and checksum of the file with which the loaders are tested.
    address
        URL for downloads; empty if no public one has these data under a known checksum.
    address_sha256
        Checksum of the file at the URL if it differs, because it is packed differently.

    Examples
    --------
    >>> from grfpp.datasets import dataset_info
    >>> dataset_info("cora").files[0].path
    'graphs/cora.gml'
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
        Its name, and the family of data sets that one loader reads.
    description
        Its content, in one line.
    licence
        Its licence, in short.
    page
        The web page of its authors, which also has the files without an address.
    files
        Its files, all of which are needed.
    instead
        A public file that replaces missing `files`.
    package
        An installed package that replaces missing `files`.

    Examples
    --------
    >>> from grfpp.datasets import dataset_info
    >>> info = dataset_info("karate")
    >>> info.family, info.description
    ('graphs', 'friends in a karate club that split (Zachary 1977)')
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
    """A triangle mesh of Thingi10K and its role in the paper.

    Attributes
    ----------
    name
        Its number in Thingi10K.
    n_vertices, n_edges, n_faces
        Its size, with equal vertices merged.
    role
        ``"normals"`` for the meshes whose normals the paper predicts, ``"scaling"`` for those of
        its running times (the paper gives only their sizes; no other meshes of Thingi10K have
        them), ``"extra"`` for larger ones that are not in the paper.
    paper_name, paper_vertices
        Number and size of the paper's mesh, ``None`` for extra ones.
    licence, author, thing
        The model's licence, its author, and its number on Thingiverse.

    Examples
    --------
    >>> from grfpp.datasets import mesh_table
    >>> smallest = mesh_table()[0]
    >>> smallest.name, smallest.role, smallest.is_stand_in
    ('60246', 'normals', False)

    References
    ----------
    Zhou and Jacobson, "Thingi10K: a dataset of 10,000 3D-printing models", 2016.
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
        """Whether it replaces a mesh of the paper of nearly the same size that is not available.

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
    """Name, licence and files of a data set; upper and lower case do not matter.

    Parameters
    ----------
    name
        Its name in `all_datasets`.
    family
        The family to which it must belong, if any.

    Examples
    --------
    >>> from grfpp.datasets import dataset_info
    >>> info = dataset_info("Cora")
    >>> info.name, info.family, len(info.files)
    ('cora', 'graphs', 1)
    """
    one_of(family, "family", (None, *{info.family: None for info in all_datasets()}))
    known = {info.name.lower(): info for info in all_datasets() if family in (None, info.family)}
    if (info := known.get(str(name).lower())) is not None:
        return info
    kind = "" if family is None else f" among the {family}"
    match = get_close_matches(str(name).lower(), known, n=1, cutoff=0.7)
    advice = f"did you mean {known[match[0]].name!r}?" if match else "`grfpp datasets` lists them"
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
    """A dataclass from a row whose columns have the names of its fields, and other fields."""
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
