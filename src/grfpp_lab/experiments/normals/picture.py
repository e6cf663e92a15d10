"""The picture of the experiment `normals`: where a mesh's normals are predicted badly."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from grfpp.datasets import mesh_table
from grfpp.errors import MissingDataError
from grfpp_lab.experiments.measuring import pick
from grfpp_lab.experiments.normals.error_surfaces import error_surfaces
from grfpp_lab.experiments.normals.measuring import hidden_task, identity
from grfpp_lab.experiments.normals.parts import DEGREE, PICTURE, PICTURED_MESH
from grfpp_lab.experiments.views import select
from grfpp_lab.harness.experiment import Cell, Row, Rows
from grfpp_lab.meshes import mesh_named
from grfpp_lab.report.meshes import Surface

#: Where its face is looked at from.
_TOWARDS = (-1.2, -1.5, 0.35)
#: Few, so that the methods differ to the eye.
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
