"""The picture of `normals`: where the normals of a mesh are predicted badly. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grfpp.datasets import mesh_table
from grfpp.errors import MissingDataError
from grfpp.io.atomic import atomic_write
from grfpp.tasks.normals import HiddenNormals, predict_normals
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.experiments.claims import select
from grfpp_lab.experiments.measuring import pick
from grfpp_lab.experiments.normals.claims import DEGREE, PICTURE, PICTURED_MESH
from grfpp_lab.experiments.normals.measuring import hidden_task, identity
from grfpp_lab.graphs import mesh_named
from grfpp_lab.harness.experiment import Cell, Row, Rows
from grfpp_lab.report.panels import Mesh, Surface
from grfpp_lab.report.surfaces import surfaces_figure

if TYPE_CHECKING:
    from grfpp.datasets import TriangleMesh


#: Degrees that get the last colour.
LIMIT = 45.0
LABEL = "angular error (degrees)"


def error_surfaces(
    mesh: TriangleMesh,
    task: HiddenNormals,
    parameters: Mapping[str, Any],
    towards: tuple[float, float, float] | None = None,
) -> list[Surface]:
    """Predict the hidden normals by kriging and by the paper's sums, or by three of the latter.

    Parameters
    ----------
    mesh
        What is drawn.
    task
        Which of its normals are hidden.
    parameters
        Of `KernelInterpolator`. Their degree, if above 1, is the second; otherwise it is 2. Where
        they ask for kriging, that is the first panel, and the paper's sum has its default kernel
        in the others.
    towards
        The direction in which the viewer is.
    """
    degree = parameters.get("degree", 2)
    higher = degree if degree == "auto" else max(2, degree)
    paper = parameters.get("walks") == "independent"
    seen = Mesh(mesh.vertices, mesh.faces, *([] if towards is None else [towards]))
    exact, walks = {"estimate": "exact"}, {"estimate": "walks"}
    name = "GRF++" if paper else f"pooled, degree {higher}"
    ways: list[tuple[str, dict[str, Any]]]
    if parameters.get("how", "kriging") == "kriging":
        sums = {"how": "paper", "kernel": "auto", "scale": None}
        ways = [
            ("kriging", {"how": "kriging"}),
            ("sum, exact kernel", {**sums, **exact}),
            (f"sum, {name}", {**sums, **walks, "degree": higher}),
        ]
    else:
        ways = [
            ("exact kernel", exact),
            ("GRF" if paper else "pooled, degree 1", {**walks, "degree": 1, "reuse_walks": False}),
            (name, {**walks, "degree": higher}),
        ]
    panels = []
    for title, changes in ways:
        found = predict_normals(task, **{**parameters, **changes})
        angles = found.angles()
        note = f"mean cosine {found.cosine:.4f}, {np.nanmean(angles):.1f}°"
        panels.append(Surface(title, seen, angles, LIMIT, LABEL, note))
    return panels


def draw_errors(path: Path, *arguments: Any) -> None:
    """Write the picture of `error_surfaces`; `grfpp interpolate --picture` finds it by name."""
    _write(path, error_surfaces(*arguments))


def draw_field(
    path: Path,
    mesh: TriangleMesh,
    known: IntArray,
    given: FloatArray,
    field: FloatArray,
    towards: tuple[float, float, float],
) -> None:
    """Write the picture of ``grfpp interpolate --values``: the field where known, and all of it."""
    seen, before = Mesh(mesh.vertices, mesh.faces, towards), np.full(len(field), np.nan)
    before[known] = given
    low, high = (float(end([*given, *field])) for end in (min, max))
    shown = {"known": before, "predicted": field}
    _write(path, [Surface(name, seen, shown[name], high, "value", least=low) for name in shown])


def _write(path: Path, panels: list[Surface]) -> None:
    figure = surfaces_figure(panels)
    with atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix[1:].lower(), dpi=200)


#: Direction of the viewer.
_TOWARDS = (-1.2, -1.5, 0.35)
#: Few walks, so that the methods differ visibly.
PICTURED_WALKS = 4


def picture_rows(cell: Cell) -> list[Row]:
    """Mean cosine and mean angle of the methods that are drawn."""
    rows: list[Row] = []
    for panel in _surfaces(cell["graph"], cell["sigma"], cell["termination"], cell["seed"]):
        angles = panel.values
        rows.append(
            {
                **identity({**cell, "method": panel.title}),
                **pick(cell, "sigma", "termination", "seed"),
                "n_walks": PICTURED_WALKS,
                "cosine": float(np.nanmean(np.cos(np.radians(angles)))),
                "mean_angle": float(np.nanmean(angles)),
                "credit": _credit(cell["graph"]),
            }
        )
    return rows


def picture_panels(rows: Rows) -> list[Surface]:
    """The mesh, once for every method; nothing where it is not at hand any more.

    Rows hold no pictures, but all that is needed to draw them.
    """
    own = select(rows, part=PICTURE)
    if not own:
        return []
    first: Mapping[str, Any] = own[0]
    try:
        return _surfaces(first["graph"], first["sigma"], first["termination"], first["seed"])
    except MissingDataError:
        return []


@lru_cache(maxsize=1)
def _surfaces(graph: str, sigma: float, termination: str, seed: int) -> list[Surface]:
    parameters = {
        "how": "paper",
        "scale": sigma**2,
        "degree": DEGREE,
        "n_walks": PICTURED_WALKS,
        "termination": termination,
        "walks": "independent",
        "random_state": seed,
        "n_jobs": 1,
    }
    towards = _TOWARDS if graph == PICTURED_MESH else None
    return error_surfaces(mesh_named(graph), hidden_task(graph, 0, seed), parameters, towards)


def _credit(graph: str) -> str:
    """Who made the mesh, and under which licence it is drawn."""
    number = graph.removeprefix("mesh ")
    found = [each for each in mesh_table() if each.name == number]
    return f"Thingi10K {number}, by {found[0].author}, {found[0].licence}" if found else graph
