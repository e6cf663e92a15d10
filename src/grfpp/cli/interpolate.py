"""`grfpp interpolate`: hide most normals of a mesh and predict them from the others.

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
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grfpp._checks import finite
from grfpp._imports import require
from grfpp.cli import console, options, results
from grfpp.errors import InputError
from grfpp.io.meshes import MeshWeights
from grfpp.options import WalkOptions

if TYPE_CHECKING:
    from grfpp.tasks.normals import PredictedNormals

_SUMS = {"paper": "the paper's sum", "mean": "sums over their mass"}


@options.command
@options.argument("mesh", "", "MESH", type=options.PATH)
@options.option("--mask", type=float, default=0.8)
@options.how_option("kriging", "mean", "paper")
@options.method_option
@options.kernel_option("auto", "-k")
@options.option("--noise", type=float)
@options.option("--scale", type=float)  # not `scale_option`: kriging chooses if it is not given
@options.walk_options()
@options.mesh_weights_option
@options.output_option()
@options.output_option("FILE.png", ".png", ".pdf", flags="--picture")
@options.option("--view", default="1,-1.6,0.9", metavar="X,Y,Z")
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
    output: Path | None,
    picture: Path | None,
    view: str,
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
    output
        Table of all vertices: true and predicted normal, and the angle between them.
    picture
        The mesh coloured by angular error: of kriging, and of the paper's sum, exact and by walks;
        for --how paper, of the exact kernel, GRF, and GRF++ of this degree (.png or .pdf).
    view
        The direction from which --picture shows the mesh.
    """
    if picture is not None:  # drawn as in the experiment, by the laboratory, which is optional
        drawing = require("grfpp_lab.experiments.normals.picture", "--picture")
    towards = tuple(finite(x, "view") for x in options.numbers(view, "view", float))
    if len(towards) != 3 or not any(towards):
        raise InputError(f"must be a direction such as 1,-1.6,0.9, found {view}", argument="view")
    needs_sums = method not in (None, "walks") or options.asks_for_walks()
    how, method = options.algorithm(how, "kriging", needs_sums), method or "walks"
    if noise is not None and how != "kriging":
        raise InputError(f"is not used by {how}", argument="noise", advice="use --how kriging")
    parameters = {**options.method_parameters(method), **options.estimator_parameters(walks)}
    parameters |= {"how": how, "kernel": kernel, "scale": scale}
    parameters["noise"] = "auto" if noise is None else noise
    from grfpp.datasets.meshes import triangle_mesh
    from grfpp.io import load_mesh
    from grfpp.tasks.normals import hide_normals, predict_normals

    result = results.Result()
    with result.timed("read", f"reading {mesh}"):
        source = load_mesh(mesh)
        surface = triangle_mesh(mesh.name, source, mesh_weights or "unit")
        task = hide_normals(surface, mask, walks.seed)
    with result.timed("predict", "predicting"):
        normals = predict_normals(task, **parameters)

    if output is not None:
        _write_table(output, normals, source.origin.tolist())
    if picture is not None:
        with console.status("drawing"):
            drawing.draw_errors(picture, surface, task, {**parameters, "method": None}, towards)

    graph, factor = surface.graph, 1.0 if scale is None else scale
    numbers = {"vertices": graph.n_nodes, "edges": graph.n_edges, "faces": len(surface.faces)}
    text = ", ".join(f"{number:,} {name}" for name, number in numbers.items())
    sizes = {f"n_{name}": number for name, number in numbers.items()}
    weights = f", weights {mesh_weights}" if mesh_weights else ""
    document = {"path": mesh, **sizes, "weights": mesh_weights or "unit"}
    result.add("mesh", f"{mesh}: {text}{weights}", mesh=document)
    n_known, n_hidden = len(task.known), len(task.hidden)
    text = f"{n_known:,} known, {n_hidden:,} hidden"
    result.add("normals", text, n_known=n_known, n_hidden=n_hidden, mask=mask, seed=walks.seed)
    method_text = normals.method
    if how != "kriging":
        products = {"walks": results.walks_text(walks), "exact": "exact"}.get(method, method_text)
        name = "diffusion" if kernel == "auto" else kernel
        method_text = f"{_SUMS[how]}: {name}, scale {factor:g}, {products}"
    chosen = {"how": how, "kernel": kernel, "noise": noise, "estimate": method}
    sampling = {name: getattr(walks, name) for name in ("degree", "n_walks", "reuse_walks")}
    sampling |= {"termination": results.law_text(walks.termination), "method": normals.method}
    result.add("method", method_text, **chosen, **sampling, scale=factor, sigma=factor**0.5)
    n_unreached, n_cut_off = normals.n_unreached, task.n_cut_off
    result.add(n_unreached=n_unreached, n_cut_off=n_cut_off)
    if n_unreached:
        cut_off = f", {n_cut_off:,} of them in parts without a known one" if n_cut_off else ""
        text = f"at {n_unreached:,} hidden vertices, counted as cosine 0{cut_off}"
        result.add("no answer", text)
    cosine = normals.cosine
    result.add("cosine", f"{cosine:.4f}, mean over the hidden vertices", mean_cosine=cosine)
    result.add_time(read="reading", predict="predicting")
    files = [result.add_file(path) for path in (output, picture)]
    result.add(written=[file for file in files if file is not None])
    return result


def _write_table(path: Path, result: PredictedNormals, vertices: list[int]) -> None:
    """One line per vertex, by the indices that vertices have in their file."""
    task = result.task
    state = np.full(len(task.normals), "none", dtype=object)
    state[task.known], state[task.hidden] = "known", "hidden"
    angles = ["" if np.isnan(angle) else angle for angle in result.angles().tolist()]
    header = ["vertex", "normal", *"xyz", *(f"predicted_{axis}" for axis in "xyz"), "angle"]
    vectors = (*task.normals.T.tolist(), *result.predicted.T.tolist())
    results.write_csv(path, header, zip(vertices, state, *vectors, angles, strict=True))
