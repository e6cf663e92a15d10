"""`grfpp interpolate`: hide most normals of a mesh and predict them from the others."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from grfpp.arguments import finite
from grfpp.cli import console, options
from grfpp.cli.outputs import check_output, file_document, write_csv, wrote
from grfpp.cli.wording import law_text
from grfpp.errors import InputError
from grfpp.imports.optional import how_to_install, missing_packages
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions

if TYPE_CHECKING:
    from grfpp.tasks.nodes.normal_prediction import PredictedNormals

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
  grfpp interpolate bunny.stl --degree 1 --walks 8 --scale 0.25
  grfpp interpolate bunny.ply --method exact --output normals.csv
  grfpp interpolate bunny.obj --walks 4 --picture errors.png --view=-1,-1,0.5
"""


@options.with_walks(seed="Of the hidden vertices and of the walks.")
def interpolate(
    mesh: Annotated[
        Path,
        options.argument(
            "File with a mesh: .stl .off .ply .obj .glb .vtk, also packed (.gz .zip).", "MESH"
        ),
    ],
    *,
    mask: Annotated[
        float, options.option("Share of the vertices to hide, above 0 and below 1.", "X")
    ] = 0.8,
    method: options.Method = "walks",
    kernel: Annotated[str, options.kernel("The kernel.", "-k")] = "diffusion",
    scale: options.Scale = 1.0,
    sigma: options.Sigma = None,
    walks: WalkOptions,
    output: Annotated[
        Path | None,
        options.output(
            "Table of all vertices: true and predicted normal, and the angle between them."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        options.optional(
            "The mesh coloured by angular error: exact, GRF, and GRF++ of this degree "
            "(.png or .pdf).",
            "FILE.png",
        ),
    ] = None,
    view: Annotated[
        str, options.option("The side from which --picture shows the mesh.", "X,Y,Z")
    ] = "1,-1.6,0.9",
    as_json: options.AsJson = False,
) -> None:
    """Predict hidden vertex normals of a mesh, and say how well.

    Reads the mesh, computes the normals at its vertices, hides them at a share of the vertices
    chosen at random, predicts them from the others, and compares.
    """
    check_output(output, ".csv", others=[mesh])
    check_output(picture, ".png", ".pdf", option="--picture", others=[mesh, output])
    if picture is not None and (missing := missing_packages()):
        raise InputError(f"--picture: {how_to_install(missing)}")
    towards = _direction(view)
    factor = options.scale_of(scale, sigma)
    parameters = {
        "kernel": kernel_from_spec(kernel),
        "estimate": method,
        "scale": factor,
        **options.for_estimators(walks),
    }
    from grfpp.datasets.surfaces.meshes import triangle_mesh
    from grfpp.io import load_mesh
    from grfpp.tasks.nodes.normal_prediction import hide_normals, predict_normals

    seconds: dict[str, float] = {}
    with console.timed(seconds, "read", f"reading {mesh}"):
        source = load_mesh(mesh)
        surface = triangle_mesh(mesh.name, source)
        task = hide_normals(surface, mask, walks.seed)
    with console.timed(seconds, "predict", "predicting"):
        result = predict_normals(task, **parameters)

    if output is not None:
        # An STL file does not number its points.
        numbered = ".stl" not in (suffix.lower() for suffix in mesh.suffixes)
        _write_table(output, result, source.origin.tolist() if numbered else None)
    if picture is not None:
        with console.status("drawing"):
            # As in the experiment: the laboratory draws, and is known by name only.
            laboratory = import_module("grfpp_lab.experiments.normals.error_surfaces")
            laboratory.draw_errors(picture, surface, task, parameters, towards)

    graph, law = surface.graph, law_text(walks.termination)
    reused = ", reused (biased)" if walks.reuse_walks else ""
    how = (
        "exact"
        if method == "exact"
        else f"stitching degree {walks.degree}, {walks.n_walks} walks{reused}, lengths {law}, "
        f"seed {walks.seed}"
    )
    cut_off = f", {task.n_cut_off:,} of them in parts without a known one" if task.n_cut_off else ""
    unreached = f"at {result.n_unreached:,} hidden vertices, counted as cosine 0{cut_off}"
    facts = [
        (
            "mesh",
            f"{mesh}: {graph.n_nodes:,} vertices, {graph.n_edges:,} edges, "
            f"{len(surface.faces):,} faces",
        ),
        ("normals", f"{len(task.known):,} known, {len(task.hidden):,} hidden"),
        ("kernel", f"{kernel}, scale {factor:g}, {how}"),
        *([("no answer", unreached)] if result.n_unreached else []),
        ("cosine", f"{result.cosine:.4f}, mean over the hidden vertices"),
        ("time", f"{seconds['read']:.2f} s reading, {seconds['predict']:.2f} s predicting"),
        *wrote(output, picture),
    ]
    document = {
        "mesh": {
            "path": str(mesh),
            "n_vertices": graph.n_nodes,
            "n_edges": graph.n_edges,
            "n_faces": len(surface.faces),
        },
        "mask": mask,
        "seed": walks.seed,
        "kernel": kernel,
        "estimate": method,
        "degree": walks.degree,
        "n_walks": walks.n_walks,
        "termination": law,
        "scale": factor,
        "sigma": factor**0.5,
        "reuse_walks": walks.reuse_walks,
        "n_known": len(task.known),
        "n_hidden": len(task.hidden),
        "n_unreached": result.n_unreached,
        "n_cut_off": task.n_cut_off,
        "mean_cosine": result.cosine,
        "seconds": seconds,
        "written": [file_document(path) for path in (output, picture) if path is not None],
    }
    console.tell(facts, document, as_json)


def _direction(text: str) -> tuple[float, float, float]:
    """Three numbers with commas between them, not all zero."""
    try:
        x, y, z = (finite(float(part), "--view") for part in text.split(","))
    except ValueError:
        raise InputError(f"--view {text!r} is not a direction such as 1,-1.6,0.9") from None
    if not (x or y or z):
        raise InputError(f"--view {text!r} is not a direction: it must not be zero")
    return x, y, z


def _write_table(path: Path, result: PredictedNormals, origin: list[int] | None) -> None:
    """A line a vertex; `origin` are the numbers that vertices have in their file."""
    task = result.task
    state = np.full(len(task.normals), "none", dtype=object)
    state[task.known], state[task.hidden] = "known", "hidden"
    angles = ["" if np.isnan(angle) else angle for angle in result.angles().tolist()]
    numbers = range(len(state)) if origin is None else origin
    columns = (numbers, state, task.normals.tolist(), result.predicted.tolist(), angles)
    lines = [[a, b, *true, *guess, c] for a, b, true, guess, c in zip(*columns, strict=True)]
    header = ["vertex", "normal", "x", "y", "z", "predicted_x", "predicted_y", "predicted_z"]
    write_csv(path, [*header, "angle"], lines)
