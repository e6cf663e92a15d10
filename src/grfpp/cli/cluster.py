"""`grfpp cluster`: from a file with a graph to the cluster of each of its nodes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

from grfpp.cli import console, options
from grfpp.cli.outputs import check_output, graph_document, graph_fact, plain, write_csv, wrote
from grfpp.cli.reading import Reading, with_reading
from grfpp.cli.rows import labels_of
from grfpp.cli.wording import law_text
from grfpp.errors import InputError, shown, warn_user
from grfpp.imports.optional import require
from grfpp.io.files import read_attribute
from grfpp.io.storage.atomic import atomic_write
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions

#: As `SpectralKernelClustering` has them.
DEFAULT_KERNELS = {"regularized": "diffusion:10", "paper": "diffusion"}
#: Shown below the options.
NOTES = """
\b
The nodes are placed by the leading eigenvectors of the kernel exp(10 SCALE D^-1/2 A D^-1/2), or of
another one (grfpp estimate --help lists them), and clustered by k-means. Every pair of nodes gets a
small weight more, and whiskers are set apart, so that these and hubs do not lead astray;
--how paper does neither, and walks; so do options about walks, unless --how or --method say
otherwise.

\b
Examples:
  grfpp cluster graph.txt -k 6 --output labels.csv
  grfpp cluster karate.gml --labels-from gt
  grfpp cluster graph.gml -k auto --picture clusters.png
  grfpp cluster graph.gml -k 4 --how paper --method exact
  grfpp cluster graph.gml -k 4 --how paper --degree 1 --walks 64 --seed 7 --json
"""


def _number_or_auto(text: str | None) -> int | str | None:
    """A number of clusters, or ``"auto"``."""
    if text is None or text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"-k must be a whole number or auto, found {shown(text)}") from None
    if number < 1:
        raise InputError(f"-k must be at least 1, found {number}")
    return number


@with_reading
@options.with_walks(seed="Of the walks, and of k-means.")
def cluster(
    graph: options.GraphFile,
    *,
    clusters: Annotated[
        str | None,
        options.optional(
            "Number of clusters; auto: that of the largest modularity, up to 20; with "
            "--labels-from, as many as there are classes.",
            "K|auto",
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
    picture: Annotated[
        Path | None,
        options.optional(
            "Draw nodes and clusters, as .png, .svg or .pdf.", "FILE.png", "--picture"
        ),
    ] = None,
    how: Annotated[
        Literal["regularized", "paper"] | None,
        options.optional(
            "Regularised, which whiskers and hubs do not lead astray, or as in the paper.  "
            "[default: regularized]",
            "regularized|paper",
        ),
    ] = None,
    method: Annotated[
        options.MethodName | None,
        options.optional(
            "How to multiply with the kernel. Unless given: walks for --how paper; otherwise the "
            "eigenvectors of the weights, which most kernels share.",
            "walks|exact|auto|...",
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        options.optional(
            "The kernel; unless given, diffusion:10, and diffusion for --how paper.",
            "KERNEL",
            "--kernel",
        ),
    ] = None,
    scale: options.Scale = 1.0,
    sigma: options.Sigma = None,
    walks: WalkOptions,
    directed: options.Directed = False,
    reading: Reading,
    as_json: options.AsJson = False,
) -> None:
    """Cluster the nodes of a graph by a kernel.

    Spectral clustering: nodes come together that walks connect well.
    """
    check_output(output, ".csv", others=[graph])
    check_output(picture, ".png", ".svg", ".pdf", option="--picture", others=[graph, output])
    if picture is not None:
        require("matplotlib", "--picture")
    number = _number_or_auto(clusters)
    if number is None and labels_from is None:
        raise InputError("-k says how many clusters to find; or give classes by --labels-from")
    how = _way(how, method, walks)
    if number == "auto" and how == "paper":
        raise InputError("-k auto is of --how regularized: give a number")
    kernel = kernel or DEFAULT_KERNELS[how]
    function, factor = kernel_from_spec(kernel), options.scale_of(scale, sigma)

    with console.status(f"reading {graph}"):
        source = reading.graph(graph, directed=directed)
        truth = None if labels_from is None else read_attribute(graph, labels_from)
    classes = {node: str(label) for node, label in enumerate(truth or []) if label is not None}
    if truth is not None:
        _check_classes(classes, f"--labels-from {labels_from}", graph, source.n_nodes)
    k = len(set(classes.values())) if number is None else number
    if isinstance(k, int) and k > source.n_nodes:
        raise InputError(f"-k {k} is more than the {source.n_nodes} nodes of {graph}")
    seconds: dict[str, float] = {}
    with console.timed(seconds, "all", "clustering"):
        from grfpp.tasks.nodes.clustering import SpectralKernelClustering, pair_error

        clustering = SpectralKernelClustering(
            k,
            how=how,
            kernel=function,
            **({} if method is None else options.method_parameters(method)),
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

    if picture is not None:
        with atomic_write(picture) as stream:
            clustering.plot().savefig(stream, format=picture.suffix[1:].lower(), dpi=200)

    n_clusters = clustering.n_clusters_
    counts = Counter(labels)
    sizes = [counts[label] for label in range(n_clusters)]
    reused = ", reused (biased)" if walks.reuse_walks else ""
    how_walked = (
        "none: the exact kernel"
        if clustering.method_ == "exact"
        else f"none: {clustering.method_}"
        if clustering.method_ != "walks"
        else f"{walks.n_walks} a node and factor{reused}, stitching degree {walks.degree}, "
        f"lengths {law_text(walks.termination)}, seed {walks.seed}"
    )
    facts = [
        graph_fact(graph, source),
        ("kernel", f"{function!r}, scale {factor:g}"),
        ("walks", how_walked),
        ("clusters", f"{n_clusters} with {', '.join(map(str, sizes))} nodes"),
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
        "how": how,
        "walks": how_walked,
        "method": clustering.method_,
        "seed": walks.seed,
        "n_clusters": n_clusters,
        "sizes": sizes,
        "nodes": [plain(node) for node in labels_of(source)],
        "labels": labels,
        "n_compared": None if truth is None else len(classes),
        "pair_error": error,
        "seconds": seconds["all"],
        "output": None if output is None else str(output),
        "picture": None if picture is None else str(picture),
    }
    console.tell([*facts, *wrote(output, picture)], document, as_json)


def _way(
    how: Literal["regularized", "paper"] | None, method: str | None, walks: WalkOptions
) -> Literal["regularized", "paper"]:
    """What is asked for: options about walks ask for the paper's way, which walks."""
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
    """Refuse classes that no clustering can be compared with, and doubt those that look so."""
    if len(classes) < 2:
        raise InputError(
            f"{option}: {len(classes)} of the {n_nodes} nodes of {graph} have a class; to compare, "
            "at least two must"
        )
    sizes = Counter(classes.values())
    if len(sizes) == 1:
        raise InputError(
            f"{option}: all nodes of {graph} that have a class have the same, "
            f"{shown(next(iter(sizes)))}; to compare, there must be two"
        )
    alone = sum(size == 1 for size in sizes.values())
    if alone == len(classes):
        raise InputError(
            f"{option}: every node of {graph} has a class of its own, such as "
            f"{shown(next(iter(sizes)))}. These are names or measurements rather than classes; to "
            "compare, nodes must share some"
        )
    if 2 * alone > len(classes):
        warn_user(
            f"{option}: {alone:,} of {len(classes):,} nodes have a class of their own. Are these "
            "names or measurements? The error tells little then"
        )
