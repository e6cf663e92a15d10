"""`grfpp interpolate`: hide most normals of a mesh and predict them from the others.

With --values it predicts a field of your own from the vertices where it is known, and hides none.

The default is kriging: the mean of a Gaussian process on the mesh's graph, scaled to length 1.
Its kernel and noise are chosen by cross-validation on the known normals, unless --kernel, --scale
or --noise is given. --how paper predicts the direction of the sum of K(i, j) F_j over the known
vertices j, with F the normals and K the diffusion kernel if no other is given; it is the default
with --method or options about walks. All of them use the graph only, not the positions: edges have
weight 1, unless --mesh-weights is given.
Hidden vertices without a prediction count as cosine 0: those in components without a known vertex,
and those from which no walk leads to one. Kernels and walk lengths have the text forms of grfpp
estimate.

Example commands:
  grfpp interpolate bunny.stl --mask 0.8
  grfpp interpolate bunny.stl --kernel diffusion:10 --noise 0.01
  grfpp interpolate bunny.stl --how paper --degree 1 --walks 8 --scale 0.25
  grfpp interpolate bunny.ply --method exact --output normals.csv
  grfpp interpolate bunny.ply --method auto
  grfpp interpolate bunny.obj --walks 4 --picture errors.png --view=-1,-1,0.5
  grfpp interpolate bunny.ply --values known.csv --output coloured.ply
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from grfpp._checks import finite
from grfpp._imports import require
from grfpp.cli import console, options, results
from grfpp.cli.tables import read_values
from grfpp.errors import InputError
from grfpp.io.atomic import atomic_write
from grfpp.io.files import known_file
from grfpp.io.meshes import MeshWeights
from grfpp.nodes import NodeNames
from grfpp.options import WalkOptions
from grfpp.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from grfpp.datasets.meshes import TriangleMesh
    from grfpp.tasks.normals import PredictedNormals

#: Formats whose models stand on the plane of X and Z, by specification (.glb) or by custom.
_UP_IS_Y = (".obj", ".off", ".ply", ".glb")
#: Colour of vertices without a value.
_GREY = 220

_SUMS = {"paper": "the paper's sum", "mean": "sums over their mass"}


@options.command
@click.argument("mesh", metavar="MESH", type=options.PATH)
@options.option("--mask", type=float, default=0.8)
@options.how_option("kriging", "mean", "paper")
@options.method_option
@options.kernel_option("auto", "-k")
@options.option("--noise", type=float)
@options.option("--scale", type=float)  # not `scale_option`: kriging chooses if it is not given
@options.walk_options()
@options.mesh_weights_option
@options.path_option("--values", metavar="FILE.csv")
@options.output_option("FILE.csv|ply", ".csv", ".ply")
@options.output_option("FILE.png", ".png", ".pdf", flags="--picture")
@options.option("--view", default="1,-1.6,0.9", metavar="X,Y,Z")
@options.option("--up", type=click.Choice(["auto", "y", "z"]), default="auto")
@options.shows_result
def interpolate(
    *,
    mesh: Path,
    mask: float,
    how: str | None,
    method: str | None,
    kernel: str,
    noise: float | None,
    scale: float | None,
    walks: WalkOptions,
    mesh_weights: MeshWeights | None,
    values: Path | None,
    output: Path | None,
    picture: Path | None,
    view: str,
    up: str,
) -> results.Result:
    """Predict hidden vertex normals of a mesh, and measure the accuracy.

    Reads the mesh, computes the normals at its vertices, hides them at a share of the vertices
    chosen at random, predicts them from the others, and compares.

    Parameters
    ----------
    mesh
        File with a mesh: .stl .off .ply .obj .glb .vtk, also compressed (.gz .zip).
    mask
        Share of the vertices to hide, above 0 and below 1.
    how
        A Gaussian process (kriging, the default), or the paper's sum; mean is the sum over the
        kernel's mass, which has the same direction.
    kernel
        The kernel; auto: the best of several for kriging.
    noise
        Variance of the noise over that of the kernel, for kriging; if not given, the best of
        several.
    scale
        The weights are X D^-1/2 A D^-1/2; if not given, X is 1.
    seed
        Of the choice of hidden vertices, and of the walks.
    mesh_weights
        The edges of a mesh weigh 1 (unit; the default), the inverse of their length, or half the
        cotangents of the opposite angles.
    values
        A table with a vertex, counted from 0 as in the mesh, and one or more numbers on each line:
        a field to be predicted at all other vertices, in place of normals.
    output
        Table of all vertices (.csv): true and predicted normal, and the angle between them; or the
        mesh with vertex colours from the least angle to the largest (.ply). With --values, known
        and predicted values; colours show the first.
    picture
        The mesh coloured by angular error: of kriging, and of the paper's sum, exact and by walks;
        for --how paper, of the exact kernel, GRF, and GRF++ of this degree (.png or .pdf). With
        --values, the first value, known and predicted.
    view
        The direction from which --picture shows the mesh; Z is up.
    up
        The axis of the mesh that --picture draws upright; auto: y for .obj, .ply, .off and .glb, z
        for others.
    """
    if picture is not None:  # drawn as in the experiment, by the laboratory, which is optional
        drawing = require("grfpp_lab.experiments.normals.picture", "--picture")
    towards = tuple(finite(x, "view") for x in options.numbers(view, "view", float))
    if len(towards) != 3 or not any(towards):
        raise InputError(f"must be a direction such as 1,-1.6,0.9, found {view}", argument="view")
    needs_sums = method not in (None, "walks") or options.asks_for_walks()
    how, method = options.algorithm(how, "kriging", needs_sums), method or "walks"
    if values is not None and options.given("mask"):
        raise InputError("hides normals: leave it out with --values", argument="mask")
    if noise is not None and how != "kriging":
        raise InputError(f"is not used by {how}", argument="noise", advice="use --how kriging")
    parameters = {**options.method_parameters(method), **options.estimator_parameters(walks)}
    parameters |= {"how": how, "kernel": kernel, "scale": scale}
    parameters["noise"] = "auto" if noise is None else noise
    from grfpp.datasets.meshes import triangle_mesh
    from grfpp.io import load_mesh
    from grfpp.tasks import KernelInterpolator
    from grfpp.tasks.normals import hide_normals, predict_normals

    result = results.Result()
    with result.timed("read", f"reading {mesh}"):
        source = load_mesh(mesh)
        surface = triangle_mesh(mesh.name, source, mesh_weights or "unit")
        if values is None:
            task = hide_normals(surface, mask, walks.seed)
        else:
            known, given = read_values(values, NodeNames(surface.graph.n_nodes, source.labels()))
    predicted: Any
    with result.timed("predict", "predicting"):
        if values is None:
            predicted = predict_normals(task, **parameters)
            table, shown = _normals_table(predicted), predicted.angles()
        else:
            predicted = KernelInterpolator(surface.graph, output="mean", **parameters)
            predicted.fit(known, given)
            field = predicted.field_
            table, shown = _field_table(field, known, given), field[:, 0]

    if output is not None and output.suffix.lower() == ".ply":
        _write_coloured(output, surface, shown)
    elif output is not None:
        rows = zip(source.origin.tolist(), *table.values(), strict=True)
        results.write_csv(output, ["vertex", *table], rows)
    if picture is not None:
        drawn = surface
        if up == "y" or (up == "auto" and known_file(mesh)[1] in _UP_IS_Y):
            drawn = replace(surface, vertices=surface.vertices[:, [0, 2, 1]] * [1.0, -1.0, 1.0])
        with console.status("drawing"):
            if values is None:
                drawing.draw_errors(picture, drawn, task, {**parameters, "method": None}, towards)
            else:
                drawing.draw_field(picture, drawn, known, given[:, 0], shown, towards)

    graph, factor = surface.graph, 1.0 if scale is None else scale
    numbers = {"vertices": graph.n_nodes, "edges": graph.n_edges, "faces": len(surface.faces)}
    text = ", ".join(f"{number:,} {name}" for name, number in numbers.items())
    sizes = {f"n_{name}": number for name, number in numbers.items()}
    weights = f", weights {mesh_weights}" if mesh_weights else ""
    document = {"path": mesh, **sizes, "weights": mesh_weights or "unit"}
    result.add("mesh", f"{mesh}: {text}{weights}", mesh=document)
    if values is None:
        n_known, n_hidden = len(task.known), len(task.hidden)
        text = f"{n_known:,} known, {n_hidden:,} hidden"
        result.add("normals", text, n_known=n_known, n_hidden=n_hidden, mask=mask, seed=walks.seed)
        n_unreached, method_used = predicted.n_unreached, predicted.method
        n_cut_off = task.n_cut_off
        cut_off = f", {n_cut_off:,} of them in parts without a known one" if n_cut_off else ""
        no_answer = f"hidden vertices, counted as cosine 0{cut_off}"
        measured = {"n_cut_off": n_cut_off, "mean_cosine": predicted.cosine}
    else:
        text = f"{len(known):,} known of {graph.n_nodes:,}, {given.shape[1]} each"
        result.add("values", text, n_known=len(known), n_values=given.shape[1], seed=walks.seed)
        n_unreached, method_used = int((~predicted.reached_).sum()), predicted.method_
        no_answer, measured = "vertices, which no value reaches: the mean of the known ones", {}
    method_text = method_used
    if how != "kriging":
        products = {"walks": results.walks_text(walks), "exact": "exact"}.get(method, method_text)
        name = "diffusion" if kernel == "auto" else kernel
        method_text = f"{_SUMS[how]}: {name}, scale {factor:g}, {products}"
    chosen = {"how": how, "kernel": kernel, "noise": noise, "estimate": method}
    sampling = {name: getattr(walks, name) for name in ("degree", "n_walks", "reuse_walks")}
    sampling |= {"termination": results.law_text(walks.termination), "method": method_used}
    result.add("method", method_text, **chosen, **sampling, scale=factor, sigma=factor**0.5)
    result.add(n_unreached=n_unreached, **measured)
    if n_unreached:
        result.add("no answer", f"at {n_unreached:,} {no_answer}")
    if values is None:
        result.add("cosine", f"{predicted.cosine:.4f}, mean over the hidden vertices")
    result.add_time(read="reading", predict="predicting")
    files = [result.add_file(path) for path in (output, picture)]
    result.add(written=[file for file in files if file is not None])
    return result


def _field_table(field: FloatArray, known: IntArray, values: FloatArray) -> dict[str, list[Any]]:
    """Columns of the table of all vertices, but for the first."""
    given = np.full(field.shape, "", dtype=object)
    given[known] = values
    numbers = [f"_{i}" for i in range(1, len(field.T) + 1)] if len(field.T) > 1 else [""]
    names = [f"{name}{number}" for name in ("value", "predicted") for number in numbers]
    return dict(zip(names, np.column_stack([given, field]).T.tolist(), strict=True))


def _normals_table(result: PredictedNormals) -> dict[str, list[Any]]:
    """Columns of the table of all vertices, but for the first."""
    task = result.task
    state = np.full(len(task.normals), "none", dtype=object)
    state[task.known], state[task.hidden] = "known", "hidden"
    angles = ["" if np.isnan(angle) else angle for angle in result.angles().tolist()]
    names = [*"xyz", *(f"predicted_{axis}" for axis in "xyz")]
    vectors = np.column_stack([task.normals, result.predicted]).T.tolist()
    columns = dict(zip(names, vectors, strict=True))
    return {"normal": state.tolist(), **columns, "angle": angles}


def _write_coloured(path: Path, surface: TriangleMesh, values: FloatArray) -> None:
    """A PLY file whose vertices have colours, grey without a value, and the values themselves."""
    trimesh = require("trimesh", "colours of vertices")
    colours, has_value = np.full((len(values), 4), 255, np.uint8), np.isfinite(values)
    colours[:, :3] = _GREY
    colours[has_value] = trimesh.visual.interpolate(values[has_value])
    solid = trimesh.Trimesh(
        surface.vertices, surface.faces, vertex_colors=colours, process=False, validate=False
    )
    solid.vertex_attributes["value"] = values
    with atomic_write(path) as stream:
        stream.write(solid.export(file_type="ply"))
