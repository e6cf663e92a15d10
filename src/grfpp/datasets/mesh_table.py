"""The meshes of the paper: which files of Thingi10K they are, and which only stand in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from grfpp.datasets.entries import DataFile, DatasetInfo, record, table


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
    return tuple(mesh for mesh, _ in _rows())


def mesh_entries() -> list[DatasetInfo]:
    """What the registry holds of the meshes."""
    return [
        DatasetInfo(
            name=mesh.name,
            family="meshes",
            description=_description(mesh),
            licence=mesh.licence,
            page=f"https://www.thingiverse.com/thing:{mesh.thing}",
            files=(file,),
        )
        for mesh, file in _rows()
    ]


def _description(mesh: MeshInfo) -> str:
    text = f"mesh of {mesh.n_vertices:,} vertices, by {mesh.author}"
    if not mesh.is_stand_in:
        return text
    return f"{text}; stands in for {mesh.paper_name} ({mesh.paper_vertices:,})"


@cache
def _rows() -> list[tuple[MeshInfo, DataFile]]:
    rows = table("surfaces/meshes.csv")
    return [(record(MeshInfo, row), record(DataFile, row, **_file(row))) for row in rows]


_ADDRESS = "https://raw.githubusercontent.com/larsbrubaker/Thingi10K-meshes-{}/{}/meshes/{}.stl.zip"
#: The state of each repository at which the files have these checksums.
_COMMITS = {
    "1": "2d6f82c6f7934f23b051daf2b19e918c62d30d7b",
    "2": "aed4db3bc01b960234aa924429894b819f3ba6ef",
}


def _file(row: dict[str, str]) -> dict[str, str]:
    number, repository = row["name"], row["repository"]
    address = _ADDRESS.format(repository, _COMMITS[repository], number)
    return {"path": f"meshes/thingi10k_{number}.stl.zip", "address": address}
