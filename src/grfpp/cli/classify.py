"""`grfpp classify`: how well graphs are classified by kernels and walks.

Every graph becomes features, and a learner predicts the classes. Scale, number of walks and number
of eigenvalues, features and learner where there are several, are chosen anew for each fold, from
the other folds alone. Lists such as 8,16,32 are the candidates.

Features, by a random forest:
  spectrum             the smallest eigenvalues of the kernel, as in the paper
  same-label           of the kernel without edges of unequal labels
  both-spectra         both of them
  label-pairs          the sums of the kernel over pairs of labels
  spectrum-and-pairs   the spectrum and the sums
  walk-masses          counts, masses between labels, returns, by length
Features, by a support vector machine:
  signatures           counts of nodes whose walks lead to the same labels
  auto                 spectrum, walk-masses or signatures with their
                       learners; often the best

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
_FEATURES = (
    *("spectrum", "same-label", "both-spectra", "label-pairs", "spectrum-and-pairs"),
    *_BY_WALKS,
)


@options.command
@options.argument("dataset", "", "DATASET")
@options.option("--method", "-m", type=options.choice("exact", "grf", "grf++"))
@options.option("--features", type=options.choice(*_FEATURES), default="spectrum", metavar="KIND")
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
    features: str,
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
        signatures and auto.
    features
        What graphs are classified by; see below.
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
        How many eigenvalues; small graphs have zeros.
    output
        Write what was chosen in each fold, and its accuracy.
    """
    by_walks, has_kernel = features in _BY_WALKS, features not in _WITHOUT_KERNEL
    unused = options.given("kernel", "scale", "degree", "n_eigenvalues")
    if unused and not has_kernel:
        raise InputError(f"--features {features} has no {unused[0]}: leave it out")
    grid = {
        "scales": options.numbers(scale, "scale", float),
        "n_walks": options.numbers(n_walks, "n_walks", int),
        "n_eigenvalues": options.numbers(n_eigenvalues, "n_eigenvalues", int),
    }
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
    result, candidates = results.Result(), Candidates()
    with result.timed("features", "making features"):
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
                    kernel=kernel,
                    estimate=estimate,
                    **grid,
                    **options.estimator_parameters(walks, without=_WITHOUT),
                )
            )
    learning = "learning" if by_walks else "forests"
    with result.timed(learning, "learning"):
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

    result.add(
        "data",
        f"{data.name}: {len(data):,} graphs of "
        f"{np.mean([graph.n_nodes for graph in data.graphs]):.1f} nodes on average, "
        f"{len(data.classes)} classes",
        dataset=data.name,
        n_graphs=len(data),
        n_classes=len(data.classes),
    )
    made = "exact"
    if method != "exact":
        degree = f"stitching degree {walks.degree}, " if has_kernel else ""
        made = f"walks with {degree}lengths {results.law_text(walks.termination)}"
    if has_kernel:
        made = f"{kernel}, {made}"
    result.add("kernel" if has_kernel else "walks", made, method=made)
    result.add("features", features, features=features)
    if by_walks:
        both = [*candidates.forests, *candidates.machines]
        settings = [{"features": _feature_text(each)} for each in both]
        counts = Counter(f"{row['features']} ({row['learner']})" for row in rows)
        chosen = ", ".join(f"{name} {count}x" for name, count in counts.most_common())
    else:
        settings = [_setting(each) for each in candidates.forests]
        columns = zip(*(score.chosen for score in scores), strict=True)
        usual = (Counter(column).most_common(1)[0][0] for column in columns)
        chosen = f"most often {_setting_text(*usual)}"
    result.add(
        "chosen",
        chosen,
        chosen_among={
            name: list(dict.fromkeys(setting[name] for setting in settings)) for name in settings[0]
        },
    )
    result.add("folds", f"{folds}, stratified, seed {walks.seed}", folds=rows, seed=walks.seed)
    result.add_time(**{name: name for name in result.seconds})
    accuracies = [score.accuracy for score in scores]
    mean, deviation = float(np.mean(accuracies)), float(np.std(accuracies))
    result.add(
        "accuracy",
        f"{100 * mean:.1f} ± {100 * deviation:.1f} %, mean and sd over folds",
        accuracy=mean,
        standard_deviation=deviation,
        output=output,
    )
    result.add_file(output)
    return result


def _setting(chosen: Setting) -> dict[str, Any]:
    """The setting of a forest; `sigma` is the root of the scale."""
    return {"scale": chosen.scale, "sigma": chosen.scale**0.5, **chosen._asdict()}


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
    words = getattr(features, "words", None)
    return words or f"spectrum, {_setting_text(*features)}"


def _setting_text(scale: float, n_walks: int, n_eigenvalues: int) -> str:
    walks = f"{n_walks} walks, " if n_walks else ""
    return f"scale {scale:g}, {walks}{n_eigenvalues} eigenvalues"
