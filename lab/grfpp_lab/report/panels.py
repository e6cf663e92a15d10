"""What figures show, without matplotlib: curves in panels, surfaces."""

from collections.abc import Sequence
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
        A number a vertex; NaN where there is none.
    limit
        The number that gets the last colour; larger ones get it too.
    label
        What the numbers are.
    least
        The number that gets the first colour; ``None`` is 0, and says that some exceed the limit.
    """

    title: str
    mesh: Mesh
    values: FloatArray
    limit: float
    label: str
    note: str = ""
    least: float | None = None

    @property
    def shows(self) -> str:
        """A description for screen readers."""
        return f"{self.label}, as colours on the mesh"


@dataclass(frozen=True)
class Curve:
    """Points that belong together."""

    #: Entry of the legend; curves of one name have one style in all panels of a figure.
    name: str
    #: The points.
    x: Sequence[float]
    y: Sequence[float]
    #: Standard errors of `y`, drawn as bars.
    spread: Sequence[float] = ()
    #: Number of its colour and marker.
    style: int = 0
    #: Whether its line is broken.
    dashed: bool = False
    #: Whether it has a line at all, or only points.
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """One chart of a figure."""

    #: Words above it.
    title: str
    curves: Sequence[Curve]
    #: What the axes are.
    x_label: str
    y_label: str
    #: Words in small letters below the title.
    note: str = ""
    #: Whether the axes are logarithmic.
    log_x: bool = True
    log_y: bool = True

    @property
    def shows(self) -> str:
        """A description for screen readers."""
        return f"{self.y_label} against {self.x_label}"


def legend(panels: Sequence[Panel | Surface]) -> list[Curve]:
    """One curve of each name, in the order of their first appearance."""
    found: dict[str, Curve] = {}
    for panel in panels:
        for curve in panel.curves if isinstance(panel, Panel) else ():
            found.setdefault(curve.name, curve)
    return list(found.values())
