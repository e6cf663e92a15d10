"""`grfpp classify`: how well graphs are classified by kernels and walks.

Every graph becomes features, and a learner predicts the classes. Scale, number of walks and number
of eigenvalues, features and learner where there are several, are chosen anew for each fold, from
the other folds alone. Lists such as 8,16,32 are the candidates.

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

Example commands:
  grfpp classify MUTAG
  grfpp classify NCI1 --method exact
  grfpp classify PTC_MR --method grf --walks 4,16 --folds 5
  grfpp classify PROTEINS --features auto
  grfpp classify ENZYMES --features label-pairs --output folds.csv
  grfpp classify data/MY_SET.zip --seed 1 --json
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from grfpp.cli import console, options, results
from grfpp.errors import InputError
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions

if TYPE_CHECKING:
    from grfpp.tasks.graphs.selection import Setting, WalkSetting

#: Numbers of walks are candidates, and walks are not reused.
_WITHOUT = ("n_walks", "reuse_walks")
#: Features from walks by length that each choice is made among.
_BY_WALKS = {
    "walk-masses": ("walk-masses",),
    "signatures": ("signatures",),
    "auto": ("walk-masses", "signatures"),
}
_WITHOUT_KERNEL = ("walk-masses", "signatures")
_KERNEL, _SCALES, _EIGENVALUES = "diffusion", "0.25,0.36,0.64,0.81", "8,16,32"


@options.command
@options.argument(
    "dataset",
    "A collection of TUDataset (grfpp datasets lists them), or the path of a .zip file in its "
    "format.",
    "DATASET",
)
@options.option(
    "--method",
    "-m",
    help="The kernel itself, or its estimate by walks. Without it grf++; exact for walk-masses, "
    "signatures and auto.",
    type=options.choice("exact", "grf", "grf++"),
)
@options.option(
    "--features",
    help="What graphs are classified by; see below.",
    type=options.choice(
        "spectrum", "same-label", "both-spectra", "label-pairs", "spectrum-and-pairs", *_BY_WALKS
    ),
    default="spectrum",
    metavar="KIND",
)
@options.kernel_option("As for grfpp estimate, which lists them.", _KERNEL, "-k")
@options.option(
    "--scale", help="The weights are X D^-1/2 A D^-1/2.", default=_SCALES, metavar="X,..."
)
@options.option(
    "--walks",
    "n_walks",
    help="Walks from every node for every factor.",
    default="16",
    metavar="M,...",
)
@options.walk_options(
    without=_WITHOUT, degree="Stitching degree of grf++.", seed="Of the walks, folds and forests."
)
@options.option(
    "--eigenvalues",
    help="How many eigenvalues; small graphs have zeros.",
    default=_EIGENVALUES,
    metavar="K,...",
)
@options.option("--folds", help="Folds.", type=click.IntRange(2), default=10)
@options.option("--trees", help="Trees of the forests.", type=click.IntRange(1), default=200)
@options.output_option("Write what was chosen in each fold, and its accuracy.")
@options.json_option
def classify(
    dataset: str,
    *,
    method: str | None,
    features: str,
    kernel: str,
    scale: str,
    n_walks: str,
    walks: WalkOptions,
    eigenvalues: str,
    folds: int,
    trees: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Classify the graphs of a data set, and tell the accuracy by cross-validation."""
    results.check_output(output, ".csv", others=[dataset])
    by_walks, has_kernel = features in _BY_WALKS, features not in _WITHOUT_KERNEL
    if not has_kernel:
        given = {
            "--kernel": kernel != _KERNEL,
            "--scale": scale != _SCALES,
            "--degree": walks.degree != WalkOptions.degree,
            "--eigenvalues": eigenvalues != _EIGENVALUES,
        }
        if unused := [option for option, is_given in given.items() if is_given]:
            raise InputError(f"--features {features} has no {unused[0]}: leave it out")
    grid = {
        "scales": [options.checked_scale(each) for each in options.numbers(scale, "scale", float)],
        "n_walks": options.numbers(n_walks, "n_walks", int),
        "n_eigenvalues": options.numbers(eigenvalues, "eigenvalues", int),
    }
    function = kernel_from_spec(kernel)
    if method == "grf":
        walks = walks.changed(degree=1)
    if method is None:
        method = "exact" if by_walks else "grf++"
    from grfpp.datasets import load_tudataset, read_tudataset
    from grfpp.tasks.graphs.labelled import labelled_graphs
    from grfpp.tasks.graphs.selection import (
        Candidates,
        candidate_features,
        stratified_folds,
        walk_candidates,
    )

    with console.status(f"reading {dataset}"):
        is_file = dataset.lower().endswith(".zip")
        data = read_tudataset(dataset) if is_file else load_tudataset(dataset)
        is_unlabelled = features == "spectrum" or (by_walks and data.node_labels is None)
        graphs: list[Any] = list(data.graphs) if is_unlabelled else labelled_graphs(data)
    stratified_folds(data.labels, folds, walks.seed)  # refuses too many folds before the walks
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
                **options.estimator_parameters(walks, without=(*_WITHOUT, "degree")),
            )
        if has_kernel:
            candidates.forests.update(
                candidate_features(
                    graphs,
                    kind="spectrum" if by_walks else features,
                    kernel=function,
                    estimate=estimate,
                    **grid,
                    **options.estimator_parameters(walks, without=_WITHOUT),
                )
            )
    learning = "learning" if by_walks else "forests"
    with console.timed(seconds, learning, "learning"):
        scores = candidates.nested_scores(
            data.labels, n_folds=folds, seed=walks.seed, n_trees=trees, n_jobs=walks.n_jobs
        )
    rows = [
        {
            "fold": score.fold,
            **(_learner(score.chosen) if by_walks else _setting(score.chosen)),
            "inner" if by_walks else "out_of_bag": round(score.inner, 6),
            "accuracy": round(score.accuracy, 6),
        }
        for score in scores
    ]
    if output is not None:
        results.write_csv(output, list(rows[0]), [list(row.values()) for row in rows])

    accuracies = [score.accuracy for score in scores]
    mean, deviation = float(np.mean(accuracies)), float(np.std(accuracies))
    how = "exact"
    if method != "exact":
        degree = f"stitching degree {walks.degree}, " if has_kernel else ""
        how = f"walks with {degree}lengths {results.law_text(walks.termination)}"
    if has_kernel:
        how = f"{kernel}, {how}"
    n_nodes = sum(graph.n_nodes for graph in data.graphs) / len(data)
    facts = [
        (
            "data",
            f"{data.name}: {len(data):,} graphs of {n_nodes:.1f} nodes on average, "
            f"{len(data.classes)} classes",
        ),
        ("kernel" if has_kernel else "walks", how),
        ("features", features),
        ("chosen", _choices(rows) if by_walks else f"most often {_most_often(rows)}"),
        ("folds", f"{len(scores)}, stratified, seed {walks.seed}"),
        ("time", f"{seconds['features']:.2f} s features, {seconds[learning]:.2f} s {learning}"),
        ("accuracy", f"{100 * mean:.1f} ± {100 * deviation:.1f} %, mean and sd over folds"),
    ]
    settings = [_setting(each) for each in candidates.forests] if not by_walks else []
    if by_walks:
        both = [*candidates.forests, *candidates.machines]
        settings = [{"features": _feature_text(each)} for each in both]
    document = {
        "dataset": data.name,
        "n_graphs": len(data),
        "n_classes": len(data.classes),
        "method": how,
        "features": features,
        "chosen_among": {
            name: list(dict.fromkeys(setting[name] for setting in settings)) for name in settings[0]
        },
        "seed": walks.seed,
        "accuracy": mean,
        "standard_deviation": deviation,
        "folds": rows,
        "seconds": seconds,
        "output": None if output is None else str(output),
    }
    results.show(facts, document, as_json, [output])


def _setting(chosen: Setting) -> dict[str, Any]:
    """The setting of a forest; `sigma` is the root of the scale."""
    scale, *others = chosen._asdict().items()
    return dict([scale, ("sigma", chosen.scale**0.5), *others])


def _learner(chosen: Any) -> dict[str, Any]:
    """Features of several kinds and their learner; only support vector machines have a penalty."""
    penalty = getattr(chosen, "penalty", None)
    return {
        "features": _feature_text(chosen if penalty is None else chosen.features),
        "learner": "forest" if penalty is None else "svm",
        "penalty": penalty,
    }


def _feature_text(features: Setting | WalkSetting) -> str:
    """Features as the output names them."""
    from grfpp.tasks.graphs.selection import Setting

    if isinstance(features, Setting):
        return f"spectrum, {_most_often([_setting(features)])}"
    return features.words


def _choices(rows: list[dict[str, Any]]) -> str:
    """What was chosen, and in how many folds."""
    counts = Counter(f"{row['features']} ({row['learner']})" for row in rows)
    return ", ".join(f"{name} {count}x" for name, count in counts.most_common())


def _most_often(rows: list[dict[str, Any]]) -> str:
    """The value of each setting that was chosen in most folds."""
    usual = {
        name: Counter(row[name] for row in rows).most_common(1)[0][0]
        for name in ("scale", "n_walks", "n_eigenvalues")
    }
    walks = f"{usual['n_walks']} walks, " if usual["n_walks"] else ""
    return f"scale {usual['scale']:g}, {walks}{usual['n_eigenvalues']} eigenvalues"
