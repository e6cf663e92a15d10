"""`grfpp interpolate`: hide most normals of a mesh and predict them from the others."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from grfpp.arguments import finite, positive
from grfpp.cli import console, options
from grfpp.cli.outputs import check_output, file_document, write_csv, wrote
from grfpp.cli.reading import MeshWeighting
from grfpp.cli.wording import law_text
from grfpp.errors import InputError
from grfpp.imports.optional import how_to_install, missing_packages
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions

if TYPE_CHECKING:
    from grfpp.tasks.nodes.normal_prediction import PredictedNormals

#: How ways other than kriging are told.
_WAYS = {"paper": "the paper's sum", "mean": "sums over their mass"}
#: Shown below the options.
NOTES = """
\b
The default is kriging: the mean of a Gaussian process on the mesh's graph, scaled to length 1.
Its kernel and noise are chosen by cross-validation on the known normals, unless --kernel, --scale
or --noise say otherwise. --how paper takes the direction of the sum of K(i, j) F_j over the known
vertices j, F the normals, with K the diffusion kernel if no other is given; so do --method and
options about walks, unless --how says otherwise. All use the graph alone, no positions: all sides
of triangles have weight 1, unless --mesh-weights says otherwise.
Hidden vertices that no known one tells about count as cosine 0: those in parts of the mesh without
a known vertex, and those from which no walk leads to one. Kernels and walk lengths are written as
for grfpp estimate.

\b
Examples:
  grfpp interpolate bunny.stl --mask 0.8
  grfpp interpolate bunny.stl --kernel diffusion:10 --noise 0.01
  grfpp interpolate bunny.stl --how paper --degree 1 --walks 8 --scale 0.25
  grfpp interpolate bunny.ply --method exact --output normals.csv
  grfpp interpolate bunny.ply --method auto
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
    how: Annotated[
        Literal["kriging", "mean", "paper"] | None,
        options.optional(
            "A Gaussian process, or the paper's sum; mean is the sum over the kernel's mass, which "
            "has the same direction.  [default: kriging]",
            "kriging|mean|paper",
        ),
    ] = None,
    method: options.Method = "walks",
    kernel: Annotated[
        str, options.kernel("The kernel; auto: the best of several for kriging.", "-k")
    ] = "auto",
    noise: Annotated[
        float | None,
        options.optional(
            "Variance of what is known, over the kernel's, for kriging.  [default: the best of "
            "several]",
            "X",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        options.optional("The weights are X D^-1/2 A D^-1/2.  [default: 1]", "X"),
    ] = None,
    sigma: options.Sigma = None,
    walks: WalkOptions,
    mesh_weights: MeshWeighting = None,
    output: Annotated[
        Path | None,
        options.output(
            "Table of all vertices: true and predicted normal, and the angle between them."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        options.optional(
            "The mesh coloured by angular error: kriging beside the paper's sum, exact and by "
            "walks; of --how paper, exact, GRF, and GRF++ of this degree (.png or .pdf).",
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
    way = _way(how, method, walks)
    given = scale is not None or sigma is not None
    factor = options.scale_of(1.0 if scale is None else scale, sigma)
    parameters = {
        "how": way,
        "kernel": kernel if kernel == "auto" else kernel_from_spec(kernel),
        "noise": "auto" if noise is None else positive(noise, "--noise"),
        **options.method_parameters(method),
        "scale": factor if given else None,
        **options.for_estimators(walks),
    }
    from grfpp.datasets.surfaces.meshes import triangle_mesh
    from grfpp.io import load_mesh
    from grfpp.tasks.nodes.normal_prediction import hide_normals, predict_normals

    seconds: dict[str, float] = {}
    with console.timed(seconds, "read", f"reading {mesh}"):
        source = load_mesh(mesh)
        surface = triangle_mesh(mesh.name, source, mesh_weights or "unit")
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
            laboratory.draw_errors(picture, surface, task, {**parameters, "method": None}, towards)

    graph, law = surface.graph, law_text(walks.termination)
    reused = ", reused (biased)" if walks.reuse_walks else ""
    shown = "diffusion" if kernel == "auto" else kernel
    made = (
        "exact"
        if method == "exact"
        else result.method
        if method != "walks"
        else f"stitching degree {walks.degree}, {walks.n_walks} walks{reused}, lengths {law}, "
        f"seed {walks.seed}"
    )
    told = result.method if way == "kriging" else f"{_WAYS[way]}: {shown}, scale {factor:g}, {made}"
    cut_off = f", {task.n_cut_off:,} of them in parts without a known one" if task.n_cut_off else ""
    unreached = f"at {result.n_unreached:,} hidden vertices, counted as cosine 0{cut_off}"
    facts = [
        (
            "mesh",
            f"{mesh}: {graph.n_nodes:,} vertices, {graph.n_edges:,} edges, "
            f"{len(surface.faces):,} faces" + (f", weights {mesh_weights}" if mesh_weights else ""),
        ),
        ("normals", f"{len(task.known):,} known, {len(task.hidden):,} hidden"),
        ("method", told),
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
            "weights": mesh_weights or "unit",
        },
        "mask": mask,
        "seed": walks.seed,
        "how": way,
        "kernel": kernel,
        "noise": noise,
        "estimate": method,
        "method": result.method,
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


def _way(how: str | None, method: str, walks: WalkOptions) -> str:
    """What is asked for: options that only sums have ask for the paper's."""
    unasked = WalkOptions.of(seed=walks.seed, n_jobs=walks.n_jobs)
    of_sums = method != "walks" or walks != unasked
    if how == "kriging" and of_sums:
        raise InputError(
            "--how kriging does not walk and takes no --method: leave out options about walks, or "
            "use --how paper"
        )
    return how or ("paper" if of_sums else "kriging")


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
