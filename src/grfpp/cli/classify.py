"""`grfpp classify`: the accuracy of graph classification by kernels and walks.

Every graph becomes features, and a learner predicts the classes. Scale, number of walks, number of
eigenvalues, features and learner, where there are several candidates, are chosen for each fold from
the other folds. Lists such as 8,16,32 are candidates.

Features, by a random forest:
  spectrum             the smallest eigenvalues of the kernel, as in the paper
  same-label           those of the graph without edges of unequal labels
  both-spectra         both of them
  label-pairs          the sums of the kernel over pairs of labels
  spectrum-and-pairs   the spectrum and the sums
  walk-masses          counts, masses between labels, returns, by length
Features, by a support vector machine:
  signatures           counts of nodes whose walks lead to the same labels
  colours              counts of nodes of the same Weisfeiler-Lehman colours
  auto                 walk-masses and colours, by the mean of their kernels

The default is auto, or the spectrum where --method or options about the kernel or the walks are
given.

Walks of walk-masses are on D^-1/2 A D^-1/2; only the spectrum has a kernel, scale and degree.

Example commands:
  grfpp classify MUTAG
  grfpp classify NCI1 --method exact
  grfpp classify PTC_MR --method grf --walks 4,16 --folds 5
  grfpp classify ENZYMES --features label-pairs --output folds.csv
  grfpp classify data/MY_SET.zip --seed 1 --json
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click
import numpy as np

from grfpp.cli import console, options, results
from grfpp.errors import InputError
from grfpp.options import WalkOptions

#: Options about walks that this command does not have: ``--walks`` is a list of candidates here,
#: and walks are not reused.
_WITHOUT = ("n_walks", "reuse_walks")
_BY_KERNELS = ("spectrum", "same-label", "both-spectra", "label-pairs", "spectrum-and-pairs")
_BY_WALKS = ("walk-masses", "signatures", "colours", "auto")


@options.command
@click.argument("dataset", metavar="DATASET", type=click.Path())
@options.option("--method", "-m", type=click.Choice(["exact", "grf", "grf++"]))
@options.option("--features", type=click.Choice([*_BY_KERNELS, *_BY_WALKS]), metavar="KIND")
@options.kernel_option("diffusion", "-k")
@options.option("--scale", default="0.25,0.36,0.64,0.81", metavar="X,...")
@options.option("--walks", "n_walks", default="16", metavar="M,...")
@options.walk_options(without=_WITHOUT)
@options.option("--eigenvalues", "n_eigenvalues", default="8,16,32", metavar="K,...")
@options.option("--folds", help="Folds.", type=click.IntRange(2), default=10)
@options.option("--trees", help="Trees of the forests.", type=click.IntRange(1), default=200)
@options.output_option()
@options.shows_result
def classify(
    *,
    dataset: str,
    method: str | None,
    features: str | None,
    kernel: str,
    scale: str,
    n_walks: str,
    walks: WalkOptions,
    n_eigenvalues: str,
    folds: int,
    trees: int,
    output: Path | None,
) -> results.Result:
    """Classify the graphs of a data set by cross-validation.

    Parameters
    ----------
    dataset
        A collection of TUDataset (grfpp datasets lists them), or the path of a .zip file in its
        format.
    method
        The kernel itself, or its estimate by walks; if not given, grf++, and exact for walk-masses,
        signatures, colours and auto.
    features
        Features of the graphs; see below.
    kernel
        The kernel; grfpp estimate --help lists them.
    scale
        The weights are X D^-1/2 A D^-1/2.
    n_walks
        Walks from every node for every factor.
    degree
        Stitching degree of grf++.
    seed
        Of the walks, folds and forests.
    n_eigenvalues
        Numbers of eigenvalues; small graphs are padded with zeros.
    output
        Write the chosen parameters of each fold, and its accuracy.
    """
    given = options.given("kernel", "scale", "degree", "n_eigenvalues")
    if features is None:
        is_paper = given or method or options.given("n_walks") or options.asks_for_walks()
        features = "spectrum" if is_paper else "auto"
    by_walks = features in _BY_WALKS
    if given and by_walks:
        problem = f"{features} does not use {given[0]}"
        raise InputError(problem, argument="features", advice="leave that option out")
    grid = {
        "scales": options.numbers(scale, "scale", float),
        "n_walks": options.numbers(n_walks, "n_walks", int),
        "n_eigenvalues": options.numbers(n_eigenvalues, "n_eigenvalues", int),
    }
    method = method or ("exact" if by_walks else "grf++")
    if method == "grf":
        walks = walks.changed(degree=1)
    from grfpp.datasets import load_tudataset, read_tudataset
    from grfpp.tasks.graphs import selection
    from grfpp.tasks.graphs.labelled import labelled_graphs

    with console.status(f"reading {dataset}"):
        is_file = dataset.lower().endswith(".zip")
        data = read_tudataset(dataset) if is_file else load_tudataset(dataset)
    # Without labels, features by walks take degrees for them, and others are refused.
    is_plain = features == "spectrum" or (by_walks and data.node_labels is None)
    graphs: list[Any] = list(data.graphs) if is_plain else labelled_graphs(data)
    selection.stratified_folds(data.labels, folds, walks.seed)  # refuses too many folds early
    result = results.Result()
    parameters = options.estimator_parameters(walks, without=_WITHOUT)
    parameters["estimate"] = "exact" if method == "exact" else "walks"
    degree, most_walks = parameters.pop("degree"), max(grid["n_walks"])
    with result.timed("features", "making features"):
        if by_walks:
            parameters["n_walks"] = most_walks
            candidates = selection.walk_candidates(graphs, features, **parameters)
        else:
            parameters |= {"kind": features, "kernel": kernel, "degree": degree, **grid}
            candidates = selection.candidate_features(graphs, **parameters)
    with result.timed("learning" if by_walks else "forests", "learning"):
        parameters = {"n_folds": folds, "seed": walks.seed, "n_jobs": walks.n_jobs}
        scores = selection.nested_scores(
            candidates, data.labels, features, n_trees=trees, **parameters
        )
    rows = []
    for score in scores:
        learner = {"learner": "svm" if score.penalty else "forest", "penalty": score.penalty}
        row = {"features": score.chosen, **learner} if by_walks else _setting(score.chosen)
        measured = {"inner" if by_walks else "out_of_bag": round(score.inner, 6)}
        measured["accuracy"] = round(score.accuracy, 6)
        rows.append({"fold": score.fold, **row, **measured})
    results.write_csv(output, list(rows[0]), [list(row.values()) for row in rows])

    n_nodes = np.mean([graph.n_nodes for graph in data.graphs])
    text = f"{data.name}: {len(data):,} graphs of {n_nodes:.1f} nodes on average, "
    text += f"{len(data.classes)} classes"
    size = {"n_graphs": len(data), "n_classes": len(data.classes)}
    result.add("data", text, dataset=data.name, **size)
    stitching = "" if by_walks else f"stitching degree {degree}, "
    walked = f"walks with {stitching}lengths {results.law_text(walks.termination)}"
    text = "" if by_walks else f"{kernel}, "
    text += "exact" if method == "exact" else walked
    result.add("walks" if by_walks else "kernel", text, method=text)
    result.add("features", features, features=features)
    if by_walks:
        settings = [{"features": name} for name in candidates]
        counts = Counter(f"{row['features']} ({row['learner']})" for row in rows)
        chosen = ", ".join(f"{name} {count}x" for name, count in counts.most_common())
    else:
        settings = [_setting(candidate) for candidate in candidates]
        ((mode, _),) = Counter(score.chosen for score in scores).most_common(1)
        chosen = f"most often {mode.words}"
    among = {name: list(dict.fromkeys(row[name] for row in settings)) for name in settings[0]}
    result.add("chosen", chosen, chosen_among=among)
    result.add("folds", f"{folds}, stratified, seed {walks.seed}", folds=rows, seed=walks.seed)
    result.add_time(**{name: name for name in result.seconds})
    accuracies = [score.accuracy for score in scores]
    mean, deviation = float(np.mean(accuracies)), float(np.std(accuracies))
    text = f"{100 * mean:.1f} ± {100 * deviation:.1f} %, mean and sd over folds"
    result.add("accuracy", text, accuracy=mean, standard_deviation=deviation, output=output)
    result.add_file(output)
    return result


def _setting(chosen: Any) -> dict[str, Any]:
    """The setting of a forest; `sigma` is the root of the scale."""
    return {"scale": chosen.scale, "sigma": chosen.scale**0.5, **chosen._asdict()}
