"""`grfpp classify`: how well graphs are told apart by the spectra of their kernels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from grfpp.cli import console, options
from grfpp.cli.outputs import check_output, write_csv, wrote
from grfpp.cli.wording import law_text
from grfpp.errors import InputError
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions

if TYPE_CHECKING:
    from grfpp.tasks.graphs.candidates import Setting

#: Shown below the options.
NOTES = """
\b
Every graph becomes the smallest eigenvalues of its kernel; a random forest tells the classes apart.
Scale, number of walks and number of eigenvalues are chosen anew for each fold, from the other folds
alone. Lists such as 8,16,32 are what is chosen among.

\b
Features:
  spectrum       the smallest eigenvalues of the kernel
  same-label     of the kernel without the edges between nodes of different labels
  both-spectra   both of them
  label-pairs    the first, and the sums of the kernel over pairs of labels

\b
Examples:
  grfpp classify MUTAG
  grfpp classify NCI1 --method exact
  grfpp classify PTC_MR --method grf --walks 4,16 --folds 5
  grfpp classify ENZYMES --features label-pairs --output folds.csv
  grfpp classify data/MY_SET.zip --seed 1 --json
"""


#: Walks are chosen among, and are not reused.
_OWN = ("n_walks", "reuse_walks")


@options.with_walks(
    without=_OWN,
    degree="Stitching degree of grf++.",
    seed="Of the walks, folds and forests.",
)
def classify(
    dataset: Annotated[
        str,
        options.argument(
            "A collection of TUDataset (grfpp datasets lists them), or the path of a .zip file in "
            "its format.",
            "DATASET",
        ),
    ],
    *,
    method: Annotated[
        Literal["exact", "grf", "grf++"],
        options.option(
            "The kernel itself, or its estimate by walks.", "exact|grf|grf++", "--method", "-m"
        ),
    ] = "grf++",
    features: Annotated[
        Literal["spectrum", "same-label", "both-spectra", "label-pairs"],
        options.option("What graphs are told apart by; see below.", "KIND"),
    ] = "spectrum",
    kernel: Annotated[
        str, options.kernel("As for grfpp estimate, which lists them.", "-k")
    ] = "diffusion",
    scale: Annotated[
        str, options.option("The weights are X D^-1/2 A D^-1/2.", "X,...")
    ] = "0.25,0.36,0.64,0.81",
    sigma: Annotated[str | None, options.retired_sigma()] = None,
    n_walks: Annotated[
        str, options.option("Walks from every node for every factor.", "M,...", "--walks")
    ] = "16",
    walks: WalkOptions,
    eigenvalues: Annotated[
        str, options.option("How many eigenvalues; small graphs have zeros.", "K,...")
    ] = "8,16,32",
    folds: Annotated[int, options.option("Folds.", "N", "--folds", min=2)] = 10,
    trees: Annotated[int, options.option("Trees of the forests.", "N", "--trees", min=1)] = 200,
    output: Annotated[
        Path | None, options.output("Write what was chosen in each fold, and its accuracy.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Classify the graphs of a data set, and tell the accuracy by cross-validation."""
    check_output(output, ".csv", others=[dataset])
    if sigma is None:
        scales = [options.scale_of(each, None) for each in _numbers(scale, "--scale", float)]
    else:
        scales = [options.scale_of(1.0, each) for each in _numbers(sigma, "--sigma", float)]
    grid = {
        "scales": scales,
        "n_walks": _numbers(n_walks, "--walks", int),
        "n_eigenvalues": _numbers(eigenvalues, "--eigenvalues", int),
    }
    function = kernel_from_spec(kernel)
    if method == "grf":
        walks = walks.changed(degree=1)
    from grfpp.datasets import load_tudataset, read_tudataset
    from grfpp.tasks.graphs.candidates import candidate_features
    from grfpp.tasks.graphs.labelled import labelled_graphs
    from grfpp.tasks.graphs.nested import nested_forest_scores, stratified_folds

    with console.status(f"reading {dataset}"):
        is_file = dataset.lower().endswith(".zip")
        data = read_tudataset(dataset) if is_file else load_tudataset(dataset)
        graphs = list(data.graphs) if features == "spectrum" else labelled_graphs(data)
    stratified_folds(data.labels, folds, walks.seed)  # refuses what cannot be cut before the walks
    seconds: dict[str, float] = {}
    with console.timed(seconds, "features", "making features"):
        candidates = candidate_features(
            graphs,
            kind=features,
            kernel=function,
            estimate="exact" if method == "exact" else "walks",
            **grid,
            **options.for_estimators(walks, without=_OWN),
        )
    with console.timed(seconds, "forests", "growing forests"):
        scores = nested_forest_scores(
            candidates,
            data.labels,
            n_folds=folds,
            seed=walks.seed,
            n_trees=trees,
            n_jobs=walks.n_jobs,
        )
    lines = [
        {
            "fold": score.fold,
            **_setting(score.chosen),
            "out_of_bag": round(score.inner, 6),
            "accuracy": round(score.accuracy, 6),
        }
        for score in scores
    ]
    if output is not None:
        write_csv(output, list(lines[0]), [list(line.values()) for line in lines])

    accuracies = [score.accuracy for score in scores]
    mean, deviation = float(np.mean(accuracies)), float(np.std(accuracies))
    how = "exact"
    if method != "exact":
        how = f"walks with stitching degree {walks.degree}, lengths {law_text(walks.termination)}"
    n_nodes = sum(graph.n_nodes for graph in data.graphs) / len(data)
    facts = [
        (
            "data",
            f"{data.name}: {len(data):,} graphs of {n_nodes:.1f} nodes on average, "
            f"{len(data.classes)} classes",
        ),
        ("kernel", f"{kernel}, {how}"),
        ("features", features),
        ("chosen", f"most often {_usual(lines)}"),
        ("folds", f"{len(scores)}, stratified, seed {walks.seed}"),
        ("time", f"{seconds['features']:.2f} s features, {seconds['forests']:.2f} s forests"),
        ("accuracy", f"{100 * mean:.1f} ± {100 * deviation:.1f} %, mean and sd over folds"),
        *wrote(output),
    ]
    settings = [_setting(each) for each in candidates]
    document = {
        "dataset": data.name,
        "n_graphs": len(data),
        "n_classes": len(data.classes),
        "method": f"{kernel}, {how}",
        "features": features,
        "chosen_among": {
            name: list(dict.fromkeys(each[name] for each in settings)) for name in settings[0]
        },
        "seed": walks.seed,
        "accuracy": mean,
        "standard_deviation": deviation,
        "folds": lines,
        "seconds": seconds,
        "output": None if output is None else str(output),
    }
    console.tell(facts, document, as_json)


def _setting(chosen: Setting) -> dict[str, Any]:
    """What is chosen in a fold; `sigma` is the root of the scale."""
    scale, *others = chosen._asdict().items()
    return dict([scale, ("sigma", chosen.sigma), *others])


def _usual(lines: list[dict[str, Any]]) -> str:
    """The value of each setting that was chosen in most folds."""

    def usual(name: str) -> Any:
        values = [line[name] for line in lines]
        return max(dict.fromkeys(values), key=values.count)

    walks = f"{usual('n_walks')} walks, " if usual("n_walks") else ""
    return f"scale {usual('scale'):g}, {walks}{usual('n_eigenvalues')} eigenvalues"


def _numbers(text: str, option: str, convert: type) -> list[Any]:
    try:
        return [convert(part) for part in text.split(",")]
    except ValueError:
        kind = "whole numbers" if convert is int else "numbers"
        raise InputError(f"{option} {text!r} is not a list of {kind} such as 8,16") from None
