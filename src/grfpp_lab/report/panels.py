"""Charts as plain values: what to draw, apart from how (`curves`, beside this)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grfpp.plots.meshes import Surface


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


def legend(panels: Sequence[Panel | Surface]) -> list[Curve]:
    """One curve of each name, in the order of their first appearance."""
    found: dict[str, Curve] = {}
    for panel in panels:
        for curve in panel.curves if isinstance(panel, Panel) else ():
            found.setdefault(curve.name, curve)
    return list(found.values())
