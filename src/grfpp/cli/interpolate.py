"""`grfpp interpolate`: hide most normals of a mesh and predict them from the others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grfpp.arguments import finite
from grfpp.cli import console, options
from grfpp.cli.normals_outcome import Outcome, write_table
from grfpp.cli.outputs import check_output
from grfpp.errors import InputError
from grfpp.kernels import kernel_from_spec
from grfpp.optional import how_to_install, missing_packages
from grfpp.termination import termination_from_spec

if TYPE_CHECKING:
    from grfpp.datasets import TriangleMesh
    from grfpp.tasks.nodes.normal_prediction import HiddenNormals

#: Shown below the options.
NOTES = """
\b
The prediction at a hidden vertex i is the direction of the sum of K(i, j) F_j over the known
vertices j, F the normals, K the kernel of the mesh's graph (all sides of triangles have weight 1).
Hidden vertices that no known one tells about count as cosine 0: those in parts of the mesh without
a known vertex, and those from which no walk leads to one. Kernels and walk lengths are written as
for grfpp estimate.

\b
Examples:
  grfpp interpolate bunny.stl --mask 0.8
  grfpp interpolate bunny.stl --degree 1 --walks 8 --sigma 0.5
  grfpp interpolate bunny.ply --method exact --output normals.csv
  grfpp interpolate bunny.obj --walks 4 --picture errors.png --view=-1,-1,0.5
"""


class Method(StrEnum):
    """How the kernel is multiplied with."""

    WALKS = "walks"
    EXACT = "exact"


def interpolate(
    mesh: Annotated[
        Path,
        typer.Argument(
            metavar="MESH",
            help="File with a triangle mesh: .stl .off .ply .obj, also packed (.gz .zip).",
            show_default=False,
        ),
    ],
    mask: Annotated[
        float,
        typer.Option(metavar="X", help="Share of the vertices to hide, above 0 and below 1."),
    ] = 0.8,
    method: Annotated[
        Method,
        typer.Option(
            metavar="walks|exact", help="Estimate the kernel by walks, or take it itself."
        ),
    ] = Method.WALKS,
    kernel: Annotated[
        str, typer.Option("--kernel", "-k", metavar="KERNEL", help="The kernel.")
    ] = "diffusion",
    sigma: Annotated[
        float, typer.Option(metavar="S", help="Width: the weights are S^2 D^-1/2 A D^-1/2.")
    ] = 1.0,
    degree: options.Degree = 2,
    walks: options.Walks = 16,
    termination: options.Law = "geometric:0.1",
    reuse_walks: options.ReuseWalks = False,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of the hidden vertices and of the walks.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.csv",
            help="Table of all vertices: true and predicted normal, and the angle between them.",
            show_default=False,
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="The mesh coloured by angular error: exact, GRF, and GRF++ of this degree "
            "(.png or .pdf).",
            show_default=False,
        ),
    ] = None,
    view: Annotated[
        str,
        typer.Option(metavar="X,Y,Z", help="The side from which --picture shows the mesh."),
    ] = "1,-1.6,0.9",
    jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
) -> None:
    """Predict hidden vertex normals of a mesh, and say how well.

    Reads the mesh, computes the normals at its vertices, hides them at a share of the vertices
    chosen at random, predicts them from the others, and compares.
    """
    _check_outputs(output, picture)
    towards = _direction(view)
    kernel_from_spec(kernel), termination_from_spec(termination)  # refused before anything is read
    from grfpp.datasets.surfaces.meshes import triangle_mesh
    from grfpp.io import load_mesh
    from grfpp.tasks.nodes.normal_prediction import hide_normals, predict_normals

    parameters = {
        "kernel": kernel,
        "estimate": method.value,
        "degree": degree,
        "n_walks": walks,
        "termination": termination,
        "sigma": sigma,
        "reuse_walks": reuse_walks,
        "random_state": seed,
        "n_jobs": jobs,
    }
    began = perf_counter()
    with console.status(f"reading {mesh}"):
        source = load_mesh(mesh)
        surface = triangle_mesh(mesh.name, source)
        task = hide_normals(surface, mask, seed)
    read = perf_counter()
    with console.status("predicting"):
        found = predict_normals(task, **parameters)
    done = perf_counter()

    if output is not None:
        # An STL file does not number its points.
        numbered = ".stl" not in (suffix.lower() for suffix in mesh.suffixes)
        write_table(output, found, source.origin.tolist() if numbered else None)
    if picture is not None:
        with console.status("drawing"):
            _draw(picture, surface, task, parameters, towards)
    outcome = Outcome(mesh, surface, mask, parameters, found, read - began, done - read)
    written = [path for path in (output, picture) if path is not None]
    if as_json:
        console.print_json(outcome.document(written))
    else:
        console.print_facts(outcome.facts(written))


def _check_outputs(output: Path | None, picture: Path | None) -> None:
    """Refuse what cannot be written before anything is read."""
    if output is not None:
        check_output(output, (".csv",))
    if picture is not None:
        check_output(picture, (".png", ".pdf"), "--picture")
        missing = missing_packages()
        if missing:
            raise InputError(f"--picture: {how_to_install(missing)}")


def _direction(text: str) -> tuple[float, float, float]:
    """Three numbers with commas between them, not all zero."""
    try:
        x, y, z = (finite(float(part), "--view") for part in text.split(","))
    except ValueError:
        raise InputError(f"--view {text!r} is not a direction such as 1,-1.6,0.9") from None
    if not (x or y or z):
        raise InputError(f"--view {text!r} is not a direction: it must not be zero")
    return x, y, z


def _draw(
    path: Path,
    surface: TriangleMesh,
    task: HiddenNormals,
    parameters: dict[str, Any],
    towards: tuple[float, float, float],
) -> None:
    from grfpp.io.archive import atomic_write
    from grfpp.plots.error_surfaces import error_surfaces
    from grfpp.plots.images import image_bytes
    from grfpp.plots.surfaces import surfaces_figure

    panels = error_surfaces(surface, task, parameters, towards)
    kind: Any = path.suffix.lower().removeprefix(".")
    with atomic_write(path) as stream:
        stream.write(image_bytes(surfaces_figure(panels), kind, dpi=200))
