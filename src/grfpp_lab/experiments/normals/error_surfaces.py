"""A mesh coloured by the angles between true and predicted normals, method beside method."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grfpp.io.storage.atomic import atomic_write
from grfpp.tasks.nodes.normal_prediction import HiddenNormals, predict_normals
from grfpp_lab.report.images import image_bytes
from grfpp_lab.report.meshes import Mesh, Surface
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


def draw_errors(path: Path, *seen: Any) -> None:
    """Write the picture of `error_surfaces`, given its arguments; the suffix tells the format."""
    kind: Any = path.suffix.lower().removeprefix(".")
    with atomic_write(path) as stream:
        stream.write(image_bytes(surfaces_figure(error_surfaces(*seen)), kind, dpi=200))
