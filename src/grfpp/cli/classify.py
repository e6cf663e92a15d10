"""`grfpp classify`: how well graphs are told apart by kernels and walks."""

from __future__ import annotations

from collections import Counter
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
    from grfpp.tasks.graphs.walk_candidates import WalkSetting

#: Shown below the options.
NOTES = """
\b
Every graph becomes features, and a learner tells the classes apart. Scale, number of walks and
number of eigenvalues, features and learner where there are several, are chosen anew for each fold,
from the other folds alone. Lists such as 8,16,32 are what is chosen among.

\b
Features, by a random forest:
  spectrum             the smallest eigenvalues of the kernel, as in the paper
  same-label           of the kernel without the edges between nodes of different labels
  both-spectra         both of them
  label-pairs          the sums of the kernel over pairs of labels
  spectrum-and-pairs   the first and the sums
  walk-masses          counts of labels, masses between labels and returns, by walk length
Features, by a support vector machine:
  signatures           counts of nodes whose walks lead to the same labels
  auto                 spectrum, walk-masses or signatures, and their learners; labels where there
                       are any. Most often the best.
Walks of the last three are on D^-1/2 A D^-1/2; they have no kernel, scale or degree.

\b
Examples:
  grfpp classify MUTAG
  grfpp classify NCI1 --method exact
  grfpp classify PTC_MR --method grf --walks 4,16 --folds 5
  grfpp classify PROTEINS --features auto
  grfpp classify ENZYMES --features label-pairs --output folds.csv
  grfpp classify data/MY_SET.zip --seed 1 --json
"""


#: Walks are chosen among, and are not reused.
_OWN = ("n_walks", "reuse_walks")
#: Features from walks by length that each choice is made among, and which have no spectrum beside.
_BY_WALKS = {
    "walk-masses": ("walk-masses",),
    "signatures": ("signatures",),
    "auto": ("walk-masses", "signatures"),
}
_WITHOUT_KERNEL = ("walk-masses", "signatures")
#: What these have no use for, where it is not given.
_KERNEL, _SCALES, _EIGENVALUES = "diffusion", "0.25,0.36,0.64,0.81", "8,16,32"


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
        Literal["exact", "grf", "grf++"] | None,
        options.optional(
            "The kernel itself, or its estimate by walks. Without it grf++; exact for walk-masses, "
            "signatures and auto.",
            "exact|grf|grf++",
            "--method",
            "-m",
        ),
    ] = None,
    features: Annotated[
        Literal[
            "spectrum",
            "same-label",
            "both-spectra",
            "label-pairs",
            "spectrum-and-pairs",
            "walk-masses",
            "signatures",
            "auto",
        ],
        options.option("What graphs are told apart by; see below.", "KIND"),
    ] = "spectrum",
    kernel: Annotated[
        str, options.kernel("As for grfpp estimate, which lists them.", "-k")
    ] = _KERNEL,
    scale: Annotated[str, options.option("The weights are X D^-1/2 A D^-1/2.", "X,...")] = _SCALES,
    sigma: Annotated[str | None, options.retired_sigma()] = None,
    n_walks: Annotated[
        str, options.option("Walks from every node for every factor.", "M,...", "--walks")
    ] = "16",
    walks: WalkOptions,
    eigenvalues: Annotated[
        str, options.option("How many eigenvalues; small graphs have zeros.", "K,...")
    ] = _EIGENVALUES,
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
    if features in _WITHOUT_KERNEL:
        given = {
            "--kernel": kernel != _KERNEL,
            "--scale": scale != _SCALES,
            "--sigma": sigma is not None,
            "--degree": walks.degree != WalkOptions.degree,
            "--eigenvalues": eigenvalues != _EIGENVALUES,
        }
        if unused := [option for option, is_given in given.items() if is_given]:
            raise InputError(f"--features {features} has no {unused[0]}: leave it out")
    grid = {
        "scales": scales,
        "n_walks": _numbers(n_walks, "--walks", int),
        "n_eigenvalues": _numbers(eigenvalues, "--eigenvalues", int),
    }
    function = kernel_from_spec(kernel)
    if method == "grf":
        walks = walks.changed(degree=1)
    by_walks = features in _BY_WALKS
    if method is None:
        method = "exact" if by_walks else "grf++"
    from grfpp.datasets import load_tudataset, read_tudataset
    from grfpp.tasks.graphs.candidates import candidate_features
    from grfpp.tasks.graphs.labelled import labelled_graphs
    from grfpp.tasks.graphs.nested import stratified_folds
    from grfpp.tasks.graphs.walk_candidates import Candidates, walk_candidates

    with console.status(f"reading {dataset}"):
        is_file = dataset.lower().endswith(".zip")
        data = read_tudataset(dataset) if is_file else load_tudataset(dataset)
        is_plain = features == "spectrum" or (by_walks and data.node_labels is None)
        graphs: list[Any] = list(data.graphs) if is_plain else labelled_graphs(data)
    stratified_folds(data.labels, folds, walks.seed)  # refuses what cannot be cut before the walks
    estimate = "exact" if method == "exact" else "walks"
    seconds: dict[str, float] = {}
    candidates = Candidates()
    with console.timed(seconds, "features", "making features"):
        if by_walks:
            candidates = walk_candidates(
                graphs,
                _BY_WALKS[features],
                estimate=estimate,
                n_walks=max(grid["n_walks"]),
                **options.for_estimators(walks, without=(*_OWN, "degree")),
            )
        if features not in _WITHOUT_KERNEL:
            found = candidate_features(
                graphs,
                kind="spectrum" if by_walks else features,
                kernel=function,
                estimate=estimate,
                **grid,
                **options.for_estimators(walks, without=_OWN),
            )
            candidates = candidates.with_forests(found)
    learning = "learning" if by_walks else "forests"
    with console.timed(seconds, learning, "learning"):
        scores = candidates.nested_scores(
            data.labels, n_folds=folds, seed=walks.seed, n_trees=trees, n_jobs=walks.n_jobs
        )
    lines = [
        {
            "fold": score.fold,
            **(_learner(score.chosen) if by_walks else _setting(score.chosen)),
            "inner" if by_walks else "out_of_bag": round(score.inner, 6),
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
        degree = "" if features in _WITHOUT_KERNEL else f"stitching degree {walks.degree}, "
        how = f"walks with {degree}lengths {law_text(walks.termination)}"
    if features not in _WITHOUT_KERNEL:
        how = f"{kernel}, {how}"
    n_nodes = sum(graph.n_nodes for graph in data.graphs) / len(data)
    facts = [
        (
            "data",
            f"{data.name}: {len(data):,} graphs of {n_nodes:.1f} nodes on average, "
            f"{len(data.classes)} classes",
        ),
        ("walks" if features in _WITHOUT_KERNEL else "kernel", how),
        ("features", features),
        ("chosen", _often(lines) if by_walks else f"most often {_usual(lines)}"),
        ("folds", f"{len(scores)}, stratified, seed {walks.seed}"),
        ("time", f"{seconds['features']:.2f} s features, {seconds[learning]:.2f} s {learning}"),
        ("accuracy", f"{100 * mean:.1f} ± {100 * deviation:.1f} %, mean and sd over folds"),
        *wrote(output),
    ]
    among = (
        [{"features": each} for each in map(_words, [*candidates.forests, *candidates.machines])]
        if by_walks
        else [_setting(each) for each in candidates.forests]
    )
    document = {
        "dataset": data.name,
        "n_graphs": len(data),
        "n_classes": len(data.classes),
        "method": how,
        "features": features,
        "chosen_among": {
            name: list(dict.fromkeys(each[name] for each in among)) for name in among[0]
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


def _learner(chosen: Any) -> dict[str, Any]:
    """What is chosen in a fold among features of several kinds; a penalty where it is no forest."""
    penalty = getattr(chosen, "penalty", None)
    features = chosen if penalty is None else chosen.features
    return {
        "features": _words(features),
        "learner": "forest" if penalty is None else "svm",
        "penalty": penalty,
    }


def _words(features: Setting | WalkSetting) -> str:
    """Features as the output names them."""
    from grfpp.tasks.graphs.candidates import Setting

    if isinstance(features, Setting):
        return f"spectrum, {_usual([_setting(features)])}"
    return features.words


def _often(lines: list[dict[str, Any]]) -> str:
    """What was chosen, and in how many folds."""
    names = [f"{line['features']} ({line['learner']})" for line in lines]
    counts = sorted(Counter(names).items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {count}x" for name, count in counts)


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
