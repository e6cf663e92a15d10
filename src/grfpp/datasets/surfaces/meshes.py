"""Triangle meshes: those of the paper, from Thingi10K."""

from __future__ import annotations

from dataclasses import dataclass

from grfpp.datasets.arrays import read_only
from grfpp.datasets.fetch import fetch
from grfpp.datasets.mesh_table import mesh_table
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io import load_mesh as read_mesh_file
from grfpp.io.meshes.mesh import Mesh
from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class TriangleMesh:
    """Points, triangles, and the graph of their sides.

    Attributes
    ----------
    name
        What the data set calls it.
    vertices
        Coordinates of the points, a row each; no two are the same.
    faces
        The three points of each triangle.
    graph
        Node ``i`` is vertex ``i``; every side of a triangle is an edge of weight 1.
    """

    name: str
    vertices: FloatArray
    faces: IntArray
    graph: Graph

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}, {len(self.vertices)} vertices, "
            f"{len(self.faces)} faces)"
        )


def load_mesh(name: str | int, *, stand_in: bool = False, download: bool = True) -> TriangleMesh:
    """Load a mesh by its number in Thingi10K, such as ``"101332"``.

    `mesh_table` lists them. Some meshes of the paper are not to be had; others of nearly the same
    size stand in for them, and only on request.

    Parameters
    ----------
    name
        The number.
    stand_in
        Whether the number of a mesh of the paper that is not to be had gives its stand-in.
    download
        Whether to download what is not at hand.
    """
    number = str(name)
    for mesh in mesh_table():
        if mesh.is_stand_in and mesh.paper_name == number:
            if not stand_in:
                raise InputError(
                    f"mesh {number} of the paper ({mesh.paper_vertices:,} vertices) is not to be "
                    f"had; pass stand_in=True, or load {mesh.name!r}, another mesh of "
                    f"{mesh.n_vertices:,} vertices"
                )
            number = mesh.name
            break
    return triangle_mesh(number, read_mesh_file(fetch(number, "meshes", download=download)))


def triangle_mesh(name: str, mesh: Mesh) -> TriangleMesh:
    """Make a mesh that was read immutable, and give it its graph."""
    return TriangleMesh(
        name, read_only(mesh.vertices), read_only(mesh.faces), Graph(mesh.adjacency())
    )
