"""`grfpp cluster`: from a file with a graph to the cluster of each of its nodes.

The leading eigenvectors of the kernel exp(10 SCALE D^-1/2 A D^-1/2), or of another one (grfpp
estimate --help lists them), are coordinates of the nodes, which k-means clusters. Every pair of
nodes gets a small additional weight, and whiskers are removed before k-means, so that neither they
nor hubs mislead it. --how paper does neither, and estimates the kernel by walks; it is the default
if options about walks are given, unless --method says otherwise.

Example commands:
  grfpp cluster graph.txt -k 6 --output labels.csv
  grfpp cluster karate.gml --labels-from gt
  grfpp cluster graph.gml -k auto --picture clusters.png
  grfpp cluster graph.gml -k 4 --how paper --method exact
  grfpp cluster graph.gml -k 4 --how paper --degree 1 --walks 64 --json
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from grfpp._imports import require
from grfpp.cli import console, options, results
from grfpp.cli.label import attribute_labels
from grfpp.errors import InputError
from grfpp.io.atomic import atomic_write
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions

#: As `SpectralKernelClustering` has them.
DEFAULT_KERNELS = {"regularized": "diffusion:10", "paper": "diffusion"}


@options.command
@options.option("--clusters", "-k", "n_clusters", metavar="K|auto", type=options.number_or_word)
@options.option("--labels-from", metavar="ATTRIBUTE")
@options.output_option()
@options.output_option("FILE.png", ".png", ".svg", ".pdf", flags="--picture")
@options.how_option("regularized", "paper")
@options.method_option
@options.kernel_option(None)
@options.scale_option
@options.walk_options()
@options.graph_options
@options.shows_result
def cluster(
    *,
    file: options.GraphFile,
    n_clusters: int | str | None,
    labels_from: str | None,
    output: Path | None,
    picture: Path | None,
    how: str | None,
    method: str | None,
    kernel: str | None,
    scale: float,
    walks: WalkOptions,
) -> results.Result:
    """Cluster the nodes of a graph by a kernel.

    Spectral clustering: nodes that many walks connect are in one cluster. Unless --method is given,
    --how paper samples walks, and --how regularized uses the eigenvectors of the weights.

    Parameters
    ----------
    n_clusters
        Number of clusters; auto: that of the largest modularity, up to 20; by default the number of
        classes of --labels-from.
    labels_from
        Compare with the classes in this attribute of the nodes of a .gml or .graphml file; nodes
        without it are not compared.
    output
        Write the cluster of each node.
    picture
        Draw nodes and clusters, as .png, .svg or .pdf.
    how
        Regularised (the default), so that whiskers and hubs do not mislead, or as in the paper.
    kernel
        The kernel; if not given, diffusion:10, and diffusion for --how paper.
    seed
        Of the walks, and of k-means.
    """
    if picture is not None:
        require("matplotlib", "--picture")
    if n_clusters is None and labels_from is None:
        raise InputError("must be given", argument="n_clusters", advice="use -k or --labels-from")
    how = options.algorithm(how, "regularized", options.asks_for_walks() and method != "walks")
    function = kernel_from_spec(kernel or DEFAULT_KERNELS[how])
    classes: dict[int, str] = {}
    with console.status(f"reading {file.path}"):
        source = file.read()
        if labels_from is not None:
            classes = attribute_labels(file.path, labels_from, source.n_nodes)
    result = results.Result()
    with result.timed("all", "clustering"):
        from grfpp.tasks import SpectralKernelClustering
        from grfpp.tasks.clustering import pair_error

        parameters = {} if method is None else options.method_parameters(method)
        parameters |= {"how": how, "kernel": function, "scale": scale}
        parameters |= options.estimator_parameters(walks)
        k = len(set(classes.values())) if n_clusters is None else n_clusters
        clustering = SpectralKernelClustering(k, **parameters).fit(source)
    labels, names = clustering.labels_.tolist(), results.node_names(source)
    columns = {"node": names, "cluster": labels}
    if labels_from is not None:
        title = f"given {labels_from}" if labels_from in columns else labels_from
        columns[title] = [classes.get(node) for node in range(source.n_nodes)]
    results.write_csv(output, list(columns), zip(*columns.values(), strict=True))
    if picture is not None:
        with atomic_write(picture) as stream:
            clustering.plot().savefig(stream, format=picture.suffix[1:].lower(), dpi=200)

    texts = {"walks": results.walks_text(walks), "exact": "none: the exact kernel"}
    walks_text = texts.get(clustering.method_, f"none: {clustering.method_}")
    sizes = np.bincount(clustering.labels_, minlength=clustering.n_clusters_).tolist()
    result.add_graph(file.path, source)
    weights = {"scale": scale, "sigma": scale**0.5}
    result.add("kernel", f"{function!r}, scale {scale:g}", kernel=repr(function), **weights)
    chosen = {"method": clustering.method_, "how": how, "seed": walks.seed}
    result.add("walks", walks_text, walks=walks_text, **chosen)
    document = {"nodes": list(map(results.json_name, names)), "labels": labels}
    text = f"{len(sizes)} with {', '.join(map(str, sizes))} nodes"
    result.add("clusters", text, n_clusters=len(sizes), sizes=sizes, **document)
    seconds = result.seconds["all"]
    result.add("time", f"{seconds:.2f} s", seconds=seconds, n_compared=None, pair_error=None)
    if classes:
        error = pair_error([labels[node] for node in classes], list(classes.values()))
        n = len(classes)
        n_pairs = n * (n - 1) // 2
        if n < source.n_nodes:
            text = f"{n:,} of {source.n_nodes:,} nodes have one; the others are not compared"
            result.add("classes", text)
        text = f"{error:.4f}: {round(error * n_pairs):,} of {n_pairs:,} pairs are wrong"
        result.add("error", text, n_compared=n, pair_error=error)
    for path in (output, picture):
        result.add_file(path)
    result.add(output=output, picture=picture)
    return result
