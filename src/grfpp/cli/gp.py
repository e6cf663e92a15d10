"""`grfpp gp`: predict a quantity at all nodes from values at some, with standard deviations.

The values are modelled by a Gaussian process on the graph, whose width, noise, size and mean are
chosen by the marginal likelihood, unless they are given. Tables have a node and one or more numbers
on each line; several numbers are quantities that share the width.

Example commands:
  grfpp gp roads.csv --values known.csv --output predictions.csv
  grfpp gp roads.csv --values known.parquet --output predictions.parquet
  grfpp gp roads.csv --values known.csv --positions xy.csv --picture map.png
  grfpp gp papers.gml --values known.csv --kernel diffusion:5 --noise 0.1
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from grfpp._imports import require
from grfpp.cli import console, options, results
from grfpp.cli.tables import read_values, write_table
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.linalg.csr import connected_to
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Largest number of edges that are drawn.
_MAX_EDGES = 20_000
#: Largest number of nodes that are arranged by forces, which takes seconds.
_MAX_FORCES = 1_000


@options.command
@options.path_option("--values", metavar="FILE.csv|parquet", required=True)
@options.output_option("FILE.csv|parquet", ".csv", ".parquet")
@options.output_option("FILE.png", ".png", ".pdf", flags="--picture")
@options.path_option("--positions", metavar="FILE.csv|parquet")
@options.kernel_option("auto", "-k")
@options.option("--normalize", type=click.Choice(["auto", "rw", "sym", "none"]), default="auto")
@options.option("--width", type=float)
@options.option("--noise", type=float)
@options.option("--method", default="auto", metavar="METHOD")
@options.seed_option
@options.graph_options
@options.shows_result
def gp(
    *,
    file: options.GraphFile,
    values: Path,
    output: Path | None,
    picture: Path | None,
    positions: Path | None,
    kernel: str,
    normalize: str,
    width: float | None,
    noise: float | None,
    method: str,
    seed: int,
) -> results.Result:
    """Predict a quantity at all nodes from its values at some.

    Fits a Gaussian process on the graph to the values, and predicts the mean and the standard
    deviation at every node.

    Parameters
    ----------
    values
        Table of the known values: a node and one or more numbers on each line.
    output
        Table of all nodes: value where it is known, predicted mean and standard deviation.
    picture
        The nodes coloured by the mean of the first quantity, and by its deviation (.png or .pdf).
    positions
        Table of nodes with two coordinates for --picture; if not given, a layout of the graph.
    kernel
        matern, or diffusion, with a width that is chosen; or a kernel such as diffusion:5. auto is
        matern, but diffusion on large expanders.
    normalize
        The covariance: g(D^-1 A) D^-1 (rw), g(D^-1/2 A D^-1/2) (sym), or g(A) (none). auto is rw,
        and where degrees are uneven an average of rw and sym.
    width
        Of matern or diffusion: the time t; if not given, chosen.
    noise
        The variance of observations; if not given, chosen.
    method
        columns, precision, or another method of grfpp.gp.GraphGP; auto: of least predicted cost.
    seed
        Of random probes and of the layout.
    """
    if positions is not None and picture is None:
        raise InputError("is used by the picture", argument="positions", advice="add --picture")
    if width is not None and kernel not in {"auto", "matern", "diffusion"}:
        raise InputError(f"is used by matern and diffusion, not by {kernel}", argument="width")
    if picture is not None:
        require("matplotlib.figure", "--picture")
    from grfpp.gp import GraphGP

    result = results.Result()
    with result.timed("read", f"reading {file.path}"):
        graph = file.read()
        known, given = read_values(values, graph.names)
        where = None if positions is None else _positions(positions, graph)
    model = GraphGP(
        graph,
        kernel=kernel,
        normalization=None if normalize == "none" else normalize,
        width=width,
        noise=noise,
        method=method,
        random_state=seed,
    )
    with result.timed("fit", "choosing parameters"):
        model.fit(known, given)
    with result.timed("predict", "predicting"):
        mean, std = model.predict(return_std=True)
    write_table(output, _table(graph, known, given, mean, std))
    is_reached = connected_to(graph.adjacency, known)
    if picture is not None:
        with console.status("drawing"):
            where = _layout(graph, seed) if where is None else where
            _draw(picture, graph, where, known, is_reached, mean[:, 0], std[:, 0])

    result.add_graph(file.path, graph)
    n_known, n_values = given.shape
    text = f"{n_known:,} known of {graph.n_nodes:,}, {n_values} each"
    result.add("values", text, n_known=n_known, n_values=n_values)
    n_unreached = int(np.count_nonzero(~is_reached))
    if n_unreached:
        text = f"{n_unreached:,} nodes in components without values: predictions are the prior's"
        result.add("not reached", text, n_unreached=n_unreached)
    names = {"mean": "mean_", "noise": "noise_", "outputscale": "outputscale_"}
    chosen = {name: np.ravel(getattr(model, fitted)).tolist() for name, fitted in names.items()}
    numbers = (f"{name} {', '.join(f'{v:.4g}' for v in of)}" for name, of in chosen.items())
    chosen_normalize = model.normalization_ or "none"
    text = f"{model.kernel_}, normalize {chosen_normalize}, {'; '.join(numbers)}"
    document = {"kernel": repr(model.kernel_), "width": model.width_, "normalize": chosen_normalize}
    result.add("chosen", text, **document, **chosen, method=str(model.plan_), seed=seed)
    if len(known) > 1:
        _add_score(result, model.loo_, given)
    result.add("method", f"{model.plan_}")
    result.add_time(read="reading", fit="choosing parameters", predict="predicting")
    files = [result.add_file(path) for path in (output, picture)]
    result.add(written=[written for written in files if written is not None])
    return result


def _add_score(result: results.Result, left_out: dict[str, FloatArray], given: FloatArray) -> None:
    """Errors of known values, each predicted from the others."""
    spread = given.var(axis=0)
    errors = np.sqrt(left_out["squared_error"].mean(axis=0))
    r2 = [float(1 - e**2 / v) if v > 0 else None for e, v in zip(errors, spread, strict=True)]
    density = left_out["log_density"].mean(axis=0)
    parts = (
        f"error {e:.4g}, R² {'not known' if r is None else f'{r:.3f}'}, log density {d:.3f}"
        for e, r, d in zip(errors, r2, density, strict=True)
    )
    score = {"rmse": errors.tolist(), "r2": r2, "log_density": density.tolist()}
    result.add("leave one out", "; ".join(parts), leave_one_out=score)


def _table(
    graph: Graph, known: IntArray, given: FloatArray, mean: FloatArray, std: FloatArray
) -> dict[str, Any]:
    """Columns of the table of all nodes; values that are not known are not numbers."""
    field = np.full(mean.shape, np.nan)
    field[known] = given
    columns: dict[str, Any] = {"node": list(map(results.json_name, results.node_names(graph)))}
    for k in range(mean.shape[1]):
        number = f"_{k + 1}" if mean.shape[1] > 1 else ""
        values = [None if np.isnan(v) else v for v in field[:, k].tolist()]
        columns |= {f"value{number}": values, f"mean{number}": mean[:, k].tolist()}
        columns[f"std{number}"] = std[:, k].tolist()
    return columns


def _positions(path: Path, graph: Graph) -> FloatArray:
    """Two coordinates of every node."""
    nodes, where = read_values(path, graph.names, "positions")
    if len(nodes) < graph.n_nodes or where.shape[1] != 2:
        problem = f"must have two coordinates of each of {graph.n_nodes} nodes in {path}, "
        problem += f"found {where.shape[1]} of {len(nodes)}"
        raise InputError(problem, argument="positions")
    return where[np.argsort(nodes)]


def _layout(graph: Graph, seed: int) -> FloatArray:
    """Positions by forces for small graphs, else by two eigenvectors."""
    if graph.n_nodes <= _MAX_FORCES:
        import networkx as nx

        layout = nx.spring_layout(nx.from_scipy_sparse_array(graph.adjacency), seed=seed)
        return np.array([layout[node] for node in range(graph.n_nodes)])
    from sklearn.manifold import spectral_embedding

    return np.asarray(spectral_embedding(graph.adjacency, n_components=2, random_state=seed))


def _draw(
    path: Path,
    graph: Graph,
    where: FloatArray,
    known: IntArray,
    is_reached: BoolArray,
    mean: FloatArray,
    std: FloatArray,
) -> None:
    """Draw two maps beside each other; colours are for nodes in components with known ones."""
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), layout="constrained", facecolor="white")
    size = float(np.clip(30_000 / graph.n_nodes, 2, 60))
    for axes, colours, title, palette in zip(
        figure.subplots(1, 2),
        (mean, std),
        ("mean, known nodes circled", "standard deviation"),
        ("viridis", "magma"),
        strict=True,
    ):
        if graph.n_edges <= _MAX_EDGES:
            ends = where[np.stack(graph.adjacency.nonzero(), axis=1)]
            axes.add_collection(LineCollection(ends, colors="0.8", linewidths=0.5, zorder=1))
        axes.scatter(*where[~is_reached].T, c="0.85", s=size, linewidths=0, zorder=2)
        seen = where[is_reached].T
        dots = axes.scatter(*seen, c=colours[is_reached], s=size, cmap=palette, lw=0, zorder=2)
        if palette == "viridis":
            rings = {"s": 1.8 * size, "facecolors": "none", "edgecolors": "black", "zorder": 3}
            axes.scatter(*where[known].T, linewidths=0.6, **rings)
        figure.colorbar(dots, ax=axes, shrink=0.85)
        axes.set_title(title if is_reached.all() else f"{title}, grey: none known")
        axes.set_aspect("equal")
        axes.set_axis_off()
    from grfpp.io.atomic import atomic_write

    with atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix[1:].lower(), dpi=150)
