"""`grfpp cluster`: from a file with a graph to the cluster of each of its nodes.

The nodes are placed by the leading eigenvectors of the kernel exp(10 SCALE D^-1/2 A D^-1/2), or of
another one (grfpp estimate --help lists them), and clustered by k-means. Every pair of nodes gets a
small additional weight, and whiskers are set apart, so that these and hubs do not mislead;
--how paper does neither, and walks; so do options about walks, unless --how or --method say
otherwise.

Example commands:
  grfpp cluster graph.txt -k 6 --output labels.csv
  grfpp cluster karate.gml --labels-from gt
  grfpp cluster graph.gml -k auto --picture clusters.png
  grfpp cluster graph.gml -k 4 --how paper --method exact
  grfpp cluster graph.gml -k 4 --how paper --degree 1 --walks 64 --seed 7 --json
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from grfpp._checks import whole
from grfpp._imports import require
from grfpp.cli import console, options, results
from grfpp.errors import InputError, shown, warn_user
from grfpp.io.atomic import atomic_write
from grfpp.io.files import read_attribute
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions

#: As `SpectralKernelClustering` has them.
DEFAULT_KERNELS = {"regularized": "diffusion:10", "paper": "diffusion"}


@options.command
@options.graph_argument
@options.option(
    "--clusters",
    "-k",
    help="Number of clusters; auto: that of the largest modularity, up to 20; with --labels-from, "
    "as many as there are classes.",
    metavar="K|auto",
)
@options.option(
    "--labels-from",
    help="Compare with the classes that a .gml or .graphml file has in this attribute of its "
    "nodes, where they have it.",
    metavar="ATTRIBUTE",
)
@options.output_option("Write the cluster of each node.")
@options.path_option(
    "--picture", help="Draw nodes and clusters, as .png, .svg or .pdf.", metavar="FILE.png"
)
@options.option(
    "--how",
    help="Regularised, so that whiskers and hubs do not mislead, or as in the paper.  [default: "
    "regularized]",
    type=options.choice("regularized", "paper"),
)
@options.method_option
@options.kernel_option(
    "The kernel; unless given, diffusion:10, and diffusion for --how paper.", None
)
@options.scale_option
@options.walk_options(seed="Of the walks, and of k-means.")
@options.directed_option
@options.reading_options
@options.json_option
def cluster(
    graph: Path,
    *,
    clusters: str | None,
    labels_from: str | None,
    output: Path | None,
    picture: Path | None,
    how: str | None,
    method: str | None,
    kernel: str | None,
    scale: float,
    walks: WalkOptions,
    directed: bool,
    reading: options.Reading,
    as_json: bool,
) -> None:
    """Cluster the nodes of a graph by a kernel.

    Spectral clustering: nodes come together that walks connect well. Unless --method is given,
    --how paper walks, and --how regularized takes the eigenvectors of the weights.
    """
    results.check_output(output, ".csv", others=[graph])
    results.check_output(
        picture, ".png", ".svg", ".pdf", option="--picture", others=[graph, output]
    )
    if picture is not None:
        require("matplotlib", "--picture")
    if clusters is None and labels_from is None:
        raise InputError("-k says how many clusters to find; or give classes by --labels-from")
    how = _checked_how(how, method, walks)
    if clusters == "auto" and how == "paper":
        raise InputError("-k auto is for --how regularized: give a number")
    function = kernel_from_spec(kernel or DEFAULT_KERNELS[how])
    scale = options.checked_scale(scale)

    with console.status(f"reading {graph}"):
        source = reading.graph(graph, directed=directed)
        truth = None if labels_from is None else read_attribute(graph, labels_from)
    classes = {node: str(label) for node, label in enumerate(truth or []) if label is not None}
    if truth is not None:
        _check_classes(classes, f"--labels-from {labels_from}", graph, source.n_nodes)
    k: Any = clusters
    if clusters is None:
        k = len(set(classes.values()))
    elif clusters != "auto":
        number = int(clusters) if clusters.isdecimal() and len(clusters) < 19 else clusters
        k = whole(number, "clusters", 1, source.n_nodes)
    seconds: dict[str, float] = {}
    with console.timed(seconds, "all", "clustering"):
        from grfpp.tasks import SpectralKernelClustering
        from grfpp.tasks.clustering import pair_error

        clustering = SpectralKernelClustering(
            k,
            how=how,
            kernel=function,
            **({} if method is None else options.method_parameters(method)),
            scale=scale,
            **options.estimator_parameters(walks),
        ).fit(source)
    labels = clustering.labels_.tolist()
    error = None
    if truth is not None:
        error = pair_error([labels[node] for node in classes], list(classes.values()))
    names = results.node_names(source)
    if output is not None:
        columns: dict[str, Any] = {"node": names, "cluster": labels}
        if truth is not None:
            columns[f"given {labels_from}" if labels_from in columns else str(labels_from)] = truth
        results.write_csv(output, list(columns), list(zip(*columns.values(), strict=True)))
    if picture is not None:
        with atomic_write(picture) as stream:
            clustering.plot().savefig(stream, format=picture.suffix[1:].lower(), dpi=200)

    n_clusters, counts = clustering.n_clusters_, Counter(labels)
    sizes = [counts[label] for label in range(n_clusters)]
    if clustering.method_ == "walks":
        walked = (
            f"{walks.n_walks} a node and factor{', reused (biased)' if walks.reuse_walks else ''}, "
            f"stitching degree {walks.degree}, lengths {results.law_text(walks.termination)}, seed "
            f"{walks.seed}"
        )
    else:
        exact = clustering.method_ == "exact"
        walked = f"none: {'the exact kernel' if exact else clustering.method_}"
    facts = [
        results.graph_fact(graph, source),
        ("kernel", f"{function!r}, scale {scale:g}"),
        ("walks", walked),
        ("clusters", f"{n_clusters} with {', '.join(map(str, sizes))} nodes"),
        ("time", f"{seconds['all']:.2f} s"),
    ]
    if error is not None:
        n = len(classes)
        if n < source.n_nodes:
            which = f"{n:,} of {source.n_nodes:,} nodes have one"
            facts.append(("classes", f"{which}; the others are not compared"))
        n_pairs = n * (n - 1) // 2
        facts.append(
            ("error", f"{error:.4f}: {round(error * n_pairs):,} of {n_pairs:,} pairs are wrong")
        )
    document = {
        "graph": results.graph_document(graph, source),
        "kernel": repr(function),
        "scale": scale,
        "sigma": scale**0.5,
        "how": how,
        "walks": walked,
        "method": clustering.method_,
        "seed": walks.seed,
        "n_clusters": n_clusters,
        "sizes": sizes,
        "nodes": [results.json_name(name) for name in names],
        "labels": labels,
        "n_compared": None if truth is None else len(classes),
        "pair_error": error,
        "seconds": seconds["all"],
        "output": None if output is None else str(output),
        "picture": None if picture is None else str(picture),
    }
    results.show(facts, document, as_json, [output, picture])


def _checked_how(how: str | None, method: str | None, walks: WalkOptions) -> str:
    """The algorithm; options about walks ask for the paper's, which walks."""
    about_walks = walks != WalkOptions.of(seed=walks.seed, n_jobs=walks.n_jobs)
    if how is None:
        how = "paper" if about_walks and method is None else "regularized"
    if about_walks and how == "regularized" and method != "walks":
        raise InputError(
            "--how regularized does not walk: leave out options about walks, or use --how paper or "
            "--method walks"
        )
    return how


def _check_classes(classes: dict[int, str], option: str, graph: Path, n_nodes: int) -> None:
    """Refuse classes that no clustering can be compared with, and warn of doubtful ones."""
    sizes = Counter(classes.values())
    n_single = sum(size == 1 for size in sizes.values())
    if len(sizes) < 2:
        raise InputError(
            f"{option}: {len(classes)} of the {n_nodes} nodes of {graph} have a class, "
            f"{len(sizes)} different ones; to compare, there must be two"
        )
    if n_single == len(classes):
        raise InputError(
            f"{option}: every node of {graph} has a class of its own, such as "
            f"{shown(next(iter(sizes)))}; to compare, nodes must share some"
        )
    if 2 * n_single > len(classes):
        warn_user(
            f"{option}: more than half of the nodes have a class of their own; are these names or "
            "measurements? The error tells little then"
        )
