"""Whether `KernelLabelPropagation` chooses well, on generated graphs alone.

``python -m grfpp_lab.studies.label_settings`` makes degree-corrected block models as sparse as
citations, others with hubs, and LFR graphs; labels 20 nodes of each class, and prints for each way
to read labels out how many of the other nodes are right and how far off the probabilities are:
chosen by folds of the labelled nodes, and by 500 further labels. The defaults were chosen on two
such graphs and on the validation nodes of Cora. This checked them on eight (two seeds of the block
models) and changed nothing, before any test node of Cora or Pubmed was used.

``--hows process`` is `grfpp.gp.NodeGPClassifier`, by its evidence alone. ``--kinds cora pubmed``
takes random splits of these instead, of all nodes but the public test nodes. The calibration of
probabilities was chosen on such splits, afterwards.
"""

import argparse
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np

from grfpp.gp import NodeGPClassifier
from grfpp.tasks import KernelLabelPropagation, calibration_error
from grfpp_lab.datasets.planetoid import load_planetoid
from grfpp_lab.graphs import Generated, Split, block_model, lfr, split_of

HOWS = ("propagation", "svm", "kriging", "auto")
#: `NodeGPClassifier`, which has no use for validation nodes.
PROCESS = "process"
#: Smallest probability that the log-loss distinguishes from zero.
MIN_PROBABILITY = 1e-6
GRAPHS: dict[str, Callable[[int], Generated]] = {
    "citations, 7 classes": lambda seed: block_model(2500, 7, 4.0, 0.81, seed=seed),
    "citations, 3 classes": lambda seed: block_model(6000, 3, 4.5, 0.8, n_parts=25, seed=seed),
    "mixed, 10 classes": lambda seed: block_model(3000, 10, 6.0, 0.65, n_parts=3, seed=seed),
    "hubs, 5 classes": lambda seed: block_model(2000, 5, 4.0, 0.8, tail=50.0, n_hubs=10, seed=seed),
    "LFR": lambda seed: lfr(2000, 0.4, 8.0, seed),
}


def task_of(kind: str, seed: int) -> tuple[Generated, Split]:
    """A generated graph, or a citation graph, and a random split without its public test nodes."""
    if kind in GRAPHS:
        made = GRAPHS[kind](seed)
        return made, split_of(made.labels, seed)
    data = load_planetoid(kind, download=False)
    nodes = np.setdiff1d(np.arange(data.graph.n_nodes), data.test)
    parts = split_of(data.labels[nodes], seed)
    return Generated(data.graph, data.labels), Split(*(nodes[part] for part in parts))


def measure(made: Generated, split: Split, how: str, *, given: bool) -> dict[str, Any]:
    """Accuracy, log-loss and calibration error on the test nodes of one way to predict."""
    labels, truth = made.labels, made.labels[split.test]
    validation = (split.validation, labels[split.validation]) if given else None
    began = process_time()
    if how == PROCESS:
        process = NodeGPClassifier(made.graph, n_jobs=1).fit(split.train, labels[split.train])
        probabilities, classes = process.predict_proba(split.test), process.classes_
        chosen = f"power {process.components_[0].power}, width {process.width_:.3g}"
    else:
        model = KernelLabelPropagation(made.graph, how=how, n_jobs=1)
        model.fit(split.train, labels[split.train], validation=validation)
        probabilities, classes = model.predict_proba(split.test), model.classes_
        chosen = f"{model.kernel_!r} {model.how_} {model.setting_}"
    seconds = process_time() - began
    of_truth = probabilities[np.arange(len(truth)), np.searchsorted(classes, truth)]
    return {
        "accuracy": float((classes[probabilities.argmax(axis=1)] == truth).mean()),
        "loss": float(-np.log(np.maximum(of_truth, MIN_PROBABILITY)).mean()),
        "error": calibration_error(probabilities, truth, classes),
        "seconds": seconds,
        "chosen": chosen,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="label_settings", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="graphs of each kind")
    parser.add_argument("--kinds", nargs="*", default=list(GRAPHS), help="kinds of graphs")
    parser.add_argument("--hows", nargs="*", default=list(HOWS), choices=(*HOWS, PROCESS))
    options = parser.parse_args(arguments)
    sums: dict[tuple[bool, str], list[tuple[float, float, float]]] = {}
    for kind in options.kinds:
        for seed in range(options.seeds):
            made, split = task_of(kind, seed)
            for given in (False, True):
                for how in (how for how in options.hows if not (given and how == PROCESS)):
                    row = measure(made, split, how, given=given)
                    sums.setdefault((given, how), []).append(
                        (row["accuracy"], row["loss"], row["error"])
                    )
                    by = "500 labels" if given else "folds"
                    print(
                        f"{kind}, seed {seed}, by {by}, {how}: {100 * row['accuracy']:.1f} % "
                        f"right, log-loss {row['loss']:.3f}, calibration error {row['error']:.3f}, "
                        f"{row['seconds']:.1f} s, {row['chosen']}",
                        flush=True,
                    )
    for (given, how), pairs in sums.items():
        accuracy, loss, error = np.mean(pairs, axis=0)
        by = "500 labels" if given else "folds"
        print(
            f"mean by {by}, {how}: {100 * accuracy:.2f} % right, log-loss {loss:.3f}, "
            f"calibration error {error:.3f}"
        )


if __name__ == "__main__":
    main()
