"""Charts as plain values: what to draw, apart from how (`curves`, beside this)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grfpp_lab.report.meshes import Surface


@dataclass(frozen=True)
class Curve:
    """Points that belong together."""

    #: What the legend says; curves of one name look alike in all panels of a figure.
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
        """What is to be seen, for those who do not see it."""
        return f"{self.y_label} against {self.x_label}"


def legend(panels: Sequence[Panel | Surface]) -> list[Curve]:
    """One curve of each name, in the order of their first appearance."""
    found: dict[str, Curve] = {}
    for panel in panels:
        for curve in panel.curves if isinstance(panel, Panel) else ():
            found.setdefault(curve.name, curve)
    return list(found.values())
