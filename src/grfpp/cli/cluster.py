"""`grfpp cluster`: from a file with a graph to the cluster of each of its nodes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from grfpp.cli import console, options
from grfpp.cli.clustered import Clustered
from grfpp.cli.outputs import check_output, write_csv
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.attributes import read_attribute
from grfpp.kernels import kernel_from_spec
from grfpp.termination import termination_from_spec

#: Shown below the options.
NOTES = """
\b
The nodes are placed by the leading eigenvectors of the kernel exp(SIGMA^2 D^-1/2 A D^-1/2), or of
another one (grfpp estimate --help lists them), and clustered by k-means.

\b
Examples:
  grfpp cluster graph.txt -k 6 --output labels.csv
  grfpp cluster karate.gml --labels-from gt
  grfpp cluster graph.gml -k 4 --method exact
  grfpp cluster graph.gml -k 4 --degree 1 --walks 64 --seed 7 --json
"""


class Method(StrEnum):
    """Where the kernel comes from."""

    WALKS = "walks"
    EXACT = "exact"


def cluster(
    graph: Annotated[
        Path,
        typer.Argument(
            metavar="GRAPH",
            help="File with the graph: an edge list (.txt .tsv .csv), .gml, .graphml, .mtx, .npz, "
            "or a mesh (.stl .off .ply .obj); all but .npz may be packed (.gz .zip).",
            show_default=False,
        ),
    ],
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            "-k",
            metavar="K",
            help="Number of clusters; with --labels-from, as many as there are classes.",
            show_default=False,
        ),
    ] = None,
    labels_from: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="Compare with the classes that a .gml or .graphml file has in this attribute of "
            "its nodes.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.csv",
            help="Write the cluster of each node.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Method,
        typer.Option(metavar="walks|exact", help="Estimate the kernel by walks, or compute it."),
    ] = Method.WALKS,
    kernel: Annotated[str, typer.Option(metavar="KERNEL", help="The kernel.")] = "diffusion",
    sigma: Annotated[
        float, typer.Option(metavar="X", help="Width of the kernel: weights are times its square.")
    ] = 1.0,
    degree: options.Degree = 2,
    walks: options.Walks = 16,
    termination: options.Law = "geometric:0.1",
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of the walks, and of k-means.")
    ] = 0,
    directed: options.Directed = False,
    jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
) -> None:
    """Cluster the nodes of a graph by a kernel.

    Spectral clustering: nodes come together that walks connect well.
    """
    if output is not None:
        check_output(output, (".csv",))
    if clusters is None and labels_from is None:
        raise InputError("-k says how many clusters to find; or give classes by --labels-from")
    if clusters is not None and clusters < 1:
        raise InputError(f"-k must be at least 1, found {clusters}")
    kernel_from_spec(kernel), termination_from_spec(termination)  # refused before anything is read

    with console.status(f"reading {graph}"):
        source = Graph(graph, directed=True if directed else None)
        truth = None if labels_from is None else read_attribute(graph, labels_from)
    k = len(set(map(str, truth or []))) if clusters is None else clusters
    if k > source.n_nodes:
        raise InputError(f"-k {k} is more than the {source.n_nodes} nodes of {graph}")
    with console.status("clustering"):
        from grfpp.tasks.nodes.clustering import SpectralKernelClustering, pair_error

        began = perf_counter()
        found = SpectralKernelClustering(
            k,
            kernel=kernel,
            estimate=method.value,
            degree=degree,
            n_walks=walks,
            termination=termination,
            sigma=sigma,
            random_state=seed,
            n_jobs=jobs,
        ).fit(source)
        seconds = perf_counter() - began
    done = Clustered(
        path=graph,
        graph=source,
        labels=found.labels_.tolist(),
        n_clusters=k,
        how=_how(method, degree, walks, termination, seed),
        kernel=repr(kernel_from_spec(kernel)),
        sigma=sigma,
        seed=seed,
        seconds=seconds,
        truth=truth,
        error=None if truth is None else pair_error(found.labels_, [str(each) for each in truth]),
        output=output,
    )
    if output is not None:
        write_csv(output, *done.table(labels_from))
    if as_json:
        console.print_json(done.document())
    else:
        console.print_facts(done.facts())


def _how(method: Method, degree: int, walks: int, termination: str, seed: int) -> str:
    if method is Method.EXACT:
        return "none: the exact kernel"
    return (
        f"{walks} a node and factor, stitching degree {degree}, lengths {termination}, seed {seed}"
    )
