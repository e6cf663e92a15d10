"""Meshes coloured by numbers as plain values: what to draw, apart from how (`surfaces`)."""

from __future__ import annotations

from dataclasses import dataclass

from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles, and the side from which they are seen."""

    vertices: FloatArray
    faces: IntArray
    towards: tuple[float, float, float] = (1.0, -1.6, 0.9)


@dataclass(frozen=True, eq=False)
class Surface:
    """A mesh coloured by numbers at its vertices.

    Attributes
    ----------
    title, note
        Words above it, the second in small letters below the first.
    mesh
        What is seen; surfaces of one and the same mesh are drawn faster.
    values
        A number a vertex, from 0; NaN where there is none.
    limit
        The number that gets the last colour; larger ones get it too.
    label
        What the numbers are.
    """

    title: str
    mesh: Mesh
    values: FloatArray
    limit: float
    label: str
    note: str = ""

    @property
    def shows(self) -> str:
        """What is to be seen, for those who do not see it."""
        return f"{self.label}, as colours on the mesh"
