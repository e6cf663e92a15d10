"""`grfpp cluster`: from a file with a graph to the cluster of each of its nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from grfpp.cli import console, options
from grfpp.cli.outputs import check_output, graph_document, graph_fact, plain, write_csv, wrote
from grfpp.cli.reading import with_reading
from grfpp.cli.rows import labels_of
from grfpp.cli.wording import law_text
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.files import read_attribute
from grfpp.io.options import EdgeListOptions
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions

#: Shown below the options.
NOTES = """
\b
The nodes are placed by the leading eigenvectors of the kernel exp(SCALE D^-1/2 A D^-1/2), or of
another one (grfpp estimate --help lists them), and clustered by k-means.

\b
Examples:
  grfpp cluster graph.txt -k 6 --output labels.csv
  grfpp cluster karate.gml --labels-from gt
  grfpp cluster graph.gml -k 4 --method exact
  grfpp cluster graph.gml -k 4 --degree 1 --walks 64 --seed 7 --json
"""


@with_reading
@options.with_walks(seed="Of the walks, and of k-means.")
def cluster(
    graph: options.GraphFile,
    *,
    clusters: Annotated[
        int | None,
        options.optional(
            "Number of clusters; with --labels-from, as many as there are classes.",
            "K",
            "--clusters",
            "-k",
        ),
    ] = None,
    labels_from: Annotated[
        str | None,
        options.optional(
            "Compare with the classes that a .gml or .graphml file has in this attribute of its "
            "nodes, where they have it.",
            "ATTRIBUTE",
        ),
    ] = None,
    output: Annotated[Path | None, options.output("Write the cluster of each node.")] = None,
    method: options.Method = "walks",
    kernel: Annotated[str, options.kernel()] = "diffusion",
    scale: options.Scale = 1.0,
    sigma: options.Sigma = None,
    walks: WalkOptions,
    directed: options.Directed = False,
    reading: EdgeListOptions,
    as_json: options.AsJson = False,
) -> None:
    """Cluster the nodes of a graph by a kernel.

    Spectral clustering: nodes come together that walks connect well.
    """
    check_output(output, ".csv", others=[graph])
    if clusters is None and labels_from is None:
        raise InputError("-k says how many clusters to find; or give classes by --labels-from")
    if clusters is not None and clusters < 1:
        raise InputError(f"-k must be at least 1, found {clusters}")
    function, factor = kernel_from_spec(kernel), options.scale_of(scale, sigma)

    with console.status(f"reading {graph}"):
        source = Graph(graph, directed=True if directed else None, **reading.given)
        truth = None if labels_from is None else read_attribute(graph, labels_from)
    classes = {node: str(label) for node, label in enumerate(truth or []) if label is not None}
    if truth is not None and len(classes) < 2:
        raise InputError(
            f"--labels-from {labels_from}: {len(classes)} of the {source.n_nodes} nodes of {graph} "
            "have a class; to compare, at least two must"
        )
    k = len(set(classes.values())) if clusters is None else clusters
    if k > source.n_nodes:
        raise InputError(f"-k {k} is more than the {source.n_nodes} nodes of {graph}")
    seconds: dict[str, float] = {}
    with console.timed(seconds, "all", "clustering"):
        from grfpp.tasks.nodes.clustering import SpectralKernelClustering, pair_error

        clustering = SpectralKernelClustering(
            k,
            kernel=function,
            estimate=method,
            scale=factor,
            **options.for_estimators(walks),
        ).fit(source)
    labels = clustering.labels_.tolist()
    error = None
    if truth is not None:
        error = pair_error([labels[node] for node in classes], list(classes.values()))
    if output is not None:
        columns: dict[str, Any] = {"node": labels_of(source), "cluster": labels}
        if truth is not None:
            columns[f"given {labels_from}" if labels_from in columns else str(labels_from)] = truth
        write_csv(output, list(columns), list(zip(*columns.values(), strict=True)))

    sizes = [labels.count(label) for label in range(k)]
    reused = ", reused (biased)" if walks.reuse_walks else ""
    how = (
        "none: the exact kernel"
        if method == "exact"
        else f"{walks.n_walks} a node and factor{reused}, stitching degree {walks.degree}, "
        f"lengths {law_text(walks.termination)}, seed {walks.seed}"
    )
    facts = [
        graph_fact(graph, source),
        ("kernel", f"{function!r}, scale {factor:g}"),
        ("walks", how),
        ("clusters", f"{k} with {', '.join(map(str, sizes))} nodes"),
        ("time", f"{seconds['all']:.2f} s"),
    ]
    if error is not None:
        if len(classes) < source.n_nodes:
            which = f"{len(classes):,} of {source.n_nodes:,} nodes have one"
            facts.append(("classes", f"{which}; the others are not compared"))
        pairs = len(classes) * (len(classes) - 1) // 2
        wrong = round(error * pairs)
        facts.append(("error", f"{error:.4f}: {wrong:,} of {pairs:,} pairs are wrong"))
    document = {
        "graph": graph_document(graph, source),
        "kernel": repr(function),
        "scale": factor,
        "sigma": factor**0.5,
        "walks": how,
        "seed": walks.seed,
        "n_clusters": k,
        "sizes": sizes,
        "nodes": [plain(node) for node in labels_of(source)],
        "labels": labels,
        "n_compared": None if truth is None else len(classes),
        "pair_error": error,
        "seconds": seconds["all"],
        "output": None if output is None else str(output),
    }
    console.tell([*facts, *wrote(output)], document, as_json)
