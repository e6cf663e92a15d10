"""Charts as plain values: what to draw, apart from how (`curves` and `surfaces`, beside this)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Curve:
    """Points that belong together.

    Attributes
    ----------
    name
        What the legend says; curves of one name look alike in all panels of a figure.
    x, y
        The points.
    spread
        Standard errors of `y`, drawn as bars.
    style
        Number of its colour and marker.
    dashed
        Whether its line is broken.
    joined
        Whether it has a line at all, or only points.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] = ()
    style: int = 0
    dashed: bool = False
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """One chart of a figure.

    Attributes
    ----------
    title, note
        Words above it, the second in small letters below the first.
    curves
        What it shows.
    x_label, y_label
        What the axes are.
    log_x, log_y
        Whether they are logarithmic.
    """

    title: str
    curves: Sequence[Curve]
    x_label: str
    y_label: str
    note: str = ""
    log_x: bool = True
    log_y: bool = True

    @property
    def shows(self) -> str:
        """What is to be seen, for those who do not see it."""
        return f"{self.y_label} against {self.x_label}"


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles, and the side from which they are seen."""

    vertices: npt.NDArray[np.float64]
    faces: npt.NDArray[np.int64]
    towards: tuple[float, float, float] = (1.0, -1.6, 0.9)


@dataclass(frozen=True, eq=False)
class Surface:
    """A mesh coloured by numbers at its vertices, in place of a chart.

    Attributes
    ----------
    title, note
        Words above it, the second in small letters below the first.
    mesh
        What is seen; panels of one and the same mesh are drawn faster.
    values
        A number a vertex, from 0; NaN where there is none.
    limit
        The number that gets the last colour; larger ones get it too.
    label
        What the numbers are.
    """

    title: str
    mesh: Mesh
    values: npt.NDArray[np.float64]
    limit: float
    label: str
    note: str = ""
    curves: Sequence[Curve] = ()

    @property
    def shows(self) -> str:
        """What is to be seen, for those who do not see it."""
        return f"{self.label}, as colours on the mesh"


def legend(panels: Sequence[Panel | Surface]) -> list[Curve]:
    """One curve of each name, in the order of their first appearance."""
    found: dict[str, Curve] = {}
    for panel in panels:
        for curve in panel.curves:
            found.setdefault(curve.name, curve)
    return list(found.values())
